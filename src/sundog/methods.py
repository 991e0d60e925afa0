"""Named recipes: a workload, a selection rule and a generator, with defaults that work."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sundog.errors import UserError
from sundog.generate import Generator, Independent
from sundog.queries import Query
from sundog.schema import Schema
from sundog.select import Everything, SelectionRule
from sundog.workload import Workload


@dataclass(frozen=True)
class Recipe:
    """How a named method works: what it measures, how it chooses, how it generates."""

    name: str
    summary: str
    workload: Callable[[Schema], tuple[Query, ...]]
    rule: SelectionRule
    generator: Generator[Any]


def one_way(schema: Schema) -> tuple[Query, ...]:
    """Every column's own marginal."""
    return Workload.marginals(schema, k=1).queries


METHODS = {
    recipe.name: recipe
    for recipe in (
        Recipe(
            "independent",
            "Every column right, no relation between columns; the floor, and the choice for tiny budgets.",
            one_way,
            Everything(),
            Independent(),
        ),
    )
}


def recipe_of(name: str) -> Recipe:
    """The recipe of a method's name."""
    if name not in METHODS:
        raise UserError(f"method {name!r} is unknown; methods are {', '.join(METHODS)}.")
    return METHODS[name]
