"""Step 2: the schema. Drafted from the data (CONFIDENTIAL until every field is reviewed) or from a file; a line per column."""

import re
from typing import Any

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response

from sundog.api.writing import document_text
from sundog.domain.linked.package import Package
from sundog.domain.review import Review
from sundog.domain.schema import Schema, load_document
from sundog.errors import UserError
from sundog.studio.constraint_forms import KINDS as CONSTRAINTS
from sundog.studio.constraint_forms import sentence
from sundog.studio.field_forms import rows_of
from sundog.studio.home import Project, absolute
from sundog.studio.jobs import latest, start
from sundog.studio.linked_tree import public_tables, tree_of, unit_text
from sundog.studio.pages.table import package_of
from sundog.studio.rendering import Studio, page, project_of, see

PLACE = re.compile(r"[0-9]{1,6}")


def show(studio: Studio, request: Request) -> Response:
    """The page as it stands."""
    return shown(studio, request, project_of(studio, request))


def shown(studio: Studio, request: Request, project: Project, **values: Any) -> Response:
    """The page: the draft that runs, the ways to a schema, or the schema itself."""
    from sundog.api.schema import unknown_note

    job = latest(project, "draft")
    if job is not None and job.running:
        return page(
            studio, request, "working.html", project=project, job=job, confidential=True, title="Schema", **values
        )
    if project.linked:
        return _linked(studio, request, project, **values)
    if project.document is None:
        failed = job.outcome if job is not None and job.state != "done" else {}
        told = {"error": failed.get("message", ""), **values}
        return page(studio, request, "no_schema.html", project=project, **told)
    document = project.document
    rows = rows_of(document)
    return page(
        studio,
        request,
        "schema.html",
        project=project,
        rows=rows,
        open_rows=[row for row in rows if row.open],
        document=document,
        constraints=[sentence(each) for each in document.get("constraints", [])],
        kinds=CONSTRAINTS,
        problem=problem_of(document),
        unknown=unknown_note(document),
        confidential=not project.reviewed,
        **values,
    )


def _linked(studio: Studio, request: Request, project: Project, **values: Any) -> Response:
    """The page of a package: its tables as a picture, and what is wrong with it."""
    document, found = dict(project.document or {}), dict[str, Any](tree=None, reference=[], problem="")
    try:
        package = Package.from_json(document)
        found |= {"tree": tree_of(package, document), "unit": unit_text(package)}
        found |= {"reference": public_tables(package, document)}
    except UserError as error:
        found["problem"] = str(error)
    return page(
        studio, request, "linked.html", project=project, confidential=not project.reviewed, **{**found, **values}
    )


def again(studio: Studio, request: Request, form: FormData) -> Response:
    """Read a package from its file again."""
    del form
    project = project_of(studio, request)
    if not project.linked:
        raise UserError("schema: it is that of one table; change it here.")
    try:
        document = package_of(project.data)
    except UserError as error:
        return shown(studio, request, project, error=str(error), status=422)
    project.write("schema", document or {})
    return see(studio, f"/t/{project.id}/schema")


def problem_of(document: dict[str, Any]) -> str:
    """What is wrong with a schema as a whole; empty where nothing is."""
    try:
        Schema.from_json(document)
    except UserError as error:
        return str(error)
    return ""


def draft(studio: Studio, request: Request, form: FormData) -> Response:
    """Read a schema off the data: CONFIDENTIAL, and recorded in the ledger."""
    project = project_of(studio, request)
    refuse_package(project)
    if project.document is not None and form.get("again") != "yes":
        raise UserError("schema: there is one already; tick the box to replace it by a new draft.")
    running = latest(project, "draft")
    if running is None or not running.running:
        (project.folder / "schema.json").unlink(missing_ok=True)
        start(studio.home, project, "draft")
    return see(studio, f"/t/{project.id}/schema")


def load(studio: Studio, request: Request, form: FormData) -> Response:
    """Take a schema from a file."""
    project = project_of(studio, request)
    refuse_package(project)
    try:
        document = load_document(absolute(str(form.get("file") or "")))
        Schema.from_json(document)
    except UserError as error:
        return shown(studio, request, project, error=str(error), status=422)
    project.write("schema", document)
    return see(studio, f"/t/{project.id}/schema")


def review(studio: Studio, request: Request, form: FormData) -> Response:
    """One answer for all ticked lines: they are right and public for a reason, or they are left out."""
    project = project_of(studio, request)
    try:
        answered = _answered(project.review, form)
    except UserError as error:
        return shown(studio, request, project, error=str(error), because=str(form.get("because") or ""), status=422)
    project.write("schema", answered.document)
    return see(studio, f"/t/{project.id}/schema#fields")


def _answered(review: Review, form: FormData) -> Review:
    places = sorted({int(str(place)) for place in form.getlist("place") if PLACE.fullmatch(str(place))})
    fields = review.document["fields"]
    chosen = [fields[place] for place in places if place < len(fields)]
    because = str(form.get("because") or "").strip()
    if not chosen:
        raise UserError("review: no column is ticked; tick those that the answer is for.")
    if form.get("answer") == "leave-out":
        for field in chosen:
            review = review.leave_out(field["name"])
        return review
    if not because and any(not field.get("identifier") for field in chosen):
        raise UserError("review: say why these domains are public: where they are known from, whoever is in the table.")
    for field in chosen:
        own = dict(field.get("sundog", {})) | ({} if field.get("identifier") else {"publicBecause": because})
        review = review.change(field["name"], {"sundog": own})
    return review


def whole(studio: Studio, request: Request, form: FormData) -> Response:
    """The texts that mean "missing" in every column."""
    project = project_of(studio, request)
    texts = str(form.get("missing_values") or "").replace("\r\n", "\n").split("\n")
    document = {**project.review.document, "missingValues": list(dict.fromkeys(text.strip() for text in texts))}
    Schema.from_json(document)
    project.write("schema", document)
    return see(studio, f"/t/{project.id}/schema")


def refuse_package(project: Project) -> None:
    """Linked tables have no draft, and no schema file beside their package."""
    if project.linked:
        raise UserError(
            "schema: linked tables are declared in their datapackage.json; change it there, and read it again."
        )


def download(studio: Studio, request: Request) -> Response:
    """The schema as a file; CONFIDENTIAL in its name until every field is reviewed."""
    project = project_of(studio, request)
    name = "schema.json" if project.reviewed else "CONFIDENTIAL-draft-schema.json"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(document_text(project.document or {}), media_type="application/json", headers=headers)
