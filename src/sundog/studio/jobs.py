"""Long work: each job is a folder and a process of its own, so that neither a closed browser nor a crash of one takes the other along.

    request.json   what to do                       events         one line per step, as the worker tells it
    project.json,  the table and its schema as      lock           held as long as the worker lives
    schema.json    the click saw them               stop           somebody asked it to stop
                                                    outcome.json   how it ended; written last

The state of a job is what these files say: a job without an outcome whose lock nobody holds was stopped, if somebody asked
for that, or has crashed. What other pages change after the click does not reach a job.
"""

import contextlib
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from sundog.api.writing import document_text, write_confidential
from sundog.studio.home import ID, Home, Project, fresh_id, make_folder, read_file

State = Literal["running", "done", "failed", "refused", "stopped", "crashed"]
CRASHED = (
    "The worker ended without a word: it was killed, ran out of memory, or the machine stopped. What it charged stays "
    "charged; the ledger shows it."
)
STOPPED = "Stopped. What was charged stays charged."
STARTING_SECONDS = 30.0
"""So long a worker that another start of the studio started may take to hold its lock."""
_workers: dict[Path, "subprocess.Popen[bytes]"] = {}
"""The workers that this process started; asking one how it is also lets the system forget it once it has ended."""


def _for_its_owner(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


@dataclass(frozen=True)
class Job:
    """One piece of long work."""

    folder: Path

    @property
    def id(self) -> str:
        """Its name in addresses."""
        return self.folder.name

    @property
    def request(self) -> dict[str, Any]:
        """What is to be done."""
        return read_file(self.folder / "request.json") or {}

    @property
    def outcome(self) -> dict[str, Any]:
        """How it ended; empty while it runs, and after a crash says so."""
        found = read_file(self.folder / "outcome.json")
        if found is None and not self._alive():
            found = read_file(self.folder / "outcome.json") or self._unsaid()
        return found or {}

    def _unsaid(self) -> dict[str, Any]:
        """How a worker ended that did not say it."""
        if self.stop_asked:
            return {"state": "stopped", "message": STOPPED}
        return {"state": "crashed", "message": CRASHED}

    @property
    def stop_asked(self) -> bool:
        """Whether somebody wants it to stop; a worker that has not begun does not begin."""
        return (self.folder / "stop").exists()

    @property
    def state(self) -> State:
        """The state of the job; it is running until it has an outcome."""
        return self.outcome.get("state", "running")

    @property
    def running(self) -> bool:
        """Whether it still runs."""
        return self.state == "running"

    @property
    def steps(self) -> list[str]:
        """The messages of the worker so far."""
        with contextlib.suppress(OSError):
            return (self.folder / "events").read_text(encoding="utf-8").splitlines()
        return []

    def end(self, **outcome: Any) -> None:
        """Write how it ended."""
        write_confidential(self.folder / "outcome.json", document_text(outcome))

    def tell(self, step: str) -> None:
        """Write a step; the same one is told once."""
        line = " ".join(step.split())
        if not self.steps or self.steps[-1] != line:
            with open(self.folder / "events", "a", encoding="utf-8", opener=_for_its_owner) as file:
                file.write(line + "\n")

    def stop(self) -> None:
        """Interrupt the worker, as Ctrl-C would: it keeps what was paid for."""
        if not self.running:
            return
        write_confidential(self.folder / "stop", "")
        with contextlib.suppress(OSError, ValueError):
            number = int((self.folder / "pid").read_text(encoding="ascii"))
            if self.running:
                os.kill(number, signal.SIGINT)

    @property
    def project(self) -> Project:
        """The table and its schema as they were when the job was started."""
        return Project(self.folder)

    def _alive(self) -> bool:
        """Whether a worker holds the lock, or may still be on its way to it."""
        from filelock import FileLock, Timeout

        worker = _workers.get(self.folder)
        if worker is not None and worker.poll() is not None:
            return False
        if not (self.folder / "lock").exists():
            with contextlib.suppress(OSError):
                age = datetime.now(UTC).timestamp() - (self.folder / "request.json").stat().st_mtime
                return age < STARTING_SECONDS
            return False
        try:
            with FileLock(self.folder / "lock", timeout=0, mode=0o600):
                return False
        except Timeout:
            return True


def start(home: Home, project: Project, kind: str, *, job_id: str | None = None, **request: Any) -> tuple[Job, bool]:
    """Start a job; a second start of the same id finds the first one (False), so that nothing is spent twice."""
    folder = make_folder(project.folder / "jobs") / (job_id or fresh_id())
    try:
        folder.mkdir(mode=0o700)
    except FileExistsError:
        return Job(folder), False
    job = Job(folder)
    for name in ("project", "schema"):
        if (document := project.read(name)) is not None:
            job.project.write(name, document)
    told = {"kind": kind, "ledger": home.ledger, "started": datetime.now(UTC).isoformat(timespec="seconds"), **request}
    write_confidential(folder / "request.json", document_text(told))
    _spawn(folder)
    return job, True


def _spawn(folder: Path) -> None:
    """A worker process of its own session: it outlives the page, and hears no Ctrl-C of the studio's terminal."""
    command = [sys.executable, "-m", "sundog.studio.worker", str(folder)]
    errors = None if os.environ.get("SUNDOG_DEBUG") else subprocess.DEVNULL  # a traceback could quote a cell
    worker = subprocess.Popen(  # noqa: S603 - our own module, a folder of our own
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors, start_new_session=True
    )
    _workers[folder] = worker
    write_confidential(folder / "pid", str(worker.pid))


def jobs(project: Project, *kinds: str) -> list[Job]:
    """The jobs of a table, the newest first."""
    folder = project.folder / "jobs"
    found = [Job(path) for path in folder.iterdir() if ID.fullmatch(path.name)] if folder.is_dir() else []
    wanted = [job for job in found if not kinds or job.request.get("kind") in kinds]
    return sorted(wanted, key=lambda job: (job.folder / "request.json").stat().st_mtime, reverse=True)


def job_of(project: Project, name: str) -> Job:
    """One of them; refused where there is none of that name."""
    job = Job(project.folder / "jobs" / name)
    if not ID.fullmatch(name) or not job.request:
        raise LookupError(name)
    return job


def latest(project: Project, *kinds: str) -> Job | None:
    """The newest job of these kinds."""
    return next(iter(jobs(project, *kinds)), None)
