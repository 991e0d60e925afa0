"""Charges are added up by the run that they belong to, whatever was written between them."""

import pytest

from sundog.domain.unit import PrivacyUnit
from sundog.private.account import Account
from sundog.private.accountant import Budget, Charge
from sundog.private.ledger import Ledger, Run
from sundog.private.runs import UNRECORDED, runs_of
from sundog.private.spending import Spending


def charge(rho):
    return [Charge("gaussian", rho, label="counts")]


@pytest.fixture
def ledger(own_ledger):
    return Ledger(own_ledger)


def test_two_runs_at_once_and_a_disclosure_between(ledger):
    one, two = (
        Spending(Budget(epsilon=1.0, delta=1e-6), "d", ledger=ledger, run=Run(name, f"for {name}"))
        for name in ("mst", "aim")
    )
    one.charge(charge(0.001))
    two.charge(charge(0.002) + charge(0.002))
    ledger.disclose("d", "evaluation")
    one.charge(charge(0.003))
    ledger.set_limit("d", rho=1.0)
    first, second, third = runs_of(ledger.account("d"), delta=1e-6)
    assert (first.number, first.method, first.purpose, first.charges) == (1, "mst", "for mst", 2)
    assert first.rho == pytest.approx(0.004)
    assert (second.number, second.method, second.charges) == (2, "aim", 2)
    assert second.rho == pytest.approx(0.004)
    assert (third.number, third.disclosed, third.purpose, third.epsilon) == (4, True, "evaluation", None)
    alone = Account("d", tuple(e for e in ledger.account("d").entries if e.number in (1, 5)))
    assert first.epsilon == alone.epsilon(1e-6)


def test_the_delta_is_the_limits_else_that_of_the_last_run(ledger):
    for delta in (1e-6, 1e-7):
        Spending(Budget(epsilon=1.0, delta=delta), "d", ledger=ledger).charge(charge(0.001))
    Spending(Budget(rho=1.0), "d", ledger=ledger).charge(charge(0.001))
    assert ledger.account("d").delta == 1e-7
    ledger.set_limit("d", epsilon=5.0, delta=1e-8)
    assert ledger.account("d").delta == 1e-8


def test_without_a_delta_or_beyond_it_no_epsilon_is_stated(ledger):
    ledger.charge("d", [Charge("threshold", 0.01, delta=1e-6, label="x")], unit=PrivacyUnit())
    account = ledger.account("d")
    assert account.stated_epsilon(None) is None
    assert account.stated_epsilon(1e-6) is None
    assert account.stated_epsilon(2e-6) > 0


def test_charges_of_before_runs_were_recorded_are_one_line_per_stretch(ledger):
    from dataclasses import replace

    for _ in range(3):
        ledger.charge("d", charge(0.25), unit=PrivacyUnit())
    ledger.disclose("d", "evaluation")
    ledger.charge("d", charge(0.25), unit=PrivacyUnit())
    account = ledger.account("d")
    old = replace(account, entries=tuple(replace(entry, run=None) for entry in account.entries))
    found = runs_of(old, delta=None)
    assert [(run.number, run.method, run.rho, run.epsilon) for run in found] == [
        (1, UNRECORDED, 0.75, None),
        (4, "disclosed", 0.0, None),
        (5, UNRECORDED, 0.25, None),
    ]
    assert len(runs_of(account, delta=None)) == 5


def test_what_is_left_is_what_a_run_may_still_charge(ledger):
    assert ledger.account("d").left_rho("zcdp") is None
    ledger.set_limit("d", epsilon=1.0, delta=1e-6)
    ledger.charge("d", charge(0.01), unit=PrivacyUnit())
    left = ledger.account("d").left_rho("zcdp")
    assert 0 < left < ledger.account("d").left_rho("gaussian")
    ledger.check("d", left, unit=PrivacyUnit(), accounting="zcdp")
    with pytest.raises(Exception, match="Nothing was computed"):
        ledger.check("d", left * (1 + 1e-9), unit=PrivacyUnit(), accounting="zcdp")
