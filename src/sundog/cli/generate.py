"""sundog generate: synthetic rows from released measurements. It needs no private data and costs no privacy."""

from pathlib import Path
from typing import Annotated, Any

import typer

from sundog.api.options import Fitting, Signing
from sundog.cli import options as o
from sundog.cli.groups import Writing, grouped
from sundog.cli.output import progress, say


@grouped
def generate(
    released: Annotated[Path, typer.Argument(help="The file that `sundog measure` or `synthesize` wrote.")],
    *,
    out: o.OutFolder,
    fitting: Fitting,
    rows: o.Rows = None,
    signing: Signing,
    writing: Writing,
) -> None:
    """Generate synthetic rows from released measurements, as often as you like, with any method that can use them."""
    with progress("starting") as report:
        from sundog.api.making import Place, remake_release
        from sundog.api.model import Model
        from sundog.api.writing import prepare_folder
        from sundog.methods.loop import check_rows
        from sundog.released import Released

        signing.check()
        measurements = Released.load(released)
        check_rows(rows, measurements.schema)
        prepare_folder(out, force=writing.force)
        report(f"fitting {fitting.method}")
        model = Model.from_released(measurements, **vars(fitting))
        place = Place(out, rows, writing.format)
        made = remake_release(model, place=place, signing=signing, report=report)
    result: dict[str, Any] = {
        "method": fitting.method,
        "rows": made,
        "files": place.files,
        "warnings": list(model.warnings),
    }
    lines = [
        f"Synthetic table: {place.table} ({made} rows)",
        f"Report:          {out / 'report.html'}",
        f"Certificate:     {out / 'certificate.html'} (and certificate.json)",
    ]
    lines += [model.note] if model.note else []
    lines += [f"WARNING: {warning}" for warning in model.warnings]
    lines += [f"Not done: {each}" for each in model.unsupported]
    result |= {"unsupported": list(model.unsupported)} if model.unsupported else {}
    say(result | ({"note": model.note} if model.note else {}), lines, as_json=writing.json)
