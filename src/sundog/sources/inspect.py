"""What became of every cell when a table was read with a schema: counts, and masked shapes of what was not understood.

One pass over the table for all columns, in memory that does not grow with it; keys are counted by the engine, which spills
to disk. Clamping is seen by reading a numeric column on a grid that is one step wider on either side. CONFIDENTIAL: exact
counts of real rows. Texts of cells are kept for naming a remedy, and leave this side as shapes only: digits become 9,
letters A or a, and what is neither a digit, a letter nor common punctuation becomes a question mark.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sundog.domain import Categorical, Column, Numeric, Schema
from sundog.domain.columns import GRID_LIMIT
from sundog.sources.duck import DuckTable
from sundog.sources.encode import RawColumn, code_or_null, is_missing, literal

SHAPES = 3
LONGEST_SHAPE = 32
SAMPLE = 100
"""This many of the texts that were not understood are looked at for a remedy."""
PUNCTUATION = " .,:;/+%$€£()'\"@#&*_=<>|!-"
BROKEN = "\ufffd"


@dataclass(frozen=True)
class Cells:
    """One column: how many cells are missing, not read (or no listed label), out of bounds, or badly decoded.

    `texts` are some that were not read (of a distance: in the field itself), `ends` some that lie outside the bounds; `shapes` are masked.
    """

    rows: int
    missing: int
    unread: int
    below: int
    above: int
    broken: int
    texts: tuple[str, ...]
    ends: tuple[str, ...]
    shapes: tuple[str, ...]


@dataclass(frozen=True)
class Keys:
    """A column that names rows or people: how many different values, how many of them repeat, the most rows of one."""

    filled: int
    distinct: int
    repeated: int
    most: int
    within: int
    """How many rows are left if each value keeps at most as many rows as was asked for."""


def inspect(table: DuckTable, schema: Schema) -> dict[str, Cells]:
    """All modelled columns in one pass."""
    inner, parts = ["1"], ["count(*)"]
    for place, column in enumerate(schema.columns):
        cells = [table.raw[name] for name in column.fields]
        inner += [
            f"{code_or_null(_wider(column), *cells)} AS code{place}",
            f"({is_missing(column, *cells)}) AS missing{place}",
            f"{cells[0].as_text()} AS text{place}",
            f"{_own_unread(column, cells[0])} AS own{place}",
        ]
        parts += _counted(column, place)
    names = [column.name for column in schema.columns]
    sql = f"SELECT {', '.join(parts)} FROM (SELECT {', '.join(inner)} FROM "
    rows, *found = table.one_row(schema.fields, lambda relation: f"{sql}{relation})", schema=schema)
    width = len(found) // len(schema.columns)
    return {name: _cells(rows, found[place * width : (place + 1) * width]) for place, name in enumerate(names)}


def _own_unread(column: Column, raw: RawColumn) -> str:
    """Of a distance: whether the field's own cell is to blame where it cannot be read, and not the base's."""
    distance = column.distance if isinstance(column, Numeric) else None
    return "true" if distance is None else f"({code_or_null(distance.own, raw)} IS NULL)"


def _wider(column: Column) -> Column:
    """The column on a grid with one more step at either end, where that is possible: what lies there was clamped."""
    if isinstance(column, Categorical) or max(column.steps, abs(column.lower), abs(column.upper)) + 2 > GRID_LIMIT:
        return column
    return replace(column, lower=column.lower - 1, upper=column.upper + 1, bins=None)


def _counted(column: Column, place: int) -> list[str]:
    code, missing, text = f"code{place}", f"missing{place}", f"text{place}"
    unread = f"({code} IS NULL AND NOT {missing})"
    wider = _wider(column)
    clamps = isinstance(wider, Numeric) and wider is not column
    below = f"({code} = 0)" if clamps else "false"
    above = f"({code} = {wider.size - wider.nullable - 1})" if clamps else "false"
    return [
        f"count(*) FILTER ({missing})",
        f"count(*) FILTER {unread}",
        f"count(*) FILTER ({below} AND NOT {missing})",
        f"count(*) FILTER ({above} AND NOT {missing})",
        f"count(*) FILTER (contains({text}, {literal(BROKEN)}))",
        f"approx_top_k(CASE WHEN {unread} AND own{place} THEN left({text}, 200) END, {SAMPLE})",
        f"approx_top_k(CASE WHEN ({below} OR {above}) AND NOT {missing} THEN left({text}, 200) END, {SAMPLE})",
        f"approx_top_k(CASE WHEN {unread} AND own{place} THEN {_shape(text)} END, {SHAPES})",
    ]


def _shape(text: str) -> str:
    """The masked text in SQL."""
    allowed = re.escape(PUNCTUATION).replace("'", "''")
    masked = f"left({text}, {LONGEST_SHAPE})"
    for pattern, mark in (
        ("\\p{N}", "9"),
        ("[\\p{Lu}\\p{Lt}]", "A"),
        ("[\\p{Ll}\\p{Lo}\\p{Lm}]", "a"),
        (f"[^9Aa{allowed}]", "?"),
    ):
        masked = f"regexp_replace({masked}, '{pattern}', '{mark}', 'g')"
    return f"{masked} || CASE WHEN length({text}) > {LONGEST_SHAPE} THEN '...' ELSE '' END"


def _cells(rows: int, found: Sequence[object]) -> Cells:
    missing, unread, below, above, broken, texts, ends, shapes = found
    some = [tuple(sorted(text for text in part or () if text is not None)) for part in (texts, ends, shapes)]  # type: ignore[attr-defined]
    return Cells(rows, missing, unread, below, above, broken, *some)  # type: ignore[arg-type]


def inspect_keys(table: DuckTable, name: str, *, most: int) -> Keys:
    """How often the values of one column repeat; `most` rows of each would be kept."""
    raw: RawColumn = table.raw[name]
    text = f"nullif({raw.as_text()}, '')"
    parts = f"sum(n), count(*), count(*) FILTER (n > 1), max(n), sum(least(n, {int(most)}))"

    def query(relation: str) -> str:
        groups = f"SELECT count(*) AS n FROM {relation} WHERE {text} IS NOT NULL GROUP BY hash({text})"
        return f"SELECT {parts} FROM ({groups})"

    found = table.one_row([name], query)
    return Keys(*(int(value or 0) for value in found))
