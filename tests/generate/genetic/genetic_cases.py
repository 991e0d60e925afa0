"""Queries of every class on one schema, and searches on them, for the tests of the genetic search."""

import numpy as np

import tables
from sundog.domain.axis import Axis
from sundog.domain.unit import PrivacyUnit
from sundog.generate.genetic.private_gsd import Genetic
from sundog.generate.genetic.search import Effort, Search
from sundog.generate.genetic.start import uniform_start
from sundog.queries import (
    AtLeast,
    BinaryTree,
    Cells,
    Conditional,
    GroupSums,
    Joined,
    Marginal,
    Moments,
    Parity,
    Ranges,
    SigmoidSum,
    answer,
)
from sundog.queries.workload import Workload
from sundog.random.keys import key_of
from sundog.released import Guarantee, Measurement, Released

SCHEMA = tables.schema()
NAMES = [
    "marginal",
    "tree",
    "ranges",
    "halfspaces",
    "conditional",
    "at_least",
    "cells",
    "joined",
    "parities",
    "moments",
    "sigmoid",
    "group_sums",
]


def own_ranges(**columns):
    """One range query a keyword: name=(low, high), several conditions on one column allowed as a list."""
    names = tuple(columns)
    pairs = [(k, low, high) for k, name in enumerate(names) for low, high in np.atleast_2d(columns[name])]
    which, low, high = (np.array([column]) for column in zip(*pairs, strict=True))
    return Ranges(names, which, low, high)


def queries_of(name):
    grouped = Axis.grouped(SCHEMA.column("region"), [0, 1, 0, 2, 1, 1])
    made = {
        "marginal": [
            *Workload.marginals(SCHEMA, k=2, sample=9).queries,
            Marginal.of(SCHEMA, "age", "cost", "region"),
            Marginal((Axis.of(SCHEMA.column("age"), 7), grouped)),
        ],
        "tree": [BinaryTree.of(SCHEMA, "region", "cost", levels=4), BinaryTree.of(SCHEMA, "age", "seen", levels=2)],
        "ranges": [
            *Workload.prefixes(SCHEMA, count=30).queries,
            *Workload.ranges(SCHEMA, count=30, labels=2).queries,
            own_ranges(age=[(5, 70), (30, 111)], region=(1, 3)),
            own_ranges(cost=(7, 8)),  # hardly ever holds
            own_ranges(smoker=(0, 3), day=(0, 10**6)),  # always holds
        ],
        "halfspaces": [
            *Workload.halfspaces(SCHEMA, directions=7, thresholds=5).queries,
            Workload.halfspaces(SCHEMA, directions=7, thresholds=5).queries[0].subset([3, 4, 20]),
        ],
        "conditional": [
            *Workload.conditional_ranges(SCHEMA, targets=["smoker", "age"], count=9, numbers=2).queries,
            *Workload.conditional_thresholds(SCHEMA, targets=["region"], directions=4, thresholds=3).queries,
            Conditional(grouped, own_ranges(age=(5, 70))),
        ],
        "at_least": [
            AtLeast.of(SCHEMA, "region", "smoker", "grade", least=2),
            AtLeast.of(SCHEMA, "region", "age", least=1, bins=6),
            AtLeast.of(SCHEMA, "grade", "parity", least=2),
        ],
        "cells": [
            Cells(Marginal.of(SCHEMA, "region", "smoker", "grade"), np.array([5, 0, 9])),
            Cells(Marginal((Axis.of(SCHEMA.column("age"), 7), grouped)), np.arange(3, 15)),
        ],
        "joined": [
            Joined(
                Marginal((Axis.of(SCHEMA.column("age"), 7), grouped)),
                np.arange(3 * Axis.of(SCHEMA.column("age"), 7).size) % 5,
            ),
            Joined(
                Marginal.of(SCHEMA, "region", "smoker", "grade"),
                np.arange(Marginal.of(SCHEMA, "region", "smoker", "grade").size) // 2,
            ),
        ],
        "parities": [
            Parity.of(SCHEMA, "region", "smoker", "grade"),
            Parity.of(SCHEMA, "region", "age", bins=6),
        ],
        "moments": [
            Moments(("age", "cost")),
            Moments(("cost", "seen", "day", "age")),
            Moments(("age", "cost"), within=((20, 61), (1000, 400_000))),
        ],
        "sigmoid": [
            SigmoidSum(("age", "cost"), (0.7, -1.3), 0.1),
            SigmoidSum(("region", "seen", "cost"), (1.0, -0.5, 2.0), 0.9),
            SigmoidSum(("cost",), (-1.0,), -0.5, 60.0),
        ],
        "group_sums": [
            GroupSums(grouped, "cost"),
            GroupSums(Axis.of(SCHEMA.column("age"), 7), "seen"),
            GroupSums(Axis.of(SCHEMA.column("smoker")), "age"),
        ],
    }
    return [query for queries in made.values() for query in queries] if name == "all" else made[name]


def exact(queries, rows):
    return np.concatenate([answer(query, rows) for query in queries]).astype(float)


def a_search(queries, *, rows=80, seed=0):
    start = uniform_start(key_of(seed), SCHEMA, rows=rows)
    other = uniform_start(key_of(seed + 100), SCHEMA, rows=rows)
    units = {Moments: 1e-9, SigmoidSum: 1e-5, GroupSums: 1e-5}
    weights = [(0.5 + k % 3) * units.get(type(query), 1.0) for k, query in enumerate(queries)]
    return Search(start, queries, targets=exact(queries, other) + 0.25, weights=weights)


def effort(**changed):
    settings = {
        "operator": "every improvement",
        "mutations": 5,
        "crossovers": 5,
        "elite_size": 2,
        "changes": 1,
        "generations": 60,
        "window": 1000,
        "tolerance": 1e-4,
        "seconds": None,
        "stop_at_noise": False,
    }
    return Effort(**(settings | changed))


def released(queries, rows, *, stddev=0.0, schema=SCHEMA, n=None):
    parts = (Measurement(query, answer(query, rows), stddev, "test") for query in queries)
    return Released(
        schema, tuple(parts), Guarantee(PrivacyUnit("replace"), "gaussian", 1.0), public_rows=n or len(rows)
    )


def fitted(queries, data, /, *, seed=0, schema=SCHEMA, n=None, stddev=0.0, **settings):
    generator = Genetic(**settings)
    known = released(queries, data, schema=schema, n=n, stddev=stddev)
    return generator, generator.fit(key_of(seed), generator.init(key_of(seed), schema), released=known)
