"""The ledger as a bank statement: every account with what is spent and left, its limit, its history, a picture of the spending."""

from dataclasses import dataclass
from typing import Any

from markupsafe import Markup
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response

from sundog.api.options import LedgerPlace
from sundog.api.writing import document_text
from sundog.errors import UserError
from sundog.studio.budget import number
from sundog.studio.rendering import Studio, page, see

HISTORY = 200
"""This many lines of an account's history are shown; the record has all."""


@dataclass(frozen=True)
class Statement:
    """An account as the page shows it."""

    dataset: str
    unit: str
    rho: float
    epsilon: float | None
    delta: float | None
    limit: str | None
    most: float | None
    disclosed: bool
    lines: list[Any]
    left_out: int
    chart: Markup

    @property
    def share(self) -> float | None:
        """The part of the limit that is spent."""
        return None if not self.most else min(self.rho / self.most, 1.0)


def show(studio: Studio, request: Request, **values: Any) -> Response:
    """Show all accounts of the ledger."""
    opened = LedgerPlace(studio.home.ledger).open_ledger()
    accounts = [_statement(opened.account(name)) for name in opened.accounts()]
    return page(studio, request, "ledger.html", accounts=accounts, place=str(opened.path), **values)


def _statement(account: Any) -> Statement:
    from sundog.private.runs import runs_of
    from sundog.report.spending_chart import spending_chart

    limit, delta = account.limit, account.delta
    most = None if limit is None else _most(limit, account)
    spent, total = [], 0.0
    for entry in account.entries:
        total += entry.rho
        if entry.rho:
            spent.append((entry.time[:10], total))
    lines = runs_of(account, delta=delta)[::-1]
    return Statement(
        account.dataset,
        account.unit.describe() if account.unit else "nothing spent yet",
        account.rho,
        account.stated_epsilon(delta) if account.rho else None,
        delta,
        None if limit is None else limit.describe(),
        most,
        account.disclosed,
        lines[:HISTORY],
        max(len(lines) - HISTORY, 0),
        Markup(spending_chart(spent, limit=most)) if spent else Markup(),  # noqa: S704 - our own SVG
    )


def _most(limit: Any, account: Any) -> float | None:
    try:
        return float(
            limit.total_rho("gaussian" if account.accounting == "gaussian" else "zcdp", delta_spent=account.delta_spent)
        )
    except UserError:
        return None


def limit(studio: Studio, request: Request, form: FormData) -> Response:
    """Set an account's limit."""
    opened = LedgerPlace(studio.home.ledger).open_ledger()
    try:
        values = {key: number(form, key) for key in ("epsilon", "delta")}
        dataset = str(form.get("dataset") or "")
        opened.set_limit(dataset, **values, confirmed=bool(form.get("confirmed")))
    except UserError as error:
        return show(studio, request, error=str(error), status=422)
    return see(studio, "/ledger")


def download(studio: Studio, request: Request) -> Response:
    """The whole record, with its chain of hashes, as JSON."""
    del request
    record = LedgerPlace(studio.home.ledger).open_ledger().export()
    headers = {"Content-Disposition": 'attachment; filename="ledger.json"'}
    return Response(document_text(record), media_type="application/json", headers=headers)
