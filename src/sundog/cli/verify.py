"""sundog verify: whether a release is as it was certified. It reads no private data."""

from pathlib import Path
from typing import Annotated

import typer

from sundog.cli import options as o
from sundog.cli.output import progress, say
from sundog.errors import UserError

Folder = Annotated[Path, typer.Argument(help="The folder of a release.")]
LedgerFile = Annotated[Path | None, typer.Option("--ledger", help="Also check the receipts against this ledger.")]
Key = Annotated[Path | None, typer.Option("--key", help="Also check the signature with this Ed25519 public key (PEM).")]


def verify(folder: Folder, *, ledger: LedgerFile = None, key: Key = None, json: o.AsJson = False) -> None:
    """Check a release: files, certificate, receipts, rows and signature. Exit code 2 with what differs."""
    with progress("verifying"):
        from sundog.api.verify import verify as verified

        found = verified(folder, ledger=ledger, key=key)
    result = {"holds": found.holds, "checked": list(found.checked), "differences": list(found.differences)}
    if not found.holds:
        if json:
            say(result, [], as_json=True)
            raise typer.Exit(2)
        raise UserError(
            "verify: the release is not as it was certified.\n" + "\n".join(f"- {d}" for d in found.differences)
        )
    say(result, [*(f"checked {each}" for each in found.checked), "The release is as it was certified."], as_json=json)
