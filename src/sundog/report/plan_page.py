"""A plan for people: a table for the terminal, and a page with a picture of how errors fall as epsilon grows."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from markupsafe import Markup

from sundog.methods.plan import Expected
from sundog.report.charts import percent
from sundog.report.template import render

SAID = (
    "No data was read: this follows from the schema, the number of rows, the method and the budget, with assumptions about "
    "tables in general. Real errors are often a quarter (columns) to two fifths (pairs) higher or lower."
)
WIDTH, HEIGHT = 340.0, 170.0
LEFT, RIGHT, TOP, BASE = 44.0, 330.0, 8.0, 140.0
STROKES = ("line-columns", "line-pairs")
"""Classes of the style sheet: pages that allow no style attribute show the picture too."""


@dataclass(frozen=True, eq=False)
class PlanView:
    """What is shown: (epsilon, what to expect) per budget, the wanted errors, and the epsilon that they need."""

    rows: int
    delta: float
    method: str
    budgets: tuple[tuple[float, Expected], ...]
    wanted: Mapping[str, float]
    needed: float | None


def plan_text(view: PlanView) -> str:
    """Aligned columns: a line per column, then pairs on the average, then what is needed."""
    header = ["expected error", *(f"epsilon {epsilon:g}" for epsilon, _ in view.budgets)]
    rows = [header, *_column_rows(view), *_mean_rows(view), *_pair_rows(view)]
    widths = [max(len(row[k]) for row in rows) for k in range(len(header))]
    lines = [
        row[0].ljust(widths[0])
        + "".join("  " + cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))
        for row in rows
    ]
    return "\n".join([*lines, "", *_notes(view)])


def _column_rows(view: PlanView) -> list[list[str]]:
    names = [column.name for column in view.budgets[0][1].columns]
    made = [[name, *(percent(found.columns[k].error) for _, found in view.budgets)] for k, name in enumerate(names)]
    return [*made, ["all columns, mean", *(percent(found.column_error) for _, found in view.budgets)]]


def _mean_rows(view: PlanView) -> list[list[str]]:
    made = []
    for k, column in enumerate(view.budgets[0][1].columns):
        if column.mean is not None:
            for what in ("mean", "median"):
                values = [getattr(found.columns[k], what) / 100 for _, found in view.budgets]
                made.append([f"{what} of {column.name}, of its range", *(f"± {percent(value)}" for value in values)])
    return made


def _pair_rows(view: PlanView) -> list[list[str]]:
    if not view.budgets[0][1].pairs:
        return []
    errors = [found.pair_error or 0.0 for _, found in view.budgets]
    measured = [sum(pair.measured for pair in found.pairs) for _, found in view.budgets]
    worst = [max(pair.error() for pair in found.pairs) for _, found in view.budgets]
    there = len(view.budgets[0][1].pairs)
    return [
        ["all pairs, mean", *map(percent, errors)],
        ["all pairs, worst", *map(percent, worst)],
        [f"pairs that would be measured, of {there}", *map(str, measured)],
    ]


def _notes(view: PlanView) -> list[str]:
    about = f"{view.rows:,} rows, method {view.method}, delta {view.delta:g}. An error is the part of the rows in the wrong cell."
    if not view.budgets[0][1].pairs:
        about += f" Errors of pairs are not predicted for method {view.method}."
    lines = [about, SAID]
    if view.wanted:
        words = " and ".join(f"{_wanted_name(name)} within {percent(error)}" for name, error in view.wanted.items())
        need = f"epsilon {view.needed:.3g} is needed" if view.needed is not None else "no epsilon up to 100 is enough"
        lines.insert(0, f"For {words}: {need}.")
    return lines


def _wanted_name(name: str) -> str:
    if name == "columns":
        return "every column"
    column = name.removeprefix("pairs ")
    return "every pair" if column == "*" else f"every pair with {column}"


def plan_page(view: PlanView) -> str:
    """The plan as one HTML page."""
    parts = plan_parts(view)
    return render("plan.html", **(parts | {"chart": Markup(parts["chart"])}))  # noqa: S704


def plan_parts(view: PlanView, *, chosen: float | None = None) -> dict[str, Any]:
    """What the page consists of: the picture, the heads of its tables, their lines, the notes. `chosen` is marked in the heads."""
    errors = {"columns, mean": [found.column_error for _, found in view.budgets]}
    if view.budgets[0][1].pairs:
        errors["pairs, mean"] = [found.pair_error or 0.0 for _, found in view.budgets]
    marks = [f"epsilon {epsilon:g}" + (" (chosen)" if epsilon == chosen else "") for epsilon, _ in view.budgets]
    return {
        "chart": error_chart([epsilon for epsilon, _ in view.budgets], errors),
        "header": ["", *marks],
        "columns": _column_rows(view),
        "means": _mean_rows(view),
        "pairs": _pair_rows(view),
        "notes": _notes(view),
    }


def error_chart(epsilons: Sequence[float], errors: Mapping[str, Sequence[float]]) -> str:
    """One line per series, both axes logarithmic, with the values as text at every point."""
    order = sorted(range(len(epsilons)), key=lambda k: epsilons[k])
    logs = [math.log(epsilons[k]) for k in order]
    values = [max(value, 1e-6) for series in errors.values() for value in series]
    low, high = math.log(min(values)) - 0.2, math.log(max(values)) + 0.2

    def x(value: float) -> float:
        reach = logs[-1] - logs[0]
        return (LEFT + RIGHT) / 2 if reach == 0 else LEFT + 20 + (RIGHT - LEFT - 40) * (value - logs[0]) / reach

    def y(error: float) -> float:
        return BASE - (BASE - TOP - 12) * (math.log(max(error, 1e-6)) - low) / (high - low)

    parts = [f'<path class="axis" d="M{LEFT:g} {BASE:g}H{RIGHT:g}"/>']
    for place, k in zip(logs, order, strict=True):
        parts.append(f'<text x="{x(place):.1f}" y="{BASE + 14:g}" text-anchor="middle">{epsilons[k]:g}</text>')
    parts.append(f'<text x="{(LEFT + RIGHT) / 2:g}" y="{BASE + 27:g}" text-anchor="middle">epsilon</text>')
    for stroke, (name, series) in zip(STROKES, errors.items(), strict=False):
        points = [(x(place), y(series[k])) for place, k in zip(logs, order, strict=True)]
        line = " L".join(f"{a:.1f} {b:.1f}" for a, b in points)
        parts.append(f'<path class="{stroke}" fill="none" d="M{line}"/>')
        parts += [
            f'<text x="{a:.1f}" y="{b - 5:.1f}" text-anchor="middle">{percent(series[k])}</text>'
            for (a, b), k in zip(points, order, strict=True)
        ]
        parts.append(f'<text x="{LEFT - 40:g}" y="{points[0][1] + 3:.1f}">{escape(name.partition(",")[0])}</text>')
    box = f'viewBox="0 0 {WIDTH:g} {HEIGHT:g}"'
    return f'<svg class="chart" {box} role="img" aria-label="Expected errors by epsilon">{"".join(parts)}</svg>'
