"""The report of linked tables: for every table its columns beside what was measured, then pairs with parents and siblings.

Everything is counted as it was measured: each root counts once, whatever the number of its rows. Public values only.
"""

from dataclasses import dataclass
from pathlib import Path

from sundog.domain.linked.views import View
from sundog.generate.linked.rows import LinkedRows, TableRows
from sundog.postprocess.constraints import violations
from sundog.postprocess.linked import broken
from sundog.released import Released
from sundog.released.per_view import linked_schema, of_view
from sundog.report import facts as found
from sundog.report.charts import percent
from sundog.report.page import Card, about, column_card, pair_card
from sundog.report.template import render
from sundog.report.verdict import verdict
from sundog.report.words import warning_sentences

PAIRS = 6
"""This many pairs are shown per view: those that stray most."""
WHAT = {
    None: "rows",
    "first": "neighbours in order, and the first with later rows",
    "next": "neighbours in order",
    "pairs": "pairs of siblings",
    "ring": "pairs of siblings",
}


def write_linked_report(released: Released, rows: LinkedRows, path: Path) -> None:
    """Write the report on linked tables."""
    path.write_bytes(linked_page(released, rows).encode())


def linked_page(released: Released, rows: LinkedRows) -> str:
    """The report on linked tables as one HTML page."""
    schema = linked_schema(released)
    views = [_View.of(of_view(released, view), rows, view) for view in schema.views if len(rows.view(view))]
    tables = [(table.name, len(rows.tables[table.name]), table.parent, table.most) for table in schema.package.tables]
    return render(
        "linked.html",
        **about(released, method="auto"),
        verdict=[(each.title, each.verdict) for each in views],
        tables=tables,
        views=views,
        warnings=warning_sentences(released),
        constraints=_constraints(rows),
        percent=percent,
    )


@dataclass(frozen=True)
class _View:
    """What is shown of a view: a verdict, and cards of its columns and of the pairs that stray most."""

    title: str
    verdict: tuple[str, ...]
    columns: list[Card]
    pairs: list[Card]

    @staticmethod
    def of(released: Released, rows: LinkedRows, view: View) -> "_View":
        """The facts of a view."""
        synthetic = rows.view(view)
        columns = [each for each in found.column_facts(released, synthetic) if each.column.name in view.own]
        pairs = found.pair_facts(released, synthetic)
        said = verdict([] if view.siblings else columns, pairs, (), unmeasured=0)
        cards = [] if view.siblings else [column_card(each) for each in columns]
        return _View(f"{view.table}: {WHAT[view.siblings]}", said, cards, [pair_card(each) for each in pairs[:PAIRS]])


def _constraints(rows: LinkedRows) -> dict[str, int]:
    """How often each constraint is broken, those of each table and those across tables."""
    package = rows.schema.package
    held = {table.name: rows.rows(table.name) for table in package.tables}
    own = {f"{name}: {rule}": count for name, each in held.items() for rule, count in violations(each).items()}
    codes = {
        name: TableRows(
            {f"{name}.{column}": each.column(column) for column in each.schema.names}, rows.tables[name].parent
        )
        for name, each in held.items()
    }
    return own | broken(package, codes)
