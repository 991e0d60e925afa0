"""The suite on every promised version: `python tests/matrix.py [--pythons 3.11 3.12] [--quick] [--tests tests/domain ...]`.

Each Python from 3.11 to 3.13, once with the lowest versions that pyproject.toml allows of what it names and once with the
newest; environments are made by uv under .matrix, from built packages only, and kept. First every module is imported, with
warnings as errors; then the tests run. `--quick` runs the rooms that touch other libraries most, in a few minutes. Prints one
line per pair, with the processor time, and keeps it in .matrix/results.txt; exit code 1 if one fails.
"""

import argparse
import os
import subprocess
import sys
from datetime import date
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MADE = ROOT / ".matrix"
PYTHONS = ("3.11", "3.12", "3.13")
RESOLUTIONS = ("lowest-direct", "highest")
QUICK = (
    "tests/domain", "tests/queries", "tests/sources", "tests/released", "tests/select", "tests/generate/test_stored.py",
    "tests/private/test_ledger.py", "tests/private/test_curator.py", "tests/cli/test_commands.py", "tests/test_imports.py",
)  # fmt: skip
IMPORT_ALL = """
import importlib, pkgutil, sundog
for module in pkgutil.walk_packages(sundog.__path__, "sundog."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
"""


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
            before = _cpu()
            word = one(python, resolution, tests[0])
            failed += not word.startswith("passed")
            line = f"{date.today()}  Python {python}  {resolution:13}  {tests[1]}: {word}, {_cpu() - before:.0f} CPU s"
            print(line, flush=True)
            with (MADE / "results.txt").open("a", encoding="utf-8") as results:
                results.write(line + "\n")
    return 1 if failed else 0


def one(python, resolution, tests):
    """Make the environment and run the tests in it: "passed" and what was said last, or what went wrong."""
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
    done = _run([interpreter, "-m", "pytest", "-q", "-m", "not slow", "-p", "no:cacheprovider", *tests])
    (folder / "log.txt").write_text(done.stdout + done.stderr, encoding="utf-8")
    return f"passed, {_last(done)}" if done.returncode == 0 else f"FAILED: {_last(done)}; see {folder / 'log.txt'}"


def _run(command):
    environment = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "VIRTUAL_ENV")}
    return subprocess.run(
        [str(word) for word in command], cwd=ROOT, env=environment, check=False, capture_output=True, text=True
    )


def _last(done):
    """The last line that was said."""
    return ((done.stdout + done.stderr).strip().splitlines() or ["nothing was said"])[-1]


def _cpu():
    used = os.times()
    return used.children_user + used.children_system


if __name__ == "__main__":
    sys.exit(main())
