"""The functions that expressions may call: their types and their values. A new one is one entry in FUNCTIONS."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from fractions import Fraction
from typing import Any

import numpy as np

from sundog.domain.columns import EPOCH
from sundog.domain.derived.values import FARTHEST, Kind, Values, common, either_missing, floor, mapped, number, objects
from sundog.errors import UserError

DAY = 86_400
LONGEST_TEXT = 10_000
"""Characters of a text that is put together; fields may use each other, and would soon fill all memory."""
NUMBER_KINDS = ("number",)
WHEN = ("date", "moment")


@dataclass(frozen=True)
class Function:
    """What it takes (in words), the kind that it gives for the kinds of its arguments (None: refused), its values."""

    takes: str
    gives: Callable[[Sequence[Kind]], Kind | None]
    make: Callable[[Sequence[Values]], Values]


def call(name: str, arguments: Sequence[Values]) -> Values:
    """The value of a function."""
    return FUNCTIONS[name].make(arguments)


def _fixed(takes: Sequence[tuple[str, ...]], gives: Kind) -> Callable[[Sequence[Kind]], Kind | None]:
    def kind(found: Sequence[Kind]) -> Kind | None:
        fits = len(found) == len(takes) and all(each in allowed for each, allowed in zip(found, takes, strict=True))
        return gives if fits else None

    return kind


def _all_of(allowed: tuple[str, ...], *, least: int) -> Callable[[Sequence[Kind]], Kind | None]:
    """Several arguments of one allowed kind, which is also what comes out."""

    def kind(found: Sequence[Kind]) -> Kind | None:
        return found[0] if len(found) >= least and set(found) == {found[0]} and found[0] in allowed else None

    return kind


def _day(value: Values) -> Any:
    """Days since 1970 of a date or moment."""
    return value.of // DAY if value.kind == "moment" else value.of


def _of_day(function: Callable[[date], int]) -> Callable[[Sequence[Values]], Values]:
    def make(arguments: Sequence[Values]) -> Values:
        (when,) = arguments
        days = Values("date", _day(when), when.missing)
        return number(mapped(lambda day: function(EPOCH + timedelta(days=int(day))), days), when.missing)

    return make


def _clock(seconds: int, modulus: int) -> Callable[[Sequence[Values]], Values]:
    def make(arguments: Sequence[Values]) -> Values:
        (when,) = arguments
        return number(when.of // seconds % modulus, when.missing)

    return make


def _in_units(seconds: int) -> Callable[[Sequence[Values]], Values]:
    def make(arguments: Sequence[Values]) -> Values:
        (length,) = arguments
        return number(length.of, length.missing, seconds)

    return make


def _age(arguments: Sequence[Values]) -> Values:
    """Full years between two dates."""
    born, at = arguments

    def years(pair: tuple[int, int]) -> int:
        first, last = (EPOCH + timedelta(days=int(day)) for day in pair)
        return last.year - first.year - ((last.month, last.day) < (first.month, first.day))

    pairs = Values("date", objects(list(zip(_day(born), _day(at), strict=True))), either_missing(born, at))
    return number(mapped(years, pairs), pairs.missing)


def _extreme(choose: Callable[..., Any]) -> Callable[[Sequence[Values]], Values]:
    def make(arguments: Sequence[Values]) -> Values:
        best = arguments[0]
        for other in arguments[1:]:
            a, b, over = common(best, other)
            of = objects([choose(pair) for pair in zip(a, b, strict=True)])
            best = Values(best.kind, of, either_missing(best, other), over)
        return best

    return make


def _if(arguments: Sequence[Values]) -> Values:
    """The second where the first holds, the third where it does not or is missing."""
    asked, then, other = arguments
    chosen = np.array([bool(value) for value in asked.of], dtype=bool) & ~asked.missing
    a, b, over = common(then, other) if then.kind == "number" else (then.of, other.of, 1)
    return Values(then.kind, np.where(chosen, a, b), np.where(chosen, then.missing, other.missing), over)


def _first(arguments: Sequence[Values]) -> Values:
    """The first that is not missing."""
    found = arguments[0]
    for other in arguments[1:]:
        a, b, over = common(found, other) if found.kind == "number" else (found.of, other.of, 1)
        found = Values(found.kind, np.where(found.missing, b, a), found.missing & other.missing, over)
    return found


def _cut(arguments: Sequence[Values]) -> Values:
    """How many of the cut points are not greater."""
    value, *cuts = arguments
    count = objects([0] * len(value))
    for edge in cuts:
        a, b, _ = common(value, edge)
        count = count + objects([int(x >= y) for x, y in zip(a, b, strict=True)])
    return number(count, either_missing(value, *cuts))


def _choose(arguments: Sequence[Values]) -> Values:
    """The value with that place in the list, from 0; missing outside it."""
    place, *listed = arguments
    where = floor(place)
    fits = np.array([0 <= int(index) < len(listed) for index in where], dtype=bool)
    chosen = [listed[int(index)] if fit else listed[0] for index, fit in zip(where, fits, strict=True)]
    of = objects([each.of[row] for row, each in enumerate(chosen)])
    missing = np.array([each.missing[row] for row, each in enumerate(chosen)], dtype=bool)
    over = objects([_over(each, row) for row, each in enumerate(chosen)])
    return Values(listed[0].kind, of, place.missing | ~fits | missing, over)


def _over(value: Values, row: int) -> int:
    return int(value.over[row]) if isinstance(value.over, np.ndarray) else int(value.over)


def _lookup(arguments: Sequence[Values]) -> Values:
    """lookup(x, key, value, key, value, ..., otherwise): the value of the key that x equals."""
    asked, *rest = arguments
    found = rest[-1]
    for key, value in reversed(list(zip(rest[:-1:2], rest[1:-1:2], strict=True))):
        same = equal(asked, key)
        found = _if((Values("truth", same.of, same.missing), value, found))
    return Values(found.kind, found.of, found.missing | asked.missing, found.over)


def equal(one: Values, other: Values) -> Values:
    """Whether two values are the same."""
    a, b, _ = common(one, other) if one.kind == "number" else (one.of, other.of, 1)
    return Values("truth", objects([x == y for x, y in zip(a, b, strict=True)]), either_missing(one, other))


def _concat(arguments: Sequence[Values]) -> Values:
    texts = [as_text(value).of for value in arguments]
    if any(sum(map(len, parts)) > LONGEST_TEXT for parts in zip(*texts, strict=True)):
        raise UserError(f"concat(): its text has more than {LONGEST_TEXT:,} characters; derive shorter ones.")
    return Values("text", objects(["".join(parts) for parts in zip(*texts, strict=True)]), either_missing(*arguments))


def as_text(value: Values) -> Values:
    """A value as it is written: whole numbers without a point, dates as in ISO 8601."""
    spell: dict[str, Callable[[Any], str]] = {
        "text": str,
        "truth": lambda held: "true" if held else "false",
        "date": lambda day: (EPOCH + timedelta(days=int(day))).isoformat(),
        "moment": lambda at: (datetime(1970, 1, 1) + timedelta(seconds=int(at))).isoformat(),
        "duration": lambda length: str(int(length)),
    }
    if value.kind != "number":
        return Values("text", objects([str(part) for part in mapped(spell[value.kind], value)]), value.missing)
    overs = value.over if isinstance(value.over, np.ndarray) else [value.over] * len(value)
    texts = [_spelled(Fraction(int(of), int(over))) if over else "" for of, over in zip(value.of, overs, strict=True)]
    return Values("text", objects(texts), value.missing)


def _spelled(fraction: Fraction) -> str:
    """Within the numbers that a field can hold: longer ones have no end, and no float stands for them."""
    fraction = min(max(fraction, Fraction(-FARTHEST)), Fraction(FARTHEST))
    return str(fraction.numerator) if fraction.denominator == 1 else f"{float(fraction):.10g}"


def _lookup_kind(found: Sequence[Kind]) -> Kind | None:
    if len(found) < 4 or len(found) % 2:
        return None
    keys, values = {found[0], *found[1:-1:2]}, {*found[2:-1:2], found[-1]}
    return found[-1] if len(keys) == 1 and len(values) == 1 else None


def _cut_kind(found: Sequence[Kind]) -> Kind | None:
    return "number" if len(found) > 1 and set(found) == {found[0]} and found[0] in ("number", "date") else None


FUNCTIONS: dict[str, Function] = {
    "date": Function("a datetime", _fixed([("moment",)], "date"), lambda a: Values("date", _day(a[0]), a[0].missing)),
    "year": Function("a date or datetime", _fixed([WHEN], "number"), _of_day(lambda day: day.year)),
    "month": Function("a date or datetime", _fixed([WHEN], "number"), _of_day(lambda day: day.month)),
    "day": Function("a date or datetime", _fixed([WHEN], "number"), _of_day(lambda day: day.day)),
    "weekday": Function("a date or datetime", _fixed([WHEN], "number"), _of_day(lambda day: day.isoweekday())),
    "hour": Function("a datetime", _fixed([("moment",)], "number"), _clock(3600, 24)),
    "minute": Function("a datetime", _fixed([("moment",)], "number"), _clock(60, 60)),
    "days": Function("a difference of dates or datetimes", _fixed([("duration",)], "number"), _in_units(DAY)),
    "hours": Function("a difference of dates or datetimes", _fixed([("duration",)], "number"), _in_units(3600)),
    "minutes": Function("a difference of dates or datetimes", _fixed([("duration",)], "number"), _in_units(60)),
    "seconds": Function("a difference of dates or datetimes", _fixed([("duration",)], "number"), _in_units(1)),
    "age": Function("two dates or datetimes: birth, and when", _fixed([WHEN, WHEN], "number"), _age),
    "floor": Function("a number", _fixed([NUMBER_KINDS], "number"), lambda a: number(floor(a[0]), a[0].missing)),
    "abs": Function(
        "a number", _fixed([NUMBER_KINDS], "number"), lambda a: number(abs(a[0].of), a[0].missing, a[0].over)
    ),
    "min": Function("two or more numbers, or dates", _all_of(("number", "date", "moment"), least=2), _extreme(min)),
    "max": Function("two or more numbers, or dates", _all_of(("number", "date", "moment"), least=2), _extreme(max)),
    "cut": Function("a value and cut points of its kind", _cut_kind, _cut),
    "choose": Function(
        "a number and two or more values of one kind",
        lambda found: found[1] if len(found) > 2 and found[0] == "number" and len(set(found[1:])) == 1 else None,
        _choose,
    ),
    "lookup": Function("a value, pairs of key and value, and what else", _lookup_kind, _lookup),
    "if": Function(
        "a condition and two values of one kind",
        lambda found: found[1] if len(found) == 3 and found[0] == "truth" and found[1] == found[2] else None,
        _if,
    ),
    "first": Function(
        "two or more values of one kind",
        _all_of(("number", "text", "truth", "date", "moment"), least=2),
        _first,
    ),
    "concat": Function("one or more values", lambda found: "text" if found else None, _concat),
    "text": Function("a value", lambda found: "text" if len(found) == 1 else None, lambda a: as_text(a[0])),
}


def kind_of_call(name: str, kinds: Sequence[Kind], *, said: str) -> Kind:
    """The kind that a function gives; refuses arguments that it does not take."""
    found = FUNCTIONS[name].gives(kinds)
    if found is None:
        given = ", ".join(kinds) or "nothing"
        raise UserError(f"{said}: {name}() takes {FUNCTIONS[name].takes}; found {given}.")
    return found
