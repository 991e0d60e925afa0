"""What an account has spent, by exact rationals, and what its limit refuses."""

from fractions import Fraction

import pytest

from sundog.domain.unit import PrivacyUnit
from sundog.errors import BudgetRefused, UserError
from sundog.private.account import Account, Entry, Receipt
from sundog.private.accountant import spent_epsilon

UNIT = PrivacyUnit("add-remove")


def entry(rho=0.0, *, delta=0.0, mechanism="gaussian", accounting="zcdp", unit=UNIT, details=None):
    costs = mechanism not in ("limit", "disclosed")
    kept = (accounting, unit) if costs else (None, None)
    return Entry(1, "d", "now", mechanism, rho, delta, "label", details or {}, *kept, "", "")


def limit(rho, delta=None):
    return entry(mechanism="limit", details={"epsilon": None, "delta": delta, "rho": rho})


def account(*entries):
    return Account("d", entries)


def test_totals_are_exact_and_rounded_up():
    spent = account(*[entry(0.1, delta=1e-9)] * 10)
    assert spent.exact_rho == 10 * Fraction(0.1)
    assert spent.exact_delta == 10 * Fraction(1e-9)
    assert Fraction(spent.rho) >= spent.exact_rho
    assert spent.rho == pytest.approx(1.0, rel=1e-15)
    assert str(Receipt("d", 7)) == "d#7"


def test_the_first_charge_pins_the_unit():
    spent = account(limit(1.0), entry(0.1), entry(0.1))
    assert spent.unit == UNIT
    spent.refuse_unit(UNIT)
    with pytest.raises(UserError, match="do not add up"):
        spent.refuse_unit(PrivacyUnit("replace"))
    account().refuse_unit(PrivacyUnit("replace"))


@pytest.mark.parametrize(
    ("used", "name"),
    [
        ((), "gaussian"),
        (("gaussian", "gaussian"), "gaussian"),
        (("zcdp", "gaussian"), "zcdp"),
        (("gaussian", "zcdp"), "mixed"),
        (("gaussian", "zcdp", "gaussian"), "mixed"),
    ],
)
def test_how_charges_add_up_depends_on_which_came_first(used, name):
    assert account(*(entry(0.1, accounting=each) for each in used)).accounting == name


def test_epsilon_is_by_the_conversion_that_holds_and_mixed_accounts_halve_delta():
    gaussian = account(entry(0.1, accounting="gaussian"))
    assert gaussian.epsilon(1e-6) == spent_epsilon(0.1, 1e-6, accounting="gaussian")
    zcdp = account(entry(0.1))
    assert zcdp.epsilon(1e-6) == spent_epsilon(0.1, 1e-6, accounting="zcdp") > gaussian.epsilon(1e-6)
    mixed = account(entry(0.05, accounting="gaussian"), entry(0.05))
    assert mixed.epsilon(1e-6) == pytest.approx(spent_epsilon(0.1, 5e-7, accounting="zcdp"), rel=1e-12)


def test_thresholds_take_their_delta_first():
    spent = account(entry(0.1, delta=1e-6, mechanism="threshold"))
    assert spent.epsilon(2e-6) == pytest.approx(spent_epsilon(0.1, 1e-6, accounting="zcdp"), rel=1e-9)
    with pytest.raises(UserError, match="larger delta"):
        spent.epsilon(1e-6)


def test_the_limit_set_last_counts_and_refuses_what_goes_over_by_a_hair():
    spent = account(limit(9.0), entry(0.5), limit(1.0))
    spent.refuse_over(Fraction(1, 2), Fraction(), accounting="zcdp")
    with pytest.raises(BudgetRefused, match="Nothing was computed"):
        spent.refuse_over(Fraction(1, 2) + Fraction(1, 2**80), Fraction(), accounting="zcdp")
    account(entry(1e9)).refuse_over(Fraction(1), Fraction(), accounting="zcdp")  # no limit


def test_disclosures_cost_nothing_and_are_remembered():
    spent = account(entry(mechanism="disclosed"))
    assert spent.disclosed
    assert not account(entry(0.1)).disclosed
    assert spent.rho == 0.0
