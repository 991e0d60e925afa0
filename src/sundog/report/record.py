"""Record: what a certificate says of the circumstances of a release: when, why, by whom, from which account. Public values.

The day alone is stated, never a time or a duration: how long a run took can depend on the rows. What an account has spent
follows from its charges, which do not depend on the rows either.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sundog.errors import UserError


@dataclass(frozen=True)
class Balance:
    """An account before and after a release; epsilons at the account's delta, None where no delta is known."""

    rho_before: float
    rho_after: float
    delta: float | None = None
    epsilon_before: float | None = None
    epsilon_after: float | None = None
    limit: str | None = None

    @staticmethod
    def from_json(stated: Any) -> "Balance":
        """The balance that a certificate states."""
        if not isinstance(stated, Mapping) or not all(_number(stated.get(name)) for name in ("rhoBefore", "rhoAfter")):
            raise UserError("certificate.json: its account is not a balance before and after.")
        delta, before, after = (stated.get(name) for name in ("delta", "epsilonBefore", "epsilonAfter"))
        if not all(each is None or _number(each) for each in (delta, before, after)):
            raise UserError("certificate.json: a delta or an epsilon of its account is not a number.")
        return Balance(stated["rhoBefore"], stated["rhoAfter"], delta, before, after, _text(stated, "limit"))


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

    @staticmethod
    def from_json(document: Mapping[str, Any]) -> "Record":
        """The record that a certificate holds; refused where it is not one that Sundog writes."""
        day, told = document.get("date"), document.get("disclosures")
        if not isinstance(day, str) or not re.fullmatch(r"\d{4}-\d\d-\d\d", day, re.ASCII):
            raise UserError("certificate.json: its date is not a day.")
        if not isinstance(told, list | None) or not all(isinstance(each, str) for each in told or []):
            raise UserError("certificate.json: its disclosures are not a list of texts.")
        balance = None if document.get("account") is None else Balance.from_json(document["account"])
        return Record(day, _text(document, "purpose"), _text(document, "approvedBy"), balance, tuple(told or ()))


def _text(document: Mapping[str, Any], name: str) -> str | None:
    found = document.get(name)
    if not isinstance(found, str | None):
        raise UserError(f"certificate.json: its {name!r} is not a text.")
    return found


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
