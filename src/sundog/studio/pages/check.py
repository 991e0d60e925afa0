"""Step 3: the check. CONFIDENTIAL: exact counts of how the cells were read, with remedies; the ledger records it."""

from pathlib import Path

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response

from sundog.domain.schema import Schema
from sundog.studio import jobs
from sundog.studio.budget import whole_number
from sundog.studio.rendering import Studio, page, project_of, see


def show(studio: Studio, request: Request) -> Response:
    """The newest check, or the way to one."""
    project = project_of(studio, request)
    if project.linked:
        return page(studio, request, "not_linked.html", project=project, title="Check")
    job = jobs.latest(project, "check")
    if job is not None and job.running:
        return page(studio, request, "working.html", project=project, job=job, confidential=True, title="Check")
    outcome = job.outcome if job is not None else {}
    units = [field["name"] for field in (project.document or {}).get("fields", [])]
    return page(
        studio,
        request,
        "check.html",
        project=project,
        units=units,
        found=outcome.get("check"),
        when=job.request["started"] if job is not None else "",
        stale=job is not None and _age(job.folder / "request.json") < _age(project.folder / "schema.json"),
        error=outcome.get("message", ""),
        confidential=True,
    )


def _age(path: Path) -> float:
    return path.stat().st_mtime if path.exists() else 0.0


def start(studio: Studio, request: Request, form: FormData) -> Response:
    """Count: recorded in the ledger first."""
    project = project_of(studio, request)
    unit = str(form.get("unit") or "") or None
    rows = whole_number({"rows_per_unit": "1", **form}, "rows_per_unit", "rows per person")
    Schema.from_json(project.review.document)  # refused where it is not whole
    running = jobs.latest(project, "check")
    if running is None or not running.running:
        jobs.start(studio.home, project, "check", unit=unit, rows_per_unit=rows)
    return see(studio, f"/t/{project.id}/check")
