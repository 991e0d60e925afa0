"""Fuzz the command line: `python tests/fuzz/run.py [--inputs 10000] [--kinds schema released ...]`, run by `make audit`.

Every input ends in a result or in a message: exit code 0, 2 or 3, within 60 seconds and 2 GB. The counts are printed as a
table; what failed is named by kind and number, and `--first NUMBER --inputs 1 --show` runs one of them again.
"""

import argparse
import os
import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))


def main():
    """Run the kinds that were asked for; exit code 1 if anything failed."""
    from fuzz.kinds import KINDS

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inputs", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--show", action="store_true", help="say what each input was told")
    given = parser.parse_args()
    faults = 0
    print(
        f"{'kind':10} {'inputs':>7} {'exit 0':>7} {'exit 2':>7} {'exit 3':>7} {'faults':>7} {'longest':>8} {'memory':>8}"
    )
    for kind in given.kinds:
        faults += report(kind, range(given.first, given.first + given.inputs), show=given.show)
    return 1 if faults else 0


def report(kind, numbers, *, show=False):
    """Run one kind and print its line; the number of faults."""
    codes, failed, seconds, memory = Counter(), [], 0.0, 0
    for ended in fuzz(kind, numbers):
        codes[ended.code] += 1
        seconds, memory = max(seconds, ended.seconds), max(memory, ended.memory)
        if show:
            print(ended)
        if ended.fault:
            failed.append(ended)
    counts = " ".join(f"{codes[code]:>7}" for code in (0, 2, 3))
    print(
        f"{kind:10} {len(numbers):>7} {counts} {len(failed):>7} {seconds:>6.1f} s {memory / 1e6:>5.0f} MB", flush=True
    )
    for ended in failed[:40]:
        print(f"  {kind} {ended.number}: exit {ended.code}, {ended.seconds:.1f} s, {ended.said.strip()[-300:]}")
    return len(failed)


def fuzz(kind, numbers):
    """How every input of a kind ended."""
    from fuzz.kinds import KINDS
    from fuzz.worker import run_all

    preload()
    folder = tempfile.mkdtemp(prefix="fuzz-")
    os.environ.setdefault("SUNDOG_DEBUG", "")
    try:
        for ended in run_all(numbers, KINDS[kind], folder=folder):
            shutil.rmtree(Path(folder) / str(ended.number), ignore_errors=True)
            yield ended
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def preload():
    """Import once what every fork needs."""
    import importlib

    for module in (
        "sundog.api.synthesizer",
        "sundog.api.adjust",
        "sundog.api.evaluate",
        "sundog.methods.compare",
        "sundog.report.certificate",
        "sundog.private.complete",
        "sundog.private.draft",
        "duckdb",
        "pyarrow.csv",
    ):
        importlib.import_module(module)


if __name__ == "__main__":
    sys.exit(main())
