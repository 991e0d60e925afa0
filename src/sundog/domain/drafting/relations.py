"""Fields that follow from others, proposed for a draft: derivations that hold in every row, and offsets. Pure.

A bounded set of forms is looked for, each over few columns: the date, year, month, day, weekday or hour of a moment, days between
two dates, an age, a sum of two or three numbers, the same values twice, a lookup of a few labels, labels of ranges of a number. Forms are tried on a
sample of rows first; what survives is counted on all rows, and proposed only if every row agrees, missing cells too.

An offset is proposed where the middle of the differences between two dates, or two numbers, is much narrower than the middle
of the field itself. Everything is marked `fromData` like the rest of a draft, and says in `why` what was seen.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import combinations
from typing import Any, Literal

from sundog.domain.columns import Categorical, Column, Label, Numeric

Form = Literal["date", "year", "month", "day", "weekday", "hour", "days", "age", "sum", "same", "lookup", "ranges"]
PARTS: Mapping[str, tuple[int, int]] = {
    "year": (1800, 2200),
    "month": (0, 20),
    "weekday": (0, 10),
    "day": (0, 40),
    "hour": (0, 30),
}
"""Parts of a moment, and the range that drafted bounds of such a field lie in."""
MOST_NUMBERS, MOST_IN_TRIPLES = 16, 9
"""This many number columns are looked at for sums of two, and of three."""
MOST_KEYS = 20
MOST_RANGES = 100
"""This many pairs of labels and a number are looked at."""
FEWEST_ROWS = 50
"""This many rows must tell of a relation, and of every key of a lookup."""
KEPT = ("name", "type", "format", "missingValues", "trueValues", "falseValues")
"""What a field that is computed keeps of its draft."""
NARROW = {"date": 0.1, "number": 0.2}
"""An offset is proposed where differences are narrower than this part of the field."""


@dataclass(frozen=True)
class Candidate:
    """That a field equals a form of some others."""

    target: Column
    form: Form
    sources: tuple[Column, ...]

    def text(self, pairs: Sequence[tuple[Label, Label]] = ()) -> str:
        """The expression, as a schema writes it; of ranges, the pairs are where each begins, and its label."""
        names = [_quoted(source.name) for source in self.sources]
        if self.form == "ranges":
            return _ranges(names[0], pairs, truth=isinstance(self.target, Categorical) and self.target.boolean)
        if self.form == "days":
            return f"floor(days({names[0]} - {names[1]}))"
        if self.form == "sum":
            return " + ".join(names)
        if self.form == "same":
            return names[0]
        if self.form == "lookup":
            *some, (_, last) = pairs
            listed = [f"{_literal(key)}, {_literal(value)}" for key, value in some]
            return f"lookup({', '.join([names[0], *listed, _literal(last)])})"
        return f"{self.form}({', '.join(names)})"


def _ranges(name: str, pairs: Sequence[tuple[Label, Label]], *, truth: bool) -> str:
    (_, lowest), *above = pairs
    if truth:
        return f"{name} {'<' if lowest else '>='} {above[0][0]}"
    labels = ", ".join(_literal(label) for label in (lowest, *(label for _, label in above)))
    return f"choose(cut({name}, {', '.join(str(begin) for begin, _ in above)}), {labels})"


def candidates(columns: Sequence[Column]) -> list[Candidate]:
    """What may hold, by the types and names of the fields alone; simple forms first."""
    moments = [column for column in columns if _kind(column) in ("date", "datetime")]
    dates = [column for column in moments if _kind(column) == "date"]
    whole = [column for column in columns if _kind(column) == "integer"]
    numbers = [column for column in columns if _kind(column) in ("integer", "number")][:MOST_NUMBERS]
    found = [Candidate(day, "date", (m,)) for day in dates for m in moments if _kind(m) == "datetime"]
    found += [Candidate(n, form, (m,)) for n in whole for form in PARTS for m in moments if _may_be(n, form, m)]  # type: ignore[arg-type]
    pairs = [(a, b) for a in moments for b in moments if a is not b]
    found += [Candidate(n, "days", pair) for n in whole for pair in pairs]
    found += [Candidate(n, "age", pair) for n in whole for pair in pairs if _reach(n)[1] <= 150]
    found += list(_sums(numbers))
    found += list(_same(columns))
    found += [Candidate(y, "lookup", (x,)) for x in columns for y in columns if x is not y and _may_look_up(x, y)]
    found += [Candidate(y, "ranges", (x,)) for y in columns if _may_be_ranges(y) for x in numbers][:MOST_RANGES]
    return found


def _sums(numbers: Sequence[Column]) -> Iterator[Candidate]:
    for count, among in ((2, numbers), (3, numbers[:MOST_IN_TRIPLES])):
        for parts in combinations(among, count):
            for total in among:
                enough = all(_decimals(total) >= _decimals(part) for part in parts)
                if total not in parts and enough:
                    yield Candidate(total, "sum", parts)


def _same(columns: Sequence[Column]) -> Iterator[Candidate]:
    for first, second in combinations(columns, 2):
        alike = _kind(first) == _kind(second) != "time" and _decimals(first) == _decimals(second)
        if isinstance(first, Categorical) and isinstance(second, Categorical):
            alike = first.labels == second.labels and first.boolean == second.boolean
        if alike:
            yield Candidate(second, "same", (first,))


def _kind(column: Column) -> str:
    return column.kind if isinstance(column, Numeric) else "labels"


def _decimals(column: Column) -> int:
    return column.decimals if isinstance(column, Numeric) else 0


def _reach(column: Column) -> tuple[int, int]:
    return (column.lower, column.upper) if isinstance(column, Numeric) else (0, 0)


def _may_be(number: Column, form: str, moment: Column) -> bool:
    low, high = PARTS[form]
    fits = low <= _reach(number)[0] and _reach(number)[1] <= high
    return fits and (form != "hour" or _kind(moment) == "datetime")


def _may_look_up(key: Column, value: Column) -> bool:
    """A few labels, never missing, that may tell another label or a whole number."""
    if not isinstance(key, Categorical) or key.boolean or key.nullable or value.nullable:
        return False
    if not (_plain(key) and 2 <= len(key.labels) <= MOST_KEYS):
        return False
    if isinstance(value, Categorical):
        return not value.boolean and _plain(value) and 2 <= len(value.labels) <= len(key.labels)
    return value.kind == "integer"


def _may_be_ranges(column: Column) -> bool:
    """A few labels, or a truth value."""
    if not isinstance(column, Categorical) or not 2 <= len(column.labels) <= MOST_KEYS:
        return False
    return column.boolean or _plain(column)


def _plain(column: Categorical) -> bool:
    """Whether its labels can be written in an expression."""
    return {type(label) for label in column.labels} in ({str}, {int})


def without_circles(found: Iterable[Candidate]) -> list[Candidate]:
    """One derivation per field, the first; and none that would need itself."""
    needs: dict[str, set[str]] = {}
    kept: list[Candidate] = []
    for candidate in found:
        name, used = candidate.target.name, {source.name for source in candidate.sources}
        behind = used.union(*(needs.get(source, set()) for source in used))
        if name in needs or name in behind:
            continue
        needs = {other: own | behind if name in own else own for other, own in needs.items()} | {name: behind}
        kept.append(candidate)
    return kept


def labelled(candidate: Candidate, pairs: Iterable[tuple[int, int]]) -> list[tuple[Label, Label]]:
    """Pairs of codes as what they stand for; numbers are their own codes, in units where they have decimals."""
    key, value = candidate.sources[0], candidate.target
    if candidate.form == "ranges":
        return [(written(begin, _decimals(key)), _label(value, code)) for begin, code in pairs]
    return [(_label(key, first), _label(value, second)) for first, second in pairs]


def written(units: int, decimals: int) -> str:
    """A number of units as it is written."""
    return str(Decimal(units).scaleb(-decimals).normalize() + 0) if decimals else str(units)


def round_between(low: int, high: int) -> int:
    """The roundest number above `low` and up to `high`."""
    for digits in range(len(str(abs(high))), -1, -1):
        for step in (10**digits, 10**digits // 2):
            if step and (high // step) * step > low:
                return (high // step) * step
    return high


def _label(column: Column, code: int) -> Label:
    return column.labels[code] if isinstance(column, Categorical) else code


def derived_field(field: Mapping[str, Any], candidate: Candidate, text: str, *, rows: int) -> dict[str, Any]:
    """A drafted field that is computed instead."""
    kept = {key: field[key] for key in KEPT if key in field}
    decimals = {"decimals": _decimals(candidate.target)} if field["type"] == "number" else {}
    why = f"Equals this in all {rows:,} rows: it is computed, not measured. Keep it only if it is so by definition."
    return {**kept, "derived": text, "sundog": {**decimals, "origin": "fromData"}, "why": why}


@dataclass(frozen=True)
class Spread:
    """Of the differences own - base, in own units: lowest, highest, the middle 98 %; and the middle 98 % of the field."""

    own: Numeric
    base: Numeric
    low: int
    high: int
    width: float
    own_width: float
    rows: int

    @property
    def narrow(self) -> float:
        """How narrow the differences are, as a part of what is narrow enough."""
        limit = NARROW["number" if self.own.kind in ("integer", "number") else "date"]
        return self.width / max(self.own_width * limit, 1e-9)


def offset_pairs(columns: Sequence[Column], derived: Iterable[str]) -> list[tuple[Numeric, Numeric]]:
    """Fields (own, base) of which one may be relative to the other: both dates or both numbers.

    A base comes first in the table, but after none that has missing cells where it has none: what is relative to a missing
    cell would be missing too.
    """
    left = [column for column in columns if isinstance(column, Numeric) and column.name not in set(derived)]
    left.sort(key=lambda column: column.nullable)
    groups = ("date", "datetime"), ("integer", "number")
    return [
        (own, base)
        for kinds in groups
        for base, own in combinations([column for column in left if column.kind in kinds][:MOST_NUMBERS], 2)
        if own.kind == base.kind or kinds == ("date", "datetime")
    ]


def offset_fields(fields: Sequence[Mapping[str, Any]], spreads: Iterable[Spread]) -> list[dict[str, Any]]:
    """The fields, those with a narrow distance from another modelled as that: each from the base that it is closest to."""
    best: dict[str, Spread] = {}
    for spread in spreads:
        if spread.rows >= FEWEST_ROWS and spread.narrow <= 1 and spread.own_width > 0:
            known = best.get(spread.own.name)
            best[spread.own.name] = spread if known is None or spread.narrow < known.narrow else known
    return [_offset(field, best[field["name"]]) if field["name"] in best else dict(field) for field in fields]


def _offset(field: Mapping[str, Any], spread: Spread) -> dict[str, Any]:
    low, high = _outwards(spread.low, spread.high)
    why = f"Its distance from {spread.base.name} is much narrower than itself, so it is modelled as that."
    changed = {"relativeTo": spread.base.name, "offset": _bounds(spread.own, low, high)}
    changed |= {"constraints": dict(field.get("constraints", {}))}
    rest = {key: value for key, value in field.items() if key not in ("constraints", "sundog", "why")}
    return {**rest, **changed, "sundog": field["sundog"], "why": f"{why} {field['why']}"}


def _bounds(own: Numeric, low: int, high: int) -> dict[str, Any]:
    if own.kind == "number":
        return {"minimum": low / 10**own.decimals, "maximum": high / 10**own.decimals}
    scale = own.resolution if own.kind == "datetime" else 1
    return {"minimum": low * scale, "maximum": high * scale}


def _outwards(low: int, high: int) -> tuple[int, int]:
    """Round numbers outside of what was seen; zero where that is an end."""
    step = 10 ** math.floor(math.log10(max(high - low, 1)))
    lower = 0 if 0 <= low < high - low else math.floor(low / step) * step
    upper = 0 if low - high < high <= 0 else math.ceil(high / step) * step
    return lower, upper


def _quoted(name: str) -> str:
    plain = name.isidentifier() and name.lower() not in ("and", "or", "not", "is", "missing", "true", "false")
    return name if plain else '"' + name.replace('"', '""') + '"'


def _literal(value: Label) -> str:
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value)
