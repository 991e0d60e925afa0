"""The suite on every promised version: `python tests/matrix.py [--pythons 3.11 3.12] [--quick] [--tests tests/domain ...]`.

Each Python from 3.11 to 3.14, once with the lowest versions that pyproject.toml allows of what it names and once with the
newest; environments are made by uv under .matrix, from built packages only, and kept, each with its own compiled kernels: code
that one version of Numba compiled crashes another. First every module is imported, with warnings as errors; then the tests
run. `--quick` runs the rooms that touch other libraries most, in a few minutes. Prints one line per pair, with the processor
time, and keeps it in .matrix/results.txt, where a run that was cut short leaves "started"; exit code 1 if one fails.
"""

import argparse
import os
import re
import signal
import subprocess
import sys
from datetime import date
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MADE = ROOT / ".matrix"
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
RESOLUTIONS = ("lowest-direct", "highest")
QUICK = (
    "tests/domain", "tests/queries", "tests/sources", "tests/released", "tests/select", "tests/generate/test_stored.py",
    "tests/private", "tests/cli", "tests/test_imports.py",
)  # fmt: skip
IMPORT_ALL = """
import importlib, pkgutil, sundog
for module in pkgutil.walk_packages(sundog.__path__, "sundog."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
"""
COUNTS = re.compile(r"^=* ?((?:\d+ [a-z]+, )*\d+ (?:passed|failed|errors?|skipped).*?) in [\d.]+s.*$", re.MULTILINE)
"""What pytest says last, and only where it came to its end."""


def main():
    """Run all pairs, also after one has failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pythons", nargs="+", default=PYTHONS)
    parser.add_argument("--resolutions", nargs="+", choices=RESOLUTIONS, default=RESOLUTIONS)
    parser.add_argument("--quick", action="store_true", help="only the rooms that touch other libraries most")
    parser.add_argument("--tests", nargs="+", default=["tests"])
    given = parser.parse_args()
    tests, failed = (QUICK, "quick") if given.quick else (given.tests, " ".join(given.tests)), 0
    for python in given.pythons:
        for resolution in given.resolutions:
            pair = f"{date.today()}  Python {python}  {resolution:13}  {tests[1]}: "
            keep(pair + "started")
            before = _cpu()
            word = one(python, resolution, tests[0])
            failed += not word.startswith("passed")
            print(line := f"{pair}{word}, {_cpu() - before:.0f} CPU s", flush=True)
            keep(line)
    return 1 if failed else 0


def keep(line):
    """One line more in the results."""
    MADE.mkdir(exist_ok=True)
    with (MADE / "results.txt").open("a", encoding="utf-8") as results:
        results.write(line + "\n")


def one(python, resolution, tests):
    """Make the environment and run the tests in it: "passed" and the counts, or what went wrong."""
    folder = MADE / f"{python}-{resolution}"
    interpreter = folder / "bin" / "python"
    into = ("pip", "install", "--python", interpreter)
    for step in (
        ("venv", "--allow-existing", "--python", python, folder),
        (*into, "--resolution", resolution, "--no-build", "--requirements", "pyproject.toml", "--extra", "test"),
        (*into, "--no-deps", "--editable", "."),
    ):
        made = _run([sys.executable, "-m", "uv", *step])
        if made.returncode:
            return f"cannot be installed: {_last(made)}"
    imported = _run([interpreter, "-W", "error", "-c", IMPORT_ALL])
    if imported.returncode:
        return f"FAILED: a module cannot be imported: {_last(imported)}"
    return tried(interpreter, tests, folder=folder)


def tried(interpreter, tests, *, folder):
    """Run the tests: what became of them. A run that ends before pytest has counted them has failed, whatever its exit code."""
    options = ("-m", "not slow and not browser and not spark", "-p", "no:cacheprovider", "-rf", "--verbosity=0")
    log = folder / "log.txt"
    with log.open("w", encoding="utf-8") as told:
        done = _run(
            [interpreter, "-X", "faulthandler", "-m", "pytest", *options, *tests],
            stdout=told, stderr=subprocess.STDOUT, NUMBA_CACHE_DIR=str(folder / "kernels"),
        )  # fmt: skip
    counts = COUNTS.findall(log.read_text(encoding="utf-8", errors="replace"))
    if done.returncode == 0 and counts:
        return f"passed, {counts[-1]}"
    word = counts[-1] if counts else "before the tests were counted"
    return f"FAILED: {ending(done.returncode)}, {word}; see {log}"


def ending(code):
    """What an exit code of a process says."""
    return f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"


def _run(command, *, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more):
    environment = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "VIRTUAL_ENV")}
    command = [str(word) for word in command]
    return subprocess.run(
        command, cwd=ROOT, env=environment | more, check=False, stdout=stdout, stderr=stderr, text=True
    )


def _last(done):
    """How it ended and the last line that was said."""
    said = (done.stdout + done.stderr).strip().splitlines() or ["nothing was said"]
    return f"{ending(done.returncode)}: {said[-1]}"


def _cpu():
    used = os.times()
    return used.children_user + used.children_system


if __name__ == "__main__":
    sys.exit(main())
