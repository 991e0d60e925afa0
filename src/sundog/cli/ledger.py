"""sundog ledger: what each dataset has spent, its limit, and the whole record for auditors."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sundog.api.options import LedgerPlace, Spendable
from sundog.api.writing import document_text, prepare_file
from sundog.cli import options as o
from sundog.cli.groups import grouped
from sundog.cli.output import say

if TYPE_CHECKING:
    from sundog.private.ledger import Account

app = typer.Typer(help="What each dataset has spent, and its limit.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="The dataset's name.")]
OptionalName = Annotated[str | None, typer.Argument(help="The dataset's name; default: all.")]


@app.command()
@grouped
def show(dataset: OptionalName = None, *, place: LedgerPlace, json: o.AsJson = False) -> None:
    """Show what has been spent."""
    opened = place.open_ledger()
    names = [dataset] if dataset else opened.accounts()
    lines = [f"Ledger: {opened.path}"]
    for name in names:
        lines += _account_lines(opened.account(name))
    if not names:
        lines.append("Nothing has been spent yet.")
    say(opened.export(dataset), lines, as_json=json)


@app.command()
@grouped
def limit(dataset: Name, *, most: Spendable, place: LedgerPlace, yes: o.Yes = False, json: o.AsJson = False) -> None:
    """Limit what all runs together may spend on a dataset; what would exceed it is refused (exit code 3)."""
    opened = place.open_ledger()
    opened.set_limit(dataset, **vars(most), confirmed=yes)
    account = opened.account(dataset)
    described = account.limit.describe() if account.limit else "none"
    result = {"dataset": dataset, "limit": vars(most)}
    say(result, [f"{dataset}: limited to {described} in all."], as_json=json)


@app.command()
@grouped
def export(dataset: OptionalName = None, *, out: o.OutFile, place: LedgerPlace, force: o.Force = False) -> None:
    """Write the whole record, with its chain of hashes, as JSON."""
    prepare_file(out, force=force)
    record = place.open_ledger().export(dataset)
    Path(out).write_text(document_text(record), encoding="utf-8")
    typer.echo(f"Ledger record: {out}")


def _account_lines(account: "Account") -> list[str]:
    spent = f"  spent: rho {account.rho:.6g}"
    if account.limit is not None and account.limit.delta is not None and account.rho:
        spent += f" (epsilon {account.epsilon(account.limit.delta):.6g} at delta {account.limit.delta:g})"
    limit_line = f"  limit: {account.limit.describe() if account.limit else 'none'}"
    unit = f"  protects: {account.unit.describe()}" if account.unit else "  protects: nothing spent yet"
    lines = ["", account.dataset, unit, spent, limit_line, f"  entries: {len(account.entries)}"]
    return [*lines, "  CONFIDENTIAL results were disclosed from this dataset."] if account.disclosed else lines
