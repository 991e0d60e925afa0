"""The conversions against OpenDP, dp_accounting and high-precision arithmetic; budgets and charges."""

import math
from fractions import Fraction

import mpmath
import opendp.prelude as dp
import pytest
from dp_accounting.pld.privacy_loss_mechanism import GaussianPrivacyLoss
from dp_accounting.rdp.rdp_privacy_accountant import compute_epsilon
from hypothesis import given, settings
from hypothesis import strategies as st

from sundog.errors import UserError
from sundog.private import accountant
from sundog.private.accountant import (
    LEAST_EPSILON,
    SLACK,
    Budget,
    Charge,
    accounting_of,
    exact_gaussian_delta,
    exact_gaussian_epsilon,
    exact_gaussian_rho,
    exact_total,
    gaussian_delta,
    gaussian_epsilon,
    gaussian_rho,
    round_down,
    round_up,
    zcdp_delta,
    zcdp_epsilon,
    zcdp_rho,
)

dp.enable_features("contrib")

EPSILONS = [1e-4, 1e-3, 0.03, 0.5, 1.0, 2.5, 10.0, 100.0, 1e3]
DELTAS = [1e-15, 1e-9, 1e-5, 1e-2, 0.1, 0.5]
RHOS = [1e-10, 1e-6, 1e-3, 0.03, 0.5, 3.0, 50.0, 700.0]

epsilons = st.floats(-4, 3).map(lambda power: 10.0**power)
deltas = st.floats(-15, math.log10(0.5)).map(lambda power: 10.0**power)
rhos = st.floats(-10, 3).map(lambda power: 10.0**power)
calm = settings(deadline=None, max_examples=100, derandomize=True)


def opendp_profile(rho):
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T="f64")
    converted = dp.c.make_zCDP_to_approxDP(dp.m.make_gaussian(*space, scale=1.0))
    return converted.map(math.sqrt(2 * rho))


def true_gaussian_delta(rho, epsilon):
    with mpmath.workdps(60):
        mu, eps = mpmath.sqrt(2 * mpmath.mpf(rho)), mpmath.mpf(epsilon)
        return float(mpmath.ncdf(mu / 2 - eps / mu) - mpmath.exp(eps) * mpmath.ncdf(-mu / 2 - eps / mu))


@pytest.mark.parametrize("rho", RHOS)
def test_zcdp_equals_opendp(rho):
    profile = opendp_profile(rho)
    for delta in DELTAS:
        assert zcdp_epsilon(rho, delta) == pytest.approx(profile.epsilon(delta), rel=1e-9, abs=1e-12)
        assert zcdp_epsilon(rho, delta) >= profile.epsilon(delta) * (1 - 1e-14)
    for epsilon in EPSILONS:
        assert zcdp_delta(rho, epsilon) == pytest.approx(profile.delta(epsilon), rel=1e-8, abs=1e-300)


@pytest.mark.parametrize("rho", [1e-3, 0.03, 0.5, 3.0])
@pytest.mark.parametrize("delta", [1e-9, 1e-5, 1e-2])
def test_zcdp_is_no_worse_than_a_fine_grid_of_orders(rho, delta):
    orders = [1 + math.exp(step / 400) for step in range(-2000, 3200)]
    by_grid, _ = compute_epsilon(orders, [order * rho for order in orders], delta)
    assert zcdp_epsilon(rho, delta) == pytest.approx(by_grid, rel=1e-5)
    assert zcdp_epsilon(rho, delta) <= by_grid * (1 + 1e-12)


@pytest.mark.parametrize(("epsilon", "rho"), [(0.1, 0.000433), (0.5, 0.00851), (1, 0.0306), (2.5, 0.1618), (5, 0.551)])
def test_the_table_of_the_notes(epsilon, rho):
    assert zcdp_rho(epsilon, 1e-5) == pytest.approx(rho, rel=2e-3)


def test_exact_gaussian_of_the_notes():
    assert exact_gaussian_rho(1, 1e-5) == pytest.approx(0.0359, rel=1e-3)
    assert gaussian_rho(1, 1e-5) == pytest.approx(0.0359, rel=1e-3)


@pytest.mark.parametrize("rho", [1e-3, 0.03, 0.5, 3.0, 50.0])
def test_exact_gaussian_equals_dp_accounting(rho):
    oracle = GaussianPrivacyLoss(1 / math.sqrt(2 * rho))
    for epsilon in (0.1, 0.5, 1.0, 2.5, 10.0):
        assert exact_gaussian_delta(rho, epsilon) == pytest.approx(oracle.get_delta_for_epsilon(epsilon), rel=1e-7)
    for delta in (1e-9, 1e-5, 1e-2):
        found = exact_gaussian_epsilon(rho, delta)
        assert oracle.get_delta_for_epsilon(found) == pytest.approx(delta, rel=1e-6) or found == 0


@calm
@given(rhos, st.one_of(st.just(0.0), epsilons))
def test_exact_gaussian_equals_high_precision(rho, epsilon):
    assert exact_gaussian_delta(rho, epsilon) == pytest.approx(true_gaussian_delta(rho, epsilon), rel=1e-8, abs=1e-40)


@calm
@given(epsilons, deltas)
def test_zcdp_round_trip_never_exceeds_the_claim(epsilon, delta):
    rho = zcdp_rho(epsilon, delta)
    assert epsilon * (1 - 1e-9) <= zcdp_epsilon(rho, delta) <= epsilon
    assert zcdp_delta(rho, epsilon) == pytest.approx(delta, rel=1e-9)
    assert zcdp_epsilon(rho * (1 + 1e-9), delta) > epsilon


@calm
@given(epsilons, deltas)
def test_gaussian_round_trip_never_exceeds_the_claim(epsilon, delta):
    rho = gaussian_rho(epsilon, delta)
    assert epsilon * (1 - 1e-9) <= gaussian_epsilon(rho, delta) <= epsilon
    assert gaussian_delta(rho, epsilon) <= delta * (1 + 1e-9)
    assert exact_gaussian_delta(rho, epsilon) <= delta


@calm
@given(epsilons, deltas)
def test_the_slack_is_kept_and_gaussian_is_never_worse_than_zcdp(epsilon, delta):
    rho = gaussian_rho(epsilon, delta)
    assert rho >= zcdp_rho(epsilon, delta)
    if rho > zcdp_rho(epsilon, delta):
        assert epsilon >= LEAST_EPSILON
        assert exact_gaussian_delta(rho, epsilon - SLACK) <= delta * (1 - SLACK)


@calm
@given(rhos, deltas)
def test_gaussian_epsilon_is_above_the_exact_one_and_below_zcdp(rho, delta):
    assert exact_gaussian_epsilon(rho, delta) <= gaussian_epsilon(rho, delta) <= zcdp_epsilon(rho, delta)


@pytest.mark.parametrize("rho", [1e-70, 1e-3, 1.0, 1e6])
def test_the_smallest_delta_that_a_float_can_hold_has_an_epsilon(rho):
    smallest = math.ulp(0.0)
    assert 0 <= zcdp_epsilon(rho, 1e-300) <= zcdp_epsilon(rho, smallest) < math.inf
    assert gaussian_epsilon(rho, smallest) <= zcdp_epsilon(rho, smallest)


@calm
@given(rhos, epsilons, deltas, st.floats(1.001, 10))
def test_conversions_are_monotone(rho, epsilon, delta, factor):
    for to_delta, to_epsilon, to_rho in (
        (zcdp_delta, zcdp_epsilon, zcdp_rho),
        (gaussian_delta, gaussian_epsilon, gaussian_rho),
    ):
        assert to_delta(rho, epsilon) <= to_delta(rho * factor, epsilon) * (1 + 1e-9)
        assert to_delta(rho, epsilon * factor) <= to_delta(rho, epsilon) * (1 + 1e-9)
        assert to_epsilon(rho, delta) <= to_epsilon(rho * factor, delta)
        assert to_epsilon(rho, min(0.9, delta * factor)) <= to_epsilon(rho, delta) * (1 + 1e-9)
        assert to_rho(epsilon, delta) < to_rho(epsilon * factor, delta)


def test_the_lattice_bound_of_the_docstring_holds():
    t, most_mu, cells, step = 12.0, 2.0**10, 2.0**46, 2.0**-40
    a = t * step * (math.sqrt(cells) + t + most_mu) / math.sqrt(12) + cells * step**2 / 8
    assert a < 2.0**-15
    assert 2 * a <= SLACK
    assert most_mu == math.sqrt(2 * accountant.MOST_RHO)
    least = accountant.LEAST_DELTA
    assert math.exp(a) * least * (1 - SLACK) + 5 * math.exp(-t * t / 2) < least


def test_nothing_spent_costs_nothing():
    assert zcdp_delta(0, 1) == gaussian_delta(0, 1) == zcdp_epsilon(0, 1e-9) == gaussian_epsilon(0, 1e-9) == 0


@calm
@given(st.fractions(min_value=0, max_value=10**6))
def test_rounding_is_on_the_right_side_and_tight(value):
    up, down = round_up(value), round_down(value)
    assert Fraction(down) <= value <= Fraction(up)
    assert up <= math.nextafter(down, math.inf)


@pytest.mark.parametrize(
    ("given_", "named"),
    [
        ({}, "neither"),
        ({"epsilon": 1.0}, "1e-9"),
        ({"epsilon": 1.0, "delta": 1e-9, "rho": 0.1}, "both"),
        ({"epsilon": 0.0, "delta": 1e-9}, "epsilon 0.0"),
        ({"epsilon": -1.0, "delta": 1e-9}, "epsilon -1.0"),
        ({"epsilon": math.inf, "delta": 1e-9}, "epsilon inf"),
        ({"epsilon": math.nan, "delta": 1e-9}, "epsilon nan"),
        ({"epsilon": 1.0, "delta": 0.0}, "delta 0.0"),
        ({"epsilon": 1.0, "delta": 1.0}, "delta 1.0"),
        ({"epsilon": 1.0, "delta": math.nan}, "delta nan"),
        ({"rho": math.inf}, "rho inf"),
        ({"rho": 0.0}, "rho 0.0"),
        ({"delta": 1e-9}, "neither"),
    ],
)
def test_a_wrong_budget_is_refused_by_name(given_, named):
    with pytest.raises(UserError, match="budget: ") as refused:
        Budget(**given_)
    assert named in str(refused.value)


def test_total_rho_and_statement():
    budget = Budget(epsilon=1.0, delta=1e-9)
    assert budget.total_rho("zcdp") == zcdp_rho(1.0, 1e-9) < budget.total_rho("gaussian") == gaussian_rho(1.0, 1e-9)
    assert budget.total_rho("zcdp", delta_spent=5e-10) == pytest.approx(zcdp_rho(1.0, 5e-10), rel=1e-12)
    for accounting in ("gaussian", "zcdp"):
        epsilon, delta = budget.statement(budget.total_rho(accounting), accounting=accounting)
        assert (epsilon, delta) == (pytest.approx(1.0, rel=1e-9), 1e-9)
        assert epsilon <= 1.0
    assert Budget(rho=0.1).total_rho("zcdp") == 0.1
    assert Budget(rho=0.1).statement(0.1, accounting="zcdp") is None
    assert Budget(rho=0.1, delta=1e-9).statement(0.1, accounting="zcdp") == (zcdp_epsilon(0.1, 1e-9), 1e-9)


@pytest.mark.parametrize("budget", [Budget(epsilon=1.0, delta=1e-9), Budget(rho=0.1), Budget(rho=0.1, delta=1e-9)])
def test_thresholds_cannot_take_all_of_delta(budget):
    with pytest.raises(UserError, match="thresholds take 1e-09"):
        budget.total_rho("zcdp", delta_spent=1e-9)


def test_charges_are_validated():
    for wrong in ({"rho": -1.0}, {"rho": math.nan}, {"rho": 0.1, "delta": -1e-9}, {"rho": math.inf}):
        with pytest.raises(UserError, match="charge: "):
            Charge("gaussian", wrong.pop("rho"), label="x", **wrong)
    with pytest.raises(UserError, match="geometric"):
        Charge("geometric", 0.1, label="x")
    with pytest.raises(UserError, match="none"):
        Charge("none", 0.1, label="x")
    assert Charge("none", 0.0, label="x").delta == 0


def test_sums_are_exact():
    tiny = [Charge("gaussian", 1.0, label="x")] + [Charge("threshold", 1e-17, delta=1e-30, label="x")] * 1000
    rho, delta = exact_total(tiny)
    assert rho == 1 + 1000 * Fraction(1e-17)
    assert round_up(rho) > 1.0
    assert delta == 1000 * Fraction(1e-30)
    assert exact_total([]) == (0, 0)


def test_selection_is_accounted_for_as_zcdp():
    assert accounting_of(["gaussian", "threshold", "none"]) == "gaussian"
    assert accounting_of(["gaussian", "exponential"]) == "zcdp"
