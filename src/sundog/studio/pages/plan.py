"""Step 4: the plan. What a budget buys, from public values only; the account's balance; what this run would cost."""

from typing import TYPE_CHECKING, Any

from markupsafe import Markup
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response

from sundog.errors import UserError
from sundog.studio.budget import SET, Budgeted, default_folder, read_budget
from sundog.studio.home import Project
from sundog.studio.rendering import Studio, account_of, fragment, page, project_of, see

if TYPE_CHECKING:
    from sundog.declare import Setting


def show(studio: Studio, request: Request) -> Response:
    """The form, with the picture where it was filled in before."""
    project = project_of(studio, request)
    if not project.reviewed:
        return page(studio, request, "not_yet.html", project=project, title="Plan")
    saved = project.read("budget")
    values = saved or {"folder": default_folder(project), **_DEFAULTS}
    found = _found(studio, project, Budgeted.of(saved)) if saved else {"parts": None, "dry": None, "problem": ""}
    return _page(studio, request, project, values, **found)


_DEFAULTS: dict[str, Any] = {**Budgeted(rows_about=0).to_json(), "rows_about": ""}
_DEFAULTS.pop("folder")


def _page(studio: Studio, request: Request, project: Project, values: Any, **more: Any) -> Response:
    from sundog.methods.recipes import METHODS

    fields = [] if project.linked else project.review.document["fields"]
    identifiers = [field["name"] for field in fields if field.get("identifier")]
    methods = [(recipe.name, recipe.summary) for recipe in METHODS.values()]
    account = account_of(studio, project)
    return page(
        studio,
        request,
        "plan.html",
        project=project,
        values=values,
        identifiers=identifiers,
        methods=methods,
        account=account,
        settings=_settings(project, str(values["method"])),
        **more,
    )


def _found(studio: Studio, project: Project, budgeted: Budgeted) -> dict[str, Any]:
    """The picture, the table and the cost; or what is wrong."""
    from sundog.report.plan_page import plan_parts

    try:
        budgeted.signing.check()
        dry = budgeted.synthesizer(project, ledger=studio.home.ledger).dry_run()
        if project.linked:  # expected errors are known for one table
            return {"parts": None, "dry": dry, "problem": ""}
        parts = plan_parts(budgeted.plan(project).view(), chosen=budgeted.epsilon)
    except UserError as error:
        return {"parts": None, "dry": None, "problem": str(error)}
    return {"parts": {**parts, "chart": Markup(parts["chart"])}, "dry": dry, "problem": ""}  # noqa: S704 - our own SVG


def _settings(project: Project, method: str) -> list["Setting"]:
    """What can be set: of a method, or of the search for linked tables."""
    from sundog.methods.recipes import recipe_of
    from sundog.methods.settings import method_settings

    if project.linked:
        from sundog.declare import settings_of
        from sundog.generate.linked.linked_search import LinkedSearch

        return list(settings_of(LinkedSearch()).values())
    try:
        return list(method_settings(recipe_of(method)).values())
    except UserError:  # no such method: the page says so
        return []


def settings(studio: Studio, request: Request, form: FormData) -> Response:
    """The form for the settings of the method that was chosen."""
    project = project_of(studio, request)
    found = _settings(project, str(form.get("method") or "auto"))
    return fragment(studio, request, "settings.html", project=project, settings=found, values={"settings": {}})


def attempt(studio: Studio, request: Request, form: FormData) -> Response:
    """What these answers would buy and cost, while one chooses; nothing is written."""
    project = project_of(studio, request)
    try:
        found = _found(studio, project, read_budget(form, project))
    except UserError as error:
        found = {"parts": None, "dry": None, "problem": str(error)}
    return fragment(studio, request, "plan_found.html", project=project, **found)


def save(studio: Studio, request: Request, form: FormData) -> Response:
    """Keep the answers, and go on to the run; where they are wrong, say so."""
    project = project_of(studio, request)
    try:
        budgeted = read_budget(form, project)
        budgeted.signing.check()
        budgeted.synthesizer(project, ledger=studio.home.ledger).dry_run()
    except UserError as error:
        values = {**_DEFAULTS, "folder": "", **{key: str(value) for key, value in form.items()}}
        values["settings"] = {key.removeprefix(SET): str(form[key]) for key in form if key.startswith(SET)}
        values |= {name: bool(form.get(name)) for name in ("confirmed", "ignore_unsupported", "replace")}
        found = {"parts": None, "dry": None, "problem": str(error)}
        return _page(studio, request, project, values, **found, error=str(error), status=422)
    project.write("budget", budgeted.to_json())
    return see(studio, f"/t/{project.id}/run")
