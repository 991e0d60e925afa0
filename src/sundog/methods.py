"""Named recipes: a workload, a selection rule and a generator, with defaults that work."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from sundog.errors import UserError
from sundog.generate import Generator, Independent, Particles
from sundog.generate.declared_penalties import sigmoid_query
from sundog.queries import Marginal, Query
from sundog.schema import Schema
from sundog.schema.constraints import ProtectedStatistic
from sundog.select import Everything, SelectionRule


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
    return tuple(Marginal.of(schema, name) for name in schema.names)


def two_way(schema: Schema) -> tuple[Query, ...]:
    """Every pair of columns (or the only one), numbers in at most 32 bins, and what protected statistics need."""
    pairs: list[tuple[str, ...]] = [*combinations(schema.names, 2)] or [schema.names]
    tables = tuple(Marginal.of(schema, *pair, bins=32) for pair in pairs)
    return (*tables, *(sigmoid_query(c) for c in schema.constraints if isinstance(c, ProtectedStatistic)))


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
        Recipe(
            "privpgd",
            "All pairs of columns by particle descent; for numbers and ordered columns, and for constraints.",
            two_way,
            Everything(),
            Particles(),
        ),
    )
}


def recipe_of(name: str) -> Recipe:
    """The recipe of a method's name."""
    if name not in METHODS:
        raise UserError(f"method {name!r} is unknown; methods are {', '.join(METHODS)}.")
    return METHODS[name]
