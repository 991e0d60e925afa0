"""What one dataset has spent, read from its ledger entries: totals, limit, refusals. Pure; ledger.py keeps the file.

Limits: the totals (sum rho, sum delta) of the account stay within what the limit converts to, compared as exact
rationals. As long as every charge was accounted for as Gaussian, the exact Gaussian conversion applies; from the first
charge that was not, zCDP. Each of the two is a valid filter for adaptively chosen charges. An account whose first
charge was zCDP only ever met the second. One that was Gaussian and turned to zCDP later is called "mixed": which of the
two filters stopped it may depend on what was released, so its statement is at (epsilon, 2 delta), by the union bound
over both.
"""

import math
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any, Literal

from sundog.domain.unit import PrivacyUnit
from sundog.errors import BudgetRefused, UserError
from sundog.private.accountant import Accounting, Budget, round_down, round_up, spent_epsilon


@dataclass(frozen=True)
class Receipt:
    """The ledger entry that paid for something."""

    dataset: str
    number: int

    def __str__(self) -> str:
        return f"{self.dataset}#{self.number}"


@dataclass(frozen=True)
class Run:
    """What is recorded of the run that a charge belongs to: `number` is that of its first entry, `delta` its budget's.

    A number from the chain names a run as well as a random one would, and does not differ between two equal runs.
    """

    method: str | None = None
    purpose: str | None = None
    delta: float | None = None
    number: int | None = None


@dataclass(frozen=True)
class Entry:
    """One line of the ledger. Mechanisms are those of Charge, and "disclosed", "limit" and "certified", which cost nothing.

    Entries of before runs were recorded have none.
    """

    number: int
    dataset: str
    time: str
    mechanism: str
    rho: float
    delta: float
    label: str
    details: dict[str, Any]
    accounting: Accounting | None
    unit: PrivacyUnit | None
    previous: str
    hash: str
    run: Run | None = None


@dataclass(frozen=True)
class Account:
    """Everything the ledger knows of one dataset."""

    dataset: str
    entries: tuple[Entry, ...]

    @property
    def unit(self) -> PrivacyUnit | None:
        """Who is protected, pinned by the first charge."""
        return next((entry.unit for entry in self.entries if entry.unit is not None), None)

    @property
    def exact_rho(self) -> Fraction:
        """The rho spent in total."""
        return sum((Fraction(entry.rho) for entry in self.entries), Fraction())

    @property
    def exact_delta(self) -> Fraction:
        """The delta spent by thresholds in total."""
        return sum((Fraction(entry.delta) for entry in self.entries), Fraction())

    @property
    def rho(self) -> float:
        """The rho spent in total, rounded up."""
        return round_up(self.exact_rho)

    @property
    def delta_spent(self) -> float:
        """The delta spent by thresholds in total, rounded up."""
        return round_up(self.exact_delta)

    @property
    def limit(self) -> Budget | None:
        """The limit set last."""
        limits = [entry.details for entry in self.entries if entry.mechanism == "limit"]
        return Budget(**limits[-1]) if limits else None

    @property
    def delta(self) -> float | None:
        """The delta that epsilons are stated at: that of the limit, else of the last run that had one."""
        if self.limit is not None and self.limit.delta is not None:
            return self.limit.delta
        return next(
            (e.run.delta for e in reversed(self.entries) if e.run is not None and e.run.delta is not None), None
        )

    @property
    def accounting(self) -> Literal["gaussian", "zcdp", "mixed"]:
        """How the charges add up; see the module."""
        used = [entry.accounting for entry in self.entries if entry.accounting is not None]
        if "zcdp" not in used:
            return "gaussian"
        return "zcdp" if used[0] == "zcdp" else "mixed"

    @property
    def disclosed(self) -> bool:
        """Whether something CONFIDENTIAL was shown: computed on the rows without noise, and more than the bits of a check."""
        return any(entry.mechanism == "disclosed" and "bits" not in entry.details for entry in self.entries)

    def epsilon(self, delta: float) -> float:
        """The epsilon that all charges together amount to at delta."""
        left = Fraction(delta) - self.exact_delta
        if left <= 0:
            raise UserError(
                f"ledger: found delta {delta:g}; thresholds spent {self.delta_spent:g}; give a larger delta."
            )
        if self.accounting == "mixed":
            left /= 2
        accounting: Accounting = "gaussian" if self.accounting == "gaussian" else "zcdp"
        return spent_epsilon(self.rho, round_down(left), accounting=accounting)

    def stated_epsilon(self, delta: float | None) -> float | None:
        """The same, or None where there is no delta, or thresholds have spent more than it."""
        if delta is None:
            return None
        return self.epsilon(delta) if Fraction(delta) > self.exact_delta else None

    def left_rho(self, accounting: Accounting) -> float | None:
        """What the limit leaves to a run that is accounted for like this; None without a limit."""
        if self.limit is None:
            return None
        return max(
            0.0, round_down(Fraction(self._most_rho(self.limit, Fraction(), accounting=accounting)) - self.exact_rho)
        )

    def refuse_unit(self, unit: PrivacyUnit) -> None:
        """Refuse a unit other than the one that the first charge pinned."""
        pinned = self.unit
        if pinned is not None and pinned != unit:
            raise BudgetRefused(
                f"ledger: {self.dataset!r} protects {pinned.describe()}; this run protects {unit.describe()}. "
                "Guarantees for different units do not add up. Use the first unit, or another dataset name if these "
                "are other people's rows."
            )

    def refuse_over(self, rho: Fraction, delta: Fraction, *, accounting: Accounting) -> None:
        """Refuse what would take the totals over the limit."""
        if self.limit is None:
            return
        most = self._most_rho(self.limit, delta, accounting=accounting)
        if self.exact_rho + rho > Fraction(most):
            raise BudgetRefused(
                f"ledger: {self.dataset!r} has spent rho {self.rho:.6g}; this asks for rho {float(rho):.6g} more; "
                f"its limit is {self.limit.describe()}, which is rho {most:.6g} in total. Nothing was computed for it. "
                f"{self._left_in_words(self.limit, accounting)} Ask for less, or have the owner of the data raise the limit."
            )

    def _left_in_words(self, limit: Budget, accounting: Accounting) -> str:
        """What a run may still ask for, rounded down so that it is granted."""
        left = self.left_rho(accounting) or 0.0
        epsilon = spent_epsilon(left, limit.delta, accounting=accounting) if left and limit.delta else 0.0
        whole = math.floor(1000 * epsilon) / 1000
        return f"Left to a run: epsilon {whole:g} at delta {limit.delta:g}." if whole else f"Left: rho {left:.6g}."

    def export(self) -> dict[str, Any]:
        """The account as JSON."""
        return {
            "dataset": self.dataset,
            "unit": None if self.unit is None else asdict(self.unit),
            "rho": self.rho,
            "delta_spent": self.delta_spent,
            "accounting": self.accounting,
            "limit": None if self.limit is None else asdict(self.limit),
            "disclosed": self.disclosed,
            "entries": [asdict(entry) for entry in self.entries],
        }

    def _most_rho(self, limit: Budget, delta: Fraction, *, accounting: Accounting) -> float:
        both: Accounting = "gaussian" if self.accounting == accounting == "gaussian" else "zcdp"
        try:
            return limit.total_rho(both, delta_spent=round_up(self.exact_delta + delta))
        except UserError as error:
            raise BudgetRefused(f"ledger: the limit of {self.dataset!r} does not allow this. {error}") from error
