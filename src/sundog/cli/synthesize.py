"""sundog synthesize: the whole way from a private table to synthetic rows, measurements, a certificate, a report."""

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sundog.api.options import Generation, Purpose, Signing
from sundog.cli import options as o
from sundog.cli.groups import CountedOptions, Paying, Writing, grouped
from sundog.cli.output import kept_lines, load_schema, progress, say, table_lines, tell_kept
from sundog.errors import UserError

if TYPE_CHECKING:
    from sundog.api.making import Place
    from sundog.api.synthesizer import Synthesizer

DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Say what would be charged and certified; reads no rows, writes nothing.")
]


@dataclass(frozen=True)
class Result(Writing):
    """What is made, and where it goes."""

    out: o.OutFolder = Path("synthetic")
    rows: o.Rows = None
    dry_run: DryRun = False


@grouped
def synthesize(
    table: CountedOptions,
    *,
    schema: o.SchemaOrPackage = None,
    paying: Paying,
    generation: Generation,
    signing: Signing,
    result: Result,
) -> None:
    """Make a differentially private likeness of a table.

    Writes synthetic.csv (or .parquet), a report, a page to explore, the certificate, the measurements and README.txt into the folder.
    """
    with progress("starting") as report:
        from sundog.api.making import Place, linked_names, make_release
        from sundog.methods.loop import check_rows

        signing.check()
        synthesizer = synthesizer_for(schema, table, paying=paying, generation=generation, purpose=signing)
        check_rows(result.rows, synthesizer.schema)
        if result.dry_run:
            dry = synthesizer.dry_run()
            say(dry.to_json(), dry.to_lines(), as_json=result.json)
            return
        names = linked_names(synthesizer.schema)
        place = Place(result.out, result.rows, result.format, result.force, linked=names)
        kept = partial(tell_kept, method=generation.method)
        rows = make_release(synthesizer, table.private(), place=place, signing=signing, report=report, kept=kept)
    _tell(synthesizer, place, rows=rows, as_json=result.json)


def _tell(synthesizer: "Synthesizer", place: "Place", *, rows: int, as_json: bool) -> None:
    """Where the files are, and what was spent."""
    from sundog.report.certificate import claim

    guarantee = synthesizer.released.guarantee
    lines = [
        *table_lines(place, rows),
        f"Report:          {place.folder / 'report.html'}",
        f"Explore:         {place.folder / 'explore.html'}",
        f"Certificate:     {place.folder / 'certificate.html'} (and certificate.json)",
        f"Measurements:    {place.folder / 'released.json'}",
        f"Guarantee:       {claim(guarantee)}",
    ]
    note = synthesizer.model.note
    lines += [note] if note else []
    lines += [f"Not done: {each}" for each in synthesizer.model.unsupported]
    lines += [f"WARNING: {warning}" for warning in synthesizer.model.warnings]
    lines += kept_lines(place.folder)
    result = (
        spent(synthesizer)
        | {"method": synthesizer.recipe.name, "rows": rows, "files": place.files}
        | ({"note": note} if note else {})
        | ({"unsupported": left} if (left := list(synthesizer.model.unsupported)) else {})
    )
    say(result, lines, as_json=as_json)


def synthesizer_for(
    schema: Path | None, table: CountedOptions, *, paying: Paying, generation: Generation, purpose: Purpose
) -> "Synthesizer":
    """The synthesizer that a command's options describe."""
    from sundog.api.synthesizer import Synthesizer

    facts = table.amend(load_schema(schema or package_path(table.data), linked=True))
    named = replace(paying.charged, dataset=paying.charged.account(facts.name, table.data))
    budget = vars(paying.privacy) | vars(named) | vars(paying.consent)
    return Synthesizer(facts, **budget, **vars(generation), purpose=purpose.purpose)


def package_path(data: str) -> Path:
    """A package says itself what its tables are; any other data needs a schema."""
    path = Path(data)
    named = path / "datapackage.json" if path.is_dir() else path
    if named.suffix.lower() != ".json":
        raise UserError(
            "--schema: it is needed; draft one with: sundog schema draft DATA. Only a datapackage.json brings its own."
        )
    return named


def spent(synthesizer: "Synthesizer") -> dict[str, Any]:
    """What a run has spent, for machines."""
    guarantee = synthesizer.released.guarantee
    return {
        "dataset": synthesizer.dataset,
        "epsilon": guarantee.epsilon,
        "delta": guarantee.delta,
        "rho": guarantee.rho,
        "warnings": list(synthesizer.model.warnings),
    }
