"""What rates prove, held against published values and against a second way to work them out."""

import math
from statistics import NormalDist

import numpy as np
import pytest
from scipy import stats

from sundog.api.audit_mechanism import points_of
from sundog.audit.bounds import clopper_pearson, least_epsilon, least_rho, most_auc, most_true

PHI, INVERSE = NormalDist().cdf, NormalDist().inv_cdf


@pytest.mark.parametrize(("hits", "runs"), [(0, 30), (7, 30), (30, 30), (500, 1000)])
def test_clopper_pearson_is_scipys(hits, runs):
    exact = stats.binomtest(hits, runs).proportion_ci(confidence_level=0.99, method="exact")
    low, high = clopper_pearson(hits, runs, confidence=0.99)
    assert (float(low), float(high)) == pytest.approx((exact.low, exact.high))


@pytest.mark.parametrize("rho", [0.125, 0.5, 2.0, 8.0])
def test_a_gaussian_claim_allows_the_gaussian_curve(rho):
    """The points of the exact Gaussian together are its curve: true = Phi(PhiInv(false) + mu)."""
    for false in (0.01, 0.1, 0.5, 0.9):
        exact = PHI(INVERSE(false) + math.sqrt(2 * rho))
        allowed = float(most_true(false, points_of(rho, "gaussian")))
        assert exact <= allowed <= exact + 0.01
        assert float(most_true(false, points_of(rho, "zcdp"))) >= allowed - 1e-9


@pytest.mark.parametrize("accounting", ["gaussian", "zcdp"])
@pytest.mark.parametrize("rho", [0.5, 2.0, 8.0])
def test_rates_at_the_edge_of_a_claim_prove_that_claim(rho, accounting):
    false = 0.2
    true = float(most_true(false, points_of(rho, accounting)))
    found = least_rho(true, false, points_of=lambda r: points_of(r, accounting))
    assert rho * 0.97 <= found <= rho * 1.001


def test_epsilon_by_hand():
    assert least_epsilon(0.5, 0.1, delta=0.0) == pytest.approx(math.log(5))
    assert least_epsilon(0.9, 0.5, delta=0.0) == pytest.approx(math.log(5))  # the attack that says the opposite
    assert least_epsilon(0.5, 0.1, delta=0.1) == pytest.approx(math.log(4))
    assert least_epsilon(0.1, 0.5, delta=0.0) == 0.0
    assert least_epsilon(1.0, 0.0, delta=0.0) == math.inf


def test_limits_of_curves():
    for epsilon in (0.1, 1.0, 3.0):
        rates = np.linspace(0, 1, 200_001)
        curve = np.minimum(np.exp(epsilon) * rates, 1 - np.exp(-epsilon) * (1 - rates))
        assert most_auc([(epsilon, 0.0)]) == pytest.approx(np.trapezoid(np.minimum(curve, 1), rates), abs=1e-3)
    assert most_auc([(0.0, 0.2)]) == pytest.approx(1 - 0.8**2 / 2, abs=1e-3)
