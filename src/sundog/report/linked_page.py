"""The report of linked tables: for every table its columns beside what was measured, then pairs with parents and siblings.

Everything is counted as it was measured: each root counts once, whatever the number of its rows. Public values only.
"""

from pathlib import Path
from typing import Any

from markupsafe import Markup

from sundog.domain.linked.views import View
from sundog.generate.linked.rows import LinkedRows
from sundog.released import Released
from sundog.released.per_view import linked_schema, of_view
from sundog.report import facts as found
from sundog.report.charts import column_chart, pair_chart, percent
from sundog.report.page import about
from sundog.report.template import render
from sundog.report.verdict import apart
from sundog.report.words import warning_sentences

PAIRS = 6
"""So many pairs are shown per view: those that stray most."""
WHAT = {None: "rows", "next": "neighbours in order", "pairs": "pairs of siblings", "ring": "pairs of siblings"}


def write_linked_report(released: Released, rows: LinkedRows, path: Path) -> None:
    """Write the page."""
    path.write_text(linked_page(released, rows), encoding="utf-8")


def linked_page(released: Released, rows: LinkedRows) -> str:
    """The whole page."""
    schema = linked_schema(released)
    views = [_view(of_view(released, view), rows, view) for view in schema.views if len(rows.view(view))]
    tables = [(table.name, len(rows.tables[table.name]), table.parent, table.most) for table in schema.package.tables]
    return render(
        "linked.html",
        **about(released, method="auto"),
        tables=tables,
        views=views,
        warnings=warning_sentences(released),
        percent=percent,
    )


def _view(released: Released, rows: LinkedRows, view: View) -> dict[str, Any]:
    synthetic = rows.view(view)
    columns = [each for each in found.column_facts(released, synthetic) if each.column.name in view.own]
    pairs = found.pair_facts(released, synthetic)[:PAIRS]
    return {
        "title": f"{view.table}: {WHAT[view.siblings]}",
        "columns": [] if view.siblings else [_card(each.column.name, column_chart(each), each) for each in columns],
        "pairs": [_card(" and ".join(each.columns), pair_chart(each), each) for each in pairs],
    }


def _card(title: str, chart: str, facts: found.ColumnFacts | found.PairFacts) -> tuple[str, str, Markup]:
    return title, apart(facts.disagreement, facts.noise), Markup(chart)  # noqa: S704
