"""A child process under limits of processor time and memory, measured when it ends: the same for every tool.

CPU seconds and peak memory are those that the kernel reports for the child with all children it waited for (wait4). The limits
are watched from outside, twice a second, over the child's whole session, so that helpers it starts count too; one that hangs
without working is ended after `WALL` times the limit. Linux only: it reads /proc.
"""

import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

WALL = 4.0
"""A child may take this many times its processor time by the clock."""
STEP_S = 0.5
TICKS, PAGE = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")
DONE, FAILED, TIME_OUT, MEMORY = "done", "failed", "time-out", "out of memory"


@dataclass(frozen=True)
class Ended:
    """How a child ended, and what it used."""

    outcome: str
    cpu_s: float
    rss_mb: float


def limited(
    command: Sequence[str], *, cpu_s: float, memory_mb: float, log: Path, environment: Mapping[str, str] | None = None
) -> Ended:
    """Run it to its end or to a limit; what it prints goes to `log`."""
    with log.open("wb") as output:
        child = subprocess.Popen(
            list(command), stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, start_new_session=True,
            env=environment,
        )  # fmt: skip
        try:
            return _watched(child, cpu_s=cpu_s, memory_mb=memory_mb)
        finally:
            _end(child.pid)


def _watched(child: "subprocess.Popen[bytes]", *, cpu_s: float, memory_mb: float) -> Ended:
    start, worked, outcome = time.monotonic(), 0.0, ""
    while True:
        pid, status, used = os.wait4(child.pid, 0 if outcome else os.WNOHANG)
        if pid:
            child.returncode = os.waitstatus_to_exitcode(status)
            outcome = outcome or (DONE if child.returncode == 0 else FAILED)
            return Ended(outcome, max(worked, used.ru_utime + used.ru_stime), used.ru_maxrss / 1024)
        now, held = _session(child.pid)
        worked = max(worked, now)
        if worked > cpu_s or time.monotonic() - start > WALL * cpu_s:
            outcome = TIME_OUT
        elif held > memory_mb:
            outcome = MEMORY
        if outcome:
            _end(child.pid)
        else:
            time.sleep(STEP_S)


def _session(leader: int) -> tuple[float, float]:
    """CPU seconds so far, and megabytes held now, of all processes of a session."""
    ticks = pages = 0
    for fields in _stats():
        if int(fields[3]) == leader:
            ticks += sum(int(value) for value in fields[11:15])
            pages += int(fields[21])
    return ticks / TICKS, pages * PAGE / 2**20


def _stats() -> Iterator[list[str]]:
    """What /proc says about every process, from its state on (proc(5): the third field)."""
    for place in Path("/proc").iterdir():
        if place.name.isdigit():
            try:
                yield (place / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
            except (OSError, ProcessLookupError):
                continue  # it has ended meanwhile


def _end(leader: int) -> None:
    """End the process group of a session's leader; nothing where it has ended."""
    try:
        os.killpg(leader, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return
