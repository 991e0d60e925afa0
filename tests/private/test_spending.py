"""Spending: charges within the budget, a reserve that ordinary steps leave alone, and the claim for what was spent."""

import pytest

from sundog.errors import BudgetRefused
from sundog.private.accountant import Budget, Charge
from sundog.private.ledger import Ledger
from sundog.private.spending import Spending


def charge(rho):
    return [Charge("gaussian", rho, label="counts")]


def test_the_reserve_is_left_alone_and_all_that_is_left_can_be_spent(own_ledger):
    spending = Spending(Budget(rho=1.0), "d", ledger=Ledger(own_ledger), reserved=0.25)
    assert (spending.remaining_rho, spending.remaining_with_reserve) == (0.75, 1.0)
    spending.charge(charge(0.5))
    assert (spending.remaining_rho, spending.remaining_with_reserve) == (0.25, 0.5)
    spending.charge(charge(spending.remaining_with_reserve))
    assert (spending.remaining_rho, spending.remaining_with_reserve) == (0.0, 0.0)
    assert spending.guarantee().rho == 1.0 == Ledger(own_ledger).account("d").rho
    assert [payment.rho for payment in spending.payments] == [0.5, 0.5]


def test_what_the_run_cannot_afford_leaves_no_trace(own_ledger):
    spending = Spending(Budget(rho=1.0), "d", ledger=Ledger(own_ledger))
    with pytest.raises(BudgetRefused, match="Nothing was computed"):
        spending.charge(charge(1.0) + charge(1e-9))
    assert spending.payments == ()
    assert Ledger(own_ledger).accounts() == []
    assert spending.remaining_rho == 1.0
