"""sundog synthesize: the whole way from a private table to synthetic rows, measurements, a certificate, a report."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sundog.api.options import Generation, Signing
from sundog.api.release_folder import clear_release_folder
from sundog.cli import options as o
from sundog.cli.groups import Paying, TableOptions, Writing, grouped
from sundog.cli.output import load_schema, prepare_folder, progress, say, write_table

if TYPE_CHECKING:
    from sundog.api.synthesizer import Synthesizer
    from sundog.methods.loop import Report

DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Say what would be charged and certified; reads no rows, writes nothing.")
]
RELEASE = [
    "released.json",
    "model.json",
    "fitted.npz",
    "report.html",
    "README.txt",
    "datapackage.json",
    "certificate.json",
    "certificate.html",
]


@dataclass(frozen=True)
class Result(Writing):
    """What is made, and where it goes."""

    out: o.OutFolder = Path("synthetic")
    rows: o.Rows = None
    dry_run: DryRun = False


@grouped
def synthesize(
    table: TableOptions,
    *,
    schema: o.SchemaFile,
    paying: Paying,
    generation: Generation,
    signing: Signing,
    result: Result,
) -> None:
    """Make a differentially private likeness of a table.

    Writes synthetic.csv (or .parquet), a report, the certificate, the measurements and README.txt into the folder.
    """
    out, synthetic = result.out, f"synthetic.{result.format}"
    with progress("starting") as report:
        from sundog.api.release import finish_release
        from sundog.methods.loop import check_rows

        signing.check()
        synthesizer = synthesizer_for(schema, table, paying=paying, generation=generation)
        check_rows(result.rows, synthesizer.schema)
        if result.dry_run:
            dry = synthesizer.dry_run()
            say(dry.to_json(), dry.to_lines(), as_json=result.json)
            return
        prepare_folder(out, force=result.force, outside=(table.data, paying.charged.ledger))
        fit_or_keep(synthesizer, table, keep=out / "released.json", report=report, replaced=out)
        clear_release_folder(out)
        synthesizer.save(out)  # first of all: it was paid for
        report("sampling")
        made = synthesizer.model.rows(result.rows)
        synthesizer.model.report(out / "report.html", rows=made)
        write_table(made, out / synthetic)
        record = synthesizer.record(purpose=signing.purpose, approved_by=signing.approved_by)
        method, remark = synthesizer.recipe.name, " ".join(synthesizer.model.unsupported) or None
        finish_release(out, synthesizer.released, method=method, record=record, remark=remark, signing=signing)
    _tell(synthesizer, out, synthetic=synthetic, rows=len(made), as_json=result.json)


def _tell(synthesizer: "Synthesizer", out: Path, *, synthetic: str, rows: int, as_json: bool) -> None:
    """Where the files are, and what was spent."""
    from sundog.report.certificate import claim

    guarantee = synthesizer.released.guarantee
    lines = [
        f"Synthetic table: {out / synthetic} ({rows} rows)",
        f"Report:          {out / 'report.html'}",
        f"Certificate:     {out / 'certificate.html'} (and certificate.json)",
        f"Measurements:    {out / 'released.json'}",
        f"Guarantee:       {claim(guarantee)}",
    ]
    note = synthesizer.model.note
    lines += [note] if note else []
    lines += [f"Not done: {each}" for each in synthesizer.model.unsupported]
    lines += [f"WARNING: {warning}" for warning in synthesizer.model.warnings]
    files = [str(out / name) for name in [synthetic, *RELEASE]]
    result = (
        spent(synthesizer)
        | {"method": synthesizer.recipe.name, "rows": rows, "files": files}
        | ({"note": note} if note else {})
        | ({"unsupported": left} if (left := list(synthesizer.model.unsupported)) else {})
    )
    say(result, lines, as_json=as_json)


def synthesizer_for(schema: Path, table: TableOptions, *, paying: Paying, generation: Generation) -> "Synthesizer":
    """The synthesizer that a command's options describe."""
    from sundog.api.synthesizer import Synthesizer

    facts = table.amend(load_schema(schema))
    named = replace(paying.charged, dataset=paying.charged.account(facts.name, table.data))
    return Synthesizer(facts, **vars(paying.privacy), **vars(generation), **vars(named), **vars(paying.consent))


def fit_or_keep(
    synthesizer: "Synthesizer", table: TableOptions, *, keep: Path, report: "Report", replaced: Path | None = None
) -> None:
    """Fit; if something stops it after measuring, keep what was paid for, and nothing of the release it replaces."""
    try:
        synthesizer.fit(table.data, sql=table.sql, report=report)
    except BaseException:
        if synthesizer.paid_for is not None and synthesizer.paid_for.measurements:
            if replaced is not None:
                clear_release_folder(replaced)
            synthesizer.paid_for.save(keep)
            typer.echo(f"Kept the measurements that were paid for: {keep} (see: sundog generate)", err=True)
        raise


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
