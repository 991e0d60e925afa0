"""What is refused is refused before it is charged, for option values from the whole float range; and never with exit code 1."""

import math
from fractions import Fraction

import pytest

from privacy.option_values import PLAIN, check_call, check_option_values, write_world
from sundog.api import synthesizer
from sundog.methods.recipes import METHODS
from sundog.private import noise, spending

MEASURE = [
    "measure",
    "data.csv",
    "--schema",
    "schema.json",
    "--method",
    "independent",
    "-o",
    "out/released.json",
    "--yes",
]
CONTRADICTORY = [
    "measure",
    "data.csv",
    "--schema",
    "impossible.json",
    "--method",
    "independent",
    "-o",
    "out/released.json",
]


def test_odd_option_values_charge_nothing_unless_a_measurement_is_made(tmp_path):
    assert check_option_values(tmp_path, seed=1, number=45, methods=PLAIN) > 4


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 108))
def test_thousands_of_odd_option_values(tmp_path, seed):
    assert check_option_values(tmp_path, seed=seed, number=500, methods=tuple(METHODS)) > 40


def unchecked_budget(budget, unit, *, accounting, delta_spent=0.0):
    return budget.total_rho(accounting, delta_spent=delta_spent)


def unchecked_scale(square, rho):
    return math.sqrt(Fraction(square) / (2 * Fraction(rho)))


def test_a_charge_before_the_scale_is_checked_is_seen(tmp_path, monkeypatch):
    write_world(tmp_path)
    call = [*MEASURE, "--rho=1e-160"]
    check_call(tmp_path, call, "out", before=[])
    monkeypatch.setattr(spending, "noisable_rho", unchecked_budget)
    check_call(tmp_path, call, "out", before=[])  # the curator looks at the scale before it charges
    monkeypatch.setattr(noise, "gaussian_scale", unchecked_scale)
    with pytest.raises(AssertionError, match=r"charged \d+ times, kept 0 files"):
        check_call(tmp_path, call, "out", before=[])


def test_an_unread_budget_that_overflows_is_seen(tmp_path, monkeypatch):
    write_world(tmp_path)
    monkeypatch.setattr(spending, "noisable_rho", unchecked_budget)
    monkeypatch.setattr(noise, "gaussian_scale", unchecked_scale)
    with pytest.raises(AssertionError, match=": 1: "):
        check_call(tmp_path, [*MEASURE, "--rho=1e-310"], "out", before=[])


def test_constraints_that_are_not_looked_at_first_are_seen(tmp_path, monkeypatch):
    write_world(tmp_path)
    call = [*CONTRADICTORY, "--rho=1"]
    check_call(tmp_path, call, "out", before=[])
    monkeypatch.setattr(synthesizer, "refuse_contradictions", lambda schema: None)
    with pytest.raises(AssertionError, match="no row can exist"):
        check_call(tmp_path, call, "out", before=[])
