"""What a draft needs to know of all columns, in two passes over the table, in memory that does not grow with it.

First an overview (counts, lengths, about how many different texts, and some of them); then, for the readings that the
overview suggests, how many cells each of them reads, and between which bounds. CONFIDENTIAL: exact values of real rows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sundog.domain.readings import Reading
from sundog.sources.duck import DuckTable
from sundog.sources.encode import RawColumn, literal

SAMPLE = 200
"""This many of the most frequent texts of a column are looked at one by one."""
LONGEST = 300
"""Of longer texts the beginning is looked at."""
TYPED = {"TIME": "time", "DATE": "date", "BOOLEAN": "truth"}


@dataclass(frozen=True)
class Overview:
    """One column: `kind` says what the engine holds ("text" in text files); `sample` holds frequent texts."""

    kind: str
    rows: int
    filled: int
    distinct: int
    shortest: int
    longest: int
    mean_length: float
    sample: tuple[str, ...]


@dataclass(frozen=True)
class Reach:
    """How many cells a reading reads, and between which bounds: of numbers, or of years.

    `fine` are the most decimals of a number, or how many moments are not midnight.
    """

    count: int
    low: Any
    high: Any
    fine: int


@dataclass(frozen=True)
class Details:
    """What each wanted reading reaches; how often each wanted word, and each label, occurs."""

    reaches: Mapping[Reading, Reach] = field(default_factory=dict)
    words: Mapping[str, int] = field(default_factory=dict)
    labels: Mapping[str, int] | None = None


@dataclass(frozen=True)
class Wanted:
    """What to look for in a column: readings, words (in small letters), and whether to list all labels."""

    readings: tuple[Reading, ...] = ()
    words: tuple[str, ...] = ()
    labels: bool = False


def overview(table: DuckTable, names: Sequence[str]) -> dict[str, Overview]:
    """All columns in one pass."""
    parts: list[str] = []
    for name in names:
        text = _text(table.raw[name])
        size = f"length({text})"
        parts += [f"count({text})", f"approx_count_distinct({text})", f"min({size})", f"max({size})", f"avg({size})"]
        parts.append(f"approx_top_k(left({text}, {LONGEST}), {SAMPLE})")
    rows, *found = _aggregate(table, names, ["count(*)", *parts])
    made = {}
    for place, name in enumerate(names):
        filled, distinct, shortest, longest, mean, sample = found[6 * place : 6 * place + 6]
        made[name] = Overview(
            _kind(table.raw[name]),
            rows,
            filled,
            min(distinct, filled),
            shortest or 0,
            longest or 0,
            float(mean or 0),
            tuple(sample or ()),
        )
    return made


def details(table: DuckTable, wanted: Mapping[str, Wanted]) -> dict[str, Details]:
    """What was asked of each column, for all columns in one pass."""
    parts: list[str] = []
    for name, want in wanted.items():
        raw = table.raw[name]
        for reading in want.readings:
            parts += _reach(reading, raw)
        words = ", ".join(literal(word) for word in want.words) or "''"
        text = _text(raw)
        parts.append(f"histogram({text}) FILTER (lower({text}) IN ({words}))")
        parts.append(f"histogram({text})" if want.labels else "NULL")
    found = iter(_aggregate(table, list(wanted), parts))
    made = {}
    for name, want in wanted.items():
        reaches = {
            reading: Reach(next(found), next(found), next(found), int(next(found) or 0)) for reading in want.readings
        }
        made[name] = Details(reaches, next(found) or {}, next(found))
    return made


def _aggregate(table: DuckTable, names: Sequence[str], parts: Sequence[str]) -> list[Any]:
    return table.one_row(names, lambda relation: f"SELECT {', '.join(parts)} FROM {relation}")


def _text(raw: RawColumn) -> str:
    return f"nullif({raw.as_text()}, '')"


def _kind(raw: RawColumn) -> str:
    if raw.others:
        return "text"
    if raw.number:
        return "whole" if raw.whole else "number"
    return TYPED.get(raw.type, "datetime" if raw.moment else "text")


def _reach(reading: Reading, raw: RawColumn) -> list[str]:
    value = _value(reading, raw)
    if reading.kind == "number":
        text = _bare(reading, _text(raw))
        after = f"length(regexp_extract({text}, '[{reading.decimal}]([0-9]+)$', 1))"
        shown = f"max({after}) FILTER ({value} IS NOT NULL)"  # 1e-3 shows none
        fine = f"CASE WHEN bool_or({value} != floor({value})) THEN COALESCE(nullif({shown}, 0), 6) ELSE {shown} END"
        return [f"count({value})", f"min({value})", f"max({value})", fine]
    if reading.kind == "time":
        return [f"count({value})", "NULL", "NULL", "0"]
    year = f"CASE WHEN year({value}) BETWEEN 1850 AND 2150 THEN year({value}) END"
    clock = f"count(*) FILTER ({value} != date_trunc('day', {value}))"
    return [f"count({year})", f"min({year})", f"max({year})", clock]


def _value(reading: Reading, raw: RawColumn) -> str:
    """A number as a double, a moment as a timestamp; null where the reading does not read the cell."""
    if reading.kind == "number":
        if _kind(raw) in ("whole", "number"):
            return f"CASE WHEN isfinite({raw.as_number()}) THEN {raw.as_number()} END"
        matched = f"regexp_full_match({_text(raw)}, {literal(reading.pattern)})"
        plain = _bare(reading, _text(raw))
        if reading.group is not None:
            mark = "[ \\x{a0}\\x{202f}]" if reading.group == " " else f"[{reading.group}]"
            plain = f"regexp_replace({plain}, '{mark.replace(chr(39), chr(39) * 2)}', '', 'g')"
        plain = f"replace({plain}, {literal(reading.decimal)}, '.')"
        number = f"(({_sign(reading, _text(raw))}) * TRY_CAST({plain} AS DOUBLE))"
        return f"CASE WHEN {matched} AND isfinite({number}) THEN {number} END"
    if raw.moment or raw.type == "TIME":
        return raw.sql
    if reading.format is None:
        return f"TRY_CAST({_text(raw)} AS TIMESTAMP)"
    return f"try_strptime({_text(raw)}, {literal(reading.format)})"


def _bare(reading: Reading, text: str) -> str:
    return text if reading.bare else f"regexp_replace({text}, '^[^0-9]*[^0-9.,]|[^0-9]+$', '', 'g')"


def _sign(reading: Reading, text: str) -> str:
    """The sign that `_bare` takes away: a minus anywhere before the number, or parentheses around it."""
    return "1" if reading.bare else f"CASE WHEN regexp_matches({text}, '^[^0-9]*[-(]') THEN -1 ELSE 1 END"
