"""Which address is which page. Pages are plain functions (studio, request[, form]); they run outside the event loop, since they read files."""

import os
from collections.abc import Callable
from importlib.resources import files
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from sundog.errors import BudgetRefused, UserError, failure
from sundog.studio.events import events
from sundog.studio.guard import TOO_LARGE, TOO_SLOW, Guard, TooLarge, TooSlow, plain, same
from sundog.studio.pages import check, constraints, fields, ledger, plan, release, run, schema, table
from sundog.studio.rendering import Studio, fragment, page, project_of

Page = Callable[..., Response]
STATIC = {
    "studio.css": "text/css",
    "studio.js": "text/javascript",
    "htmx.min.js": "text/javascript",
    "mark.svg": "image/svg+xml",
}
AT = "/t/{table}"
SHOWN: dict[str, Page] = {
    "/": table.home,
    AT: table.show,
    f"{AT}/schema": schema.show,
    f"{AT}/schema/document": schema.download,
    f"{AT}/schema/fields/{{place:int}}": fields.show,
    f"{AT}/check": check.show,
    f"{AT}/plan": plan.show,
    f"{AT}/run": run.show,
    f"{AT}/release": release.listed,
    f"{AT}/release/{{job}}": release.show,
    f"{AT}/release/{{job}}/files/{{name}}": release.file,
    f"{AT}/release/{{job}}/zip": release.zipped,
    f"{AT}/release/{{job}}/evaluation": release.evaluation,
    "/ledger": ledger.show,
    "/ledger/record": ledger.download,
}
DONE: dict[str, Page] = {
    "/tables": table.create,
    "/tables/drop": table.drop,
    "/browse": table.browse,
    f"{AT}/change": table.change,
    f"{AT}/remove": table.remove,
    f"{AT}/tables": table.tables,
    f"{AT}/schema/draft": schema.draft,
    f"{AT}/schema/load": schema.load,
    f"{AT}/schema/review": schema.review,
    f"{AT}/schema/whole": schema.whole,
    f"{AT}/schema/again": schema.again,
    f"{AT}/schema/fields/{{place:int}}": fields.save,
    f"{AT}/schema/fields/{{place:int}}/try": fields.attempt,
    f"{AT}/schema/constraints/form": constraints.form,
    f"{AT}/schema/constraints/add": constraints.add,
    f"{AT}/schema/constraints/try": constraints.attempt,
    f"{AT}/schema/constraints/{{place:int}}/remove": constraints.remove,
    f"{AT}/check": check.start,
    f"{AT}/plan": plan.save,
    f"{AT}/plan/try": plan.attempt,
    f"{AT}/plan/settings": plan.settings,
    f"{AT}/run": run.start,
    f"{AT}/jobs/{{job}}/stop": run.stop,
    f"{AT}/release/{{job}}/remake": release.remake,
    f"{AT}/release/{{job}}/verify": release.verify,
    f"{AT}/release/{{job}}/evaluate": release.evaluate,
    "/ledger/limit": ledger.limit,
}


def studio_app(studio: Studio, *, port: int) -> Starlette:
    """The whole application, behind its guard."""
    routes = [Route("/static/style.css", _style), Route("/static/{name}", _static)]
    routes += [Route(path, _shown(studio, made), methods=["GET"]) for path, made in SHOWN.items()]
    routes += [Route(path, _done(studio, made), methods=["POST"]) for path, made in DONE.items()]
    routes.append(Route(f"{AT}/jobs/{{job}}/events", events(studio), methods=["GET"]))
    return Starlette(
        routes=routes,
        middleware=[Middleware(Guard, token=studio.token, port=port)],
        exception_handlers={
            TooLarge: lambda request, error: plain(413, TOO_LARGE),
            TooSlow: lambda request, error: plain(408, TOO_SLOW),
            404: lambda request, error: _trouble(studio, request, "There is no such page.", 404),
            405: lambda request, error: _trouble(studio, request, "There is no such page.", 405),
        },
    )


def _shown(studio: Studio, made: Page) -> Any:
    async def endpoint(request: Request) -> Response:
        return await run_in_threadpool(_answered, studio, request, made)

    return endpoint


def _done(studio: Studio, made: Page) -> Any:
    async def endpoint(request: Request) -> Response:
        async with request.form(max_files=1, max_fields=3000) as form:
            given = request.headers.get("x-sundog-form") or form.get("form_token")
            if not same(str(given), studio.form_token):
                return plain(403, "This form is not of this start of the studio; load the page again.")
            return await run_in_threadpool(_answered, studio, request, made, form)

    return endpoint


def _answered(studio: Studio, request: Request, made: Page, *form: FormData) -> Response:
    """The page; where something is wrong, the words of the command line."""
    try:
        return made(studio, request, *form)
    except LookupError:
        return _trouble(studio, request, "There is no such page.", 404)
    except BudgetRefused as error:
        return _trouble(studio, request, str(error), 409)
    except UserError as error:
        return _trouble(studio, request, str(error), 422)
    except Exception as error:
        if os.environ.get("SUNDOG_DEBUG"):
            raise
        message, code = failure(error)
        return _trouble(studio, request, message, 500 if code == 1 else 422)


def _trouble(studio: Studio, request: Request, message: str, status: int) -> Response:
    if "hx-request" in request.headers:  # HTMX shows only what went well: the words take the place of the piece
        return fragment(studio, request, "said.html", words="", problem=message)
    return page(studio, request, "trouble.html", error=message, status=status, **_about(studio, request))


def _about(studio: Studio, request: Request) -> dict[str, Any]:
    """The table that the trouble is with: words about a draft may name what was read from rows."""
    try:
        project = project_of(studio, request)
    except LookupError:
        return {}
    return {"project": project, "confidential": project.document is not None and not project.reviewed}


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in STATIC:
        return plain(404, "There is no such file.")
    content = files("sundog.studio").joinpath("static", name).read_bytes()
    return Response(content, media_type=STATIC[name], headers={"Cache-Control": "max-age=3600"})


async def _style(request: Request) -> Response:
    from sundog.report.template import STYLE, text_of  # reports load slowly

    del request
    return Response(text_of(STYLE), media_type="text/css", headers={"Cache-Control": "max-age=3600"})
