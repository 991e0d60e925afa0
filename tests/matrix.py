"""The suite on every promised version: `python tests/matrix.py [--pythons 3.11 3.12] [--tests tests/domain ...]`.

Each Python from 3.11 to 3.13, once with the lowest versions that pyproject.toml allows of what it names and once with the
newest; environments are made by uv under .matrix and kept. Prints one line per pair; exit code 1 if one fails.
"""

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PYTHONS = ("3.11", "3.12", "3.13")
RESOLUTIONS = ("lowest-direct", "highest")


def main():
    """Run all pairs, also after one has failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pythons", nargs="+", default=PYTHONS)
    parser.add_argument("--resolutions", nargs="+", default=RESOLUTIONS)
    parser.add_argument("--tests", nargs="+", default=["tests"])
    given = parser.parse_args()
    failed = 0
    for python in given.pythons:
        for resolution in given.resolutions:
            start = time.monotonic()
            word = one(python, resolution, given.tests)
            failed += word != "passed"
            print(f"Python {python}  {resolution:14} {word}  ({time.monotonic() - start:.0f} s)", flush=True)
    return 1 if failed else 0


def one(python, resolution, tests):
    """Make the environment and run the tests in it: "passed", or what went wrong."""
    folder = ROOT / ".matrix" / f"{python}-{resolution}"
    made = uv("venv", "--allow-existing", "--python", python, folder)
    interpreter = folder / "bin" / "python"
    if made.returncode:
        return f"no such Python here: {last(made)}"
    wanted = ("pip", "install", "--python", interpreter, "--resolution", resolution, "--editable", ".[test]")
    installed = uv(*wanted)
    if installed.returncode:
        return f"cannot be installed: {last(installed)}"
    command = [interpreter, "-m", "pytest", "-q", "-m", "not slow", "-p", "no:cacheprovider", *tests]
    environment = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run(command, cwd=ROOT, env=environment, check=False, capture_output=True, text=True)
    (folder / "log.txt").write_text(done.stdout + done.stderr, encoding="utf-8")
    return "passed" if done.returncode == 0 else f"FAILED: {last(done)}; see {folder / 'log.txt'}"


def uv(*arguments):
    command = [sys.executable, "-m", "uv", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)


def last(done):
    """The last line that was said."""
    return ((done.stdout + done.stderr).strip().splitlines() or ["nothing was said"])[-1]


if __name__ == "__main__":
    sys.exit(main())
