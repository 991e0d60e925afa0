"""Named recipes: what to measure first, a workload, a selection rule and a generator, with defaults that work.

A recipe with `first` measures these queries before anything else. Where it also has `bins`, the workload's numeric
columns and rare labels are then binned by what that first measurement showed; the rule sees the binned workload.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from sundog.domain import Categorical, Numeric, Schema
from sundog.domain.constraints.kinds import ProtectedStatistic
from sundog.errors import UserError
from sundog.estimate.bins import Bins
from sundog.estimate.hierarchy import hierarchical, hierarchical_shares
from sundog.estimate.thresholds import Thresholds
from sundog.generate import (
    AnnealedProjection,
    GenerativeNetwork,
    Generator,
    Genetic,
    Graphical,
    Independent,
    Particles,
    Polished,
    PooledSearch,
    RelaxedProjection,
    UsesPublic,
)
from sundog.generate.particles.declared_penalties import sigmoid_query
from sundog.queries import Query
from sundog.queries.workload import Workload
from sundog.select import AIM, Allocate, ByClass, Everything, SelectionRule, SpanningTree, WorstError

DIRECTIONS, MOST_DIRECTIONS = 200, 1000
"""RAP++ measures 20 thresholds along so many directions a numeric column, at most, divided among the targets."""
MANY_TABLES = 200
WEIGHTED = (Everything, AIM, Allocate)
"""Rules that can weight queries."""


@dataclass(frozen=True)
class First:
    """Queries that are measured before the rule is asked, their share of the budget, and how they divide it.

    By default they divide it by use, cells^(2/3).
    """

    queries: Callable[[Schema], tuple[Query, ...]]
    share: float
    shares: Callable[[Schema], list[float]] | None = None


@dataclass(frozen=True)
class Recipe:
    """How a named method works: what it measures, how it chooses, how it generates; and what users should know of it."""

    name: str
    summary: str
    workload: Callable[[Schema], tuple[Query, ...]]
    rule: SelectionRule
    generator: Generator[Any]
    first: First | None = None
    bins: Bins | None = None
    uses: str = "marginals"
    cost: str = ""
    settings: tuple[tuple[str, Any], ...] = ()

    @property
    def public(self) -> bool:
        """Whether it can start from a public table."""
        return isinstance(self.generator, UsesPublic)

    def queries(self, schema: Schema) -> tuple[Query, ...]:
        """All that it may measure, on public bins: enough to tell, before anything is spent, what the generator needs."""
        return (*(self.first.queries(schema) if self.first else ()), *self.workload(schema))


def one_way(schema: Schema) -> tuple[Query, ...]:
    """Every column's own marginal."""
    return Workload.marginals(schema, k=1).queries


def two_way(schema: Schema) -> tuple[Query, ...]:
    """The marginals of all pairs of columns."""
    return Workload.marginals(schema, k=2).queries if len(schema.names) > 1 else ()


def binned_pairs(schema: Schema) -> tuple[Query, ...]:
    """Every pair of columns (or the only one), numbers in at most 32 bins, and what protected statistics need."""
    tables = Workload.marginals(schema, k=min(2, len(schema.names)), bins=32).queries
    return (*tables, *(sigmoid_query(c) for c in schema.constraints if isinstance(c, ProtectedStatistic)))


def nothing(schema: Schema) -> tuple[Query, ...]:
    """No query beyond the first."""
    return ()


def labels_and_thresholds(schema: Schema) -> tuple[Query, ...]:
    """Pairs of label columns with every target, and linear thresholds over the numbers (RAP++: CM and LT).

    Without targets, pairs of label columns and halfspaces over all columns. Where pairs with a target would be too many,
    pairs of label columns, targets among them.
    """
    labels = [column.name for column in schema.columns if isinstance(column, Categorical)]
    numbers = [column.name for column in schema.columns if isinstance(column, Numeric) and column.steps > 1]
    targets = tuple(target for target in schema.targets if target in labels)
    triples = (
        Workload.conditional_marginals(schema, targets=targets, k=2).queries if targets and len(labels) > 2 else ()
    )
    pairs = Workload.marginals(schema, k=2, columns=labels).queries if len(labels) > 1 else ()
    tables = triples if 0 < len(triples) <= MANY_TABLES else pairs
    if not numbers or len(schema.names) == 1:
        return tables
    directions = min(DIRECTIONS * len(numbers), MOST_DIRECTIONS)
    if not targets:
        return (*tables, *Workload.halfspaces(schema, directions=directions).queries)
    each = -(-directions // len(targets))
    return (*tables, *Workload.conditional_thresholds(schema, targets=targets, directions=each).queries)


METHODS = {
    recipe.name: recipe
    for recipe in (
        Recipe(
            "auto",
            "Every pair that is worth its noise, at the resolution that is worth it; the default.",
            two_way,
            Allocate(),
            PooledSearch(),
            first=First(hierarchical, 0.33, hierarchical_shares),
            bins=Bins(finest=4.0, taper=0.75),
            cost="seconds for 15 columns",
        ),
        Recipe(
            "independent",
            "Every column right, no relation between columns; the floor, and the choice for tiny budgets.",
            nothing,
            Everything(),
            Independent(),
            first=First(hierarchical, 1.0, hierarchical_shares),
            uses="one-way marginals",
            cost="seconds",
        ),
        Recipe(
            "mst",
            "The strongest tree of pairs, as a graphical model: robust at small budgets, fast.",
            two_way,
            SpanningTree(),
            Graphical(),
            first=First(one_way, 1 / 3),
            bins=Bins(),
            cost="seconds for 15 columns",
        ),
        Recipe(
            "aim",
            "Adaptively chosen marginals, as a graphical model: accurate where relations go beyond a tree.",
            two_way,
            AIM(),
            Graphical(),
            first=First(one_way, 0.1),
            bins=Bins(),
            cost="half a minute for 15 columns",
        ),
        Recipe(
            "mwem-pgm",
            "The worst-fitted pair of each of 20 rounds, as a graphical model: the simplest adaptive method.",
            two_way,
            WorstError(rounds=20, share_select=0.1),
            Graphical(),
            first=First(one_way, 1 / 4),
            bins=Bins(),
            cost="ten seconds for 15 columns",
        ),
        Recipe(
            "privpgd",
            "All pairs of columns by particle descent; for numbers and ordered columns, and for constraints.",
            binned_pairs,
            Everything(),
            Particles(),
            cost="a minute for 15 columns",
        ),
        Recipe(
            "private-gsd",
            "All pairs, and rows found by a genetic search: takes every kind of query, numbers keep their grid.",
            two_way,
            Everything(),
            Genetic(),
            first=First(one_way, 1 / 4),
            bins=Bins(),
            uses="every class of queries",
            cost="half a minute for 15 columns and 50,000 rows",
        ),
        Recipe(
            "private-gsd-adaptive",
            "The same search, with the pairs it answers worst chosen in 20 rounds: for large workloads.",
            two_way,
            WorstError(rounds=20, per_round=2),
            Genetic(),
            first=First(one_way, 1 / 4),
            bins=Bins(),
            uses="every class of queries",
            cost="a minute for 15 columns and 50,000 rows",
        ),
        Recipe(
            "rap",
            "Soft rows projected onto all pairs at once (RAP, T = 1): accurate, and quick on wide workloads.",
            two_way,
            Everything(),
            RelaxedProjection(),
            first=First(one_way, 0.2),
            bins=Bins(),
            cost="ten seconds for 15 columns",
        ),
        Recipe(
            "gem",
            "The same projection through a generative network (GEM).",
            two_way,
            Everything(),
            GenerativeNetwork(),
            first=First(one_way, 0.2),
            bins=Bins(),
            cost="half a minute for 15 columns",
        ),
        Recipe(
            "rap++",
            "Mixed rows, numbers without bins, for prediction targets: labels by target and linear thresholds (RAP++).",
            labels_and_thresholds,
            ByClass(),
            AnnealedProjection(),
            first=First(hierarchical, 0.2, hierarchical_shares),
            bins=Thresholds(),
            uses="marginals, trees, ranges, halfspaces, and both by target",
            cost="a minute for 15 columns",
        ),
        Recipe(
            "rap++-polished",
            "RAP++, then a genetic search from its rounded rows on the same measurements: where sigmoids fall short.",
            labels_and_thresholds,
            ByClass(),
            Polished(),
            first=First(hierarchical, 0.2, hierarchical_shares),
            bins=Thresholds(),
            uses="marginals, trees, ranges, halfspaces, and both by target",
            cost="some minutes for 15 columns",
        ),
    )
}


def recipe_of(name: str) -> Recipe:
    """The recipe of a method's name; "RULE/GENERATOR" joins how one method chooses with how another generates."""
    rule, _, generator = name.partition("/")
    for part in (rule, generator or rule):
        if part not in METHODS:
            raise UserError(
                f"method {part!r} is unknown; methods are {', '.join(METHODS)}, or two of them as RULE/GENERATOR."
            )
    if not generator:
        return METHODS[rule]
    return replace(METHODS[rule], name=name, generator=METHODS[generator].generator)


def with_workload(recipe: Recipe, workload: Workload) -> Recipe:
    """The recipe with the user's own workload, on the cells it asks for.

    `auto` takes pairs itself and leaves other queries to the genetic search, which can use all of them. One-way marginals
    are measured first only where they are needed: to choose, or to learn the number of rows.
    """
    if recipe == METHODS["auto"] and not all(recipe.generator.supports(query) for query in workload.queries):
        recipe = METHODS["private-gsd"]
    rule: SelectionRule = recipe.rule
    if len(set(workload.weights)) > 1:
        if not isinstance(rule, WEIGHTED):
            others = [name for name, other in METHODS.items() if isinstance(other.rule, WEIGHTED)]
            raise UserError(
                f"workload: method {recipe.name!r} cannot weight queries; leave their weights out. "
                f"Methods that can: {', '.join(others)}."
            )
        rule = replace(rule, weights=workload.weights)
    needed = not isinstance(rule, Everything) or not any(query.partition for query in workload.queries)
    first = recipe.first if needed else None
    return replace(recipe, workload=lambda _: workload.queries, rule=rule, first=first, bins=None)


def with_settings(recipe: Recipe, settings: Mapping[str, Any]) -> Recipe:
    """The recipe with some of its generator's settings changed."""
    known = [field.name for field in fields(recipe.generator)]  # type: ignore[arg-type]
    for name in settings:
        if name not in known:
            raise UserError(f"method {recipe.name!r} has no setting {name!r}; it has {', '.join(known) or 'none'}.")
    try:
        generator = replace(recipe.generator, **settings)  # type: ignore[type-var]
    except TypeError:
        raise UserError(
            f"method {recipe.name!r}: a setting has a value of the wrong kind; see its docs page."
        ) from None
    return replace(recipe, generator=generator, settings=tuple(settings.items()))


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
