"""Examples of every class of queries, over one tiny schema whose rows can all be enumerated.

The schema has labels with and without "missing", numbers with and without, a column with one label and one with one
number. A class that is registered in sundog.queries.CLASSES but has no example here fails the laws: add its examples.
"""

import itertools
from dataclasses import dataclass

import numpy as np

from sundog.domain import Categorical, Numeric, Schema
from sundog.domain.axis import Axis
from sundog.domain.rows import Rows
from sundog.queries import (
    CLASSES,
    AtLeast,
    BinaryTree,
    Cells,
    Conditional,
    GroupSums,
    Halfspaces,
    Joined,
    Marginal,
    Moments,
    Parity,
    Query,
    Ranges,
    Shared,
)
from sundog.queries.halfspace import width
from sundog.queries.sigmoid import SigmoidSum

SCHEMA = Schema(
    (
        Categorical("colour", ("red", "green"), nullable=True),
        Numeric("age", "integer", 0, 3, nullable=True),
        Numeric("hours", "integer", 1, 3),
        Categorical("only", ("one",)),
        Numeric("fixed", "integer", 7, 7),
    )
)
SIZES = tuple(column.size for column in SCHEMA.columns)
ALL_ROWS = Rows(SCHEMA, tuple(np.array(codes) for codes in zip(*itertools.product(*map(range, SIZES)), strict=True)))
NORMS = ("squared", "l1", "linf", "block")
COLOUR, AGE, HOURS, ONLY, FIXED = (Axis.whole(column) for column in SCHEMA.columns)


@dataclass(frozen=True)
class Case:
    """A query, and for which norms its stated sensitivity is only an upper bound on this schema, and why."""

    query: Query
    loose: tuple[str, ...] = ()
    why: str = ""

    def __post_init__(self):
        assert bool(self.loose) == bool(self.why), "say why a stated sensitivity is not reached"


def ranges(columns, *queries):
    """Each query is a list of (column, low, high); shorter ones have empty conditions."""
    most = max(map(len, queries))
    padded = [[*query, *[(None, 0, 0)] * (most - len(query))] for query in queries]
    which = [[-1 if name is None else columns.index(name) for name, _, _ in query] for query in padded]
    low, high = ([[each[k] for each in query] for query in padded] for k in (1, 2))
    return Ranges(tuple(columns), *(np.array(part, dtype=np.int64) for part in (which, low, high)))


def halfspaces(columns, theta, thresholds):
    """Directions over the embedding of the columns."""
    widths = tuple(width(SCHEMA.column(name)) for name in columns)
    return Halfspaces(tuple(columns), widths, np.array(theta, dtype=np.int16), np.array(thresholds, dtype=np.int64))


ONE_VALUE = "two rows cannot differ in a column with one value"
PREFIXES = ranges(("age", "hours"), [("age", 0, 2)], [("age", 0, 4), ("hours", 0, 2)], [("hours", 0, 1)])
MIXED = ranges(("colour", "age"), [("colour", 0, 1), ("age", 1, 3)], [("colour", 2, 3)], [("age", 4, 5)])
AGE_PLANES = halfspaces(("age", "hours"), [[100, 20, 50], [-60, 0, 10]], [[40, 9000], [-12000, -300]])
ALL_PLANES = halfspaces(
    SCHEMA.names, [[127, -127, 3, 40, -90, 60, 1, -1], [0, 50, 20, -30, 5, 7, 0, 0]], [[-9000, 2000], [-9000, 900]]
)
NESTED = halfspaces(("age", "hours"), [[100, 127, 50]], [[2000, 15000]])
NOT_ALL = "a bound: no row of this schema lies in (or leaves) all halfspaces at once"

EXAMPLES: dict[str, list[Case]] = {
    "marginal": [
        Case(Marginal((COLOUR,))),
        Case(Marginal((AGE, COLOUR))),
        Case(Marginal((HOURS, ONLY, Axis.cut(SCHEMA.column("age"), [0, 2]), FIXED))),
        Case(Marginal((Axis.grouped(SCHEMA.column("colour"), [1, 0, 1]), HOURS))),
        Case(Marginal((ONLY, FIXED)), NORMS, ONE_VALUE),
    ],
    "ranges": [
        Case(PREFIXES),
        Case(MIXED),
        Case(
            ranges(("hours",), [("hours", 0, 2)], [("hours", 1, 3)], [("hours", 1, 2)]),
            ("squared", "l1"),
            "a query does not know where its columns end, and takes a row outside all ranges for possible",
        ),
        Case(ranges(("fixed", "age"), [("fixed", 0, 1), ("age", 3, 4)])),
        Case(ranges(("only",), [("only", 0, 1)]), NORMS, ONE_VALUE),
    ],
    "tree": [
        Case(BinaryTree.of(SCHEMA, "age", levels=3)),
        Case(BinaryTree.of(SCHEMA, "colour", "hours", levels=2)),
        Case(BinaryTree.of(SCHEMA, "colour", "age", "hours", levels=2)),
        Case(BinaryTree.of(SCHEMA, "only", "fixed", levels=1), NORMS, ONE_VALUE),
    ],
    "halfspaces": [
        Case(NESTED),
        Case(AGE_PLANES, ("squared", "l1"), NOT_ALL),
        Case(ALL_PLANES, ("squared", "l1"), NOT_ALL),
    ],
    "conditional": [
        Case(Conditional(COLOUR, ranges(("age", "hours"), [("age", 0, 2)], [("age", 0, 3), ("hours", 0, 2)]))),
        Case(Conditional.of(SCHEMA, "hours", MIXED), ("squared", "l1"), "the inner ranges exclude each other"),
        Case(Conditional.of(SCHEMA, "colour", NESTED)),
        Case(Conditional.of(SCHEMA, "only", ranges(("age",), [("age", 0, 4)]))),
    ],
    "at_least": [
        Case(AtLeast.of(SCHEMA, "colour", "hours", least=1)),
        Case(AtLeast.of(SCHEMA, "colour", "age", "hours", least=2)),
        Case(AtLeast.of(SCHEMA, "colour", "age", "hours", least=3)),
        Case(AtLeast(Marginal((ONLY, COLOUR, HOURS, Axis.cut(SCHEMA.column("age"), [0, 2]))), 2)),
    ],
    "parities": [
        Case(
            Parity(
                Marginal((Axis.grouped(SCHEMA.column("colour"), [1, 0, 1]), Axis.cut(SCHEMA.column("hours"), [0, 2])))
            )
        ),
        Case(Parity(Marginal((Axis.grouped(SCHEMA.column("colour"), [1, 0, 1]), FIXED)))),
        Case(Parity(Marginal((ONLY, COLOUR)))),
    ],
    "cells": [
        Case(Cells(Marginal((COLOUR, HOURS)), np.array([2, 5, 3]))),
        Case(Cells(Marginal((Axis.grouped(SCHEMA.column("colour"), [1, 0, 1]), AGE)), np.array([2]))),
        Case(Cells.of(Marginal((HOURS, FIXED)))),
        Case(Cells.of(Marginal((ONLY, FIXED))), NORMS, ONE_VALUE),
    ],
    "joined": [
        Case(Joined(Marginal((COLOUR, HOURS)), (0, 1, 1, 2, 0, 0, 1, 1, 2))),
        Case(Joined(Marginal((Axis.cut(SCHEMA.column("hours"), [0, 2]), AGE, ONLY)), (0, 1, 1, 2, 3, 3, 3, 2, 1, 0))),
        Case(
            Joined(Marginal((COLOUR, HOURS)), (0,) * 9),
            ("squared", "l1", "linf", "block"),
            "all cells are one, which a replaced row does not leave",
        ),
    ],
    "moments": [
        Case(Moments.of(SCHEMA, "hours")),
        Case(Moments.of(SCHEMA, "age", "hours"), ("l1", "block"), "the L1 supremum lies between the grid's points"),
        Case(Moments.of(SCHEMA, "fixed", "age"), NORMS, ONE_VALUE),
        Case(Moments.of(SCHEMA, "colour")),
        Case(Moments.of(SCHEMA, "hours", "colour", within=[(1, 2), None]), ("l1", "block"), "as above"),
        Case(Moments.of(SCHEMA, "age", within=[(1, 3)])),
    ],
    "group_sums": [
        Case(GroupSums.of(SCHEMA, "hours", by="colour")),
        Case(GroupSums.of(SCHEMA, "age", by="hours")),
        Case(GroupSums.of(SCHEMA, "colour", by="age")),
        Case(GroupSums.of(SCHEMA, "fixed", by="age"), ("squared", "l1", "linf", "block"), ONE_VALUE),
    ],
    "shared": [
        Case(Shared(Marginal((COLOUR,)), "hours", 3)),
        Case(Shared(Marginal((AGE, COLOUR)), "hours", 3)),
        Case(Shared(Marginal((COLOUR, AGE)), "fixed", 1, every=True)),
        Case(Shared(Marginal((ONLY,)), "hours", 3), ("squared", "l1", "linf", "block"), ONE_VALUE),
    ],
    "sigmoid": [
        Case(SigmoidSum(("hours",), (2.0,), 1.0)),
        Case(SigmoidSum(("hours",), (2.0,), 1.0, 40.0)),
        Case(SigmoidSum(("age", "hours"), (1.0, -0.5), 0.25)),
        Case(SigmoidSum(("colour", "age", "fixed"), (0.5, 1.0, -0.25), 0.5), NORMS, "labels lie inside their bounds"),
    ],
}


def cases() -> dict[str, Case]:
    """Every example of every registered class, by a readable name."""
    lacking = [name for name in CLASSES if not EXAMPLES.get(name)]
    assert not lacking, f"these classes of queries have no example in tests/laws/query_examples.py: {lacking}"
    return {f"{name}-{number}": case for name in CLASSES for number, case in enumerate(EXAMPLES[name])}


def random_query(seed: int) -> Query:
    """A query of a random class with random boundaries."""
    random = np.random.default_rng(seed)
    makers = (_random_ranges, _random_halfspaces, _random_conditional, _random_at_least, _random_marginal, _random_tree)
    return makers[random.integers(len(makers))](random)


def _random_columns(random, names, least=1):
    chosen = random.permutation(len(names))[: random.integers(least, len(names) + 1)]
    return tuple(names[k] for k in chosen)


def _random_axis(random, name):
    column = SCHEMA.column(name)
    return Axis.cut(column, random.integers(0, column.size, 2).tolist())


def _random_ranges(random, names=SCHEMA.names):
    columns = _random_columns(random, names)
    queries = []
    for _ in range(random.integers(1, 5)):
        conditions = []
        for name in _random_columns(random, columns):
            low, high = np.sort(random.choice(SCHEMA.column(name).size + 1, 2, replace=False))
            conditions.append((name, low, high))
        queries.append(conditions)
    return ranges(columns, *queries)


def _random_halfspaces(random, names=SCHEMA.names):
    columns = _random_columns(random, names)
    features = sum(width(SCHEMA.column(name)) for name in columns)
    directions, thresholds = random.integers(1, 3, 2)
    theta = random.integers(-127, 128, (directions, features))
    return halfspaces(columns, theta, np.sort(random.integers(-30000, 30000, (directions, thresholds)), axis=1))


def _random_conditional(random):
    target = SCHEMA.names[random.integers(3)]
    others = tuple(name for name in SCHEMA.names if name != target)
    inner = (_random_ranges, _random_halfspaces)[random.integers(2)](random, others)
    return Conditional.of(SCHEMA, target, inner)


def _random_at_least(random):
    columns = _random_columns(random, SCHEMA.names)
    axes = tuple(_random_axis(random, name) for name in columns)
    return AtLeast(Marginal(axes), int(random.integers(1, len(columns) + 1)))


def _random_marginal(random):
    return Marginal(tuple(_random_axis(random, name) for name in _random_columns(random, SCHEMA.names)))


def _random_tree(random):
    columns = (*_random_columns(random, ("colour", "only", "hours")), "age")
    return BinaryTree.of(SCHEMA, *columns, levels=int(random.integers(1, 4)))
