"""Bounds from runs: honest where the claim is true, and large where it is not."""

import math
from statistics import NormalDist

import numpy as np
import pytest

from sundog.api.audit_mechanism import points_of
from sundog.audit.mechanism import Claim, lower_bound

CLAIM = Claim(2.0, 10.0, 1e-5, lambda rho: points_of(rho, "gaussian"))
CHEAP = Claim(0.5, 10.0, 1e-5, lambda rho: [(0.0, 2 * NormalDist().cdf((rho / 2) ** 0.5) - 1)])
"""One point of a Gaussian's curve: the area between the two bells."""


def sides(mu, *, runs=600, seed=0):
    random = np.random.default_rng(seed)
    return random.normal(size=(runs, 1)), random.normal(size=(runs, 1)) + mu


def test_a_gaussian_of_this_mu_is_nearly_proven_and_never_exceeded():
    found = [lower_bound(*sides(2.0, seed=seed), claim=CLAIM, confidence=0.99) for seed in range(8)]
    assert max(bound.mu for bound in found) <= 2.0
    assert np.median([bound.mu for bound in found]) > 1.4
    assert all(bound.runs == 400 for bound in found)


@pytest.mark.parametrize("confidence", [0.9, 0.99])
def test_it_overshoots_as_rarely_as_it_says(confidence):
    over = sum(
        lower_bound(*sides(1.0, runs=90, seed=seed), claim=CHEAP, confidence=confidence).mu > 1 for seed in range(200)
    )
    assert over <= 200 * (1 - confidence)


def test_noise_that_is_always_the_same_is_told_at_once():
    without, canary = np.full((60, 2), [0.3, 7.0]), np.full((60, 2), [0.9, 7.0])
    bound = lower_bound(without, canary, claim=CLAIM, confidence=0.99)
    assert (bound.hits, bound.false_alarms, bound.runs) == (40, 0, 40)
    assert bound.mu > 2.2
    assert 0 < bound.epsilon < math.inf
