"""What workers do: one function per kind of job, each a call of the API. What it returns becomes the outcome of the job."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sundog.progress import listening
from sundog.studio.home import Project
from sundog.studio.jobs import Job

if TYPE_CHECKING:
    from sundog.api.linked import LinkedModel
    from sundog.api.model import Model

Work = Callable[[Job], dict[str, Any]]


def draft(job: Job) -> dict[str, Any]:
    """A schema read from the data: CONFIDENTIAL until it is reviewed."""
    from sundog.api.schema import draft_schema

    project, asked = job.project, job.request
    job.tell("reading the table")
    document = draft_schema(
        project.data,
        dataset=project.dataset,
        ledger=asked["ledger"],
        new_account=project.new_account,
        dialect=project.facts.get("dialect"),
        sql=project.sql,
    )
    Project(job.folder.parent.parent).write("schema", document)
    return {"fields": len(document["fields"])}


def check(job: Job) -> dict[str, Any]:
    """How the cells were read: CONFIDENTIAL."""
    from sundog.api.check import check_document, check_table

    project, asked = job.project, job.request
    job.tell("counting how the cells were read")
    found = check_table(
        project.data,
        project.schema,
        unit=asked["unit"],
        rows_per_unit=asked["rows_per_unit"],
        dataset=project.dataset,
        ledger=asked["ledger"],
        new_account=project.new_account,
        sql=project.sql,
    )
    return {"check": check_document(found)}


def run(job: Job) -> dict[str, Any]:
    """A whole release, at the charge that its owner saw."""
    from sundog.api.making import Private, linked_names, make_release
    from sundog.studio.budget import Budgeted

    project, asked = job.project, job.request
    budgeted = Budgeted.of(asked["budget"])
    synthesizer = budgeted.synthesizer(project, ledger=asked["ledger"])
    rows = make_release(
        synthesizer,
        Private(project.data, project.sql),
        place=replace(budgeted.place, linked=linked_names(synthesizer.schema)),
        signing=budgeted.signing,
        report=job.tell,
        kept=lambda path: None,  # the page looks for itself: a killed worker tells nothing
    )
    return _told(synthesizer.model, budgeted.place.folder, rows)


def remake(job: Job) -> dict[str, Any]:
    """A release from what an interrupted run had measured: no private data, no cost."""
    from sundog.api.making import linked_names, remake_release
    from sundog.api.model import model_of
    from sundog.api.writing import prepare_folder
    from sundog.released import Released
    from sundog.studio.budget import Budgeted

    asked = job.request
    budgeted, released = Budgeted.of(asked["budget"]), Released.load(asked["released"])
    prepare_folder(budgeted.place.folder, force=True)
    place = replace(budgeted.place, linked=linked_names(released.schema))
    with listening(job.tell):
        job.tell(f"fitting {budgeted.method}")
        model = model_of(released, budgeted.refitting)
        rows = remake_release(model, place=place, signing=budgeted.signing, report=job.tell)
    return _told(model, budgeted.place.folder, rows)


def _told(model: "Model | LinkedModel", folder: Path, rows: int) -> dict[str, Any]:
    """What the page says of a release: released values only."""
    from sundog.report.certificate import claim

    return {
        "folder": str(folder),
        "rows": rows,
        "method": model.recipe.name,
        "claim": claim(model.released.guarantee),
        "warnings": list(model.warnings),
        "notes": [*([model.note] if model.note else []), *(f"Not done: {each}" for each in model.unsupported)],
    }


def verify(job: Job) -> dict[str, Any]:
    """What can be established of a release, with the ledger at hand."""
    from sundog.api.options import LedgerPlace
    from sundog.api.verify import verify as verified

    asked = job.request
    ledger = LedgerPlace(asked["ledger"]).open_ledger().path
    with listening(job.tell):
        job.tell("verifying")
        found = verified(asked["folder"], ledger=ledger, key=asked["key"])
    return found.to_json()


def evaluate(job: Job) -> dict[str, Any]:
    """The synthetic table beside the real one: CONFIDENTIAL."""
    from sundog.api.evaluate import evaluate_tables
    from sundog.api.writing import write_confidential
    from sundog.released import Released

    asked = job.request
    project = Job(job.folder.with_name(asked["release"])).project
    table = Path(asked["table"])
    released = Released.load(table.parent / "released.json")
    found = evaluate_tables(
        project.data,
        {table.name: table},
        schema=released.schema.with_dialect(project.schema.to_json().get("dialect", {})),
        released=released,
        dataset=project.dataset,
        ledger=asked["ledger"],
        new_account=project.new_account,
        progress=job.tell,
    )
    write_confidential(job.folder / "evaluation.html", found.to_html())
    return {"verdict": list(found.verdict)}


KINDS: dict[str, Work] = {
    "draft": draft,
    "check": check,
    "run": run,
    "remake": remake,
    "verify": verify,
    "evaluate": evaluate,
}
