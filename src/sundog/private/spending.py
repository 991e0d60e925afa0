"""Spending: one run's budget, the account that it is charged to, and what was spent of it so far.

A charge is compared with the run's budget, then written into the ledger, durably, before anything is computed. Totals are
exact rationals. A part of the budget may be reserved for a later step: `remaining_rho` leaves it out, and neither the
ledger nor the guarantee is affected.

A budget too small or too large for noise is refused before the first charge, so that no step of a run can fail for its scale
after earlier ones were paid for. With the smallest, a count that takes all of it has a noise of MOST_NOISE rows. Steps take at least
2^-60 of a budget, and queries 2^-60 of a step: at most 2^90 rows, in units of 2^-40 of a row or more, is far within
noise.MOST_SCALE; and scores of rows that were counted with such noise stay far below 2^62. With the largest, a count that one
unit changes by 1 has the least scale.
"""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from sundog.domain.unit import PrivacyUnit
from sundog.errors import BudgetRefused, UserError
from sundog.private.account_name import checked_name
from sundog.private.accountant import Accounting, Budget, Charge, exact_total, round_down, round_up, spent_epsilon
from sundog.private.ledger import Ledger, Run
from sundog.released import Guarantee, Payment

MOST_NOISE = 2**30
"""Rows: a billion."""
MOST_RHO = 2.0**39
"""It buys a scale of 2^-20 for a count that one unit changes by 1."""


class Spending:
    """What one run may spend (`reserved` is a share of it), who is protected, and the receipts; `run` says whose charges."""

    def __init__(
        self,
        budget: Budget,
        dataset: str,
        *,
        unit: PrivacyUnit | None = None,
        accounting: Accounting = "zcdp",
        ledger: Ledger | None = None,
        delta_thresholds: float = 0.0,
        reserved: float = 0.0,
        run: Run | None = None,
    ) -> None:
        self.budget, self.dataset, self.accounting = budget, checked_name(dataset), accounting
        self.unit = unit or PrivacyUnit()
        self.ledger = ledger or Ledger()
        self.total_rho = noisable_rho(budget, self.unit, accounting=accounting, delta_spent=delta_thresholds)
        self._reserved_rho = reserved * self.total_rho
        self._delta_thresholds = delta_thresholds
        self._run = replace(run or Run(), delta=budget.delta)
        self._charges: list[Charge] = []
        self._payments: list[Payment] = []

    @property
    def remaining_rho(self) -> float:
        """What is left of the budget, less what is reserved, rounded down: all of it can be spent."""
        return max(0.0, round_down(self._left - Fraction(self._reserved_rho)))

    @property
    def remaining_with_reserve(self) -> float:
        """All that is left of the budget, rounded down: for the step that the reserve is for."""
        return max(0.0, round_down(self._left))

    @property
    def payments(self) -> tuple[Payment, ...]:
        """What was paid for, in order."""
        return tuple(self._payments)

    def check(self) -> None:
        """Refuse now what the ledger would refuse later; writes nothing."""
        self.ledger.check(
            self.dataset, self.total_rho, unit=self.unit, accounting=self.accounting, delta=self._delta_thresholds
        )

    def charge(self, charges: Sequence[Charge]) -> list[str]:
        """Write the charges into the ledger before anything is computed; refuse what the run cannot afford."""
        rho, delta = exact_total([*self._charges, *charges])
        if rho > Fraction(self.total_rho) or delta > Fraction(self._delta_thresholds):
            raise BudgetRefused(
                f"budget: this run may spend rho {self.total_rho:.6g} (thresholds: delta {self._delta_thresholds:g}); "
                f"with this step it would be rho {float(rho):.6g} (delta {float(delta):g}). Nothing was computed for it."
            )
        written = self.ledger.charge(self.dataset, charges, unit=self.unit, accounting=self.accounting, run=self._run)
        if written and self._run.number is None:
            self._run = replace(self._run, number=written[0].number)
        receipts = [str(each) for each in written]
        self._charges += charges
        self._payments += [
            Payment(receipt, charge.mechanism, charge.label, charge.rho, charge.delta, dict(charge.details))
            for charge, receipt in zip(charges, receipts, strict=True)
        ]
        return receipts

    def guarantee(self) -> Guarantee:
        """What may be claimed for everything that was charged so far."""
        rho, delta = (round_up(total) for total in exact_total(self._charges))
        epsilon, at_delta = self.budget.statement(rho, delta, accounting=self.accounting) or (None, None)
        return Guarantee(self.unit, self.accounting, rho, delta, epsilon=epsilon, delta=at_delta)

    @property
    def _left(self) -> Fraction:
        return Fraction(self.total_rho) - exact_total(self._charges)[0]


def noisable_rho(budget: Budget, unit: PrivacyUnit, *, accounting: Accounting, delta_spent: float = 0.0) -> float:
    """The rho of a budget; refuses, before anything is charged, one that is too small or too large for noise."""
    rho = budget.total_rho(accounting, delta_spent=delta_spent)
    least = 0.5 * (unit.rows / MOST_NOISE) ** 2
    if not least <= rho <= MOST_RHO:
        small = rho < least
        end, reason, remedy = (
            (
                least * 1.01,
                f"the noise in one count would exceed {MOST_NOISE:,} rows",
                "larger",
            )
            if small
            else (MOST_RHO * 0.99, "its noise would be finer than can be drawn", "smaller")
        )
        limit = f"rho {end:.4g}"
        if budget.epsilon is not None and budget.delta is not None:
            limit = (
                f"about epsilon {spent_epsilon(end, budget.delta, accounting=accounting):.4g} at this delta ({limit})"
            )
        rows = " or a smaller --rows-per-unit" if small and unit.rows > 1 else ""
        raise UserError(
            f"budget: found {budget.describe()}; {reason}. The {'least' if small else 'most'} is {limit}. Nothing was spent. "
            f"Give a {remedy} budget{rows}."
        )
    return rho
