"""Every metric on tables of a few rows, against values worked out with pen and paper."""

import math

import numpy as np
import pytest

from sundog.domain import Schema
from sundog.domain.rows import Rows
from sundog.evaluate import METRICS, Comparison
from sundog.evaluate.learning import boosting_error, logistic_f1, macro_f1
from sundog.queries import Marginal


def labels(name, *values):
    return {"name": name, "type": "string", "categories": list(values), "constraints": {"required": True}}


def digit(name):
    return {"name": name, "type": "integer", "constraints": {"minimum": 0, "maximum": 9, "required": True}}


def rows(fields, *codes):
    return Rows(Schema.from_json({"fields": fields}), tuple(np.array(code) for code in codes))


def score(name, real, synthetic, **more):
    return METRICS[name].score(Comparison(real, synthetic, **more)).value


PAIR = [labels("a", "p", "q"), labels("b", "u", "v")]
TOGETHER, APART = rows(PAIR, [0, 1], [0, 1]), rows(PAIR, [0, 1], [1, 0])
"""The columns always agree, and never: the same columns alone, no cell of the pair in common."""
BOTH, MOSTLY = rows(PAIR, [0, 1], [0, 0]), rows(PAIR, [0, 1, 1, 1], [0, 0, 0, 0])
"""Column a in shares of 1/2 and 1/2, and of 1/4 and 3/4; b never varies."""


def test_total_variation():
    assert score("tv1", TOGETHER, APART) == 0
    assert score("tv2", TOGETHER, APART) == 1
    assert score("tv1", BOTH, MOSTLY) == pytest.approx((1 / 4 + 0) / 2)
    three = [*PAIR, labels("c", "s", "t")]
    parity = rows(three, [0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 1, 0])
    everything = rows(three, *np.array(np.unravel_index(np.arange(8), (2, 2, 2))))
    assert score("tv2", parity, everything) == 0
    assert score("tv3", parity, everything) == pytest.approx(1 / 2)


def test_divergences():
    """p = (1/2, 1/2) and q = (1, 0): JS^2 = ((log2(2/3) + log2 2) / 2 + log2(4/3)) / 2 = 0.31128."""
    one = [labels("a", "p", "q")]
    assert score("js_distance", rows(one, [0, 1]), rows(one, [0, 0])) == pytest.approx(0.557923, abs=1e-6)
    kl = 0.5 * math.log(2) + 0.5 * math.log(2 / 3)
    assert score("inverse_kl", rows(one, [0, 1]), rows(one, [0, 1, 1, 1])) == pytest.approx(1 / (1 + kl))


def test_sliced_wasserstein_of_a_shift():
    """All mass moves three cells of ten in one column: 0.3, times the mean |cosine| of the directions to it."""
    real, moved = (rows([digit(name) for name in "xyz"], [x, x], [5, 5], [5, 5]) for x in (2, 5))
    alone = [Rows(Schema.from_json({"fields": [digit("x")]}), (each.codes[0],)) for each in (real, moved)]
    assert score("sw1_1way", *alone) == pytest.approx(0.3)
    assert score("sw1", real, moved) == pytest.approx(2 / 3 * 0.3 * 2 / math.pi, abs=0.01)
    assert score("sw1_3way", real, moved) == pytest.approx(0.3 / 2, abs=0.03)


def test_second_moments():
    """Cells lie at 1/4 and 3/4: variances 1/16, covariances 1/16 and -1/16; correlations 1 and -1."""
    assert score("covariance", TOGETHER, APART) == pytest.approx(math.sqrt(2))
    assert score("correlation", TOGETHER, APART) == pytest.approx(2.0)
    half = rows(PAIR, [0] * 4 + [1] * 4, [0, 0, 0, 1, 0, 1, 1, 1])
    independent = rows(PAIR, [0, 0, 1, 1], [0, 1, 0, 1])
    assert score("correlation", TOGETHER, half) == pytest.approx(0.5)
    assert score("utility_improvement", TOGETHER, half, baseline=independent) == pytest.approx(0.5)
    assert score("utility_improvement", TOGETHER, APART, baseline=independent) == pytest.approx(-1.0)


def test_random_queries():
    one = [labels("a", "p", "q")]
    # Intervals that hold 5 to 95 % of the real rows are single cells, each with half of them.
    assert score("counting", rows(one, [0, 1]), rows(one, [0, 1, 1, 1])) == pytest.approx((1 / 4) / (1 / 2))
    # Whatever the direction, the threshold lies between the two cells.
    assert score("thresholding", rows(one, [0, 1]), rows(one, [0, 1, 1, 1])) == pytest.approx((1 / 4) / (1 / 2))
    # P(x < tau) with tau uniform: all real rows pass, all synthetic ones fail, when tau is above 0 and below 1/3.
    assert score("prefix", rows([digit("x")], [0]), rows([digit("x")], [3])) == pytest.approx(1 / 3, abs=0.05)
    # tau lies between the weights of p and q: the middle one of three independent normal numbers.
    assert score("halfspace", rows(one, [0]), rows(one, [1])) == pytest.approx(1 / 3, abs=0.05)


def test_workload_errors():
    """Shares of a: 1/2 and 1/2 against 1/4 and 3/4; of b: 1 and 0 against the same."""
    queries = (Marginal.of(BOTH.schema, "a"), Marginal.of(BOTH.schema, "b"))
    assert score("workload_mean", BOTH, MOSTLY, workload=queries) == pytest.approx(1 / 8)
    assert score("workload_max", BOTH, MOSTLY, workload=queries) == pytest.approx(1 / 4)


def test_macro_f1():
    """Class 0: precision 1, recall 1/2; class 1: precision 2/3, recall 1."""
    assert macro_f1(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1])) == pytest.approx((2 / 3 + 4 / 5) / 2)


def test_learning_a_rule_and_its_opposite():
    pytest.importorskip("sklearn")
    same, opposite = (rows(PAIR, [0, 1] * 40, list(b) * 40) for b in ((0, 1), (1, 0)))
    for train, f1, error in ((same, 1.0, 0.0), (opposite, 0.0, 1.0)):
        assert logistic_f1(train, same, target="b") == pytest.approx(f1)
        assert boosting_error(train, same, target="b") == pytest.approx(error)


def test_boosting_a_number_that_never_varied():
    """Whoever always says 3 where half are 2 and half 4 is off by one each time: as much as the truth varies."""
    pytest.importorskip("sklearn")
    fields = [labels("a", "p", "q"), digit("x")]
    truth = rows(fields, [0, 1], [2, 4])
    assert boosting_error(rows(fields, [0, 1], [3, 3]), truth, target="x") == pytest.approx(1.0)
