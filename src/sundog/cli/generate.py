"""sundog generate: synthetic rows from released measurements. It needs no private data and costs no privacy."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sundog.api.options import Fitting, Signing
from sundog.cli import options as o
from sundog.cli.groups import Writing, grouped
from sundog.cli.output import kept_lines, load_schema, progress, say, table_lines

if TYPE_CHECKING:
    from sundog.api.linked import LinkedModel
    from sundog.api.making import Place
    from sundog.api.model import Model


@grouped
def generate(
    released: Annotated[Path, typer.Argument(help="The file that `sundog measure` or `synthesize` wrote.")],
    *,
    out: o.OutFolder,
    fitting: Fitting,
    rows: o.Rows = None,
    schema: Annotated[
        Path | None,
        typer.Option(
            "--schema", help="What was declared later (constraints, derived fields); what was measured stays."
        ),
    ] = None,
    where: Annotated[
        str | None, typer.Option("--where", help="Rows given a condition, such as 'age >= 65 and sex = female'.")
    ] = None,
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Go on with a release in parts that was stopped; parts that are whole stay."),
    ] = False,
    signing: Signing,
    writing: Writing,
) -> None:
    """Generate synthetic rows from released measurements, as often as you like, with any method that can use them.

    More than ten million rows in Parquet come in parts, written by all cores in memory that does not grow with their number.
    """
    with progress("starting") as report:
        from sundog.api.making import Place, linked_names, parts_for, remake_release, resume_release
        from sundog.api.model import model_of
        from sundog.api.writing import no_empty_folder, prepare_folder
        from sundog.domain.linked.reading import refuse_linked
        from sundog.domain.where import condition_of
        from sundog.methods.loop import check_rows
        from sundog.released import Released
        from sundog.released.amended import amended

        signing.check()
        measurements = Released.load(released)
        if schema is not None or where is not None:
            refuse_linked(measurements.schema, "generate --schema and --where")
        if schema is not None:
            measurements = amended(measurements, load_schema(schema))
        if where is not None:
            condition_of(where, measurements.schema.widened)
        model: Model | LinkedModel
        if resume:
            model, place = resume_release(out, released=measurements, rows=rows, signing=signing, report=report)
            made = place.rows or 0
        else:
            place = Place(out, rows, writing.format, where=where, linked=linked_names(measurements.schema))
            place = replace(place, parts=parts_for(place))
            check_rows(rows if place.parts is None else place.parts.size(0), measurements.schema)
            with no_empty_folder(out):
                prepare_folder(out, force=writing.force)
                report(f"fitting {fitting.method}")
                model = model_of(measurements, fitting)
                made = remake_release(model, place=place, signing=signing, report=report)
    _tell(model, place, rows=made, as_json=writing.json)


def _tell(model: "Model | LinkedModel", place: "Place", *, rows: int, as_json: bool) -> None:
    """Where the files are, and what should be known of them."""
    result: dict[str, Any] = {
        "method": model.recipe.name,
        "rows": rows,
        "files": place.files,
        "warnings": list(model.warnings),
    }
    lines = [
        *table_lines(place, rows),
        f"Report:          {place.folder / 'report.html'}",
        f"Explore:         {place.folder / 'explore.html'}",
        f"Certificate:     {place.folder / 'certificate.html'} (and certificate.json)",
    ]
    if place.where is not None:
        lines += [f"Given:           {place.where}", *([model.drawing_note] if model.drawing_note else [])]
        result["where"] = place.where
    lines += [model.note] if model.note else []
    lines += [f"WARNING: {warning}" for warning in model.warnings]
    lines += kept_lines(place.folder)
    lines += [f"Not done: {each}" for each in model.unsupported]
    result |= {"unsupported": list(model.unsupported)} if model.unsupported else {}
    say(result | ({"note": model.note} if model.note else {}), lines, as_json=as_json)
