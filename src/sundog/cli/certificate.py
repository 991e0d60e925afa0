"""sundog certificate: what a release promises, in words, or as an entry for OpenDP's registry. It reads no private data."""

from pathlib import Path
from typing import Annotated

import typer

from sundog.api.writing import prepare_file
from sundog.cli import options as o
from sundog.cli.output import say, tell
from sundog.errors import UserError

Folder = Annotated[Path, typer.Argument(help="The folder of a release.")]
Registry = Annotated[bool, typer.Option("--registry", help="As an entry for OpenDP's registry of deployments (YAML).")]
Out = Annotated[
    Path | None, typer.Option("--out", "-o", help="The file to write the entry to; default: standard output.")
]


def certificate(
    folder: Folder, *, registry: Registry = False, out: Out = None, force: o.Force = False, json: o.AsJson = False
) -> None:
    """Say what a release promises, what it cost and where its domains come from."""
    from sundog.api.certificate import certificate_of, registry_of
    from sundog.report.certificate_lines import certificate_lines

    if not registry:
        if out is not None:
            raise UserError("certificate: --out is for --registry; the certificate itself is in the release already.")
        document, _ = certificate_of(folder)
        say(document, certificate_lines(document), as_json=json)
        return
    entry = registry_of(folder)
    if out is not None:
        prepare_file(out, force=force)
        out.write_text(entry.to_yaml(), encoding="utf-8")
    elif not json:
        typer.echo(entry.to_yaml(), nl=False)
    told = [f"Registry entry: {out}"] if out is not None else []
    told += [f"To fill in: {path} ({asked})" for path, asked in entry.to_fill.items()]
    if json:
        say({"entry": entry.document, "toFill": entry.to_fill, "files": [str(out)] if out else []}, [], as_json=True)
    else:
        tell("\n".join(told), err=out is None)
