"""Whether rows satisfy a constraint, and the value of one column that would make them: exact whole-number arithmetic."""

import numpy as np
from jaxtyping import Bool, Int

from sundog.domain import Numeric
from sundog.domain.constraints.kinds import Impossible, Linear, Pairs
from sundog.domain.rows import Rows


def holds(rule: Linear | Pairs | Impossible, rows: Rows) -> Bool[np.ndarray, " rows"]:
    """Which rows satisfy a constraint."""
    if isinstance(rule, Linear):
        total, known = _total(rule, rows, leave_out=None)
        return ~known | (total == rule.limit if rule.equal else total <= rule.limit)
    if isinstance(rule, Pairs):
        return _allowed(rule, rows)
    forbidden = np.ones(len(rows), dtype=np.bool_)
    for name, ranges in zip(rule.columns, rule.ranges, strict=True):
        codes = rows.column(name)
        inside = np.zeros(len(rows), dtype=np.bool_)
        for start, end in ranges:
            inside |= (codes >= start) & (codes < end)
        forbidden &= inside
    return ~forbidden


def solved(rule: Linear, rows: Rows, name: str) -> Int[np.ndarray, " rows"]:
    """Codes of one column within its bounds that bring a linear constraint closest to its limit."""
    column = rows.schema.column(name)
    coefficient = rule.coefficients[rule.columns.index(name)]
    if not isinstance(column, Numeric) or coefficient == 0:
        return rows.column(name)
    rest, _ = _total(rule, rows, leave_out=name)
    room = rule.limit - rest
    units = room // coefficient if coefficient > 0 else -(room // -coefficient)
    return np.clip(units - column.lower, 0, column.steps - 1)


def reach(rule: Linear, rows: Rows, name: str) -> tuple[Int[np.ndarray, " rows"], Int[np.ndarray, " rows"]]:
    """The lowest and the highest code of one column with which rows satisfy a linear constraint, given their other columns."""
    column = rows.schema.column(name)
    coefficient = rule.coefficients[rule.columns.index(name)]
    if not isinstance(column, Numeric) or coefficient == 0:
        raise TypeError(f"{name!r} is no number of the constraint")
    rest, known = _total(rule, rows, leave_out=name)
    room = rule.limit - rest if coefficient > 0 else rest - rule.limit
    below, above = room // abs(coefficient) - column.lower, -(-room // abs(coefficient)) - column.lower
    low = np.where(known & (rule.equal or coefficient < 0), np.maximum(above, 0), 0)
    high = np.where(known & (rule.equal or coefficient > 0), np.minimum(below, column.steps - 1), column.steps - 1)
    return low, high


def _total(
    rule: Linear, rows: Rows, *, leave_out: str | None
) -> tuple[Int[np.ndarray, " rows"], Bool[np.ndarray, " rows"]]:
    """The weighted sum of grid units, and which rows have every number that it needs."""
    total = np.zeros(len(rows), dtype=np.int64)
    known = np.ones(len(rows), dtype=np.bool_)
    for name, coefficient in zip(rule.columns, rule.coefficients, strict=True):
        column = rows.schema.column(name)
        codes = rows.column(name).astype(np.int64)
        if isinstance(column, Numeric):
            known &= codes != column.steps
            if name != leave_out:
                total += coefficient * (np.minimum(codes, column.steps - 1) + column.lower)
    return total, known


def _allowed(rule: Pairs, rows: Rows) -> Bool[np.ndarray, " rows"]:
    left, right = (rows.schema.column(name) for name in rule.columns)
    table = np.zeros((left.size, right.size), dtype=np.bool_)
    table[tuple(np.array(sorted(rule.allowed)).T)] = True
    return table[rows.column(rule.columns[0]), rows.column(rule.columns[1])]
