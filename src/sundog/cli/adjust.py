"""sundog adjust: reweight a synthetic table, from any tool, towards measures that the custodian pays a little for."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from sundog.cli import options as o
from sundog.cli.groups import PrivacyOptions, grouped
from sundog.cli.output import prepare_folder, progress, say, write_table
from sundog.errors import UserError

if TYPE_CHECKING:
    from sundog.api.adjust import Adjusted, Adjustment
    from sundog.released import Released

FILES = ["adjust.json", "released.json", "certificate.json", "certificate.html"]
UNKNOWN = (
    "The cost of making the synthetic table itself is not known here (see --before), and is not part of this claim."
)

Synthetic = Annotated[str, typer.Argument(help="The synthetic table, from Sundog or any other tool.")]
Real = Annotated[str | None, typer.Option(help="The private table, to measure what is to be matched.")]
Measures = Annotated[
    str,
    typer.Option(
        help="What to match: 'correlations: A, B', 'means: A by B', 'marginals: A, B', 'columns', or a .toml file."
    ),
]
Measured = Annotated[Path | None, typer.Option("--released", help="Measurements released before: no further cost.")]
Before = Annotated[Path | None, typer.Option("--before", help="released.json of the table's own making: costs add up.")]
Gamma = Annotated[float, typer.Option(help="How far a measure may miss its target, in proportions.")]
How = Annotated[Literal["systematic", "multinomial", "weights"], typer.Option("--resample", help="Rows, or weights.")]
Closest = Annotated[bool, typer.Option("--closest", help="Where the measures cannot be met, take the closest.")]
Noise = Annotated[Literal["gaussian", "laplace"], typer.Option(help="The noise of the measurement.")]
Weights = Annotated[str | None, typer.Option(help="The synthetic table's column that says how much each row counts.")]
Rows = Annotated[int | None, typer.Option(help="How many rows to draw; default: as many as the table has.")]
DatasetName = Annotated[str | None, typer.Option("--dataset", help="The ledger's account; default: the schema's name.")]
Seed = Annotated[int, typer.Option(help="Fixes the resampling; never the privacy noise.")]


@grouped
def adjust(
    synthetic: Synthetic,
    *,
    schema: o.SchemaFile,
    out: o.OutFolder,
    privacy: PrivacyOptions,
    real: Real = None,
    measures: Measures = "correlations",
    released: Measured = None,
    before: Before = None,
    gamma: Gamma = 1e-5,
    resample: How = "systematic",
    closest: Closest = False,
    noise: Noise = "gaussian",
    weights: Weights = None,
    rows: Rows = None,
    delimiter: o.Delimiter = None,
    seed: Seed = 0,
    dataset: DatasetName = None,
    ledger: o.LedgerFile = None,
    format: o.Format = "csv",
    force: o.Force = False,
    json: o.AsJson = False,
) -> None:
    """Match chosen measures: writes adjusted.csv, adjust.json, released.json and the certificate into the folder."""
    _check_sources(real, released, privacy)
    adjusted = f"adjusted.{format}"
    with progress("reading") as report:
        from sundog.api.adjust import Adjustment, AdjustmentBudget
        from sundog.domain import Schema
        from sundog.postprocess.match import Matching
        from sundog.released import Released
        from sundog.report.certificate import write_certificate

        public = Schema.load(schema)
        known = None if released is None else Released.load(released)
        paying = AdjustmentBudget(
            privacy.epsilon, privacy.delta, privacy.rho, privacy.protected_unit(), dataset, noise, ledger
        )
        curator = None if real is None else paying.curator(real, public, delimiter=delimiter)
        plan = Adjustment.of(
            synthetic,
            measures,
            schema=public,
            matching=Matching(gamma, resample, closest, rows),
            rho=0.0 if curator is None else curator.remaining_rho,
            neighbours=privacy.protected_unit().neighbours,
            released=known,
            before=None if before is None else Released.load(before),
            weights=weights,
            delimiter=delimiter,
        )
        prepare_folder(out, [*FILES, adjusted], force=force)
        if curator is not None:
            report("measuring")
            known = plan.measured(curator, noise=noise)
            known.save(out / "released.json")  # at once: it was paid for
        assert known is not None  # noqa: S101 - by _check_sources
        report("matching")
        done = _matched(plan, known, seed=seed, kept=None if real is None else out / "released.json")
        remark = None if before is not None else UNKNOWN
        done.released.save(out / "released.json")
        write_certificate(done.released, out, method=f"adjust ({measures})", remark=remark)
        _write_json(done.match.describe() | {"notes": list(done.notes)}, out / "adjust.json")
        write_table(done.rows, out / adjusted)
    _tell(done, out, adjusted=adjusted, remark=remark, as_json=json)


def _matched(plan: "Adjustment", known: "Released", *, seed: int, kept: Path | None) -> "Adjusted":
    """The adjusted rows; where the measures cannot be met, what was paid for is kept and named."""
    from sundog.postprocess.match import NotMet

    try:
        return plan.matched(known, seed=seed)
    except NotMet as error:
        again = f" What was measured is kept in {str(kept)!r}: --released uses it again, at no cost." if kept else ""
        notes = "".join(f"\nNote: {note}" for note in plan.notes)
        raise UserError(f"{error}{again}{notes}") from None


def _tell(done: "Adjusted", out: Path, *, adjusted: str, remark: str | None, as_json: bool) -> None:
    """Where the files are, how well the measures are met, and what was spent."""
    from sundog.report.certificate import claim

    figures, guarantee = done.match.describe(), done.released.guarantee
    lines = [
        f"Adjusted table: {out / adjusted} ({len(done.rows)} rows)",
        f"Largest error:  {figures['largestErrorBefore']:.3g} of a measure before, "
        f"{figures['largestErrorResampled']:.3g} now; rows worth {figures['effectiveSampleShare']:.0%} of the table's",
        f"Certificate:    {out / 'certificate.html'}",
        f"Guarantee:      {claim(guarantee)}",
        *([remark] if remark else []),
        *(f"Note: {note}" for note in done.notes),
    ]
    files = [str(out / name) for name in [adjusted, *FILES]]
    spent = {"rho": guarantee.rho, "epsilon": guarantee.epsilon, "delta": guarantee.delta}
    result = {"rows": len(done.rows), "files": files, **spent, **figures, "notes": list(done.notes)}
    say(result, lines, as_json=as_json)


def _check_sources(real: str | None, released: Path | None, privacy: PrivacyOptions) -> None:
    """Either the private table with a budget, or earlier measurements without one."""
    if (real is None) == (released is None):
        raise UserError("adjust: give either --real DATA with a budget, or --released FILE that was measured before.")
    given = [privacy.epsilon, privacy.delta, privacy.rho]
    if released is not None and any(value is not None for value in given):
        raise UserError(
            "adjust: --released costs nothing, so there is no budget to give; leave out --epsilon or --rho."
        )


def _write_json(figures: dict[str, Any], path: Path) -> None:
    import json

    path.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
