"""What is refused before any budget is spent: a recipe whose parts do not fit together, or do not fit what is asked."""

from collections.abc import Sequence
from typing import NoReturn

from sundog.domain import Schema
from sundog.domain.constraints.kinds import Linear, ProtectedStatistic
from sundog.domain.rows import Rows
from sundog.errors import UserError
from sundog.generate import Constrained, SizeLimited, can_use
from sundog.methods.recipe import Recipe
from sundog.methods.recipes import METHODS
from sundog.queries import Query, SigmoidSum

FAR = 10.0
"""This many times the limit is more than merging rare labels could make up for."""


def check_recipe(recipe: Recipe, schema: Schema, *, public: Rows | None) -> None:
    """Refuse, before any budget is spent, a recipe whose parts do not fit together."""
    queries = recipe.queries(schema)
    check_support(recipe, queries, schema)
    for query in recipe.workload(schema):
        if not recipe.rule.accepts(query):
            _refuse_query(recipe, query, "choose", among=queries, schema=schema)
    check_size(recipe, schema)
    if public is not None:
        check_public(recipe, public)


def check_size(recipe: Recipe, schema: Schema) -> None:
    """Refuse a model that would be far larger than allowed, where all queries are measured: it could not be fitted later."""
    if not (isinstance(recipe.generator, SizeLimited) and recipe.rule.measures_all):
        return
    cells = None if recipe.bins is None else recipe.bins.most
    size = recipe.generator.megabytes_of(schema, recipe.workload(schema), cells=cells)
    if size > FAR * recipe.generator.megabytes:
        raise UserError(
            f"method {recipe.name!r}: all that it measures would need a model of about {size:.3g} MB; at most "
            f"{recipe.generator.megabytes:g} are allowed. Choose by mst, aim or mwem-pgm, which keep it small, generate by "
            "another method, or raise the setting 'megabytes'."
        )


def methods_supporting(queries: Sequence[Query], schema: Schema) -> list[str]:
    """The methods that can measure and use all of these queries."""
    return [
        name
        for name, recipe in METHODS.items()
        if all(can_use(recipe.generator, query, schema) and recipe.rule.accepts(query) for query in queries)
    ]


def check_support(recipe: Recipe, queries: Sequence[Query], schema: Schema) -> None:
    """Refuse, before any budget is spent, queries that the recipe's generator cannot use."""
    for query in queries:
        if not can_use(recipe.generator, query, schema):
            _refuse_query(recipe, query, "use", among=queries, schema=schema)


def check_requests(recipe: Recipe, schema: Schema, *, queries: Sequence[Query], ignore: bool) -> None:
    """Refuse what the schema asks and the method cannot do, unless the user goes on without it."""
    found = unsupported(recipe, schema, queries)
    if found and not ignore:
        able = [name for name, other in METHODS.items() if not unsupported(other, schema, other.queries(schema))]
        others = f"Methods that can do all: {', '.join(able)}. " if able else ""
        raise UserError(
            f"method {recipe.name!r} cannot do all that the schema asks: {' '.join(found)} {others}Choose another method, take "
            "it out of the schema, or go on without it: --ignore-unsupported (ignore_unsupported=True); the certificate "
            "then says so."
        )


def unsupported(recipe: Recipe, schema: Schema, queries: Sequence[Query]) -> tuple[str, ...]:
    """What the schema asks and a method that has measured these queries does not do; one sentence each."""
    found = []
    for constraint in schema.constraints:
        honoured = isinstance(recipe.generator, Constrained) and recipe.generator.fits_with(constraint)
        if isinstance(constraint, ProtectedStatistic) and constraint.strength > 0:
            if not (honoured and SigmoidSum.of(constraint) in queries):
                found.append(f"The statistic {constraint.name!r} is not protected.")
        elif isinstance(constraint, Linear) and constraint.strength and not honoured:
            found.append(f"The strength of {constraint.name!r} is not used; rows satisfy the constraint all the same.")
    return tuple(dict.fromkeys(found))


def _refuse_query(recipe: Recipe, query: Query, verb: str, *, among: Sequence[Query], schema: Schema) -> NoReturn:
    others = methods_supporting(among, schema)
    remedy = f"methods that can: {', '.join(others)}" if others else "no method can use all of these queries"
    raise UserError(f"method {recipe.name!r} cannot {verb} the query {query.describe()!r}; {remedy}.")


def check_public(recipe: Recipe, public: Rows) -> None:
    """Refuse a public table without rows, or for a method that cannot use one."""
    if not len(public):
        raise UserError("public: the table has no rows, so there is nothing to start from; leave it out.")
    if not recipe.public:
        others = [name for name, other in METHODS.items() if other.public]
        raise UserError(
            f"method {recipe.name!r} cannot start from a public table; methods that can: {', '.join(others)}."
        )
