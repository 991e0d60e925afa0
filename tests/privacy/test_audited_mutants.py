"""`sundog audit mechanism` finds broken mechanisms, and does not cry wolf: through its front door, on whole runs."""

import math

import numpy as np
import pytest

from privacy.stand_ins import MemoryLedger
from sundog import audit_mechanism
from sundog.api.options import LedgerPlace
from sundog.methods.recipes import METHODS
from sundog.private import noise
from sundog.private.spending import Spending

GAUSSIAN, TOP_K = noise.add_gaussian, noise.top_k
SURE = 1 - 1e-6
"""Of each of two bounds that must both fail: a mechanism that keeps its claim is found broken with probability 2e-12."""


@pytest.fixture(autouse=True)
def in_memory(monkeypatch):
    """Thousands of runs need no disk; the command itself uses a ledger in a temporary folder."""
    monkeypatch.setattr(LedgerPlace, "open_ledger", lambda self: MemoryLedger())


@pytest.mark.long
def test_an_honest_mechanism_passes_and_the_attack_is_a_good_one():
    """600 of the runs are judged: the bound on mu is 1.5 with a standard deviation of 0.07, and above 2 with probability 2e-12."""
    (found,) = audit_mechanism("independent", rho=2.0, runs=900, confidence=SURE).methods
    assert not found.broken
    assert found.bounds["values"].mu > 0.3 * math.sqrt(2 * 2.0)


def test_half_the_noise_is_found(monkeypatch):
    """160 of the runs are judged: missed with probability 1e-12."""
    monkeypatch.setattr(noise, "add_gaussian", lambda counts, scale: GAUSSIAN(counts, scale / 2))
    (found,) = audit_mechanism("independent", rho=2.0, runs=240, confidence=0.95).methods
    assert found.broken
    assert found.bounds["values"].rho > found.rho
    assert not found.faults


def test_noise_that_the_seed_fixes_is_found(monkeypatch):
    def seeded(counts, scale):
        drawn = np.random.default_rng(len(counts)).normal(scale=scale, size=len(counts))
        return counts + np.rint(drawn).astype(np.int64)

    monkeypatch.setattr(noise, "add_gaussian", seeded)
    (found,) = audit_mechanism("independent", rho=0.5, runs=60).methods
    assert (found.bounds["values"].hits, found.bounds["values"].false_alarms) == (40, 0)
    assert found.bounds["values"].rho > found.rho


def test_a_choice_that_nobody_paid_for_is_found_without_statistics(monkeypatch):
    charge = Spending.charge

    def forgetful(self, charges):
        return charge(self, [each for each in charges if each.mechanism != "exponential"])

    monkeypatch.setattr(Spending, "charge", forgetful)
    (found,) = audit_mechanism("mst", rho=2.0, runs=20).methods
    assert found.broken
    assert found.faults == ("3 choices were made, and 0 were paid for",)


@pytest.mark.slow
def test_a_choice_without_noise_is_found(monkeypatch):
    """Charged as ever, but exact: each choice is nearly certain for either table, so together they give the record away."""
    monkeypatch.setattr(noise, "top_k", lambda scores, k, *, scale: list(np.argsort(-scores, kind="stable")[:k]))
    (found,) = audit_mechanism("mwem-pgm", rho=0.05, runs=150).methods
    assert found.bounds["values"].rho > found.rho
    assert not found.faults


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_no_method_is_shown_to_spend_more_than_it_claims(method):
    (found,) = audit_mechanism(method, rho=2.0, runs=60, confidence=SURE).methods
    assert not found.broken, found.to_json()
