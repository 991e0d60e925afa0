"""Step 5: the run. The charge is shown before the click; a click on an old page finds the run that was started, and spends nothing.

Every table has the id of its next run; all its pages carry the same one. It is used up by the start that comes first, and
a new one is drawn when that run has ended and the page is shown again.
"""

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response

from sundog.errors import UserError
from sundog.studio import jobs
from sundog.studio.budget import Budgeted, shown_charge
from sundog.studio.home import ID, Project, fresh_id
from sundog.studio.kept import kept_of, measured_in
from sundog.studio.rendering import Studio, account_of, page, project_of, see

CHANGED = (
    "run: the charge is not the one that the page showed (the budget, the schema or the account has changed since). Nothing "
    "was spent. Look at the charge below, and start the run if it is right."
)


def show(studio: Studio, request: Request) -> Response:
    """The run that goes on; else what the next one would charge."""
    return _page(studio, request, project_of(studio, request))


def _page(studio: Studio, request: Request, project: Project, error: str = "", status: int = 200) -> Response:
    job = jobs.latest(project, "run", "remake")
    if job is not None and job.running:
        return page(studio, request, "working.html", project=project, job=job, title="Run")
    if job is not None and job.id == project.facts["next_run"]:
        project = project.change(next_run=fresh_id())
    saved = project.read("budget")
    if saved is None or not project.reviewed:
        return page(studio, request, "not_yet.html", project=project, title="Run")
    budgeted, dry, problem = Budgeted.of(saved), None, ""
    try:
        dry = budgeted.synthesizer(project, ledger=studio.home.ledger).dry_run()
    except UserError as refused:
        problem = str(refused)
    last = job.outcome if job is not None else {}
    return page(
        studio,
        request,
        "run.html",
        project=project,
        budget=budgeted,
        dry=dry,
        shown=shown_charge(project, budgeted, dry) if dry is not None else "",
        problem=problem,
        job=job,
        last=last,
        kept=kept_of(job) if job is not None else None,
        before=job.request.get("spent_before") if job is not None else None,
        account=account_of(studio, project),
        error=error,
        status=status,
    )


def start(studio: Studio, request: Request, form: FormData) -> Response:
    """Start the run that the page showed, once."""
    project = project_of(studio, request)
    run_id = str(form.get("run") or "")
    if not ID.fullmatch(run_id):
        raise UserError("run: the form lacks the id of the run; load the page again.")
    if run_id != project.facts["next_run"] or (project.folder / "jobs" / run_id).exists():
        return see(studio, f"/t/{project.id}/run")  # another page was first
    saved = project.read("budget")
    if saved is None:
        raise UserError("run: there is no plan yet; fill it in first.")
    budgeted = Budgeted.of(saved)
    dry = budgeted.synthesizer(project, ledger=studio.home.ledger).dry_run()
    if form.get("shown") != shown_charge(project, budgeted, dry):
        return _page(studio, request, project, CHANGED, 409)
    if not project.reviewed:
        raise UserError("run: the schema is not reviewed; review every field first.")
    asked = {"spent_before": dry.before, "measured_before": measured_in(budgeted.folder)}
    jobs.start(studio.home, project, "run", job_id=run_id, budget=budgeted.to_json(), **asked)
    return see(studio, f"/t/{project.id}/run")


def stop(studio: Studio, request: Request, form: FormData) -> Response:
    """Stop a job: it keeps what was paid for."""
    del form
    project = project_of(studio, request)
    job = jobs.job_of(project, request.path_params["job"])
    job.stop()
    return see(studio, f"/t/{project.id}/{_PAGES.get(job.request['kind'], 'release')}")


_PAGES = {"draft": "schema", "check": "check", "run": "run", "remake": "run"}
