"""A method with the user's own workload, on the cells it asks for, instead of the method's."""

from dataclasses import replace

from sundog.errors import UserError
from sundog.methods.recipe import Recipe
from sundog.methods.recipes import METHODS
from sundog.queries.workload import Workload
from sundog.select import SelectionRule, Weighted


def with_workload(recipe: Recipe, workload: Workload) -> Recipe:
    """The recipe with this workload.

    `auto` takes pairs itself and leaves other queries to the genetic search, which can use all of them. One-way marginals
    are measured first only where they are needed: to choose, or to learn the number of rows.
    """
    if recipe == METHODS["auto"] and not all(recipe.generator.supports(query) for query in workload.queries):
        recipe = METHODS["private-gsd"]
    rule = recipe.rule if len(set(workload.weights)) <= 1 else _weighted(recipe, workload.weights)
    needed = rule.columns_first or not any(query.partition for query in workload.queries)
    first = recipe.first if needed else None
    return replace(recipe, workload=lambda _: workload.queries, rule=rule, first=first, bins=None)


def _weighted(recipe: Recipe, weights: tuple[float, ...]) -> SelectionRule:
    if isinstance(recipe.rule, Weighted):
        return recipe.rule.weighted(weights)
    others = [name for name, other in METHODS.items() if isinstance(other.rule, Weighted)]
    raise UserError(
        f"workload: method {recipe.name!r} cannot weight queries; leave their weights out. "
        f"Methods that can: {', '.join(others)}."
    )
