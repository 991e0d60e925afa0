"""sundog adjust: reweight a synthetic table, from any tool, towards measures that the custodian pays a little for."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from sundog.api.options import Privacy, Purpose, Signing
from sundog.api.writing import prepare_folder, write_table
from sundog.cli import options as o
from sundog.cli.groups import Paying, TextOptions, Writing, grouped
from sundog.cli.output import kept_lines, load_schema, progress, say
from sundog.errors import UserError
from sundog.postprocess.matching import Matching

if TYPE_CHECKING:
    from sundog.api.adjust import Adjusted, Adjustment
    from sundog.private.curator import Curator
    from sundog.released import Released
    from sundog.report.record import Record


@dataclass(frozen=True, kw_only=True)
class SyntheticOptions(TextOptions):
    """Which synthetic table is adjusted, and how its text is written."""

    synthetic: Annotated[str, typer.Argument(help="The synthetic table, from Sundog or any other tool.")]
    weights: Annotated[str | None, "The synthetic table's column that says how much each row counts."] = None


@dataclass(frozen=True)
class Measuring:
    """What is matched, and where its values come from."""

    measures: Annotated[
        str, "What to match: 'correlations: A, B', 'means: A by B', 'marginals: A, B', 'columns', or a .toml file."
    ] = "correlations"
    real: Annotated[str | None, "The private table, to measure what is to be matched."] = None
    released: Annotated[Path | None, "Measurements released before: no further cost."] = None
    before: Annotated[Path | None, "released.json of the table's own making: costs add up."] = None
    noise: Annotated[Literal["gaussian", "laplace"], "The noise of the measurement."] = "gaussian"
    seed: Annotated[int, "Fixes the resampling; never the privacy noise."] = 0


@grouped
def adjust(
    synthetic: SyntheticOptions,
    *,
    schema: o.SchemaFile,
    out: o.OutFolder,
    measuring: Measuring,
    matching: Matching,
    paying: Paying,
    signing: Signing,
    writing: Writing,
) -> None:
    """Match chosen measures: writes adjusted.csv, adjust.json, released.json and the certificate into the folder."""
    _check_sources(measuring, paying.privacy)
    adjusted = f"adjusted.{writing.format}"
    with progress("reading") as report:
        from sundog.api.recorded import adjusted_remark
        from sundog.api.release import finish_release
        from sundog.api.release_folder import files_of, save_measurements
        from sundog.report.explore import write_explore

        signing.check()
        plan, curator, known = _planned(synthetic, measuring, matching, schema=schema, paying=paying, purpose=signing)
        prepare_folder(out, force=writing.force, outside=(measuring.real, paying.charged.ledger))
        if curator is not None:
            report("measuring")
            known = plan.measured(curator, noise=measuring.noise)
            save_measurements(out, known)  # at once: it was paid for
        assert known is not None  # noqa: S101 - by _check_sources
        report("matching")
        kept = None if measuring.real is None else out / "released.json"
        done = _matched(plan, known, seed=measuring.seed, kept=kept)
        remark = adjusted_remark(done.released)
        save_measurements(out, done.released)
        _write_json(done.match.describe() | {"notes": list(done.notes)}, out / "adjust.json")
        write_table(done.rows, out / adjusted)
        record = _record(done, curator, signing)
        method = f"adjust ({measuring.measures})"
        write_explore(done.released, done.rows, out / "explore.html", method=method)
        finish_release(
            out,
            done.released,
            method=method,
            record=record,
            remark=remark,
            signing=signing,
            ledger=None if curator is None else curator.spending.ledger,
        )
        files = files_of(out)
    _tell(done, out, files=files, adjusted=adjusted, remark=remark, as_json=writing.json)


def _record(done: "Adjusted", curator: "Curator | None", signing: Signing) -> "Record":
    """The circumstances; the account's balance where something was spent."""
    from sundog.api.release import record_of, today
    from sundog.report.record import Record

    if curator is None:
        return Record(today(), signing.purpose, signing.approved_by)
    ledger = curator.spending.ledger
    return record_of(done.released, ledger, purpose=signing.purpose, approved_by=signing.approved_by)


def _planned(
    synthetic: SyntheticOptions,
    measuring: Measuring,
    matching: Matching,
    *,
    schema: Path,
    paying: Paying,
    purpose: Purpose,
) -> tuple["Adjustment", "Curator | None", "Released | None"]:
    """The plan, the curator of the real table, and what was released before; all checked, nothing spent."""
    from sundog.api.adjust import Adjustment, TableToAdjust, measuring_terms
    from sundog.api.charging import curator_for
    from sundog.private.table import PrivateTable
    from sundog.released import Released

    public, curator = synthetic.amend(load_schema(schema)), None
    known = None if measuring.released is None else Released.load(measuring.released)
    before = None if measuring.before is None else Released.load(measuring.before)
    if measuring.real is not None:
        charged = replace(paying.charged, dataset=paying.charged.account(public.name, measuring.real, before))
        real = PrivateTable(measuring.real, dialect=public.dialect)
        terms = measuring_terms(measuring.noise, measuring.measures, purpose=purpose.purpose)
        curator = curator_for(
            real, public, privacy=paying.privacy, charged=charged, consent=paying.consent, terms=terms
        )
    plan = Adjustment.of(
        TableToAdjust(synthetic.synthetic, synthetic.weights),
        measuring.measures,
        schema=public,
        matching=matching,
        curator=curator,
        released=known,
        before=before,
    )
    return plan, curator, known


def _matched(plan: "Adjustment", known: "Released", *, seed: int, kept: Path | None) -> "Adjusted":
    """The adjusted rows; where the measures cannot be met, what was paid for is kept and named."""
    from sundog.postprocess.match import NotMet

    try:
        return plan.matched(known, seed=seed)
    except NotMet as error:
        again = f" What was measured is kept in {str(kept)!r}: --released uses it again, at no cost." if kept else ""
        notes = "".join(f"\nNote: {note}" for note in plan.notes)
        raise UserError(f"{error}{again}{notes}") from None


def _tell(done: "Adjusted", out: Path, *, files: list[str], adjusted: str, remark: str | None, as_json: bool) -> None:
    """Where the files are, how well the measures are met, and what was spent."""
    from sundog.report.certificate import claim
    from sundog.report.words import warning_sentences

    warnings = warning_sentences(done.released)
    figures, guarantee = done.match.describe(), done.released.guarantee
    lines = [
        f"Adjusted table: {out / adjusted} ({len(done.rows)} rows)",
        f"Largest error:  {figures['largestErrorBefore']:.3g} of a measure before, "
        f"{figures['largestErrorResampled']:.3g} now; rows worth {figures['effectiveSampleShare']:.0%} of the table's",
        f"Certificate:    {out / 'certificate.html'}",
        f"Guarantee:      {claim(guarantee)}",
        *([remark] if remark else []),
        *(f"WARNING: {warning}" for warning in warnings),
        *(f"Note: {note}" for note in done.notes),
        *kept_lines(out),
    ]
    spent = {"rho": guarantee.rho, "epsilon": guarantee.epsilon, "delta": guarantee.delta}
    result = {
        "rows": len(done.rows),
        "files": [str(out / name) for name in files],
        **spent,
        **figures,
        "notes": list(done.notes),
        "warnings": warnings,
    }
    say(result, lines, as_json=as_json)


def _check_sources(measuring: Measuring, privacy: Privacy) -> None:
    """Either the private table with a budget, or earlier measurements without one."""
    if (measuring.real is None) == (measuring.released is None):
        raise UserError("adjust: give either --real DATA with a budget, or --released FILE that was measured before.")
    given = [privacy.epsilon, privacy.delta, privacy.rho]
    if measuring.released is not None and any(value is not None for value in given):
        raise UserError(
            "adjust: --released costs nothing, so there is no budget to give; leave out --epsilon or --rho."
        )


def _write_json(figures: dict[str, Any], path: Path) -> None:
    import json

    path.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
