"""sundog adjust: reweight a synthetic table, from any tool, towards measures that the custodian pays a little for."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from sundog.cli import options as o
from sundog.cli.groups import Privacy, grouped
from sundog.cli.output import prepare_folder, progress, say, write_table
from sundog.errors import UserError

FILES = ["adjust.json", "released.json", "certificate.json", "certificate.html"]

Synthetic = Annotated[str, typer.Argument(help="The synthetic table, from Sundog or any other tool.")]
Real = Annotated[str | None, typer.Option(help="The private table, to measure what is to be matched.")]
Measures = Annotated[
    str, typer.Option(help="What to match: 'correlations: A, B', 'means: A by B', 'marginals: A, B', or a .toml file.")
]
Measured = Annotated[Path | None, typer.Option("--released", help="Measurements released before: no further cost.")]
Before = Annotated[Path | None, typer.Option("--before", help="released.json of the table's own making: costs add up.")]
Gamma = Annotated[float, typer.Option(help="How far a measure may miss its target, in proportions.")]
How = Annotated[Literal["systematic", "multinomial", "weights"], typer.Option("--resample", help="Rows, or weights.")]
Closest = Annotated[bool, typer.Option("--closest", help="Where the measures cannot be met, take the closest.")]
Noise = Annotated[Literal["gaussian", "laplace"], typer.Option(help="The noise of the measurement.")]
DatasetName = Annotated[str | None, typer.Option("--dataset", help="The ledger's account; default: the schema's name.")]


@grouped
def adjust(
    synthetic: Synthetic,
    *,
    schema: o.SchemaFile,
    out: o.OutFolder,
    privacy: Privacy,
    real: Real = None,
    measures: Measures = "correlations",
    released: Measured = None,
    before: Before = None,
    gamma: Gamma = 1e-5,
    resample: How = "systematic",
    closest: Closest = False,
    noise: Noise = "gaussian",
    rows: o.Rows = None,
    seed: o.Seed = 0,
    dataset: DatasetName = None,
    ledger: o.LedgerFile = None,
    format: o.Format = "csv",
    force: o.Force = False,
    json: o.AsJson = False,
) -> None:
    """Match chosen measures: writes adjusted.csv, adjust.json, released.json and the certificate into the folder."""
    adjusted = f"adjusted.{format}"
    prepare_folder(out, [*FILES, adjusted], force=force)
    with progress("measuring and matching"):
        from sundog.adjusting import Matching
        from sundog.adjusting import adjust as run
        from sundog.certificate import claim, write_certificate
        from sundog.private.accountant import Budget
        from sundog.released import Released

        if real is None and released is None:
            raise UserError("adjust: give --real DATA with a budget, or --released FILE that was measured before.")
        budget = Budget(privacy.epsilon, privacy.delta, privacy.rho) if real is not None else None
        done = run(
            synthetic,
            measures,
            schema=schema,
            real=real,
            released=None if released is None else Released.load(released),
            budget=budget,
            unit=privacy.whom(),
            dataset=dataset,
            before=None if before is None else Released.load(before),
            matching=Matching(gamma, resample, closest),
            noise=noise,
            rows=rows,
            seed=seed or 0,
            ledger=ledger,
        )
        unknown = None if before is not None else "The cost of making the synthetic table itself is not known here."
        write_table(done.rows, out / adjusted)
        done.released.save(out / "released.json")
        write_certificate(done.released, out, method=f"adjust ({measures})", remark=unknown)
        figures = done.match.describe()
        _write_json(figures, out / "adjust.json")
    lines = [
        f"Adjusted table: {out / adjusted} ({len(done.rows)} rows)",
        f"Largest error of a measure: {figures['largestErrorBefore']:.3g} before, {figures['largestErrorAfter']:.3g} after",
        f"Certificate:    {out / 'certificate.html'}",
        f"Guarantee:      {claim(done.released.guarantee)}",
    ] + ([unknown] if unknown else [])
    files = [str(out / name) for name in [adjusted, *FILES]]
    say({"rows": len(done.rows), "files": files, "rho": done.released.guarantee.rho, **figures}, lines, as_json=json)


def _write_json(figures: dict[str, float], path: Path) -> None:
    import json

    path.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
