"""Prices: the budget is used up, strong pairs are preferred, noise decides the resolution, weights count."""

import math

import numpy as np
import pytest

from sundog.domain import Categorical, Schema
from sundog.domain.axis import Axis
from sundog.domain.unit import PrivacyUnit
from sundog.queries import Marginal
from sundog.select.prices import Option, allocate, dependence, missed

COLUMNS = tuple(Categorical(name, labels=tuple(range(12))) for name in "abcd")
SCHEMA = Schema(COLUMNS)
FINE = {column.name: Axis.whole(column) for column in COLUMNS}
COARSE = {column.name: Axis.grouped(column, [code // 4 for code in range(12)]) for column in COLUMNS}
UNIT = PrivacyUnit()


def ways(first, second, *, dependence, missed=0.0):
    return [
        Option(dependence),
        Option(0.0, Marginal((FINE[first], FINE[second]))),
        Option(missed, Marginal((COARSE[first], COARSE[second]))),
    ]


def measured(options, *, rho, weights=None):
    chosen, shares = allocate(options, weights=weights or [1.0] * len(options), unit=UNIT, rho=rho, kappa=0.48)
    return dict(zip([query.columns for query in chosen], shares, strict=True)), chosen


def test_the_budget_is_used_up():
    options = [ways("a", "b", dependence=9000.0), ways("c", "d", dependence=7000.0)]
    shares, _ = measured(options, rho=0.02)
    assert sum(shares.values()) == pytest.approx(0.02, rel=1e-6)


def test_a_pair_without_dependence_is_left_out():
    shares, _ = measured([ways("a", "b", dependence=9000.0), ways("c", "d", dependence=0.0)], rho=0.02)
    assert set(shares) == {("a", "b")}


def test_a_small_budget_takes_the_coarse_table_and_a_large_one_the_fine():
    options = [ways("a", "b", dependence=9000.0, missed=1500.0), ways("c", "d", dependence=9000.0, missed=1500.0)]
    _, poor = measured(options, rho=0.0005)
    _, rich = measured(options, rho=5.0)
    assert all(query.size == 9 for query in poor)
    assert all(query.size == 144 for query in rich)


def test_where_nothing_is_worth_its_noise_the_strongest_pair_uses_the_budget():
    shares, chosen = measured([ways("a", "b", dependence=1.0), ways("c", "d", dependence=2.0)], rho=1e-12)
    assert shares == {("c", "d"): 1.0}
    assert chosen[0].size == 9


def test_weights_buy_precision():
    options = [ways("a", "b", dependence=9000.0), ways("c", "d", dependence=9000.0)]
    even, _ = measured(options, rho=0.02)
    tilted, _ = measured(options, rho=0.02, weights=[8.0, 1.0])
    assert even[("a", "b")] == pytest.approx(even[("c", "d")])
    assert tilted[("a", "b")] == pytest.approx(4.0 * tilted[("c", "d")], rel=1e-3)  # 8^(2/3)


def test_dependence_takes_out_what_sampling_alone_would_show():
    expected = np.full(100, 25.0)
    sampling = 0.8 * 5 * 100
    assert dependence(sampling, expected) == 0.0
    assert dependence(-50.0, expected) == 0.0
    assert dependence(500.0, expected) == pytest.approx(math.sqrt(500**2 - sampling**2))


def test_what_was_spent_on_a_table_before_is_not_spent_again():
    one, other = (Marginal((FINE[a], FINE[b])) for a, b in ("ab", "cd"))
    before = [[Option(0.0, one)], [Option(0.0, other)]]
    after = [[Option(0.0, one, spent=0.006)], [Option(0.0, other)]]
    assert list(measured(before, rho=0.01)[0].values()) == pytest.approx([0.005, 0.005], rel=1e-6)
    assert measured(after, rho=0.01)[0] == pytest.approx({("a", "b"): 0.002, ("c", "d"): 0.008}, rel=1e-6)


def test_a_table_whose_noise_survives_must_show_more_to_be_measured():
    pair = Marginal((FINE["a"], FINE["b"]))
    triple = Marginal((COARSE["a"], COARSE["b"], COARSE["c"]))

    def chosen(noise, dependence):
        ways = [[Option(0.0, pair)], [Option(dependence), Option(0.0, triple, noise=noise)]]
        return triple in measured(ways, rho=0.02)[1]

    least = {noise: min(seen for seen in range(10, 5000, 10) if chosen(noise, float(seen))) for noise in (1.0, 2.0)}
    assert least[2.0] > 1.4 * least[1.0]


def test_a_coarse_table_misses_what_the_fine_one_shows_beyond_it_and_trends_inside_its_cells():
    assert missed(5.0, 3.0, hidden=0.0) == pytest.approx(4.0)
    assert missed(5.0, 5.0, hidden=0.04) == pytest.approx(1.0)
    assert missed(5.0, 3.0, hidden=0.04) == pytest.approx(4.0)
    assert missed(3.0, 5.0, hidden=0.04) == pytest.approx(1.0)  # noise put the coarse score above the fine one
