"""Soft tables: synthetic rows that a gradient can move, written as one matrix of features (RAP, RAP++, GEM).

A column is held over the cells of an axis (each row has a probability for each cell) or, in RAP++, as a number in [0, 1]
with a probability of being missing. `Frame` says how, and which further axes the measurements ask about; `features`
writes everything the queries need as one matrix (features x rows), so that a query only ever picks rows of it:

    probabilities of held cells | place, value, value for halfspaces, missing | cells of further axes | 1 | 0

The number of a column that was measured alone is its rank u: its value is the quantile Q(u) of that measurement, so that
spikes are wide and thresholds lie where rows are. For gradients Q is averaged over u +- h, h = SMOOTH / sharpness, which
leaves no flat places; a threshold t becomes F(t). The number of any other column is its position between its bounds.

Cells of an axis other than the held one are reached by P(cell | held cell), taken from the released one-way measurement;
on a number they are differences of sigmoids of the given sharpness. With `hard`, the matrix says what a table made of
these rows answers, in expectation over the rounding of its labels: ranks are evenly spaced, thresholds exact, and the
rows most likely to be missing are.
Float32: a grid finer than about 2^22 steps is distinguished only to that precision.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from sundog.domain import Numeric, Schema
from sundog.domain.axis import Axis
from sundog.domain.rows import Rows
from sundog.estimate.bins import Leaves
from sundog.generate.independent import systematic
from sundog.lazy_jax import Array, jax, jnp
from sundog.queries.halfspace import GRID
from sundog.random.draws import draw_within
from sundog.random.keys import Key, fold_in, permutation, split, uniforms
from sundog.released import Released

Params = dict[str, Any]
"""`logits`: one array (cells, rows) a held column; `numbers` and `absent`: (rows,) a number column."""
PAD = 64
HARD = 1e12
SMOOTH = 4.0
FAR = 1e3
"""Beyond all places and logits: a bound that is none."""
PLACE, VALUE, EMBEDDED, MISSING = range(4)
"""The features of a number."""
SURE = 0.98
"""How sure a fresh row is of being missing or not."""
PUBLIC = 0.98
"""How sure a row that starts from a public one is of its labels."""


@dataclass(frozen=True)
class Frame:
    """How rows are held: an axis a column (None: a number), and the further axes that are asked about."""

    schema: Schema
    held: tuple[Axis | None, ...]
    further: tuple[Axis, ...] = ()

    @staticmethod
    def of(released: Released, axes: Sequence[Axis], *, numbers: bool) -> "Frame":
        """Columns over the coarsest cells that tell all axes apart, numeric ones as numbers where wanted."""
        held: list[Axis | None] = []
        for column in released.schema.columns:
            asked = [axis for axis in axes if axis.column == column.name]
            number = numbers and isinstance(column, Numeric) and column.steps > 1
            held.append(None if number else asked[0].refine(*asked[1:]) if asked else Axis.of(column))
        return Frame(released.schema, tuple(held))

    def asking(self, axes: Sequence[Axis]) -> "Frame":
        """The same rows, asked about these axes."""
        further = [axis for axis in dict.fromkeys(axes) if axis not in self.held]
        return Frame(self.schema, self.held, tuple(further))

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """Where each column's features begin, then each further axis's, then the constant one."""
        sizes = [4 if axis is None else axis.size for axis in self.held] + [axis.size for axis in self.further]
        return tuple(np.cumsum([0, *sizes]).tolist())

    @property
    def one(self) -> int:
        """The feature that is 1."""
        return self.starts[-1]

    @property
    def zero(self) -> int:
        """The feature that is 0."""
        return self.starts[-1] + 1

    @property
    def size(self) -> int:
        """The number of features, rounded up so that few shapes exist."""
        return -(-(self.starts[-1] + 2) // PAD) * PAD

    def cells(self, axis: Axis) -> Int[np.ndarray, " cells"]:
        """The features that hold an axis's cells."""
        place = self.schema.position(axis.column)
        start = self.starts[place if self.held[place] == axis else len(self.held) + self.further.index(axis)]
        return np.arange(start, start + axis.size)

    def number(self, name: str) -> int | None:
        """The first feature of a column that is held as a number, else None."""
        place = self.schema.position(name)
        return self.starts[place] if self.held[place] is None else None


@dataclass(frozen=True, eq=False)
class SoftTable:
    """The rows: how they are held, the parameters, and the leaves by which a cell becomes a value.

    descended: whether they were moved towards anything but single columns. public: a public table to start from.
    """

    frame: Frame
    params: Params
    leaves: dict[str, Leaves]
    descended: bool = False
    public: Rows | None = None

    @property
    def rows(self) -> int:
        """How many soft rows there are."""
        return jax.tree.leaves(self.params)[0].shape[-1]


def fresh_params(key: Key, frame: Frame, *, leaves: dict[str, Leaves], rows: int, simplex: str = "softmax") -> Params:
    """Rows that follow every column's own distribution; half of each row's probability is a cell drawn for it."""
    params: Params = {"logits": {}, "numbers": {}, "absent": {}}
    for column_key, column, axis in zip(split(key, len(frame.held)), frame.schema.columns, frame.held, strict=True):
        known = leaves[column.name]
        if axis is not None:
            chances = _fresh_chances(column_key, known.shares(axis), rows)
            logits = np.log(chances) if simplex == "softmax" else chances
            params["logits"][column.name] = jnp.asarray(logits, jnp.float32)
            continue
        order_key, gone_key = split(column_key, 2)
        places = (permutation(order_key, rows) + 0.5) / rows
        params["numbers"][column.name] = jnp.asarray(places, jnp.float32)
        if column.nullable:
            gone = permutation(gone_key, rows) < _missing(known) * rows
            params["absent"][column.name] = jnp.asarray(np.where(gone, 1, -1) * np.log(SURE / (1 - SURE)), jnp.float32)
    return params


def public_params(
    key: Key, frame: Frame, *, leaves: dict[str, Leaves], rows: int, simplex: str, public: Rows
) -> Params:
    """Rows of a public table, a little of every column's own distribution mixed in so that any cell can be reached.

    A number is its rank among these rows: their relations are the public table's, every column is as measured.
    """
    params = fresh_params(key, frame, leaves=leaves, rows=rows, simplex=simplex)
    ends = np.arange(rows) * (len(public) / rows) + float(uniforms(key, 1)[0]) * len(public) / rows
    chosen = permutation(key, len(public))[ends.astype(np.int64) % len(public)]
    for column, axis in zip(frame.schema.columns, frame.held, strict=True):
        codes = public.column(column.name)[chosen]
        if axis is not None:
            chances = np.repeat((1 - PUBLIC) * leaves[column.name].shares(axis)[:, None], rows, axis=1) + 1e-6
            chances[axis.cells(codes), np.arange(rows)] += PUBLIC
            logits = np.log(chances / chances.sum(axis=0)) if simplex == "softmax" else chances / chances.sum(axis=0)
            params["logits"][column.name] = jnp.asarray(logits, jnp.float32)
            continue
        ranks = np.argsort(np.argsort(codes + uniforms(fold_in(key, frame.schema.position(column.name)), rows)))
        params["numbers"][column.name] = jnp.asarray((ranks + 0.5) / rows, jnp.float32)
        if column.nullable:
            gone = np.where(codes == column.missing, 1, -1) * np.log(SURE / (1 - SURE))
            params["absent"][column.name] = jnp.asarray(gone, jnp.float32)
    return params


def carried_params(params: Params, before: Frame, frame: Frame, *, leaves: dict[str, Leaves], simplex: str) -> Params:
    """The same rows held over other cells: each row's chances go over by P(new cell | old cell), numbers stay."""
    held = SoftTable(before, params, leaves)
    carried = {**params, "logits": dict(params["logits"])}
    onto = sparsemax if simplex == "sparsemax" else partial(jax.nn.softmax, axis=0)
    for column, old, new in zip(frame.schema.columns, before.held, frame.held, strict=True):
        if old is None or new is None or old == new:
            continue
        transfer = _transfer(held.frame, new, leaves[column.name], Known())
        chances = (transfer @ np.asarray(onto(params["logits"][column.name]), dtype=np.float64)) + 1e-6
        carried["logits"][column.name] = jnp.asarray(np.log(chances) if simplex == "softmax" else chances, jnp.float32)
    return carried


def _fresh_chances(key: Key, shares: Float[np.ndarray, " cells"], rows: int) -> Float[np.ndarray, "cells rows"]:
    drawn = systematic(shares, rows, offset=0.5)[permutation(key, rows)]
    probabilities = np.repeat(0.5 * shares[:, None], rows, axis=1) + 1e-4
    probabilities[drawn, np.arange(rows)] += 0.5
    return probabilities / probabilities.sum(axis=0)


class Known(NamedTuple):
    """What the one-way measurements say: how to reach each further axis, number columns' values, and shares missing."""

    further: tuple[Any, ...] = ()
    quantiles: dict[str, Any] = {}  # noqa: RUF012 (never changed)
    missing: dict[str, Any] = {}  # noqa: RUF012


def known_of(frame: Frame, leaves: dict[str, Leaves], *, rows: int) -> Known:
    """P(cell | held cell) or the cuts between a number's cells for every further axis; quantiles of measured columns."""
    names = [column.name for column, axis in zip(frame.schema.columns, frame.held, strict=True) if axis is None]
    measured = [leaves[name] for name in names if leaves[name].stddev > 0]
    known = Known(
        quantiles={part.column.name: _quantiles(part, rows) for part in measured},
        missing={part.column.name: _missing(part) for part in measured if part.column.nullable},
    )
    further = (_transfer(frame, axis, leaves[axis.column], known) for axis in frame.further)
    return known._replace(further=tuple(jnp.asarray(part, jnp.float32) for part in further))


def place_of(frame: Frame, name: str, known: Known, starts: Any) -> Any:
    """Where the cut below a code lies among a column's numbers: F of the value half a step below it."""
    column = frame.schema.column(name)
    cut = (np.asarray(starts) - 0.5) / max(column.size - column.nullable - 1, 1)
    if name not in known.quantiles:
        return cut
    values = np.asarray(known.quantiles[name], dtype=np.float64)
    return np.searchsorted(values, cut) / len(values)


def _missing(leaves: Leaves) -> float:
    return float(leaves.shares(Axis.cut(leaves.column, [0]))[-1])


def _quantiles(leaves: Leaves, rows: int) -> Float[Array, " rows"]:
    """The values of a column that is there, as positions, at equally spaced ranks."""
    column = leaves.column
    starts = leaves.axis.run_starts()
    there = starts != (column.missing if column.nullable else -1)
    share = leaves.proportions[there] + 1e-12
    ends = np.cumsum(share) / share.sum()
    ranks = (np.arange(rows) + 0.5) / rows
    place = np.minimum(np.searchsorted(ends, ranks, side="right"), len(ends) - 1)
    inside = 1 - (ends[place] - ranks) / (share[place] / share.sum())
    width = leaves.axis.widths[there][place]
    codes = starts[there][place] + np.clip(np.floor(inside * width), 0, width - 1)
    return jnp.asarray(codes / max(column.size - column.nullable - 1, 1), jnp.float32)


def _transfer(frame: Frame, axis: Axis, leaves: Leaves, known: Known) -> Float[np.ndarray, "..."]:
    column, held = frame.schema.column(axis.column), frame.held[frame.schema.position(axis.column)]
    if held is None:
        starts = axis.run_starts()
        inner = starts[(starts > 0) & (starts != (column.missing if column.nullable else -1))]
        return place_of(frame, axis.column, known, inner)
    fine = leaves.within(axis).within(held)
    matrix = np.zeros((axis.size, held.size))
    np.add.at(matrix, (fine.cells(axis), fine.cells(held)), fine.proportions + 1e-9)
    return matrix / matrix.sum(axis=0, keepdims=True)


def sparsemax(logits: Float[Array, "cells rows"]) -> Float[Array, "cells rows"]:
    """The closest point of the simplex (Martins and Astudillo 2016); sparse, so gradients of absent cells vanish."""
    falling = -jnp.sort(-logits, axis=0)
    ranks = jnp.arange(1, logits.shape[0] + 1)[:, None]
    sums = jnp.cumsum(falling, axis=0)
    kept = (1 + ranks * falling > sums).sum(axis=0, keepdims=True)
    shift = (jnp.take_along_axis(sums, kept - 1, axis=0) - 1) / kept
    return jnp.maximum(logits - shift, 0.0)


def features(
    params: Params,
    known: Known,
    sharpness: tuple[Any, Any],
    *,
    frame: Frame,
    simplex: str = "softmax",
    hard: bool = False,
) -> Float[Array, "features rows"]:
    """Everything that queries ask of the rows, as one matrix; sharpness of cells, and of what halfspaces see."""
    onto = sparsemax if simplex == "sparsemax" else partial(jax.nn.softmax, axis=0)
    blocks: dict[str, Any] = {name: onto(logits) for name, logits in params["logits"].items()}
    for name, number in params["numbers"].items():
        place, value = _placed(number, known.quantiles.get(name), sharpness[1], hard)
        missing = _gone(params["absent"].get(name, jnp.full_like(number, -FAR)), known.missing.get(name), hard)
        blocks[name] = _number_block(frame, name, place, value, missing, hard)
    parts = [blocks[name] for name in frame.schema.names]
    for axis, transfer in zip(frame.further, known.further, strict=True):
        block = blocks[axis.column]
        held = frame.held[frame.schema.position(axis.column)]
        parts.append(transfer @ block if held is not None else _number_cells(block, transfer, sharpness[0], axis.size))
    rows = parts[0].shape[1]
    parts.append(jnp.ones((1, rows)))
    parts.append(jnp.zeros((frame.size - frame.one - 1, rows)))
    return jnp.concatenate(parts, axis=0)


def _placed(number: Any, quantiles: Any, sharpness: Any, hard: bool) -> tuple[Any, Any]:
    """A number's place, and its value: the quantile there, averaged over its surroundings unless `hard`."""
    if quantiles is None:
        clipped = jnp.clip(number, 0.0, 1.0)
        return clipped, clipped
    rows = quantiles.shape[0]
    if hard:
        ranks = jnp.argsort(jnp.argsort(number))
        return (ranks + 0.5) / rows, quantiles[ranks]
    half = SMOOTH / sharpness
    knots = jnp.arange(rows + 1) / rows
    sums = jnp.concatenate([jnp.zeros(1), jnp.cumsum(quantiles) / rows])
    upper, lower = number + half, number - half
    integral = jnp.interp(upper, knots, sums) - jnp.interp(lower, knots, sums)
    beyond = quantiles[-1] * jnp.maximum(upper - 1.0, 0.0) + quantiles[0] * jnp.maximum(-lower, 0.0)
    return number, (integral + beyond) / (2 * half)


def _gone(absent: Float[Array, " rows"], share: Any, hard: bool) -> Float[Array, " rows"]:
    """How missing each row is; with `hard` the most missing ones are, as many as were measured."""
    if not hard:
        return jax.nn.sigmoid(absent)
    rows = absent.shape[0]
    gone = absent > 0 if share is None else jnp.argsort(jnp.argsort(absent)) >= jnp.round(rows * (1.0 - share))
    return gone.astype(jnp.float32)


def _number_block(frame: Frame, name: str, place: Any, value: Any, missing: Any, hard: bool) -> Float[Array, "4 rows"]:
    """Place, value, the value on the halfspaces' grid (0 where missing), and how missing it is."""
    column = frame.schema.column(name)
    last = max(column.size - column.nullable - 1, 1)
    value = jnp.round(value * last) / last if hard else value
    place = value if hard and place is value else place
    embedded = jnp.floor(value * GRID + 0.5) / GRID if hard else value
    return jnp.stack([place, value, embedded * (1.0 - missing), missing])


def _number_cells(
    block: Float[Array, "4 rows"], cuts: Float[Array, " cuts"], sharpness: Any, size: int
) -> Float[Array, "cells rows"]:
    above = jax.nn.sigmoid(sharpness * (block[PLACE][None, :] - cuts[:, None]))
    edges = jnp.concatenate([jnp.ones((1, above.shape[1])), above, jnp.zeros((1, above.shape[1]))])
    cells = (edges[:-1] - edges[1:]) * (1.0 - block[MISSING])
    return cells if cells.shape[0] == size else jnp.concatenate([cells, block[MISSING][None, :]])


def cells_on(
    table: SoftTable, axis: Axis, held: Float[np.ndarray, "features rows"], *, known: Known
) -> Float[np.ndarray, "cells rows"]:
    """The cells of any axis from the hard features of the held ones; without compiling anything."""
    place = table.frame.schema.position(axis.column)
    start, kept = table.frame.starts[place], table.frame.held[place]
    if kept is None:
        cuts = _transfer(table.frame, axis, table.leaves[axis.column], known).astype(np.float32)
        gone = held[start + MISSING]
        member = np.eye(len(cuts) + 1, dtype=np.float32)[np.searchsorted(cuts, held[start])].T * (1 - gone)
        return member if len(member) == axis.size else np.concatenate([member, gone[None, :]])
    block = held[start : start + kept.size]
    if kept == axis:
        return block
    return _transfer(table.frame, axis, table.leaves[axis.column], known).astype(np.float32) @ block


def rounded(key: Key, table: SoftTable, *, rows: int, simplex: str = "softmax") -> Rows:
    """Randomised rounding with oversampling: each soft row is copied equally often, then each of its cells is drawn.

    Draws are unbiased, independent between columns, and systematic among the copies of a row, which makes the rounding
    error smaller than independent draws would. Numbers go to the nearest point of their grid.
    """
    frame = table.frame.asking(())
    known = known_of(frame, table.leaves, rows=table.rows)
    matrix = np.asarray(
        features(table.params, known, (HARD, HARD), frame=frame, simplex=simplex, hard=True), dtype=np.float64
    )
    copies_key, order_key, *keys = split(key, 2 + len(table.frame.held))
    source = _copies(copies_key, table.rows, rows)
    codes = [_codes(k, table, matrix, place, source) for place, k in enumerate(keys)]
    order = permutation(order_key, rows)
    return Rows(table.frame.schema, tuple(column[order] for column in codes))


def _copies(key: Key, soft_rows: int, rows: int) -> Int[np.ndarray, " rows"]:
    """Which soft row each row copies: all equally often, give or take one."""
    ends = np.floor(np.arange(1, soft_rows + 1) * (rows / soft_rows) + float(uniforms(key, 1)[0]))
    ends[-1] = rows
    counts = np.diff(np.minimum(ends, rows), prepend=0).astype(np.int64)
    return np.repeat(permutation(key, soft_rows), counts)


def _codes(
    key: Key, table: SoftTable, matrix: Float[np.ndarray, "features rows"], place: int, source: Int[np.ndarray, " rows"]
) -> Int[np.ndarray, " rows"]:
    column, axis, start = table.frame.schema.columns[place], table.frame.held[place], table.frame.starts[place]
    cell_key, code_key = split(key, 2)
    if axis is None:
        last = column.size - column.nullable - 1
        codes = np.rint(matrix[start + VALUE] * last).astype(np.int64)[source]
        gone = matrix[start + MISSING][source] > 0.5
        return np.where(gone, column.missing or 0, codes) if column.nullable else codes
    cells = _drawn(cell_key, matrix[start : start + axis.size], source)
    return table.leaves[column.name].decode(code_key, axis, cells=cells)


def _drawn(
    key: Key, block: Float[np.ndarray, "cells soft"], source: Int[np.ndarray, " rows"]
) -> Int[np.ndarray, " rows"]:
    cells, soft_rows = block.shape
    items = draw_within(key, source, weights=block.T.ravel(), sizes=np.full(soft_rows, cells))
    return items - source * cells
