"""Questions as people ask them, in Python or on the command line, and their answers as a table.

Public values only: what was released, and synthetic rows made from it. Asking costs no privacy, however often it is done.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from sundog.domain import Column, Numeric, Schema
from sundog.domain.axis import Axis
from sundog.domain.conditions import Inside, compared, parse_condition
from sundog.domain.grids import unit_of
from sundog.domain.rows import Rows
from sundog.errors import UserError
from sundog.estimate.evidence import Evidence
from sundog.estimate.guesses import Misfit, guessed_answer, misfit_of
from sundog.estimate.question import Found, Question, Statistic, cell_name, check_question
from sundog.estimate.questions import by_axes, released_answer
from sundog.released import Released
from sundog.report.answer_table import AnswerTable, Line

Names = str | Sequence[str] | None
Probabilities = Mapping[str, float | Sequence[float]] | None


class Answers:
    """Answers questions about one release; `rows` makes synthetic rows, and is called only where nothing else answers."""

    def __init__(self, released: Released, rows: Callable[[], Rows]) -> None:
        self.released, self._make_rows = released, rows
        self.evidence = Evidence(released)

    @property
    def schema(self) -> Schema:
        """What may be asked for: what was measured, and the fields that distances give."""
        return self.released.schema.widened

    @cached_property
    def _rows(self) -> Rows:
        return self._make_rows()

    @cached_property
    def _misfit(self) -> Misfit:
        return misfit_of(self.evidence, self._rows)

    def ask(self, question: Question, *, where: str | None = None) -> AnswerTable:
        """The answers as a table; `where` is the condition as it was written."""
        schema = self.schema
        check_question(question, schema)
        by = by_axes(self.evidence, question, schema)
        lines: list[list[list[Line]]] = [[] for _ in range(prod(axis.size for axis in by))]
        cells = _cell_names(by, schema)
        for statistic in question.statistics:
            measured = set(question.columns(statistic)) <= set(self.released.schema.names)
            found = released_answer(self.evidence, question, statistic, by=by) if measured else None
            if found is None:
                found = guessed_answer(self._rows.widened(), self._misfit, question, statistic, by=by)
            for cell, made in enumerate(_lines(found, cells, statistic, schema)):
                lines[cell].append(made)
        flat = tuple(line for cell in lines for made in cell for line in made)
        half = question.z * self.evidence.rows_variance**0.5
        return AnswerTable(question.by, flat, question.confidence, where, self.released.rows, half)


@dataclass(frozen=True)
class Asked:
    """A question as people ask it."""

    by: Names = None
    where: str | None = None
    count: bool = False
    share: Names = None
    mean: Names = None
    sum: Names = None
    quantile: Probabilities = None
    confidence: float = 0.95


def question_of(schema: Schema, asked: Asked) -> Question:
    """The question in terms of the schema; a count where nothing else is asked for."""
    statistics = [
        *([Statistic("count", name="count")] if asked.count else []),
        *(_share(text, schema) for text in _listed(asked.share)),
        *(Statistic("mean", name, name=f"mean of {_said(name, schema)}") for name in _listed(asked.mean)),
        *(Statistic("sum", name, name=f"sum of {_said(name, schema)}") for name in _listed(asked.sum)),
        *_quantiles(asked.quantile or {}, schema),
    ]
    return Question(
        by=tuple(_listed(asked.by)),
        where=None if asked.where is None else parse_condition(asked.where, schema),
        statistics=tuple(statistics) or (Statistic("count", name="count"),),
        confidence=asked.confidence,
    )


def _said(name: str, schema: Schema) -> str:
    """A column's name; of a distance between moments also the unit that it is counted in."""
    unit = unit_of(schema.column(name))
    return f"{name} ({unit})" if unit else name


def _listed(names: Names) -> list[str]:
    return [] if names is None else [names] if isinstance(names, str) else list(names)


def _share(text: str, schema: Schema) -> Statistic:
    """COLUMN, or COLUMN=LABEL; a column may itself have a '=' in its name."""
    if text in schema.names:
        return Statistic("share", text, name=f"share of {text}")
    name, equals, label = text.partition("=")
    column = schema.column(name.strip())
    if not equals:
        raise UserError(f"share: found {text!r}; write COLUMN or COLUMN=LABEL.")
    said = f"share of {column.name!r}"
    runs = compared(column, "=", label.strip(), said=said)
    return Statistic("share", column.name, Inside(column.name, runs), name=f"share of {column.name} = {label.strip()}")


def _quantiles(wanted: Mapping[str, float | Sequence[float]], schema: Schema) -> Iterable[Statistic]:
    for name, probabilities in wanted.items():
        each = [probabilities] if isinstance(probabilities, int | float) else list(probabilities)
        for p in each:
            named = f"{p:g} quantile of {_said(name, schema)}"
            yield Statistic("quantile", name, probability=float(p), name=named)


def _cell_names(by: tuple[Axis, ...], schema: Schema) -> list[tuple[str, ...]]:
    """The cells of the `by` columns in words, the last column fastest."""
    names = [[cell_name(axis, schema.column(axis.column), cell) for cell in range(axis.size)] for axis in by]
    made: list[tuple[str, ...]] = [()]
    for each in names:
        made = [(*before, name) for before in made for name in each]
    return made


def _lines(found: Found, cells: list[tuple[str, ...]], statistic: Statistic, schema: Schema) -> Iterable[list[Line]]:
    column = None if statistic.column is None else schema.column(statistic.column)
    show = _shown(column) if statistic.kind == "quantile" and column is not None else float
    for cell, name in enumerate(cells):
        made = []
        for k, item in enumerate(found.items):
            estimate, low, high = (show(float(part[cell, k])) for part in (found.estimate, found.low, found.high))
            made.append(Line(name, item, estimate, low, high, found.origin))
        yield made


def _shown(column: Column) -> Callable[[float], float | str]:
    """How a quantile of a column is shown: numbers as they are, dates and labels as text."""
    if isinstance(column, Numeric) and column.kind in ("integer", "number"):
        return float
    most = column.size - column.nullable - 1
    return lambda code: column.describe(int(np.clip(code, 0, most)))
