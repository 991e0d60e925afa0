"""Random rounding: soft rows become rows. Every soft row gives `oversample` rows, next to each other.

Independently: every row and column draws its cell by itself, so P(cell) is the soft row's probability (RAP rounds all
rows and columns with one key, which ties them together). A number lands on one of the two grid points around it, with
chances that keep its mean; a value inside a bin is uniform.

Systematically: the same chances for every single row, but the rows of a column are tied together so that each cell's
total is its expected one, give or take 1: dependent rounding (Gandhi, Khuller, Parthasarathy, Srinivasan 2006), done bit
by bit. Probabilities become multiples of 2^-24 that sum to 1 in every row. From the lowest bit up, the entries that have
the bit are paired, along each row (their number is even, since all lower bits are gone) and along each cell (one may stay
alone). Pairs chain up; along a chain entries alternately gain and lose the bit, the sign by a fair coin. So chances stay
as they are, rows keep their sum, and a cell's total moves by less than 1/2 + 1/4 + ... < 1. Columns use independent coins.
"""

from typing import Any

import numpy as np
from jaxtyping import Float, Int
from numba import njit

from sundog.axis import Axis
from sundog.errors import UserError
from sundog.keys import Key, integer_seed, split, uniforms
from sundog.rows import Rows
from sundog.schema import Numeric
from sundog.soft import SoftRows

BITS = 24
ONE = 1 << BITS


def round_independently(key: Key, soft: SoftRows, *, oversample: int = 1) -> Rows:
    """Rows whose every value is drawn by itself, with the soft row's chances."""
    return _rounded(key, soft, oversample, systematic=False)


def round_systematically(key: Key, soft: SoftRows, *, oversample: int = 1) -> Rows:
    """Rows with the same chances whose cells' totals are the expected ones, give or take 1."""
    return _rounded(key, soft, oversample, systematic=True)


def _rounded(key: Key, soft: SoftRows, oversample: int, *, systematic: bool) -> Rows:
    if oversample < 1:
        raise UserError(f"rounding: found oversample = {oversample}; it must be 1 or more.")
    codes = []
    for place, column_key in enumerate(split(key, len(soft.values))):
        axis = soft.layout.axes[place]
        values = np.repeat(np.asarray(soft.values[place], dtype=np.float64), oversample, axis=0)
        if axis is None:
            codes.append(_number(column_key, soft, place, values, oversample, systematic=systematic))
            continue
        choose, inside = split(column_key, 2)
        cells = _systematic_cells(choose, values) if systematic else _independent_cells(choose, values)
        codes.append(codes_in_cells(axis, cells, uniforms(inside, len(cells))))
    return Rows(soft.layout.schema, tuple(codes))


def _independent_cells(key: Key, chances: Float[np.ndarray, "rows cells"]) -> Int[np.ndarray, " rows"]:
    """One draw a row by inversion."""
    sums = np.cumsum(chances, axis=1)
    drawn = uniforms(key, len(chances))[:, None] * sums[:, -1:]
    return np.minimum((sums <= drawn).sum(axis=1), chances.shape[1] - 1)


def _systematic_cells(key: Key, chances: Float[np.ndarray, "rows cells"]) -> Int[np.ndarray, " rows"]:
    parts = _parts_of_one(chances)
    index = np.int32 if parts.size < 1 << 31 else np.int64
    _round_bit_by_bit(parts, integer_seed(key), *np.empty((2, parts.size + 2), index))
    return parts.argmax(axis=1)


def _parts_of_one(chances: Float[np.ndarray, "rows cells"]) -> Int[np.ndarray, "rows cells"]:
    """The chances as whole multiples of 2^-24 that sum to 1 in every row: differences of rounded cumulative sums."""
    sums = np.cumsum(chances, axis=1)
    ends = np.rint(sums / sums[:, -1:] * ONE).astype(np.int64)
    return np.diff(ends, axis=1, prepend=0).astype(np.int32)


def _number(
    key: Key, soft: SoftRows, place: int, values: Float[np.ndarray, " rows"], oversample: int, *, systematic: bool
) -> Int[np.ndarray, " rows"]:
    """Grid points around the positions, and missing values."""
    column = soft.layout.schema.columns[place]
    if not isinstance(column, Numeric):
        raise UserError(f"column {column.name!r} has labels but is held as a number; hold it over an axis.")
    step, absent = split(key, 2)
    draw = _systematic_coins if systematic else _independent_coins
    exact = np.clip(values, 0.0, 1.0) * (column.steps - 1)
    low = np.minimum(np.floor(exact), max(column.steps - 2, 0))
    codes = low.astype(np.int64) + draw(step, exact - low)
    missing = soft.missing[place]
    if missing is None or column.missing is None:
        return codes
    chances = np.repeat(np.asarray(missing, dtype=np.float64), oversample)
    return np.where(draw(absent, np.clip(chances, 0.0, 1.0)) == 1, column.missing, codes)


def _independent_coins(key: Key, chances: Float[np.ndarray, " rows"]) -> Int[np.ndarray, " rows"]:
    return (uniforms(key, len(chances)) < chances).astype(np.int64)


def _systematic_coins(key: Key, chances: Float[np.ndarray, " rows"]) -> Int[np.ndarray, " rows"]:
    """Coins whose total is the expected one, give or take 1: where the running sum passes a whole number."""
    sums = np.floor(np.cumsum(chances) + uniforms(key, 1)[0]).astype(np.int64)
    return np.clip(np.diff(sums, prepend=0), 0, 1)


def codes_in_cells(
    axis: Axis, cells: Int[np.ndarray, " rows"], positions: Float[np.ndarray, " rows"]
) -> Int[np.ndarray, " rows"]:
    """Codes inside their cells at relative positions in [0, 1): runs of codes, or merged labels."""
    if axis.groups is None:
        ends = np.append(axis.run_starts(), axis.codes)
        order = None
    else:
        order = np.argsort(axis.cell_of, kind="stable")
        ends = np.searchsorted(axis.cell_of[order], np.arange(axis.size + 1))
    first, end = ends[cells], ends[cells + 1]
    places = np.minimum(first + np.floor(positions * (end - first)).astype(np.int64), end - 1)
    return places if order is None else order[places]


@njit(cache=True, nogil=True)
def _round_bit_by_bit(parts: Any, seed: int, edges: Any, along_cell: Any) -> None:  # pragma: no cover (compiled)
    """Round every entry of a matrix, whose rows sum to ONE, to 0 or ONE, in place; the last two are scratch space."""
    cells = parts.shape[1]
    flat = parts.ravel()
    state = np.uint64(seed)
    for bit in range(BITS):
        mask = np.int32(1 << bit)
        alone = np.full(cells, -1, dtype=np.int64)
        count, cell = 0, 0
        for entry in range(flat.shape[0]):  # without branches, which no processor could foresee
            has = (flat[entry] >> bit) & 1
            cell = cell + 1 if entry and cell + 1 < cells else 0
            partner = alone[cell]
            edges[count] = entry
            along_cell[count] = partner
            along_cell[partner if has & (partner >= 0) else -1] = count
            alone[cell] = (-1 if partner >= 0 else count) if has else partner
            count += has
        state = _flip_chains(flat, edges[:count], along_cell, mask, state)


@njit(cache=True, nogil=True)
def _flip_chains(flat: Any, edges: Any, along_cell: Any, mask: Any, state: Any) -> Any:  # pragma: no cover (compiled)
    """Give and take the bit alternately along every chain; edges 2i and 2i + 1 are the pairs along rows.

    An edge that is done becomes -1.
    """
    for start in range(0, edges.shape[0], 2):
        if edges[start] < 0:
            continue
        state += np.uint64(0x9E3779B97F4A7C15)  # SplitMix64
        word = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        sign = mask if word >> np.uint64(63) else -mask
        for direction in range(2):
            # forward from the first edge along its row; then backward from its cell's partner, if the chain is open
            edge = start if direction == 0 else along_cell[start]
            gain = sign if direction == 0 else -sign
            while edge >= 0 and edges[edge] >= 0:
                pair = edge ^ 1
                flat[edges[edge]] += gain
                flat[edges[pair]] -= gain
                edges[edge] = -1
                edges[pair] = -1
                edge = along_cell[pair]
    return state
