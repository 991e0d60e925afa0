"""sundog synthesize: the whole way from a private table to synthetic rows, released measurements and a certificate."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from sundog.cli import options as o
from sundog.cli.groups import Privacy, Table, grouped
from sundog.cli.output import prepare_folder, progress, say, write_table

if TYPE_CHECKING:
    from sundog.synthesize import Report
    from sundog.synthesizer import Synthesizer

RELEASE = ["released.json", "model.json", "certificate.json", "certificate.html"]


@grouped
def synthesize(
    table: Table,
    *,
    schema: o.SchemaFile,
    out: o.OutFolder,
    privacy: Privacy,
    method: o.Method = "independent",
    public: o.Public = None,
    rows: o.Rows = None,
    seed: o.Seed = None,
    format: o.Format = "csv",
    force: o.Force = False,
    json: o.AsJson = False,
) -> None:
    """Make a differentially private likeness of a table.

    Writes synthetic.csv (or .parquet), released.json, certificate.json and certificate.html into the folder.
    """
    synthetic = f"synthetic.{format}"
    with progress("starting") as report:
        from sundog.certificate import claim
        from sundog.synthesize import check_rows

        check_rows(rows)
        synthesizer = synthesizer_for(table, privacy, schema=schema, method=method, seed=seed, public=public)
        prepare_folder(out, [*RELEASE, synthetic], force=force)
        fit_or_keep(synthesizer, table, keep=out / "released.json", report=report)
        report("sampling")
        made = synthesizer.model.rows(rows)
        synthesizer.save(out)
        write_table(made, out / synthetic)
    guarantee = synthesizer.released.guarantee
    lines = [
        f"Synthetic table: {out / synthetic} ({len(made)} rows)",
        f"Certificate:     {out / 'certificate.html'} (and certificate.json)",
        f"Measurements:    {out / 'released.json'}",
        f"Guarantee:       {claim(guarantee)}",
    ]
    files = [str(out / name) for name in [synthetic, *RELEASE]]
    say(spent(synthesizer) | {"method": method, "rows": len(made), "files": files}, lines, as_json=json)


def synthesizer_for(
    table: Table, privacy: Privacy, *, schema: Path, method: str, seed: int | None, public: str | None
) -> "Synthesizer":
    """The synthesizer that a command's options describe."""
    from sundog.schema import Schema
    from sundog.synthesizer import Synthesizer

    facts = Schema.load(schema)
    return Synthesizer(
        facts,
        epsilon=privacy.epsilon,
        delta=privacy.delta,
        rho=privacy.rho,
        method=method,
        public=public,
        neighbours=privacy.neighbours,
        unit=privacy.unit,
        rows_per_unit=privacy.rows_per_unit,
        dataset=table.account(facts.name),
        seed=seed,
        ledger=table.ledger,
    )


def fit_or_keep(synthesizer: "Synthesizer", table: Table, *, keep: Path, report: "Report") -> None:
    """Fit; if something stops it after measuring, keep what was paid for."""
    try:
        synthesizer.fit(table.data, delimiter=table.delimiter, sql=table.sql, report=report)
    except BaseException:
        if synthesizer.paid_for is not None and synthesizer.paid_for.measurements:
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
    }
