"""How a front door comes by a curator: the budget, its default delta, the account, the reserve. Stated once for all of them."""

from dataclasses import dataclass

from sundog.api.options import Charged, Confirmation, Privacy
from sundog.domain import Schema
from sundog.private.accountant import Accounting, default_delta
from sundog.private.curator import Curator, public_rows
from sundog.private.ledger import Run
from sundog.private.spending import Spending
from sundog.private.table import PrivateTable


@dataclass(frozen=True)
class Terms:
    """What a run says of itself before it starts: how its charges add up, its method and purpose, what it sets aside."""

    accounting: Accounting
    method: str
    purpose: str | None = None
    delta_thresholds: float = 0.0
    reserved: float = 0.0


def curator_for(
    table: PrivateTable,
    schema: Schema,
    *,
    privacy: Privacy,
    charged: Charged,
    consent: Confirmation,
    terms: Terms,
) -> Curator:
    """The curator of a private table; refuses what the budget, the ledger or the owner's consent does not allow."""
    consent.check(schema, privacy)
    unit = privacy.protected_unit()
    delta = default_delta(public_rows(table, schema, unit=unit)) if privacy.delta_from_rows else None
    spending = Spending(
        privacy.budget(delta=delta),
        charged.account(schema.name),
        unit=unit,
        accounting=terms.accounting,
        ledger=charged.open_ledger(),
        delta_thresholds=terms.delta_thresholds,
        reserved=terms.reserved,
        run=Run(terms.method, terms.purpose),
    )
    curator = Curator(table, schema, spending=spending)
    if unit.public_count:
        consent.check(schema, privacy, rows=curator.count())
    return curator
