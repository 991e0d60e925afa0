"""Spending: charges within the budget, a reserve that ordinary steps leave alone, and the claim for what was spent."""

import pytest

from sundog.domain.unit import PrivacyUnit
from sundog.errors import BudgetRefused, UserError
from sundog.private import noise
from sundog.private import spending as spendings
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


@pytest.mark.parametrize("rho", [5e-324, 1e-310, 1e-40, 4e-19, 5.6e11, 1e13, 1e308])
def test_a_budget_that_has_no_noise_is_refused_first(own_ledger, rho):
    with pytest.raises(UserError, match=r"budget: found rho .*Nothing was spent"):
        Spending(Budget(rho=rho), "d", ledger=Ledger(own_ledger))
    assert not own_ledger.exists()


@pytest.mark.parametrize(
    ("epsilon", "delta"), [(1e-300, 1e-30), (1e-12, 1e-60), (1e-13, 1e-300), (1e12, 1e-9), (1e300, 0.5)]
)
@pytest.mark.parametrize("accounting", ["gaussian", "zcdp"])
def test_the_refusal_says_what_is_allowed(epsilon, delta, accounting):
    with pytest.raises(UserError, match=r"budget: found epsilon .*this delta") as refused:
        Spending(Budget(epsilon, delta), "d", accounting=accounting)
    allowed = float(str(refused.value).split("about epsilon ")[1].split()[0])
    assert Spending(Budget(allowed, delta), "d", accounting=accounting).total_rho > 0


@pytest.mark.parametrize("rows", [1, 3, 1000, 2**40])
def test_what_is_allowed_can_be_noised_in_the_smallest_parts(rows):
    """The least budget, divided as finely as the module says, in the finest units; and the largest, undivided."""
    unit = PrivacyUnit(column="who", rows=rows)
    least = 0.5 * (rows / spendings.MOST_NOISE) ** 2
    assert Spending(Budget(rho=least), "d", unit=unit).total_rho == least
    assert noise.gaussian_scale(rows**2 * 2**80, least * 2.0**-120) <= noise.MOST_SCALE
    assert noise.gaussian_scale(1, spendings.MOST_RHO) >= noise.LEAST_SCALE
    with pytest.raises(UserError, match=r"budget: found rho .* The least is rho"):
        Spending(Budget(rho=least * 0.999), "d", unit=unit)
