"""Jobs in processes of their own: a crash is seen, a stop keeps what was paid for, a second start finds the first."""

import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from sundog.studio import jobs, worker
from sundog.studio.home import Home


@pytest.fixture
def project(tmp_path):
    home = Home(tmp_path / "home", str(tmp_path / "ledger.sqlite"))
    made = home.new_project()
    yield (
        home,
        made.write("project", {"data": str(tmp_path / "nowhere.csv"), "dataset": "visits", "next_run": "0" * 12}),
    )
    for process in jobs._workers.values():
        process.wait(timeout=600)


def ended(job, seconds=600):
    until = time.monotonic() + seconds
    while job.running and time.monotonic() < until:
        time.sleep(0.05)
    return job.state


def test_a_worker_writes_how_it_ended(project):
    job, first = jobs.start(*project, "draft")
    assert first
    assert ended(job) == "failed"
    assert "does not exist; check the path" in job.outcome["message"]
    assert job.steps[0] == "starting"


def test_a_killed_worker_has_crashed(project):
    job, _ = jobs.start(*project, "draft")
    os.kill(int((job.folder / "pid").read_text()), signal.SIGKILL)
    assert ended(job) == "crashed"
    assert "stays charged" in job.outcome["message"]


def test_a_job_that_is_stopped_while_its_worker_starts_was_stopped(project):
    """The signal ends a worker that cannot yet say how it ended."""
    job, _ = jobs.start(*project, "draft")
    job.stop()
    assert ended(job) == "stopped"
    assert "stays charged" in job.outcome["message"]


def test_a_worker_that_is_stopped_before_it_begins_does_nothing(project, monkeypatch):
    monkeypatch.setattr(jobs, "_spawn", lambda folder: None)
    job, _ = jobs.start(*project, "draft")
    job.stop()
    worker.main(job.folder)
    assert (job.state, job.steps) == ("stopped", [])


def test_a_worker_of_an_earlier_start_is_seen_by_its_lock(project, monkeypatch):
    job, _ = jobs.start(*project, "draft")
    monkeypatch.setattr(jobs, "_workers", {})
    assert ended(job) in ("failed", "crashed")
    (job.folder / "outcome.json").unlink()
    assert job.state == "crashed"


def test_of_many_starts_of_one_id_one_starts(project, monkeypatch):
    begun = []
    monkeypatch.setattr(jobs, "_spawn", begun.append)
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: jobs.start(*project, "run", job_id="a" * 12), range(24)))
    assert sum(first for _, first in made) == 1
    assert len(begun) == 1


def test_unknown_jobs_are_none(project):
    for name in ("..", "../../x", "0" * 12, ""):
        with pytest.raises(LookupError):
            jobs.job_of(project[1], name)
