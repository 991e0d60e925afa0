"""A run without the run: what it would charge, the balance before and after, what its certificate would say.

It opens the ledger for reading and no table. A run may charge a little less than its whole budget, never more.
"""

from dataclasses import dataclass
from typing import Any

from sundog.api.options import Charged, Confirmation, Privacy
from sundog.domain import Schema
from sundog.errors import UserError
from sundog.private.accountant import Accounting, default_delta
from sundog.private.spending import noisable_rho
from sundog.released import Guarantee
from sundog.report.certificate import claim


@dataclass(frozen=True)
class DryRun:
    """What would be charged to which account, and what could then be claimed."""

    dataset: str
    rho: float
    before: float
    limit: str | None
    left: float | None
    guarantee: Guarantee

    def to_json(self) -> dict[str, Any]:
        """Everything, as plain JSON."""
        return {
            "dryRun": True,
            "reads": "no rows",
            "dataset": self.dataset,
            "charge": {"rho": self.rho, "epsilon": self.guarantee.epsilon, "delta": self.guarantee.delta},
            "spentBefore": {"rho": self.before},
            "spentAfter": {"rho": self.before + self.rho},
            "limit": self.limit,
            "leftAfter": None if self.left is None else {"rho": self.left},
            "claim": claim(self.guarantee),
        }

    def to_lines(self) -> list[str]:
        """The same for people."""
        limit = "none" if self.limit is None else f"{self.limit}; rho {self.left:.6g} would be left"
        return [
            "Dry run: no rows were read, nothing was written, nothing was spent.",
            f"Account:         {self.dataset}",
            f"Would charge:    rho {self.rho:.6g} at most",
            f"Spent before:    rho {self.before:.6g}",
            f"Spent after:     rho {self.before + self.rho:.6g}",
            f"Limit:           {limit}",
            f"Certificate:     {claim(self.guarantee)}",
        ]


def dry_run(
    schema: Schema, *, privacy: Privacy, charged: Charged, consent: Confirmation, accounting: Accounting
) -> DryRun:
    """What a run with these options would do; refuses what the run would refuse before it reads a row."""
    consent.check(schema, privacy)
    unit, budget = privacy.protected_unit(), privacy.budget(delta=_delta(privacy, consent))
    rho, dataset, ledger = (
        noisable_rho(budget, unit, accounting=accounting),
        charged.account(schema.name),
        charged.open_ledger(),
    )
    ledger.check(dataset, rho, unit=unit, accounting=accounting)
    epsilon, delta = budget.statement(rho, accounting=accounting) or (None, None)
    account = ledger.account(dataset)
    limit = account.limit
    held = account.left_rho(accounting)
    left = None if held is None else held - rho
    said = None if limit is None else limit.describe()
    guarantee = Guarantee(unit, accounting, rho, epsilon=epsilon, delta=delta)
    return DryRun(dataset, rho, account.rho, said, left, guarantee)


def _delta(privacy: Privacy, consent: Confirmation) -> float | None:
    """1/n^2 where the number of rows is public; here it has to be said, since no rows are read."""
    if not privacy.delta_from_rows:
        return None
    if consent.rows_about is None:
        raise UserError(
            "dry run: no rows are read, so that the default delta of 1/n² is not known; give delta or rows_about."
        )
    return default_delta(consent.rows_about)
