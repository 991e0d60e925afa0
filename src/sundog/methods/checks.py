"""What is refused before any budget is spent: a recipe whose parts do not fit together, or do not fit what is asked."""

from collections.abc import Sequence

from sundog.domain import Schema
from sundog.domain.rows import Rows
from sundog.errors import UserError
from sundog.methods.recipe import Recipe
from sundog.methods.recipes import METHODS
from sundog.queries import Query


def check_recipe(recipe: Recipe, schema: Schema, *, public: Rows | None) -> None:
    """Refuse, before any budget is spent, a recipe whose parts do not fit together."""
    check_support(recipe, recipe.queries(schema))
    if public is not None:
        check_public(recipe)


def methods_supporting(queries: Sequence[Query]) -> list[str]:
    """The methods whose generator can use all of these queries."""
    return [name for name, recipe in METHODS.items() if all(recipe.generator.supports(query) for query in queries)]


def check_support(recipe: Recipe, queries: Sequence[Query]) -> None:
    """Refuse, before any budget is spent, queries that the recipe's generator cannot use."""
    for query in queries:
        if not recipe.generator.supports(query):
            others = methods_supporting(queries)
            remedy = f"methods that can: {', '.join(others)}" if others else "no method can use all of these queries"
            raise UserError(f"method {recipe.name!r} cannot use the query {query.describe()!r}; {remedy}.")


def check_public(recipe: Recipe) -> None:
    """Refuse a public table for a method that cannot use one."""
    if not recipe.public:
        others = [name for name, other in METHODS.items() if other.public]
        raise UserError(
            f"method {recipe.name!r} cannot start from a public table; methods that can: {', '.join(others)}."
        )
