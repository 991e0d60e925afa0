"""sundog measure: spend the budget on noisy measurements, and write them; generating comes later, at no privacy cost."""

from sundog.api.options import Generation, Purpose
from sundog.api.writing import prepare_file
from sundog.cli import options as o
from sundog.cli.groups import CountedOptions, Paying, grouped
from sundog.cli.output import kept_lines, progress, say, tell_kept
from sundog.cli.synthesize import spent, synthesizer_for


@grouped
def measure(
    table: CountedOptions,
    *,
    schema: o.SchemaOrPackage = None,
    out: o.OutFile,
    paying: Paying,
    generation: Generation,
    purpose: Purpose,
    force: o.Force = False,
    json: o.AsJson = False,
) -> None:
    """Measure what a method needs, with noise, and write released.json: all that ever leaves the private table."""
    with progress("starting") as report:
        from sundog.api.making import fit_or_keep
        from sundog.api.release_folder import check_earlier, replace_measurements
        from sundog.report.certificate import claim

        synthesizer = synthesizer_for(schema, table, paying=paying, generation=generation, purpose=purpose)
        prepare_file(out, force=force)
        check_earlier(out)
        fit_or_keep(
            synthesizer,
            table.private(),
            keep=lambda released: replace_measurements(out, released, beside=out),
            report=report,
            kept=lambda: tell_kept(out, method=generation.method),
        )
        released = synthesizer.released
    lines = [
        f"Measurements: {out} ({len(released.measurements)} queries)",
        f"Guarantee:    {claim(released.guarantee)}",
        *(f"WARNING: {warning}" for warning in synthesizer.model.warnings),
        *kept_lines(out),
        f"Next, at no privacy cost: sundog generate {out} --method {generation.method} -o FOLDER",
    ]
    say(spent(synthesizer) | {"measurements": len(released.measurements), "files": [str(out)]}, lines, as_json=json)
