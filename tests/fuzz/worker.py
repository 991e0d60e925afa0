"""Runs the command line many times in forked processes with limits, and says how each run ended.

The modules are imported once, in the parent, which starts no threads; a fork has them at no cost, and runs a chunk of inputs
one after the other, so that compiled kernels are loaded once per chunk. Sundog sees a container of `MEMORY` bytes; what is
resident in truth, imports and all that earlier inputs of the chunk left behind included, is read from the kernel, since limits
of the address space count what libraries reserve and never touch. A fork that dies (a crash, the kernel's hand) is reported as
such, and the next one goes on after it.
"""

import contextlib
import functools
import io
import json
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from dataclasses import dataclass
from pathlib import Path

from fuzz.promises import broken, charges, files

MEMORY = 2 * 10**9
BACKSTOP = 8 * 10**9
"""What a fork may allocate before the kernel refuses it, for the sake of the machine."""
SECONDS = 30
CHUNK = 1000


@dataclass(frozen=True)
class Ended:
    """How one input ended: the exit code (negative: killed), seconds, resident memory in bytes, what was said, and which promise was broken."""

    number: int
    code: int
    seconds: float
    memory: int
    said: str
    broken: str = ""

    @property
    def fault(self):
        """Whether this must not happen."""
        return self.code not in (0, 2, 3) or self.seconds > SECONDS or self.memory > MEMORY or bool(self.broken)


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
    resource.setrlimit(resource.RLIMIT_DATA, (BACKSTOP, BACKSTOP))
    _contain()
    with open(writer, "w", encoding="utf-8") as pipe:
        for number in numbers:
            place = os.path.join(folder, str(number))
            os.makedirs(place, exist_ok=True)
            signal.setitimer(signal.ITIMER_PROF, 2 * SECONDS)
            signal.alarm(20 * SECONDS)
            pipe.write(json.dumps(_run(number, case, place)) + "\n")
            pipe.flush()
            os.chdir(folder)
            shutil.rmtree(place, ignore_errors=True)
    signal.setitimer(signal.ITIMER_PROF, 0)
    signal.alarm(0)


def _contain():
    """Sundog in a container of `MEMORY` bytes; its command line is built once, not once per run."""
    import typer.main

    from sundog import sizes

    sizes._container_limits = lambda: [MEMORY]
    sizes.memory.cache_clear()
    typer.main.get_command = functools.cache(typer.main.get_command)


def _run(number, case, place):
    os.chdir(place)
    os.environ["SUNDOG_LEDGER"] = os.path.join(place, "ledger.sqlite")
    _forget_peak()
    code, said, wrong = 0, "", ""
    start = time.process_time()  # of the processor, by all threads: the machine may be busy with other work
    for door in case(number, place):
        code, said, wrong = _through(door, Path(place))
        if code not in (0, 2, 3) or wrong:
            break
    return {
        "number": number,
        "code": code,
        "seconds": time.process_time() - start,
        "memory": _peak(),
        "said": said[-2000:],
        "broken": wrong,
    }


def _through(door, place):
    """The exit code of a command line or of a call in Python, what was said, and which promise was broken."""
    given, before = files(place), charges(place / "ledger.sqlite")
    code, said = _call(door) if callable(door) else _command(door)
    return code, said, broken(code, said, place=place, given=given, before=before)


def _forget_peak():
    with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
        file.write("5")


def _peak():
    """The most bytes that were resident since the peak was forgotten."""
    with open("/proc/self/status", encoding="ascii", errors="replace") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM"))


def _command(arguments):
    from sundog.cli.app import main

    before, sys.argv = sys.argv, ["sundog", *map(str, arguments)]
    try:
        with _heard() as heard:
            main()
        return 0, heard.getvalue()
    except SystemExit as ended:
        return ended.code or 0, heard.getvalue()
    finally:
        sys.argv = before


def _call(door):
    """What Python users call: the errors that they see, with the exit code that the command line gives them."""
    from sundog.errors import UserError, failure

    try:
        with _heard() as heard:
            door()
        return 0, heard.getvalue()
    except UserError as error:
        return error.exit_code, heard.getvalue() + "".join(_words(error))
    except Exception as error:
        return failure(error)[1], heard.getvalue() + "".join(traceback.format_exception(error))


def _words(error):
    """What an exception says, and those behind it: a notebook shows them, or keeps them."""
    while error is not None:
        yield f"{error}\n"
        error = error.__cause__ or error.__context__


@contextlib.contextmanager
def _heard():
    """Everything that is printed, logged or warned of, by Python and by the libraries below it."""
    heard = io.StringIO()
    with tempfile.TemporaryFile() as below, contextlib.redirect_stdout(heard), contextlib.redirect_stderr(heard):
        kept = [(number, os.dup(number)) for number in (1, 2)]
        for number, _ in kept:
            os.dup2(below.fileno(), number)
        try:
            yield heard
        finally:
            for number, copy in kept:
                os.dup2(copy, number)
                os.close(copy)
            below.seek(0)
            heard.write(below.read().decode("utf-8", errors="replace"))
