"""Runs the command line many times in one forked process with limits, and says how each run ended.

The modules are imported once, in the parent, which starts no threads; every fork has them at no cost. A run may use
`MEMORY` bytes more than the fork began with and `SECONDS` of processor time. A fork that dies (a crash, the kernel's hand) is
reported as such, and the next one goes on after it.
"""

import contextlib
import io
import json
import os
import resource
import signal
import sys
import time
from dataclasses import dataclass

MEMORY = 2 * 10**9
SECONDS = 60
CHUNK = 1
"""Inputs per fork: what one run leaves behind (threads of an engine, their stacks) would count against the next one's memory."""


@dataclass(frozen=True)
class Ended:
    """How one input ended: the exit code (negative: killed), seconds, memory in bytes, and what was said."""

    number: int
    code: int
    seconds: float
    memory: int
    said: str

    @property
    def fault(self):
        """Whether this must not happen."""
        return self.code not in (0, 2, 3) or self.seconds > SECONDS or self.memory > MEMORY


def run_all(numbers, case, *, folder):
    """What became of each input; `case(number, folder)` writes its files and returns the lists of arguments to run."""
    numbers = list(numbers)
    while numbers:
        done = _forked(numbers[:CHUNK], case, folder)
        yield from done
        numbers = numbers[len(done) :]


def _forked(numbers, case, folder):
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        code = 1
        try:
            _work(numbers, case, folder, writer)
            code = 0
        finally:
            os._exit(code)
    os.close(writer)
    with open(reader, encoding="utf-8") as pipe:
        done = [Ended(**json.loads(line)) for line in pipe]
    status = os.waitpid(child, 0)[1]
    if len(done) < len(numbers):
        done.append(Ended(numbers[len(done)], -os.WTERMSIG(status) or -99, 0.0, 0, "the process died"))
    return done


def _work(numbers, case, folder, writer):
    for number in (signal.SIGALRM, signal.SIGPROF):
        signal.signal(number, signal.SIG_DFL)
    _limit_memory()
    with open(writer, "w", encoding="utf-8") as pipe:
        for number in numbers:
            place = os.path.join(folder, str(number))
            os.makedirs(place, exist_ok=True)
            signal.setitimer(signal.ITIMER_PROF, 2 * SECONDS)
            signal.alarm(20 * SECONDS)
            pipe.write(json.dumps(_run(number, case, place)) + "\n")
            pipe.flush()
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.alarm(0)


def _limit_memory():
    with open("/proc/self/statm", encoding="ascii") as file:
        held = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (held + MEMORY, resource.RLIM_INFINITY))
    from sundog import sizes

    sizes.memory.cache_clear()


def _run(number, case, place):
    os.chdir(place)
    os.environ["SUNDOG_LEDGER"] = os.path.join(place, "ledger.sqlite")
    before, code, said = _peak(), 0, ""
    start = time.process_time()  # of the processor, by all threads: the machine may be busy with other work
    for arguments in case(number, place):
        code, said = _command(arguments)
        if code not in (0, 2, 3):
            break
    return {
        "number": number,
        "code": code,
        "seconds": time.process_time() - start,
        "memory": max(0, _peak() - before),
        "said": said[-2000:],
    }


def _peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _command(arguments):
    from sundog.cli.app import main

    heard = io.StringIO()
    before, sys.argv = sys.argv, ["sundog", *map(str, arguments)]
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(heard):
            main()
        return 0, heard.getvalue()
    except SystemExit as ended:
        return ended.code or 0, heard.getvalue()
    finally:
        sys.argv = before
