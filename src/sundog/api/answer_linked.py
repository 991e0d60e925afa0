"""Answers about linked tables: a question is answered on the view of the lowest table that it names. Public values only.

In the view of a root every record counts as one. In the view of a table below it every root does, its rows in equal parts, as they
were measured: shares, means and quantiles are then those of a row of a random root, and rows cannot be counted.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace

from sundog.api.answer import Answers, Asked, question_of
from sundog.domain.conditions import columns_of, parse_condition
from sundog.domain.linked.views import LinkedSchema, View
from sundog.errors import UserError
from sundog.generate.linked.rows import LinkedRows
from sundog.released import Released
from sundog.released.per_view import linked_schema, of_view
from sundog.report.answer_table import AnswerTable

COUNTS = ("count", "sum")


def ask_linked(released: Released, rows: Callable[[], LinkedRows], asked: Asked) -> AnswerTable:
    """The answers to a question; columns are written `table.column`, numbers of children `table.#child`."""
    schema = linked_schema(released)
    view = _view(schema, list(_named(asked, schema)))
    question = question_of(schema.of_view(view), asked)
    if not view.root and any(statistic.kind in COUNTS for statistic in question.statistics):
        raise UserError(
            f"answer: in {view.table!r} every record of {schema.package.root.name!r} counts once, its rows in equal parts, so "
            "rows cannot be counted or added up. Ask for shares, means or quantiles, or count on the synthetic tables."
        )
    found = Answers(of_view(released, view), lambda: rows().view(view)).ask(question, where=asked.where)
    return (
        found
        if view.root
        else replace(
            found,
            counting=f"each record of {schema.package.root.name!r} that has rows in {view.table!r}, its rows in equal parts",
        )
    )


def _named(asked: Asked, schema: LinkedSchema) -> Iterable[str]:
    """All columns that a question names."""
    for part in (asked.by, asked.share, asked.mean, asked.sum):
        yield from [part] if isinstance(part, str) else part or ()
    yield from asked.quantile or {}
    if asked.where is not None:
        yield from columns_of(parse_condition(asked.where, schema))


def _view(schema: LinkedSchema, names: list[str]) -> View:
    """The view of the lowest table that is named; the root's where none is."""
    tables = [table.name for table in schema.package.tables]
    named = [name.split(".", 1)[0] for name in names]
    for name, table in zip(names, named, strict=True):
        if table not in tables:
            known = ", ".join(repr(each) for each in tables)
            raise UserError(f"answer: {name!r} names no table; write TABLE.COLUMN, with one of the tables {known}.")
    lowest = max(named, key=tables.index, default=schema.package.root.name)
    return schema.view(lowest)
