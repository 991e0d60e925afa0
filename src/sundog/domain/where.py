"""Conditions as Python writes them: `{"sex": "female", "age": (60, 80)}`, or as a text (conditions.py).

A value asks for that value, None for missing, a list or set for any of its values, a pair (low, high) for numbers, dates or
ordered labels from low to high, both included; None at an end leaves it open. All entries must hold.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, time
from typing import Any

from sundog.domain.columns import Column
from sundog.domain.conditions import All, Condition, Inside, Runs, compared, parse_condition
from sundog.domain.schema import Schema
from sundog.errors import UserError

Where = str | Mapping[str, Any]


def condition_of(where: Where, schema: Schema) -> Condition:
    """The condition that a text or a mapping describes.

    >>> schema = Schema.from_json({"fields": [{"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 99}}]})
    >>> condition_of({"age": (60, 80)}, schema)
    Inside(column='age', runs=((60, 81),))
    """
    if isinstance(where, str):
        return parse_condition(where, schema)
    if not isinstance(where, Mapping) or not where:
        raise UserError(
            'where: write a condition such as "age >= 65 and sex = female", or {"sex": "female", "age": (60, 80)}.'
        )
    parts = tuple(_entry(schema.column(name), asked) for name, asked in where.items())
    return parts[0] if len(parts) == 1 else All(parts)


def _entry(column: Column, asked: Any) -> Inside:
    if isinstance(asked, tuple):
        return Inside(column.name, _range(column, asked))
    values: Iterable[Any] = asked if isinstance(asked, list | set | frozenset) else [asked]
    return Inside(column.name, _joined(sorted({run for value in values for run in _equal(column, value)})))


def _range(column: Column, ends: tuple[Any, ...]) -> Runs:
    """The codes from one end to the other."""
    if len(ends) != 2:
        raise UserError(f"where: {column.name!r}: a range is a pair (low, high); for several values give a list.")
    low, high = 0, column.size - column.nullable
    for sign, end in zip((">=", "<="), ends, strict=True):
        if end is not None:
            runs = _compared(column, sign, end)
            low, high = (max(low, runs[0][0]), min(high, runs[-1][1])) if runs else (0, 0)
    return ((low, high),) if low < high else ()


def _joined(runs: Sequence[tuple[int, int]]) -> Runs:
    """Runs in order, those that touch as one."""
    made: list[tuple[int, int]] = []
    for low, high in runs:
        if made and made[-1][1] == low:
            made[-1] = (made[-1][0], high)
        else:
            made.append((low, high))
    return tuple(made)


def _equal(column: Column, value: Any) -> Runs:
    if value is None:
        return () if column.missing is None else ((column.missing, column.missing + 1),)
    return _compared(column, "=", value)


def _compared(column: Column, operator: str, value: Any) -> Runs:
    plain = value.item() if hasattr(value, "item") else value
    text = plain.isoformat() if isinstance(plain, date | datetime | time) else str(plain)
    return compared(column, operator, text, said=f"where: {column.name!r}")
