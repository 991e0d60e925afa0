"""sundog ledger: what each dataset has spent and has left, run by run; its limit; the whole record for auditors."""

import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sundog.api.options import Charged, LedgerPlace, Spendable
from sundog.api.writing import document_text, prepare_file
from sundog.cli import options as o
from sundog.cli.groups import grouped
from sundog.cli.output import say, tell

if TYPE_CHECKING:
    from sundog.private.accountant import Accounting
    from sundog.private.ledger import Account, Entry

app = typer.Typer(help="What each dataset has spent, and its limit.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="The dataset's name.")]
OptionalName = Annotated[str | None, typer.Argument(help="The dataset's name; default: all.")]
Delta = Annotated[
    float | None,
    typer.Option("--delta", help="State epsilons at this delta; default: the limit's, else the last run's."),
]
FIELDS = ("number", "dataset", "time", "run", "method", "purpose", "mechanism", "label", "rho", "delta", "hash")
"""What an entry is in a CSV file; JSON holds everything."""


@app.command()
@grouped
def show(dataset: OptionalName = None, *, delta: Delta = None, place: LedgerPlace, json: o.AsJson = False) -> None:
    """Show what has been spent and what is left, with a line per run."""
    opened = place.open_ledger()
    summaries = [_summary(account, delta) for account in opened.known(dataset)]
    lines = [f"Ledger: {opened.path}"]
    for summary in summaries:
        lines += _account_lines(summary)
    if not summaries:
        lines.append("Nothing has been spent yet.")
    say({"ledger": str(opened.path), "accounts": summaries}, lines, as_json=json)


@app.command()
@grouped
def history(dataset: OptionalName = None, *, place: LedgerPlace, json: o.AsJson = False) -> None:
    """Show every entry: charges, disclosures, limits."""
    opened = place.open_ledger()
    entries = sorted((e for account in opened.known(dataset) for e in account.entries), key=lambda e: e.number)
    lines = [f"Ledger: {opened.path}", *_columns([_entry_line(entry) for entry in entries])]
    say({"ledger": str(opened.path), "entries": [_entry(entry) for entry in entries]}, lines, as_json=json)


@app.command()
@grouped
def limit(
    dataset: Name,
    *,
    most: Spendable,
    place: LedgerPlace,
    new_account: o.NewAccount = False,
    yes: o.Yes = False,
    json: o.AsJson = False,
) -> None:
    """Limit what all runs together may spend on a dataset; what would exceed it is refused (exit code 3)."""
    opened = Charged(place.ledger, dataset, new_account).open_ledger()
    opened.set_limit(dataset, **vars(most), confirmed=yes)
    account = opened.account(dataset)
    described = account.limit.describe() if account.limit else "none"
    result = {"dataset": dataset, "limit": vars(most)}
    say(result, [f"{dataset}: limited to {described} in total."], as_json=json)


@app.command()
@grouped
def export(dataset: OptionalName = None, *, out: o.OutFile, place: LedgerPlace, force: o.Force = False) -> None:
    """Write the whole record, with its chain of hashes: as CSV where the file ends in .csv, else as JSON."""
    opened = place.open_ledger()
    accounts = opened.known(dataset)
    prepare_file(out, force=force)
    text = _csv(accounts) if out.suffix == ".csv" else document_text(opened.export(dataset))
    Path(out).write_text(text, encoding="utf-8")
    tell(f"Ledger record: {out}")


def _summary(account: "Account", delta: float | None) -> dict[str, Any]:
    """What show says of an account."""
    from sundog.private.accountant import Budget
    from sundog.private.runs import runs_of

    at = account.delta if delta is None else Budget(rho=1.0, delta=delta).delta
    return {
        "dataset": account.dataset,
        "protects": account.unit.describe() if account.unit else None,
        "delta": at,
        "epsilon": account.stated_epsilon(at),
        "rho": account.rho,
        "limit": account.limit.describe() if account.limit else None,
        "left": _left(account, at),
        "disclosed": account.disclosed,
        "entries": len(account.entries),
        "runs": [run.to_json() for run in runs_of(account, delta=at)],
    }


def _left(account: "Account", delta: float | None) -> dict[str, Any] | None:
    """What the limit leaves to a further run that is accounted for as those before."""
    from sundog.private.accountant import spent_epsilon

    kind: Accounting = "gaussian" if account.accounting == "gaussian" else "zcdp"
    rho = account.left_rho(kind)
    if rho is None:
        return None
    return {"rho": rho, "epsilon": None if delta is None else spent_epsilon(rho, delta, accounting=kind)}


def _account_lines(summary: dict[str, Any]) -> list[str]:
    lines = ["", summary["dataset"], f"  protects: {summary['protects'] or 'nothing spent yet'}"]
    lines.append(f"  spent: {_amount(summary, summary['delta'])}")
    lines.append(f"  limit: {summary['limit'] or 'none'}")
    if summary["left"] is not None:
        lines.append(f"  left: {_amount(summary['left'], summary['delta'])}")
    if summary["disclosed"]:
        lines.append("  CONFIDENTIAL results were disclosed from this dataset.")
    told = [_run_line(run) for run in summary["runs"]]
    if told:
        lines += [
            "",
            *(f"  {line}" for line in _columns([["run", "date", "method", "epsilon", "rho", "purpose"], *told])),
        ]
    return lines


def _amount(spent: dict[str, Any], delta: float | None) -> str:
    """rho, and the epsilon that it is at a delta."""
    rho = f"rho {spent['rho']:.6g}"
    return rho if spent["epsilon"] is None else f"{rho} (epsilon {spent['epsilon']:.6g} at delta {delta:g})"


def _run_line(run: dict[str, Any]) -> list[str]:
    if run["disclosed"]:
        return [f"#{run['run']}", run["date"], "disclosed", "none holds", "-", run["purpose"]]
    epsilon = "-" if run["epsilon"] is None else f"{run['epsilon']:.4g}"
    return [
        f"#{run['run']}",
        run["date"],
        run["method"],
        epsilon,
        f"{run['rho']:.4g}",
        " ".join((run["purpose"] or "-").split()),
    ]


def _columns(rows: list[list[str]]) -> list[str]:
    """Cells under each other; the last column is not padded."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _entry(entry: "Entry") -> dict[str, Any]:
    run = entry.run
    facts = {} if run is None else {"method": run.method, "purpose": run.purpose}
    known = vars(entry) | facts | {"run": None if run is None else run.number}
    return {name: known.get(name) for name in FIELDS}


def _entry_line(entry: "Entry") -> list[str]:
    shown = _entry(entry)
    run = "-" if shown["run"] is None else f"run {shown['run']}"
    return [f"#{entry.number}", entry.time, entry.dataset, run, entry.mechanism, f"{entry.rho:.4g}", entry.label]


def _csv(accounts: "list[Account]") -> str:
    """One line per entry."""
    file = io.StringIO()
    writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(_entry(entry) for account in accounts for entry in account.entries)
    return file.getvalue()
