"""Synthetic rows column by column, as small as a page can hold them: a dictionary of values, and a number per row.

A number or moment of which the rows hold more than EXACT values is cut to fewer: numbers to four digits (towards minus
infinity, so that a comparison with a number of four digits stays exact), moments to a coarser unit. The page says so. No
value leaves its cell: what the page counts by cells is exact.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from sundog.domain import Column, Numeric
from sundog.domain.axis import Axis
from sundog.domain.rows import Rows
from sundog.random.keys import key_of, permutation

EXACT = 10_000
DIGITS = 4
UNITS = {
    1: "second",
    60: "minute",
    600: "10 minutes",
    3600: "hour",
    6 * 3600: "6 hours",
    86_400: "day",
    7 * 86_400: "week",
}
CELLS = 1_500_000
"""This many cells of synthetic rows a page holds, if they pack well enough."""

Codes = Int[np.ndarray, " rows"]


@dataclass(frozen=True, eq=False)
class Coded:
    """One column: the codes that occur, which of them each row has, and how they were cut ('' where they were not)."""

    column: Column
    values: Int[np.ndarray, " values"]
    places: Codes
    cut: str = ""


def coded(column: Column, codes: Codes, axes: Sequence[Axis]) -> Coded:
    """A column's codes as places in a dictionary; values may be cut, but not out of a cell of the axes."""
    values, places = np.unique(codes, return_inverse=True)
    if len(values) <= EXACT or not isinstance(column, Numeric):
        return Coded(column, values, places)
    cut, said = _cut(column, values)
    cells = axes[0].refine(*axes[1:])
    kept, merged = np.unique(np.maximum(cut, cells.firsts[cells.cells(values)]), return_inverse=True)
    return Coded(column, kept, merged[places], said)


def _cut(column: Numeric, codes: Codes) -> tuple[Codes, str]:
    """The codes of a numeric column cut to fewer, and how."""
    units = codes.astype(np.int64) + column.lower
    if column.kind in ("integer", "number"):
        power = np.maximum(np.floor(np.log10(np.maximum(np.abs(units), 1))).astype(np.int64) - DIGITS + 1, 0)
        cut, said = units // 10**power * 10**power, f"to {DIGITS} digits"
    else:
        seconds = 86_400 if column.kind == "date" else column.resolution
        step, name = _unit(seconds, int(np.ptp(units)) + 1)
        cut, said = units // step * step, f"to the {name}"
    floor = np.maximum(cut, column.lower) - column.lower
    return np.where(codes == column.missing, codes, floor) if column.missing is not None else floor, said


def _unit(seconds: int, reach: int) -> tuple[int, str]:
    """The finest unit that leaves at most EXACT values, in steps of the grid."""
    for length, name in UNITS.items():
        if length % seconds == 0 and reach * seconds <= EXACT * length:
            return length // seconds, name
    return -(-reach // EXACT), "nearest of 10,000 moments"


def kept_rows(rows: Rows, most: int) -> Rows:
    """At most this many rows, drawn without replacement with a fixed key: the same rows for the same table."""
    if len(rows) <= most:
        return rows
    kept = np.sort(permutation(key_of(0), len(rows))[:most])
    weights: Float[np.ndarray, " rows"] | None = None if rows.weights is None else rows.weights[kept]
    return Rows(rows.schema, tuple(codes[kept] for codes in rows.codes), weights)
