"""Typed columns of values that expressions are computed on: exact, with a mask for what is missing.

Numbers are fractions of whole numbers of any size (`over` is the denominator). Dates are days since 1970, moments and
durations seconds. Python's own whole numbers are used throughout, since a product of two grids may pass 64 bits.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from jaxtyping import Bool

Kind = Literal["number", "text", "truth", "date", "moment", "duration"]
FARTHEST = 2**62
"""What a derived number may be; those beyond are kept at it."""
Objects = Any
"""An array of Python objects: whole numbers, texts or truth values."""


@dataclass(frozen=True, eq=False)
class Values:
    """One column: `of` holds numerators, days, seconds, texts or truth values; `missing` says where there is none."""

    kind: Kind
    of: Objects
    missing: Bool[np.ndarray, " rows"]
    over: Objects = 1

    def __len__(self) -> int:
        return len(self.missing)


def number(of: Objects, missing: Bool[np.ndarray, " rows"], over: Objects = 1) -> Values:
    """A column of numbers."""
    return Values("number", of, missing, over)


def constant(kind: Kind, value: Any, rows: int, over: int = 1) -> Values:
    """The same value in every row."""
    return Values(kind, objects([value] * rows), np.zeros(rows, dtype=bool), over)


def objects(values: Any) -> Objects:
    """An array of Python objects, whatever they are."""
    made = np.empty(len(values), dtype=object)
    made[:] = values
    return made


def either_missing(*columns: Values) -> Bool[np.ndarray, " rows"]:
    """Where one of the columns is missing."""
    found = columns[0].missing
    for column in columns[1:]:
        found = found | column.missing
    return found


def common(one: Values, other: Values) -> tuple[Objects, Objects, Objects]:
    """Two numbers over the same denominator."""
    return one.of * other.over, other.of * one.over, one.over * other.over


def floor(value: Values) -> Objects:
    """The greatest whole number that is not greater."""
    return value.of // value.over


def mapped(function: Callable[[Any], Any], column: Values) -> Objects:
    """A function of every value that is not missing; what is missing stays as it is."""
    return objects(
        [value if absent else function(value) for value, absent in zip(column.of, column.missing, strict=True)]
    )
