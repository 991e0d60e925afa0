"""Templates into pages: everything that is not our own markup is escaped, and every page says where it stands."""

import json
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from threading import Event
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse

from sundog.studio.guard import form_token, root_of
from sundog.studio.home import Home, Project
from sundog.studio.jobs import Job, latest
from sundog.version import __version__

if TYPE_CHECKING:
    from sundog.private.account import Account


@dataclass(frozen=True)
class Studio:
    """What every page needs: where the work is kept, and the token of this start."""

    home: Home
    token: str
    closing: Event = field(default_factory=Event)
    """Set when the studio ends."""

    @property
    def form_token(self) -> str:
        """What every form carries."""
        return form_token(self.token)

    @property
    def root(self) -> str:
        """The path that all pages lie below."""
        return root_of(self.token)


@dataclass(frozen=True)
class Step:
    """One step of the way, as the navigation shows it."""

    name: str
    address: str
    state: str


@cache
def _environment() -> Environment:
    made = Environment(
        loader=FunctionLoader(_template),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    made.globals.update(percent=_percent, sundog=__version__, shown_value=_shown_value)
    made.filters["figure"] = lambda value: "—" if value is None else f"{value:.4g}"
    return made


def _percent(share: float) -> str:
    from sundog.report.charts import percent

    return percent(share)


def _shown_value(value: Any) -> str:
    """A value as people type it."""
    return value if isinstance(value, str) else json.dumps(value)


def _template(name: str) -> str:
    return files("sundog.studio").joinpath("templates", name).read_text(encoding="utf-8")


def steps(studio: Studio, project: Project) -> list[Step]:
    """The steps of a table, each with how far it is."""
    at, document = f"{studio.root}/t/{project.id}", project.document
    checked, made = latest(project, "check"), latest(project, "run", "remake")
    schema = "open" if document is None else "done" if project.reviewed else "attention"
    return [
        Step("Table", at, "done"),
        Step("Schema", f"{at}/schema", schema),
        Step("Check", f"{at}/check", _state(checked)),
        Step("Plan", f"{at}/plan", "done" if project.read("budget") else "open"),
        Step("Run", f"{at}/run", _state(made)),
        Step("Release", f"{at}/release", "done" if made and made.state == "done" else "open"),
    ]


def _state(job: Job | None) -> str:
    if job is None:
        return "open"
    return {"running": "running", "done": "done"}.get(job.state, "attention")


def page(studio: Studio, request: Request, template: str, **values: Any) -> HTMLResponse:
    """A page; `project` puts it into the steps of a table, `confidential` marks it."""
    return HTMLResponse(_rendered(studio, request, template, **values), status_code=values.get("status", 200))


def _rendered(studio: Studio, request: Request, template: str, **values: Any) -> str:
    project: Project | None = values.get("project")
    common = {
        "form_token": studio.form_token,
        "root": studio.root,
        "path": request.url.path,
        "project": project,
        "steps": steps(studio, project) if project is not None else [],
        "confidential": False,
        "error": "",
        "note": "",
    }
    return _environment().get_template(template).render(**(common | values))


def fragment(studio: Studio, request: Request, template: str, **values: Any) -> HTMLResponse:
    """A piece of a page, for HTMX."""
    return HTMLResponse(_rendered(studio, request, template, **values))


def see(studio: Studio, address: str) -> RedirectResponse:
    """Go on to another page after something was done."""
    return RedirectResponse(studio.root + address, status_code=303)


def project_of(studio: Studio, request: Request) -> Project:
    """The table that an address names."""
    return studio.home.project(request.path_params["table"])


def account_of(studio: Studio, project: Project) -> "Account":
    """The account of the ledger that a table is charged to."""
    from sundog.api.options import Charged

    return Charged(studio.home.ledger, project.dataset).open_ledger().account(project.dataset)
