"""Step 6: the release. Its pages, its files, all of it as a zip, whether it holds; and, CONFIDENTIAL, how it compares with the real rows."""

import json
import re
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from starlette.background import BackgroundTask
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response

from sundog.api.release_folder import files_of
from sundog.errors import UserError
from sundog.report.release_files import is_table, title
from sundog.studio import jobs
from sundog.studio.home import Project, absolute
from sundog.studio.kept import kept_of
from sundog.studio.rendering import Studio, page, project_of, see

PAGE_CSP = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; sandbox allow-scripts"
)
"""For the self-contained pages of a release: a world of their own, which can load nothing and reach nothing of the studio."""


def listed(studio: Studio, request: Request) -> Response:
    """All releases of a table; the only one, at once."""
    project = project_of(studio, request)
    made = [job for job in jobs.jobs(project, "run", "remake") if job.state == "done"]
    if len(made) == 1:
        return see(studio, f"/t/{project.id}/release/{made[0].id}")
    return page(studio, request, "releases.html", project=project, made=made)


def _made(project: Project, request: Request) -> tuple[jobs.Job, Path]:
    job = jobs.job_of(project, request.path_params["job"])
    folder = job.outcome.get("folder")
    if folder is None or job.request["kind"] not in ("run", "remake"):
        raise LookupError(job.id)
    return job, Path(folder)


def show(studio: Studio, request: Request) -> Response:
    """A release: what it claims, its files, whether it holds."""
    project = project_of(studio, request)
    job, folder = _made(project, request)
    about = {kind: _about(project, kind, job.id) for kind in ("verify", "evaluate")}
    names = _files(folder)
    return page(
        studio,
        request,
        "release.html",
        project=project,
        job=job,
        folder=folder,
        outcome=job.outcome,
        certificate=_certificate(folder),
        files=[(name, title(name), (folder / name).stat().st_size) for name in names],
        pages=[(name, title(name)) for name in ("report.html", "explore.html", "certificate.html") if name in names],
        verified=about["verify"],
        evaluated=about["evaluate"],
        signed="certificate.sig" in names,
        can_evaluate=project.sql is None and not project.linked and any(map(is_table, names)),
    )


def _about(project: Project, kind: str, release: str) -> jobs.Job | None:
    """The newest job of a kind about a release."""
    return next((job for job in jobs.jobs(project, kind) if job.request.get("release") == release), None)


def _files(folder: Path) -> list[str]:
    """The files of a release, and no other that may lie beside them."""
    return [name for name in files_of(folder) if not (folder / name).is_symlink()]


def _certificate(folder: Path) -> dict[str, Any]:
    try:
        found = json.loads((folder / "certificate.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def file(studio: Studio, request: Request) -> Response:
    """One file of a release: pages are shown, all else is downloaded."""
    project = project_of(studio, request)
    _, folder = _made(project, request)
    name = request.path_params["name"]
    if name not in _files(folder):
        raise LookupError(name)
    if name.endswith(".html"):
        return HTMLResponse((folder / name).read_bytes(), headers={"Content-Security-Policy": PAGE_CSP})
    return FileResponse(folder / name, filename=name, content_disposition_type="attachment")


def zipped(studio: Studio, request: Request) -> Response:
    """The whole release as one file."""
    project = project_of(studio, request)
    _, folder = _made(project, request)
    handle, place = tempfile.mkstemp(dir=project.folder, suffix=".zip")
    with open(handle, "wb") as target, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in _files(folder):
            archive.write(folder / name, f"{_stem(project)}/{name}")
    finished = BackgroundTask(Path(place).unlink, missing_ok=True)
    return FileResponse(place, filename=f"{_stem(project)}.zip", media_type="application/zip", background=finished)


def _stem(project: Project) -> str:
    return re.sub(r"[^A-Za-z0-9_-]+", "-", project.dataset).strip("-") or "release"


def remake(studio: Studio, request: Request, form: FormData) -> Response:
    """Make the release from what a stopped run had measured: it costs nothing more."""
    del form
    project = project_of(studio, request)
    job = jobs.job_of(project, request.path_params["job"])
    kept = kept_of(job) if "budget" in job.request else None
    if kept is None:
        raise UserError("release: this run left no measurements to make rows from.")
    _once(studio, project, "remake", release=job.id, released=str(kept), budget=job.request["budget"])
    return see(studio, f"/t/{project.id}/run")


def verify(studio: Studio, request: Request, form: FormData) -> Response:
    """What can be established of the release, and by what; with a public key, whether its owner signed it."""
    key = str(form.get("key") or "").strip()
    project = project_of(studio, request)
    job, folder = _made(project, request)
    _once(studio, project, "verify", release=job.id, folder=str(folder), key=absolute(key) if key else None)
    return see(studio, f"/t/{project.id}/release/{job.id}#verify")


def evaluate(studio: Studio, request: Request, form: FormData) -> Response:
    """The synthetic rows beside the real ones: CONFIDENTIAL, and recorded in the ledger."""
    project = project_of(studio, request)
    job, folder = _made(project, request)
    if form.get("sure") != "yes":
        raise UserError("evaluate: tick the box: the result is CONFIDENTIAL, and the ledger records the disclosure.")
    table = next((folder / name for name in _files(folder) if name.startswith("synthetic.")), None)
    if table is None:
        raise UserError("evaluate: the release has no synthetic table.")
    _once(studio, project, "evaluate", release=job.id, table=str(table))
    return see(studio, f"/t/{project.id}/release/{job.id}#evaluate")


def _once(studio: Studio, project: Project, kind: str, *, release: str, **request: Any) -> None:
    """Start it unless it runs already."""
    running = _about(project, kind, release)
    if running is None or not running.running:
        jobs.start(studio.home, project, kind, release=release, **request)


def evaluation(studio: Studio, request: Request) -> Response:
    """The CONFIDENTIAL page of an evaluation."""
    project = project_of(studio, request)
    job, _ = _made(project, request)
    found = _about(project, "evaluate", job.id)
    if found is None or found.state != "done":
        raise LookupError("evaluation")
    content = (found.folder / "evaluation.html").read_bytes()
    return HTMLResponse(content, headers={"Content-Security-Policy": PAGE_CSP})
