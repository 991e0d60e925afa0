"""One column of the schema: its form, what is said of it while one types, and the answer."""

from typing import Any

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response

from sundog.domain.forms import parse_document
from sundog.domain.review import describe
from sundog.errors import UserError
from sundog.studio import field_forms
from sundog.studio.home import Project
from sundog.studio.pages.schema import problem_of
from sundog.studio.rendering import Studio, fragment, page, project_of, see


def _field(project: Project, request: Request) -> tuple[int, dict[str, Any]]:
    place, fields = int(request.path_params["place"]), project.review.document["fields"]
    if place >= len(fields):
        raise LookupError(place)
    return place, dict(fields[place])


def show(studio: Studio, request: Request) -> Response:
    """The form of a column."""
    project = project_of(studio, request)
    _, field = _field(project, request)
    values = field_forms.shown(field, list(project.review.document.get("targets", [])))
    return _form(studio, request, project, values)


def _form(studio: Studio, request: Request, project: Project, values: dict[str, Any], **more: Any) -> Response:
    place, field = _field(project, request)
    names = [other["name"] for other in project.review.document["fields"]]
    return page(
        studio,
        request,
        "field.html",
        project=project,
        place=place,
        field=field,
        values=values,
        types=field_forms.TYPES,
        roles=field_forms.ROLES,
        names=[name for name in names if name != field["name"]],
        before=place - 1 if place else None,
        after=place + 1 if place + 1 < len(names) else None,
        confidential=field.get("sundog", {}).get("origin") == "fromData",
        **more,
    )


def save(studio: Studio, request: Request, form: FormData) -> Response:
    """Take the form's answer; where it is wrong, show it again with the reason."""
    project = project_of(studio, request)
    place, _ = _field(project, request)
    try:
        answered = field_forms.answered(project.review, place, form)
    except UserError as error:
        return _form(studio, request, project, {**field_forms.given(form)}, error=str(error), status=422)
    project.write("schema", answered.document)
    if form.get("then") == "next":
        after = next((row.place for row in field_forms.rows_of(answered.document) if row.open), None)
        if after is not None:
            return see(studio, f"/t/{project.id}/schema/fields/{after}")
    return see(studio, f"/t/{project.id}/schema#field-{place}")


def attempt(studio: Studio, request: Request, form: FormData) -> Response:
    """What the answer would mean, while one types; nothing is written."""
    project = project_of(studio, request)
    place, field = _field(project, request)
    try:
        answered = field_forms.answered(project.review, place, form)
        model = next(one for one in parse_document(answered.document).fields if one.name == field["name"])
        words, problem = describe(model), problem_of(dict(answered.document))
    except UserError as error:
        words, problem = "", str(error)
    return fragment(studio, request, "said.html", words=words, problem=problem)
