"""sundog verify: what can be established of a release, and by what. It reads no private data."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sundog.cli import options as o
from sundog.cli.output import progress, say
from sundog.errors import UserError

if TYPE_CHECKING:
    from sundog.api.verify import Verification

Folder = Annotated[Path, typer.Argument(help="The folder of a release.")]
LedgerFile = Annotated[Path | None, typer.Option("--ledger", help="Also check the receipts against this ledger.")]
Key = Annotated[Path | None, typer.Option("--key", help="Also check the signature with this Ed25519 public key (PEM).")]
Quick = Annotated[bool, typer.Option("--quick", help="Do not fit the model and draw the rows again.")]


def verify(
    folder: Folder, *, ledger: LedgerFile = None, key: Key = None, quick: Quick = False, json: o.AsJson = False
) -> None:
    """Make the files of a release again and compare them; say what is established, and by what. Exit code 2 with what differs."""
    with progress("verifying"):
        from sundog.api.verify import verify as verified

        found = verified(folder, ledger=ledger, key=key, quick=quick)
    if json or found.holds:
        say(found.to_json(), _lines(found), as_json=json)
    if not found.holds:
        if json:
            raise typer.Exit(2)
        raise UserError("verify: the release differs.\n" + "\n".join(f"- {each}" for each in found.differences))


def _lines(found: "Verification") -> list[str]:
    """What is established, what is not, and the verdict."""
    lines = ["Established:", *(f"- {each.says}" for each in found.established)]
    if found.not_established:
        lines += ["Not established:", *(f"- {each.says}" for each in found.not_established)]
    return [*lines, found.verdict]
