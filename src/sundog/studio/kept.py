"""What a run that ended too early leaves behind: its measurements, which were paid for, lie in the folder of the release.

Nobody needs to tell it, so that it is also found after a worker was killed: the measurements are those of this run where the file is
not the one that lay there before the click.
"""

from pathlib import Path

from sundog.api.release_folder import MEASURED
from sundog.studio.jobs import Job


def measured_in(folder: str | Path) -> list[int] | None:
    """Which file of measurements lies in a folder: a number of the file system, its time and its size; None for none."""
    try:
        found = (Path(folder) / MEASURED).stat()
    except OSError:
        return None
    return [found.st_ino, found.st_mtime_ns, found.st_size]


def kept_of(job: Job) -> Path | None:
    """The measurements that a stopped, crashed or failed job leaves; None where there are none."""
    asked, state = job.request, job.state
    if state in ("running", "done"):
        return None
    if asked["kind"] == "remake":
        earlier = Path(asked["released"])
        return earlier if earlier.is_file() else None
    folder = asked["budget"]["folder"]
    found = measured_in(folder)
    return Path(folder) / MEASURED if found is not None and found != asked["measured_before"] else None
