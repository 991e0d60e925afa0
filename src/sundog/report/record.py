"""Record: what a certificate says of the circumstances of a release: when, why, by whom, from which account. Public values.

The day alone is stated, never a time or a duration: how long a run took can depend on the rows. What an account has spent
follows from its charges, which do not depend on the rows either.
"""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Balance:
    """An account before and after a release; epsilons at the account's delta, None where no delta is known."""

    rho_before: float
    rho_after: float
    delta: float | None = None
    epsilon_before: float | None = None
    epsilon_after: float | None = None
    limit: str | None = None


@dataclass(frozen=True)
class Record:
    """The circumstances; `disclosures` are the CONFIDENTIAL looks at the rows that the ledger holds so far."""

    day: str
    purpose: str | None = None
    approved_by: str | None = None
    balance: Balance | None = None
    disclosures: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The parts of the certificate that it fills."""
        balance = self.balance
        return {
            "date": self.day,
            "purpose": self.purpose,
            "approvedBy": self.approved_by,
            "account": None
            if balance is None
            else {
                "rhoBefore": balance.rho_before,
                "rhoAfter": balance.rho_after,
                "delta": balance.delta,
                "epsilonBefore": balance.epsilon_before,
                "epsilonAfter": balance.epsilon_after,
                "limit": balance.limit,
            },
            "disclosures": None if balance is None else list(self.disclosures),
        }
