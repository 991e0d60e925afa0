"""Gaussian-DP audit: attacks on the noisy answers of worst-case neighbours never beat what was paid for.

The ledger is one in memory here (thousands of charges need no disk); the noise path is the curator's own.
"""

import math
from functools import cache

import numpy as np
import pytest
from scipy import stats

from privacy import checks
from privacy.stand_ins import ONE_WAY, TWO_WAY, curator
from private.checks_noise import gaussian_p_values
from sundog.domain.unit import PrivacyUnit
from sundog.methods import loop
from sundog.methods.recipes import METHODS
from sundog.random.keys import key_of

ADD = PrivacyUnit("add-remove")
REPLACE = PrivacyUnit("replace")
UNIT = PrivacyUnit("replace", "u", 3)
PAIRS = {
    "a row in an empty table": (TWO_WAY, ([], [("a", 0)]), ADD),
    "a row outside the domain": (ONE_WAY[1], ([("b", 3)], [("b", 3), ("new", 10**9)]), ADD),
    "a row replaced": (TWO_WAY, ([("a", 0), ("b", 3)], [("a", 0), (None, None)]), REPLACE),
    "a unit's rows replaced": (ONE_WAY[0], ([("a", 0, "me")] * 9, [("b", 0, "me")] * 9), UNIT),
    "a unit's rows removed": (ONE_WAY[0], ([("a", 0, "me")] * 9 + [("b", 0, "x")], [("b", 0, "x")]), UNIT),
}


@pytest.mark.parametrize("name", ["a row in an empty table", "a row replaced", "a unit's rows replaced"])
def test_measurements_at_mu_two(name):
    query, pair, unit = PAIRS[name]
    assert checks.check_audit(query, pair, unit, rho=2.0) > 1.0  # and the attack is a good one


def test_the_bound_of_the_audit_holds_and_bites():
    assert checks.lower_mu(0, 2000, 2000) == -math.inf
    exact = [round(2000 * stats.norm.cdf(side)) for side in (1.0, -1.0)]
    assert 1.6 < checks.lower_mu(*exact, 2000) < 2.0
    halved = [round(2000 * stats.norm.cdf(side)) for side in (2.0, -2.0)]
    assert checks.lower_mu(*halved, 2000) > 3


def test_choices_follow_the_exponential_law_they_are_charged_for():
    checks.check_choices(runs=600)


@pytest.mark.slow
@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("rho", [0.5, 2.0, 8.0])
def test_long_audit_of_measurements(name, rho):
    query, pair, unit = PAIRS[name]
    found = checks.check_audit(query, pair, unit, rho=rho, runs=20_000)
    if name != "a unit's rows removed":  # under "replace" a removal is not the worst case
        assert found > 0.75 * math.sqrt(2 * rho)  # the attack is a good one; rounding takes the rest from it


@pytest.mark.slow
@pytest.mark.parametrize("rho", [0.5, 2.0, 8.0])
def test_long_audit_of_every_entry_of_one_run(rho):
    """Each entry against its own share: parts that an attack does not use would hide an error in the others."""
    runs, shares = 20_000, np.array([1.0, 3.0, 6.0])
    queries, pair = [*ONE_WAY, TWO_WAY], ([("a", 0), ("b", 3)], [("a", 0), (None, None)])
    total = rho * shares.sum() * runs
    sides = []
    for rows in pair:
        made = curator(rows, unit=REPLACE, rho=2 * total)
        measured = made.measure(queries * runs, total, shares=np.tile(shares, runs).tolist())
        sides.append([np.stack([m.values for m in measured[k :: len(queries)]]) for k in range(len(queries))])
        paid = np.array([payment.rho for payment in made.released().payments])
        assert paid == pytest.approx(np.tile(rho * shares, runs), rel=1e-9)
    for k, query in enumerate(queries):
        exact = [checks.exact_answer(query, rows, REPLACE) for rows in pair]
        direction, middle = exact[1] - exact[0], (exact[1] + exact[0]) @ (exact[1] - exact[0]) / 2
        hits = [int((side[k] @ direction > middle).sum()) for side in (sides[1], sides[0])]
        assert checks.lower_mu(*hits, runs) <= math.sqrt(2 * rho * shares[k])


@pytest.mark.slow
def test_long_audit_of_a_whole_run_of_auto():
    """Every query is chosen by what was measured before; the odds of all answers together never beat the total."""
    few, runs, rho = [("a", 0), ("b", 3), ("b", 2)], 600, 4.5
    pair = (few, [*few, ("a", 3)])
    exact = cache(lambda query: tuple(checks.exact_answer(query, side, ADD) for side in pair))

    def speaks_for_the_row(rows, seed):
        made = curator(rows, unit=ADD, rho=rho, accounting="gaussian")
        released, _ = loop.run(key_of(seed), made, recipe=METHODS["auto"], report=lambda _: None)
        assert released.guarantee.rho == pytest.approx(rho, rel=1e-6)
        odds = 0.0
        for m in released.measurements:
            without, with_row = exact(m.query)
            odds += float(((m.values - without) ** 2 - (m.values - with_row) ** 2).sum()) / (2 * m.stddev**2)
        return odds > 0

    hits = [sum(speaks_for_the_row(rows, seed) for seed in range(runs)) for rows in reversed(pair)]
    found = checks.lower_mu(*hits, runs)
    assert 1.5 < found <= math.sqrt(2 * rho)  # the scores and rounding take the rest from the attack


@pytest.mark.slow
def test_long_audit_of_choices():
    checks.check_choices(runs=20_000)


@pytest.mark.slow
@pytest.mark.parametrize("stddev", [0.3, 1.7, 40.0])
def test_ten_million_draws(stddev):
    found = [gaussian_p_values(stddev, 1_000_000) for _ in range(10 if stddev == 1.7 else 1)]
    for name in found[0]:
        assert stats.combine_pvalues([max(one[name], 1e-300) for one in found]).pvalue > 1e-9, name
