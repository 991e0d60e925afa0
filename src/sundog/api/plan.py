"""plan: what a budget buys, before anything is spent. It reads no data: schema, number of rows, method and budget are public.

>>> import sundog
>>> schema = {"fields": [{"name": "smoker", "type": "boolean"}, {"name": "sex", "type": "string", "categories": ["f", "m"]}]}
>>> [round(budget.epsilon, 1) for budget in sundog.plan(schema, rows=1000, epsilon=[0.5, 1]).budgets]
[0.5, 1.0]
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sundog.api.linked import linked_privacy, linked_search
from sundog.api.options import Generation, Privacy
from sundog.domain import Schema
from sundog.domain.linked.reading import declared
from sundog.domain.linked.views import LinkedSchema
from sundog.domain.unit import Neighbours
from sundog.errors import UserError
from sundog.methods.linked import expected_of_views
from sundog.methods.plan import Expected, expected
from sundog.methods.recipe import Recipe
from sundog.methods.recipes import recipe_of
from sundog.private.accountant import Budget
from sundog.report.plan_page import PlanView, plan_page, plan_text
from sundog.sizes import whole_number

LEAST, MOST = 0.001, 100.0
"""Between these epsilons the one that is needed is looked for."""
ALL = "*"
"""All pairs, as a key of the pair errors that are asked for."""


@dataclass(frozen=True)
class AtBudget:
    """What to expect at one epsilon."""

    epsilon: float
    expected: Expected


@dataclass(frozen=True, eq=False)
class Plan:
    """Expected errors for a range of budgets, and the epsilon that wanted errors need (None: no epsilon up to 100 is enough)."""

    rows: int
    delta: float
    method: str
    budgets: tuple[AtBudget, ...]
    wanted: Mapping[str, float]
    needed: AtBudget | None = None

    def view(self) -> PlanView:
        """What is shown of it."""
        needed = None if self.needed is None else self.needed.epsilon
        lines = tuple((each.epsilon, each.expected) for each in self.budgets)
        return PlanView(self.rows, self.delta, self.method, lines, dict(self.wanted), needed)

    def to_text(self) -> str:
        """A table for the terminal."""
        return plan_text(self.view())

    def to_html(self) -> str:
        """A page with a picture."""
        return plan_page(self.view())

    def _repr_html_(self) -> str:
        return self.to_html()

    def __repr__(self) -> str:
        return (
            f"Plan({self.method}, {self.rows} rows, epsilon {', '.join(f'{each.epsilon:g}' for each in self.budgets)})"
        )

    def to_json(self) -> dict[str, Any]:
        """Everything, as plain JSON."""
        return {
            "rows": self.rows,
            "delta": self.delta,
            "method": self.method,
            "reads": "no data: schema, number of rows, method and budget only",
            "budgets": [_budget_json(each) for each in self.budgets],
            "wanted": dict(self.wanted),
            "needed": None if self.needed is None else _budget_json(self.needed),
        }


def plan(
    schema: Schema | Mapping[str, Any] | str | Path,
    *,
    rows: int,
    epsilon: float | Sequence[float] = (0.1, 1.0, 3.0),
    delta: float = 1e-9,
    method: str = "auto",
    neighbours: Neighbours = "add-remove",
    rows_per_unit: int = 1,
    column_error: float | None = None,
    pair_error: float | Mapping[str, float] | None = None,
) -> Plan:
    """Expected errors of columns, pairs, means and medians for some epsilons; and the epsilon that wanted errors need.

    `column_error` is wanted of every column, `pair_error` of all pairs or, as {"income": 0.03}, of those with a column:
    total variation, the part of the rows that would have to change. Reads no data. Of a Data Package of linked tables, `rows` is the
    number of roots, each of which counts once in every table.
    """
    facts, recipe = declared(schema), recipe_of(method)
    whole_number("rows", rows)
    privacy = Privacy(neighbours=neighbours, unit=None if rows_per_unit == 1 else "unit", rows_per_unit=rows_per_unit)
    predicted = _predicted(facts, recipe.name, privacy, rows)

    def at(value: float) -> AtBudget:
        budget = Budget(epsilon=value, delta=delta)
        settled = recipe.settled(facts, rho=budget.total_rho("zcdp"))
        rho = budget.total_rho("zcdp" if settled.rule.selects else "gaussian")
        return AtBudget(value, predicted(rho, settled))

    wanted = _wanted(column_error, pair_error, facts)
    if any(name.startswith("pairs") for name in wanted) and not predicted(1.0, recipe).pairs:
        raise UserError(
            f"plan: errors of pairs are not predicted for method {recipe.name!r} or a single column; use auto."
        )
    each = [epsilon] if isinstance(epsilon, int | float) else list(epsilon)
    needed = _needed(at, wanted) if wanted else None
    return Plan(rows, delta, recipe.name, tuple(at(float(value)) for value in each), wanted, needed)


def _predicted(schema: Schema, method: str, privacy: Privacy, rows: int) -> Callable[[float, Recipe], Expected]:
    """What to expect of a recipe at a budget of rho, for one table or for linked ones."""
    if not isinstance(schema, LinkedSchema):
        unit = privacy.protected_unit()
        return lambda rho, recipe: expected(schema, rows=rows, rho=rho, unit=unit, recipe=recipe)
    linked_search(Generation(method=method))
    root = linked_privacy(privacy, schema).protected_unit()
    return lambda rho, _: expected_of_views(schema, roots=rows, rho=rho, unit=root)


def _wanted(
    column_error: float | None, pair_error: float | Mapping[str, float] | None, schema: Schema
) -> dict[str, float]:
    """The wanted errors: of "columns", and of pairs by column or "*"."""
    made = {} if column_error is None else {"columns": column_error}
    pairs = {ALL: pair_error} if isinstance(pair_error, int | float) else dict(pair_error or {})
    for name, error in pairs.items():
        if name != ALL:
            schema.position(name)
        made[f"pairs {name}"] = error
    for name, error in made.items():
        if not 0 < error < 1:
            raise UserError(
                f"plan: found {error!r} as the wanted error of {name}; it must lie between 0 and 1 (0 and 100 %)."
            )
    return made


def _needed(at: Callable[[float], AtBudget], wanted: Mapping[str, float]) -> AtBudget | None:
    """The least epsilon at which all wanted errors are met, by bisection; errors fall as epsilon grows."""

    def enough(found: AtBudget) -> bool:
        return all(_worst(found.expected, name) <= error for name, error in wanted.items())

    if not enough(at(MOST)):
        return None
    low, high = math.log(LEAST), math.log(MOST)
    for _ in range(24):
        middle = (low + high) / 2
        low, high = (low, middle) if enough(at(math.exp(middle))) else (middle, high)
    return at(math.exp(high))


def _worst(found: Expected, name: str) -> float:
    if name == "columns":
        return max(column.error for column in found.columns)
    column = name.removeprefix("pairs ")
    return max(pair.error() for pair in found.pairs if column in (ALL, *pair.columns))


def _budget_json(each: AtBudget) -> dict[str, Any]:
    found = each.expected
    return {
        "epsilon": each.epsilon,
        "rho": found.rho,
        "columnError": found.column_error,
        "pairError": found.pair_error,
        "columns": [
            {
                "name": c.name,
                "cells": c.cells,
                "stddev": c.stddev,
                "error": c.error,
                "meanErrorPercentOfRange": c.mean,
                "medianErrorPercentOfRange": c.median,
            }
            for c in found.columns
        ],
        "pairs": [{"columns": list(p.columns), "measured": p.measured, "error": p.error()} for p in found.pairs],
    }
