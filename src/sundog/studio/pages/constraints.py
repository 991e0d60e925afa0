"""Constraints by form: choose a kind, fill it in, see at once what is wrong with it."""

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response

from sundog.domain.schema import Schema
from sundog.errors import UserError
from sundog.studio import constraint_forms as forms
from sundog.studio.home import Project
from sundog.studio.pages.schema import problem_of, shown
from sundog.studio.rendering import Studio, fragment, page, project_of, see


def form(studio: Studio, request: Request, given: FormData) -> Response:
    """The form of a kind."""
    project = project_of(studio, request)
    kind = str(given.get("kind"))
    if kind not in forms.KINDS:
        raise UserError(f"constraint: choose one of {', '.join(forms.KINDS)}.")
    names = [field["name"] for field in project.review.document["fields"] if not field.get("identifier")]
    about, asked = forms.KINDS[kind]
    values = {"kind": kind, "about": about, "asked": asked, "names": names, "operators": forms.OPERATORS}
    made = fragment if "hx-request" in request.headers else page
    template = "constraint_form.html" if made is fragment else "constraint.html"
    return made(studio, request, template, project=project, confidential=not project.reviewed, **values)


def _with(project: Project, given: FormData) -> dict[str, object]:
    document = dict(project.review.document)
    return {**document, "constraints": [*document.get("constraints", []), forms.declaration(given)]}


def attempt(studio: Studio, request: Request, given: FormData) -> Response:
    """What the constraint would say, while one types; nothing is written."""
    project = project_of(studio, request)
    try:
        made = forms.declaration(given)
        words, problem = forms.sentence(made), problem_of(_with(project, given))
    except UserError as error:
        words, problem = "", str(error)
    return fragment(studio, request, "said.html", words=words, problem=problem)


def add(studio: Studio, request: Request, given: FormData) -> Response:
    """Add the declared constraint to the schema."""
    project = project_of(studio, request)
    try:
        document = _with(project, given)
        Schema.from_json(document)
    except UserError as error:
        return shown(studio, request, project, error=str(error), status=422)
    project.write("schema", document)
    return see(studio, f"/t/{project.id}/schema#constraints")


def remove(studio: Studio, request: Request, given: FormData) -> Response:
    """Remove one constraint from the schema."""
    del given
    project, place = project_of(studio, request), int(request.path_params["place"])
    document = dict(project.review.document)
    kept = [each for number, each in enumerate(document.get("constraints", [])) if number != place]
    project.write("schema", {**document, "constraints": kept})
    return see(studio, f"/t/{project.id}/schema#constraints")
