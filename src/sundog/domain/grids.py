"""What a grid unit is worth, and the way from one column's grid to another's."""

import re
from fractions import Fraction
from typing import Any

from sundog.domain.columns import Column, Numeric

SECONDS_PER_DAY = 86_400
SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": SECONDS_PER_DAY, "week": 7 * SECONDS_PER_DAY}
_SPAN = re.compile(r"\s*([-+]?[0-9]{1,15}(?:\.[0-9]{1,9})?)\s*(second|minute|hour|day|week)s?\s*")
UNITS = {1: "seconds", 60: "minutes", 3600: "hours", SECONDS_PER_DAY: "days"}


def worth(column: Numeric) -> Fraction:
    """What one grid unit is worth: of numbers in ones, of dates and times in seconds."""
    if column.kind == "date":
        return Fraction(SECONDS_PER_DAY)
    if column.kind in ("datetime", "time"):
        return Fraction(column.resolution)
    return Fraction(1, 10**column.decimals)


def ratio(base: Numeric, own: Numeric) -> Fraction:
    """How many units of the own grid one unit of the base's grid is."""
    return worth(base) / worth(own)


def in_units(units: Any, step: Fraction) -> Any:
    """Units of one grid in those of another, cut to the one below."""
    return units * step.numerator // step.denominator


def unit_of(column: Column) -> str:
    """The unit that a distance between moments is counted in, in a word; empty for all else."""
    own = column.distance.own if isinstance(column, Numeric) and column.distance is not None else None
    return "" if own is None or own.kind not in ("date", "datetime") else unit_named(int(worth(own)))


def unit_named(seconds: int) -> str:
    """A unit of this many seconds, in a word.

    >>> unit_named(86_400), unit_named(900)
    ('days', 'units of 900 seconds')
    """
    return UNITS.get(seconds, f"units of {seconds} seconds")


def span(text: str) -> Fraction | None:
    """The seconds of a span of time in words; None where it is none.

    >>> span("36 hours"), span("soon")
    (Fraction(129600, 1), None)
    """
    said = _SPAN.fullmatch(text)
    return None if said is None else Fraction(said[1]) * SECONDS[said[2]]
