"""Answers from released measurements: exact sums, honest intervals, and "not measured" where there is nothing."""

import numpy as np
import pytest

from related_tables import SCHEMA, related
from sundog.api.model import Model
from sundog.domain.axis import Axis
from sundog.domain.unit import PrivacyUnit
from sundog.errors import UserError
from sundog.estimate.answers import answer_with_interval, coarsening, pool
from sundog.queries import Marginal, answer
from sundog.released import Guarantee, Measurement, Released

ROWS = related(2000, 1)
X, Z = SCHEMA.column("x"), SCHEMA.column("z")


def released(*queries, stddev=0.0, noise=None):
    parts = []
    for query in queries:
        off = 0 if noise is None else np.rint(noise.normal(0, stddev, query.size)).astype(np.int64)
        parts.append(Measurement(query, answer(query, ROWS) + off, stddev, "small#1"))
    return Released(SCHEMA, tuple(parts), Guarantee(PrivacyUnit("replace"), "gaussian", 0.1), public_rows=len(ROWS))


def whole(query):
    return np.zeros(query.size)


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
    found = answer_with_interval(released(FINE), query, synthetic=whole(query), confidence=0.95)
    assert found.basis == "measured"
    assert np.allclose(found.estimate, answer(query, ROWS))
    assert (found.low <= found.estimate).all()
    assert (found.high >= found.estimate).all()


@pytest.mark.parametrize("query", [Marginal.of(SCHEMA, "z"), Marginal((Axis.of(X, 7),)), Marginal.of(SCHEMA, "a", "z")])
def test_what_cannot_be_summed_is_said_to_be_not_measured(query):
    synthetic = np.arange(query.size) + 0.5
    found = answer_with_interval(released(FINE), query, synthetic=synthetic, confidence=0.95)
    assert found.basis == "not measured"
    assert found.low is None
    assert found.high is None
    assert (found.estimate == synthetic).all()
    assert "not measured" in repr(found)


def test_intervals_cover_as_often_as_they_say():
    noise, hits, widths = np.random.default_rng(4), [], []
    queries = [Marginal.of(SCHEMA, "a", "b"), Marginal.of(SCHEMA, "a", "y"), Marginal.of(SCHEMA, "b")]
    target = Marginal.of(SCHEMA, "b")
    for _ in range(1500):
        found = answer_with_interval(
            released(*queries, stddev=3.0, noise=noise), target, synthetic=whole(target), confidence=0.9
        )
        exact = answer(target, ROWS)
        hits.append((found.low <= exact) & (exact <= found.high))
        widths.append(found.high - found.low)
    assert np.mean(hits) == pytest.approx(0.9, abs=0.025)
    alone = 2 * 1.645 * np.sqrt(9 + 1 / 12)
    pooled = alone * np.sqrt(1 / (1 + 1 / 4))  # a by b sums 4 cells: a quarter of the precision on top
    assert np.mean(widths) == pytest.approx(pooled, rel=1e-3)


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


def test_a_model_answers_with_and_without_measurements():
    queries = [Marginal.of(SCHEMA, name) for name in SCHEMA.names]
    model = Model.from_released(
        released(*queries, stddev=2.0, noise=np.random.default_rng(1)), method="independent", seed=1
    )
    known, unknown = model.answer(Marginal.of(SCHEMA, "b")), model.answer(Marginal.of(SCHEMA, "a", "b"))
    assert known.basis == "measured"
    assert (np.abs(known.estimate - answer(known.query, ROWS)) < 12).all()
    assert unknown.basis == "not measured"
    assert unknown.estimate.sum() == pytest.approx(len(ROWS), rel=0.02)
    with pytest.raises(UserError, match="confidence"):
        model.answer(Marginal.of(SCHEMA, "b"), confidence=95)


def test_trees_are_taken_apart_into_their_tables():
    class Tree:
        def __init__(self, *tables):
            self.tables, self.size = tables, sum(table.size for table in tables)

        def describe(self):
            return "tree"

    levels = [Marginal((Axis.of(X, bins),)) for bins in (2, 4, 20)]
    values = np.concatenate([answer(level, ROWS) for level in levels])
    release = released().with_measurements((Measurement(Tree(*levels), values, 1.0, "small#1"),))
    found = pool(release, Marginal((Axis.of(X, 4),)))
    assert np.allclose(found.counts, answer(levels[1], ROWS))
    assert found.sources == ("tree",)
    assert found.variances == pytest.approx((1 + 1 / 12) / (1 + 1 / 5))  # its own level, and sums of five cells
    assert pool(release, Marginal.of(SCHEMA, "a")) is None
