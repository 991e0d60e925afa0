"""The worker process of one job: python -m sundog.studio.worker FOLDER. It ends with a written outcome, whatever happens.

Messages are those of the command line. The text of an unexpected error is withheld, since it could quote a cell.
"""

import signal
import sys
from pathlib import Path

from sundog.errors import BudgetRefused, UserError, failure
from sundog.studio.jobs import STOPPED, Job


def main(folder: Path) -> None:
    """Do the job, and write how it ended."""
    from filelock import FileLock

    job = Job(folder)
    with FileLock(folder / "lock", timeout=10, mode=0o600):
        if not (folder / "outcome.json").exists():
            _work(job)


def _work(job: Job) -> None:
    try:
        from sundog.studio.work import KINDS

        if job.stop_asked:
            raise KeyboardInterrupt
        job.tell("starting")
        result = KINDS[job.request["kind"]](job)
    except KeyboardInterrupt:
        job.end(state="stopped", message=STOPPED)
    except BudgetRefused as error:
        job.end(state="refused", message=str(error))
    except UserError as error:
        job.end(state="failed", message=str(error))
    except BaseException as error:
        job.end(state="failed", message=failure(error)[0])
    else:
        job.end(state="done", **result)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a background process may have inherited a deaf ear
    main(Path(sys.argv[1]))
