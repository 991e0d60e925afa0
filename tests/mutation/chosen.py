"""Which tests run which functions, and how long they take: one traced run of every test, kept until its file or Sundog changes.

Every file of tests is traced in a fork of its own, since a process in which JAX ran cannot fork. A test that fails without a
fault, or takes longer than `LONGEST` seconds of processor time, is left out.
"""

import hashlib
import json
import os
import signal
import sys
import tempfile
import time
from pathlib import Path

from _pytest.runner import runtestprotocol
from faults import SOURCE

NONE = {"tests": {}}
LONGEST = 8.0
"""CPU seconds of one test, traced and with kernels that are not compiled."""
WAIT = 600
"""Seconds after which a fork that waits for something is ended."""
TRACED = tuple(str(SOURCE / part) for part in ("private", "sources", "queries", "domain/unit.py", "api"))


class TooLong(BaseException):
    """A test that takes too long; no test expects this."""


def traced(items, state, *, keep, end):
    """Of every test: its seconds and the functions it runs, as far as there is time. `state` is what is known, and grows."""
    by_file = {}
    for item in items:
        by_file.setdefault(Path(item.path), []).append(item)
    sundog = hashlib.sha256(b"".join(path.read_bytes() for path in sorted(SOURCE.rglob("*.py")))).hexdigest()
    for path, of_file in by_file.items():
        key = sundog + hashlib.sha256(path.read_bytes()).hexdigest()
        if state.get(str(path), {}).get("key") != key and time.monotonic() < end:
            tests = in_fork(lambda of_file=of_file: _trace(of_file))
            state[str(path)] = {"key": key, "tests": tests or {}}
            print(f"traced {path.name}", file=sys.stderr, flush=True)
            keep()
    return {name: each for path in by_file for name, each in state.get(str(path), NONE)["tests"].items()}


def in_fork(work):
    """What `work()` returns in a fork that says nothing; None if the fork died. What it raises ends the run."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "said"  # no pipe: processes that tests start and leave would keep it open
        child = os.fork()
        if child == 0:
            try:
                _become_quiet()
                said = {"returned": work()}
            except BaseException as error:
                said = {"raised": repr(error)}
            place.write_text(json.dumps(said), encoding="utf-8")
            os._exit(0)
        os.waitpid(child, 0)
        said = json.loads(place.read_text(encoding="utf-8")) if place.exists() else {"returned": None}
        if "raised" in said:
            raise RuntimeError(said["raised"])
        return said["returned"]


def _become_quiet():
    null = os.open(os.devnull, os.O_RDWR)
    for handle in (1, 2):
        os.dup2(null, handle)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(WAIT)


def passes(item, following=None, *, seconds=LONGEST):
    """Whether a test passes within this many seconds of processor time; one that is skipped notices nothing."""

    def stop(number, frame):
        raise TooLong

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        reports = runtestprotocol(item, nextitem=following, log=False)
    except TooLong:
        return False
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    return all(report.passed or report.skipped for report in reports)


def _trace(items):
    found, seen = {}, set()

    def note(frame, event, _):
        if event == "call" and frame.f_code.co_filename.startswith(TRACED):
            seen.add((frame.f_code.co_filename, frame.f_code.co_qualname.split(".<locals>")[0]))

    for item, following in zip(items, [*items[1:], None], strict=True):
        seen.clear()
        start = time.process_time()
        sys.setprofile(note)
        try:
            good = passes(item, following)
        finally:
            sys.setprofile(None)
        if good:
            names = sorted(f"{Path(path).relative_to(SOURCE).as_posix()}:{name}" for path, name in seen)
            found[item.nodeid] = {"seconds": time.process_time() - start, "functions": names}
    return found
