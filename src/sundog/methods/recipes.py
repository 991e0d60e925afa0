"""The named methods: recipes as data, with defaults that work. A new method is one entry."""

from dataclasses import replace

from sundog.errors import UserError
from sundog.estimate.bins import Bins
from sundog.estimate.hierarchy import hierarchical, hierarchical_shares
from sundog.estimate.thresholds import Thresholds
from sundog.generate import (
    AnnealedProjection,
    GenerativeNetwork,
    Genetic,
    Graphical,
    Independent,
    Particles,
    Polished,
    PooledSearch,
    RelaxedProjection,
)
from sundog.methods.recipe import First, Recipe
from sundog.methods.workloads import LabelsAndThresholds, nothing, one_way, two_way, two_way_and_protected
from sundog.select import AIM, Adaptive, Allocate, Everything, SpanningTree, WorstError

METHODS = {
    recipe.name: recipe
    for recipe in (
        Recipe(
            "auto",
            "Every pair that is worth its noise, at the resolution that is worth it; the default.",
            two_way,
            Allocate(),
            PooledSearch(),
            first=First(hierarchical, 0.38, hierarchical_shares),
            bins=Bins(finest=4.0, taper=0.75),
            cost="seconds for 15 columns",
        ),
        Recipe(
            "independent",
            "Every column right, no relation between columns; the floor, and the choice for tiny budgets.",
            nothing,
            Everything(),
            Independent(),
            first=First(hierarchical, 0.5, hierarchical_shares),
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
            "All pairs of columns by particle descent; for numbers and ordered columns, and for soft penalties.",
            two_way_and_protected,
            Everything(),
            Particles(),
            first=First(hierarchical, 0.3, hierarchical_shares),
            bins=Bins(finest=2.0),
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
            "Soft rows projected onto all pairs, at once or in rounds (RAP): accurate, and quick on wide workloads.",
            two_way,
            Adaptive(),
            RelaxedProjection(),
            first=First(one_way, 0.2),
            bins=Bins(),
            uses="marginals, trees, t-out-of-k queries, parities and ranges",
            cost="ten seconds for 15 columns",
        ),
        Recipe(
            "gem",
            "The same projection through a generative network (GEM).",
            two_way,
            Adaptive(),
            GenerativeNetwork(),
            first=First(one_way, 0.2),
            bins=Bins(),
            uses="marginals, trees, t-out-of-k queries, parities and ranges",
            cost="a minute for 15 columns",
        ),
        Recipe(
            "rap++",
            "Mixed rows, numbers without bins, for prediction targets: labels by target and linear thresholds (RAP++).",
            LabelsAndThresholds(),
            Adaptive(),
            AnnealedProjection(),
            first=First(hierarchical, 0.2, hierarchical_shares),
            bins=Thresholds(),
            uses="marginals, trees, t-out-of-k queries, parities, ranges, halfspaces, and both by target",
            cost="a minute for 15 columns",
        ),
        Recipe(
            "rap++-polished",
            "RAP++, then a genetic search from its rounded rows on the same measurements: where sigmoids fall short.",
            LabelsAndThresholds(),
            Adaptive(),
            Polished(),
            first=First(hierarchical, 0.2, hierarchical_shares),
            bins=Thresholds(),
            uses="marginals, trees, t-out-of-k queries, parities, ranges, halfspaces, and both by target",
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
