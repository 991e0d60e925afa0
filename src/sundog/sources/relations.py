"""Which fields of a table follow from others: forms tried on a sample of rows, then counted on all of them in one pass.

CONFIDENTIAL: exact counts of real rows, for a draft. Every column is read in whole units of its grid, and forms are compared
exactly, missing cells too.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from sundog.domain import Categorical, Column, Numeric, Schema
from sundog.domain.drafting.relations import FEWEST_ROWS, MOST_KEYS, Candidate, Spread, round_between
from sundog.domain.grids import ratio
from sundog.sources.duck import DuckTable
from sundog.sources.encode import FARTHEST, code_or_null, units_sql

SAMPLE = 2_000
SURVIVORS = 200
"""This many forms that hold on the sample are counted on all rows."""
KEPT = "sampled_units"
LOOKUP = "list(DISTINCT {{'key': {key}, 'value': {value}}}) FILTER ({key} IS NOT NULL AND {value} IS NOT NULL)"


@dataclass(frozen=True)
class Proved:
    """A form that holds in every row; of a lookup the pairs of codes that occur, of ranges where each begins and its label's code."""

    candidate: Candidate
    pairs: tuple[tuple[int, int], ...] = ()


class Related:
    """The columns of a table in units, in which forms can be counted."""

    def __init__(self, table: DuckTable, schema: Schema) -> None:
        self.table, self.schema = table, schema
        self.named = {column.name: f"u{place}" for place, column in enumerate(schema.columns)}
        parts = [f"{_value(column, table)} AS {self.named[column.name]}" for column in schema.columns]
        self.inner = f"SELECT {', '.join(parts)} FROM "
        table.keep(
            KEPT,
            schema,
            lambda relation: f"{self.inner}{relation} USING SAMPLE reservoir({SAMPLE} ROWS) REPEATABLE (1)",
        )

    def proved(self, candidates: Sequence[Candidate]) -> list[Proved]:
        """Those that hold in all rows."""
        likely = self._holding(candidates, sampled=True)[:SURVIVORS]
        return self._holding([each.candidate for each in likely], sampled=False)

    def spreads(self, pairs: Sequence[tuple[Numeric, Numeric]]) -> list[Spread]:
        """How far apart two columns are: on the sample first, those that look narrow on all rows."""
        near = [spread for spread in self._spreads(pairs, sampled=True) if spread.narrow <= 2]
        return self._spreads([(spread.own, spread.base) for spread in near], sampled=False)

    def _holding(self, candidates: Sequence[Candidate], *, sampled: bool) -> list[Proved]:
        parts = [part for candidate in candidates for part in self._counted(candidate)]
        found = iter(self._row(parts, sampled=sampled)) if candidates else iter(())
        made = [(candidate, next(found), next(found)) for candidate in candidates]
        return [proved for each in made if (proved := _judged(*each)) is not None]

    def _spreads(self, pairs: Sequence[tuple[Numeric, Numeric]], *, sampled: bool) -> list[Spread]:
        parts: list[str] = []
        for own, base in pairs:
            gap = f"({self.named[own.name]} - {_in_own(self.named[base.name], own, base)})"
            wide = self.named[own.name]
            parts += [f"min({gap})", f"max({gap})", _middle(gap), _middle(wide), f"count({gap})"]
        found = iter(self._row(parts, sampled=sampled)) if pairs else iter(())
        made = [(own, base, [next(found) for _ in range(5)]) for own, base in pairs]
        return [Spread(own, base, *figures) for own, base, figures in made if figures[4]]

    def _row(self, parts: Sequence[str], *, sampled: bool) -> list[Any]:
        chosen = ", ".join(parts)
        if sampled:
            return self.table.one_row((), lambda _: f"SELECT {chosen} FROM {KEPT}")
        return self.table.one_row(
            self.schema.fields, lambda relation: f"SELECT {chosen} FROM ({self.inner}{relation})", schema=self.schema
        )

    def _counted(self, candidate: Candidate) -> list[str]:
        """Of a form, how many rows differ and how many have a value; of others what `_judged` looks at, and how many rows."""
        target, sources = self.named[candidate.target.name], [self.named[each.name] for each in candidate.sources]
        if candidate.form == "lookup":
            return [LOOKUP.format(key=sources[0], value=target), f"count({target})"]
        if candidate.form == "ranges":
            return [_ends(candidate, target, sources[0]), f"count({target})"]
        form = _form(candidate, sources)
        return [f"count(*) FILTER ({target} IS DISTINCT FROM ({form}))", f"count({target})"]


def _ends(candidate: Candidate, target: str, source: str) -> str:
    """A list: how many rows have only one of both, then the lowest and the highest number of every label."""
    labels = range(len(candidate.target.labels) if isinstance(candidate.target, Categorical) else 0)
    ends = [f"{end}({source}) FILTER ({target} = {code})" for code in labels for end in ("min", "max")]
    return f"[count(*) FILTER (({target} IS NULL) <> ({source} IS NULL)), {', '.join(ends)}]"


def _ranges(candidate: Candidate, ends: Sequence[int | None], filled: int) -> Proved | None:
    """Labels whose numbers lie apart, each above the one before."""
    alone, found = ends[0], list(zip(ends[1::2], ends[2::2], strict=True))
    spans = sorted((low, high, code) for code, (low, high) in enumerate(found) if low is not None and high is not None)
    apart = all(before[1] < after[0] for before, after in pairwise(spans))
    if alone or not apart or len(spans) < 2 or filled < FEWEST_ROWS * len(spans):
        return None
    begins = [round_between(before[1], after[0]) for before, after in pairwise(spans)]
    return Proved(candidate, tuple(zip([spans[0][0], *begins], [code for _, _, code in spans], strict=True)))


def _judged(candidate: Candidate, first: Any, filled: int) -> Proved | None:
    if candidate.form == "ranges":
        return _ranges(candidate, first, filled)
    if candidate.form != "lookup":
        return Proved(candidate) if not first and filled >= FEWEST_ROWS else None
    pairs = sorted((int(pair["key"]), int(pair["value"])) for pair in first or ())
    keys, values = ({pair[k] for pair in pairs} for k in (0, 1))
    tells = len(keys) == len(pairs) and 2 <= len(values) <= len(keys) <= MOST_KEYS
    return Proved(candidate, tuple(pairs)) if tells and filled >= FEWEST_ROWS * len(keys) else None


def _value(column: Column, table: DuckTable) -> str:
    raw = table.raw[column.name]
    return units_sql(column, raw, farthest=FARTHEST) if isinstance(column, Numeric) else code_or_null(column, raw)


def _middle(value: str) -> str:
    return f"quantile_cont({value}, 0.99) - quantile_cont({value}, 0.01)"


def _in_own(units: str, own: Numeric, base: Numeric) -> str:
    step = ratio(base, own)
    return units if step == 1 else f"CAST(floor({units} * {step.numerator} / {step.denominator}) AS BIGINT)"


def _form(candidate: Candidate, sources: Sequence[str]) -> str:
    """The form in SQL, in units of the target's grid."""
    if candidate.form == "same":
        return sources[0]
    columns = [column for column in candidate.sources if isinstance(column, Numeric)]
    if candidate.form == "sum" and isinstance(candidate.target, Numeric):
        parts = zip(sources, columns, strict=True)
        return " + ".join(_in_own(unit, candidate.target, column) for unit, column in parts)
    return _of_moments(candidate.form, [_seconds(*pair) for pair in zip(sources, columns, strict=True)])


def _of_moments(form: str, seconds: Sequence[str]) -> str:
    if form == "days":
        return f"CAST(floor(({seconds[0]} - {seconds[1]}) / 86400.0) AS BIGINT)"
    days = [f"CAST(floor({each} / 86400.0) AS BIGINT)" for each in seconds]
    if form == "date":
        return days[0]
    if form == "hour":
        return f"({seconds[0]} - {days[0]} * 86400) // 3600"
    moments = [f"(DATE '1970-01-01' + CAST({day} AS INTEGER))" for day in days]
    if form == "age":
        born, at = moments
        before = f"(month({at}) * 100 + day({at}) < month({born}) * 100 + day({born}))"
        return f"year({at}) - year({born}) - CAST({before} AS INTEGER)"
    return f"{'isodow' if form == 'weekday' else form}({moments[0]})"


def _seconds(unit: str, column: Numeric) -> str:
    return f"({unit} * {86_400 if column.kind == 'date' else column.resolution})"
