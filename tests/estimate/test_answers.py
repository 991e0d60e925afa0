"""What measurements say of a query: exact sums, variances, and nothing where they say nothing."""

import numpy as np
import pytest

from related_tables import SCHEMA, related
from sundog.domain.axis import Axis
from sundog.domain.unit import PrivacyUnit
from sundog.estimate.answers import coarsening, pool
from sundog.queries import BinaryTree, Marginal, answer
from sundog.released import Guarantee, Measurement, Released

ROWS = related(2000, 1)
X, Z = SCHEMA.column("x"), SCHEMA.column("z")


def released(*queries, stddev=0.0, noise=None):
    parts = []
    for query in queries:
        off = 0 if noise is None else np.rint(noise.normal(0, stddev, query.size)).astype(np.int64)
        parts.append(Measurement(query, answer(query, ROWS) + off, stddev, "small#1"))
    return Released(SCHEMA, tuple(parts), Guarantee(PrivacyUnit("replace"), "gaussian", 0.1), public_rows=len(ROWS))


FINE = Marginal((Axis.whole(SCHEMA.column("a")), Axis.of(X, 20), Axis.whole(SCHEMA.column("b"))))
COVERED = [
    FINE,
    Marginal.of(SCHEMA, "a"),
    Marginal((FINE.axes[2], FINE.axes[0])),
    Marginal((Axis.of(X, 10),)),
    Marginal((Axis.of(X, 5), Axis.grouped(SCHEMA.column("a"), (0, 1, 1, 0)))),
]


@pytest.mark.parametrize("query", COVERED, ids=lambda query: query.describe())
def test_whatever_can_be_summed_from_an_exact_measurement_is_exact(query):
    assert np.allclose(pool(released(FINE), query).counts, answer(query, ROWS))


@pytest.mark.parametrize("query", [Marginal.of(SCHEMA, "z"), Marginal((Axis.of(X, 7),)), Marginal.of(SCHEMA, "a", "z")])
def test_what_cannot_be_summed_is_not_known(query):
    assert pool(released(FINE), query) is None


def test_variances_are_those_of_pooled_noise():
    queries = [Marginal.of(SCHEMA, "a", "b"), Marginal.of(SCHEMA, "a", "y"), Marginal.of(SCHEMA, "b")]
    found = pool(released(*queries, stddev=3.0, noise=np.random.default_rng(4)), Marginal.of(SCHEMA, "b"))
    assert found.variances == pytest.approx(
        (9 + 1 / 12) / (1 + 1 / 4)
    )  # a by b sums 4 cells: a quarter of the precision


def test_pooling_uses_every_measurement_that_covers():
    found = pool(
        released(Marginal.of(SCHEMA, "a", "b"), Marginal.of(SCHEMA, "x"), Marginal.of(SCHEMA, "a")),
        Marginal.of(SCHEMA, "a"),
    )
    assert found.sources == ("a (4) x b (2)", "a (4)")


def test_other_query_classes_are_known_only_as_themselves():
    class Other:
        size = 3

        def __init__(self, name):
            self.name = name

        def to_json(self):
            return {"query": "other", "name": self.name}

    assert coarsening(Other("p"), Other("p")).tolist() == [0, 1, 2]
    assert coarsening(Other("p"), Other("q")) is None
    assert coarsening(FINE, Other("p")) is None


def test_trees_are_taken_apart_into_their_tables():
    levels = [Marginal((Axis.of(X, bins),)) for bins in (2, 4, 20)]
    values = np.concatenate([answer(level, ROWS) for level in levels])
    tree = BinaryTree(tuple(levels), levels=3)
    release = released().with_measurements((Measurement(tree, values, 1.0, "small#1"),))
    found = pool(release, Marginal((Axis.of(X, 4),)))
    assert np.allclose(found.counts, answer(levels[1], ROWS))
    assert found.sources == (tree.describe(),)
    assert found.variances == pytest.approx((1 + 1 / 12) / (1 + 1 / 5))  # its own level, and sums of five cells
    assert pool(release, Marginal.of(SCHEMA, "a")) is None
