"""Step 1: which table. A file, several, a database, or a package of linked tables, by path or dropped onto the page; nothing is uploaded anywhere."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from starlette.datastructures import FormData, UploadFile
from starlette.requests import Request
from starlette.responses import Response

from sundog.api.options import Charged
from sundog.domain.linked.package import is_package
from sundog.domain.linked.reading import schema_from
from sundog.domain.schema import load_document
from sundog.errors import UserError
from sundog.studio.browse import Listing, listing
from sundog.studio.home import Project, absolute, fresh_id, make_folder
from sundog.studio.jobs import jobs
from sundog.studio.rendering import Studio, fragment, page, project_of, see, steps

MARKS = {"delimiter": "delimiter", "encoding": "encoding", "quote": "quoteChar", "escape": "escapeChar"}
"""What the page asks of a text file's dialect, and the schema's keys for it."""
PACKAGE = "datapackage.json"


def home(studio: Studio, request: Request) -> Response:
    """All tables, and the way to a new one."""
    return _home(studio, request)


def _home(studio: Studio, request: Request, listed: Listing | None = None, **values: Any) -> Response:
    known = [(project, steps(studio, project)) for project in studio.home.projects()]
    return page(studio, request, "home.html", known=known, listed=listed, start=os.getcwd(), **values)


def browse(studio: Studio, request: Request, form: FormData) -> Response:
    """What lies in a folder."""
    listed = listing(absolute(str(form.get("folder") or os.getcwd())))
    if "hx-request" in request.headers:
        return fragment(studio, request, "browser.html", listed=listed)
    return _home(studio, request, listed)


def create(studio: Studio, request: Request, form: FormData) -> Response:
    """A project for a table that is named by its path."""
    given = str(form.get("picked") or form.get("data") or "")
    try:
        data = _place(given)
        package = package_of(data)
        facts = _facts(studio, form, data, package)
    except UserError as error:
        return _home(studio, request, error=str(error), status=422)
    return _created(studio, studio.home.new_project(), facts, package)


def drop(studio: Studio, request: Request, form: FormData) -> Response:
    """A project for a dropped file: copied into the studio's own folder, readable by its owner only."""
    given = form.get("file")
    if not isinstance(given, UploadFile) or not given.filename:
        return _home(
            studio, request, error="table: no file was dropped; choose one, or name it by its path.", status=422
        )
    name = Path(given.filename.replace("\\", "/")).name.replace("\0", "")
    if name in ("", ".", ".."):
        return _home(studio, request, error="table: the file has no usable name; name it by its path.", status=422)
    project = studio.home.new_project()
    target = make_folder(project.folder / "dropped") / name
    try:
        with open(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            shutil.copyfileobj(given.file, file, 1 << 20)
        if target.suffix.lower() == ".json":
            raise UserError(f"table: name a {PACKAGE} by its path; its tables are read where they lie.")
        facts = _facts(studio, form, str(target))
    except (UserError, OSError) as error:
        studio.home.remove(project)
        reason = str(error) if isinstance(error, UserError) else f"table: it could not be copied ({error.strerror})."
        return _home(studio, request, error=reason, status=422)
    return _created(studio, project, facts, None)


def _created(studio: Studio, project: Project, facts: dict[str, Any], package: dict[str, Any] | None) -> Response:
    project.write("project", {**facts, "next_run": fresh_id()})
    if package is not None:
        project.write("schema", package)
    return see(studio, f"/t/{project.id}/schema")


def _facts(studio: Studio, form: FormData, data: str, package: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """What is kept of a table: its path, its account, what to read from it, and how its text is written."""
    named = (package or {}).get("name")
    new_account = form.get("new_account") == "yes"
    charged = Charged(studio.home.ledger, _text(form, "dataset"), new_account)
    return {
        "data": data,
        "dataset": charged.account(named if isinstance(named, str) else None, data),
        "new_account": new_account,
        "sql": _text(form, "picked_sql") or _text(form, "sql"),
        "dialect": _dialect(form),
    }


def show(studio: Studio, request: Request) -> Response:
    """What is known of the table, to be changed or forgotten."""
    project = project_of(studio, request)
    return page(studio, request, "table.html", project=project, marks=_shown_marks(project), tables=None)


def change(studio: Studio, request: Request, form: FormData) -> Response:
    """Another path, query, account or dialect."""
    project = project_of(studio, request)
    try:
        data = _place(str(form.get("data") or ""))
        package = package_of(data)
        changed = _facts(studio, form, data, package)
    except UserError as error:
        marks = _shown_marks(project)
        return page(
            studio, request, "table.html", project=project, marks=marks, tables=None, error=str(error), status=422
        )
    changed_project = project.change(**changed)
    if package is not None:
        changed_project.write("schema", package)
    elif project.linked:
        (project.folder / "schema.json").unlink(missing_ok=True)
    return see(studio, f"/t/{project.id}/schema")


def remove(studio: Studio, request: Request, form: FormData) -> Response:
    """Forget what the studio keeps of a table."""
    project = project_of(studio, request)
    if any(job.running for job in jobs(project)):
        raise UserError("table: work on it is going on; stop it first.")
    if form.get("sure") != "yes":
        raise UserError("table: tick the box to say that the studio should forget it.")
    studio.home.remove(project)
    return see(studio, "/")


def tables(studio: Studio, request: Request, form: FormData) -> Response:
    """The tables of a database, to pick one; reads no row."""
    from sundog.sources.databases import tables_in

    del form
    project = project_of(studio, request)
    found = tables_in(project.data)
    made = fragment if "hx-request" in request.headers else page
    template = "database.html" if made is fragment else "table.html"
    return made(studio, request, template, project=project, marks=_shown_marks(project), tables=found)


def _place(given: str) -> str:
    """What a person names: the address of a database as it is, a path made absolute; refused where there is nothing. Reads no row."""
    from sundog.sources.addresses import address_of, is_address
    from sundog.sources.files import text_files

    text = given.strip()
    if is_address(text):
        return address_of(text).text
    data = absolute(text)
    if Path(data).is_dir() and (Path(data) / PACKAGE).is_file():
        return str(Path(data) / PACKAGE)
    text_files(data)
    return data


def package_of(data: str) -> dict[str, Any] | None:
    """The package that a path names; None for a single table."""
    if Path(data).suffix.lower() != ".json":
        return None
    document = load_document(data)
    if not is_package(document):
        raise UserError(f"table: {data!r} is no Data Package (it lists no resources); name a table, or a {PACKAGE}.")
    schema_from(document)
    return document


def _text(form: FormData, key: str) -> str | None:
    return str(form.get(key) or "").strip() or None


def _dialect(form: FormData) -> dict[str, Any]:
    from sundog.domain import Dialect

    made: dict[str, Any] = {key: value for name, key in MARKS.items() if (value := _text(form, name))}
    if form.get("header") == "no":
        made["header"] = False
    if form.get("multiline"):
        made["multiline"] = True
    Dialect.of(made)
    return made


def _shown_marks(project: Project) -> dict[str, Any]:
    dialect = project.facts.get("dialect") or {}
    shown = {name: dialect.get(key, "") for name, key in MARKS.items()}
    return {**shown, "header": dialect.get("header", True), "multiline": dialect.get("multiline", False)}
