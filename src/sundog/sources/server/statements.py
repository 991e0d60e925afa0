"""The SQL that counts on a server: rows encoded once, those of each unit bounded, and every tally counted over their codes.

    WITH coded AS MATERIALIZED (codes of all rows, bounded)
    SELECT tally, place, count ... GROUP BY place UNION ALL ...

Tallies over the same axes share one pass over the codes: one count per tally, filtered by its conditions. What comes back is
one row per tally and cell that holds a row: totals, and nothing else.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from sundog.domain import Schema
from sundog.domain.axis import Axis
from sundog.domain.tally import Tally
from sundog.domain.unit import PrivacyUnit
from sundog.sources.server.codes import ServerColumn, code_sql, unit_sql
from sundog.sources.units import HASH_DIGITS, UNIT

PASSES = 64
"""The most passes over the codes in one statement; each statement encodes the rows again."""
COUNTS = 400
"""The most counts in one pass."""
ARGUMENTS = 90
"""A function takes a hundred arguments at most."""

Numbered = tuple[int, Tally]


def statements(
    source: str, columns: Mapping[str, ServerColumn], schema: Schema, *, unit: PrivacyUnit, tallies: Sequence[Tally]
) -> Iterator[str]:
    """Statements that together count all tallies, each known by its place."""
    passes = _passes(tallies)
    while some := list(islice(passes, PASSES)):
        used = {name for each in some for _, tally in each for name in tally.columns}
        names = [name for name in schema.names if unit.column is not None or name in used]
        coded = _coded(source, columns, schema, names=names, unit=unit)
        places = {name: f"code{schema.position(name)}" for name in names}
        yield f"WITH coded AS MATERIALIZED ({coded}) " + " UNION ALL ".join(_counted(each, places) for each in some)


def _passes(tallies: Sequence[Tally]) -> Iterator[list[Numbered]]:
    """Tallies over the same axes together, as many as one pass takes."""
    by_axes: dict[tuple[Axis, ...], list[Numbered]] = {}
    for number, tally in enumerate(tallies):
        by_axes.setdefault(tally.axes, []).append((number, tally))
    for same in by_axes.values():
        for start in range(0, len(same), COUNTS):
            yield same[start : start + COUNTS]


def _coded(
    source: str,
    columns: Mapping[str, ServerColumn],
    schema: Schema,
    *,
    names: Sequence[str],
    unit: PrivacyUnit,
) -> str:
    """The codes of these columns of all rows, at most `unit.rows` rows of each unit."""
    codes = {f"code{schema.position(name)}": _code(columns, schema, name) for name in names}
    selected = ", ".join(f"{code} AS {alias}" for alias, code in codes.items()) or "1 AS one"
    if unit.column is None:
        return f"SELECT {selected} FROM {source}"
    inner = f'SELECT {selected}, {unit_sql(columns[unit.column])} COLLATE "C" AS {UNIT} FROM {source}'
    text = _joined([UNIT, *codes])
    order = f"left(md5(convert_to({text}, 'UTF8')), {HASH_DIGITS}) COLLATE \"C\""
    ranked = f"SELECT *, row_number() OVER (PARTITION BY {UNIT} ORDER BY {order}) AS nth FROM ({inner}) AS encoded"
    return f"SELECT {', '.join(codes)} FROM ({ranked}) AS ranked WHERE nth <= {unit.rows}"


def _code(columns: Mapping[str, ServerColumn], schema: Schema, name: str) -> str:
    column = schema.column(name)
    return code_sql(column, *(columns[field] for field in column.fields))


def _joined(parts: Sequence[str]) -> str:
    """The parts as one text with commas between them."""
    while len(parts) > ARGUMENTS:
        groups = [parts[start : start + ARGUMENTS] for start in range(0, len(parts), ARGUMENTS)]
        parts = [f"concat_ws(',', {', '.join(group)})" for group in groups]
    return f"concat_ws(',', {', '.join(parts)})"


def _counted(same: Sequence[Numbered], places: Mapping[str, str]) -> str:
    """One pass: the counts of tallies over the same axes, by cell."""
    numbers = ", ".join(str(number) for number, _ in same)
    counts = ", ".join(f"count(*) FILTER (WHERE {_condition(tally, places)})" for _, tally in same)
    axes = same[0][1].axes
    place = _place(axes, places)
    inner = f"SELECT {place} AS place, * FROM coded" if axes else "SELECT * FROM coded"
    chosen = f"unnest(ARRAY[{numbers}]::int8[]) AS tally, {'place' if axes else '0::int8'} AS cell"
    return f"(SELECT {chosen}, unnest(ARRAY[{counts}]) AS number FROM ({inner}) AS rows{' GROUP BY place' if axes else ''})"


def _place(axes: Sequence[Axis], places: Mapping[str, str]) -> str:
    """The cell of a row among all cells of the axes, the last axis fastest."""
    sql = "0::int8"
    for axis in axes:
        sql = f"({sql} * {axis.size} + {_cell(axis, places[axis.column])})"
    return sql


def _cell(axis: Axis, code: str) -> str:
    if axis.groups is not None:
        return f"(ARRAY[{', '.join(map(str, axis.groups))}]::int8[])[{code} + 1]"
    if axis.starts is not None:
        return f"(width_bucket({code}, ARRAY[{', '.join(map(str, axis.starts))}]::int8[]) - 1)"
    return code


def _condition(tally: Tally, places: Mapping[str, str]) -> str:
    parts = [f"({places[each.column]} >= {each.low} AND {places[each.column]} < {each.high})" for each in tally.within]
    held = " AND ".join(parts) or "true"
    return f"NOT ({held})" if tally.outside else held
