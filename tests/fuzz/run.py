"""Fuzz the command line: `python tests/fuzz/run.py [--inputs 10000] [--kinds schema released ...]`, run by `make audit`.

Every input ends in a result or in a message: exit code 0, 2 or 3, within 30 seconds and 2 GB; no message quotes a private row,
and what is refused is not charged (promises.py). Input N of a kind is the same on every machine. The counts are kept in a file
after every chunk, so that a run that was stopped (or ran out of `--minutes`) goes on where it was; `--fresh` starts over, `--again`
runs only what failed. What failed is named by kind and number, and `--first NUMBER --inputs 1 --show` runs one of them without
touching the counts.
"""

import argparse
import importlib
import json
import os
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
STATE = ROOT / "build" / "fuzz.json"


def main():
    """Run the kinds that were asked for; exit code 1 if anything failed, 75 if there was no time to finish."""
    given = _arguments()
    if given.first is not None:
        return _tried(given)
    state = {} if given.fresh else _read(given.state)
    end = time.monotonic() + 60 * given.minutes
    for kind in given.kinds:
        counts = state.setdefault(kind, {"done": 0, "failed": []})
        _go_on(kind, counts, given=given, end=end, keep=lambda: _write(given.state, state))
    print(json.dumps(state, indent=1) if given.json else _table(state))
    if any(state[kind]["failed"] for kind in given.kinds):
        return 1
    return 0 if given.again or all(state[kind]["done"] >= given.inputs for kind in given.kinds) else 75


def _arguments():
    from fuzz.kinds import KINDS

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inputs", type=int, default=10_000)
    parser.add_argument("--first", type=int, help="only these inputs, and no counts")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--show", action="store_true", help="with --first: say what each input was told")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="stop at the end of a chunk after so long")
    parser.add_argument("--state", type=Path, default=STATE, help="where the counts are kept")
    parser.add_argument("--fresh", action="store_true", help="forget the counts")
    parser.add_argument("--again", action="store_true", help="only what failed")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


def _tried(given):
    faults = 0
    for kind in given.kinds:
        for ended in fuzz(kind, range(given.first, given.first + given.inputs)):
            faults += ended.fault
            if given.show or ended.fault:
                print(kind, ended)
    return 1 if faults else 0


def _go_on(kind, counts, *, given, end, keep):
    """Chunk after chunk until all inputs were tried or the time is over."""
    from fuzz.worker import CHUNK

    if given.again:
        before, numbers = counts["failed"], [failed["number"] for failed in counts["failed"]]
        all_ended = list(fuzz(kind, numbers))
        codes = Counter(counts.get("codes", {})) + Counter(str(ended.code) for ended in all_ended)
        counts["codes"] = dict(codes - Counter(str(failed["code"]) for failed in before))
        counts["failed"] = [vars(ended) for ended in all_ended if ended.fault]
        keep()
        return
    while counts["done"] < given.inputs and time.monotonic() < end:
        numbers = range(counts["done"], min(counts["done"] + CHUNK, given.inputs))
        used = _cpu()
        all_ended = list(fuzz(kind, numbers))
        _count(counts, all_ended, cpu=_cpu() - used)
        keep()
        print(f"{kind} {counts['done']}/{given.inputs}, {len(counts['failed'])} failed", file=sys.stderr, flush=True)


def _count(counts, all_ended, *, cpu):
    codes = Counter(str(ended.code) for ended in all_ended)
    counts["codes"] = dict(Counter(counts.get("codes", {})) + codes)
    counts["done"] += len(all_ended)
    counts["cpu"] = counts.get("cpu", 0.0) + cpu
    counts["failed"] += [vars(ended) for ended in all_ended if ended.fault]
    for name, values in (("longest", [e.seconds for e in all_ended]), ("memory", [e.memory for e in all_ended])):
        counts[name] = max(counts.get(name, 0), *values)


def _cpu():
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def _table(state):
    head = ("kind", "inputs", "exit 0", "exit 2", "exit 3", "failed", "longest", "memory", "CPU")
    lines = [" ".join(f"{word:>9}" for word in head)]
    for kind, counts in state.items():
        codes = [counts.get("codes", {}).get(code, 0) for code in ("0", "2", "3")]
        sizes = (
            f"{counts.get('longest', 0):.1f} s",
            f"{counts.get('memory', 0) / 1e6:.0f} MB",
            f"{counts.get('cpu', 0):.0f} s",
        )
        lines.append(" ".join(f"{cell:>9}" for cell in (kind, counts["done"], *codes, len(counts["failed"]), *sizes)))
    lines += [
        f"  {kind} {failed['number']}: exit {failed['code']}, {failed.get('broken', '')}, {failed['seconds']:.1f} s, {failed['said'].strip()[-300:]}"
        for kind, counts in state.items()
        for failed in counts["failed"][:40]
    ]
    return "\n".join(lines)


def _read(path):
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def _write(path, state):
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_suffix(".new")
    new.write_text(json.dumps(state, indent=1), encoding="utf-8")
    new.replace(path)


def fuzz(kind, numbers):
    """How every input of a kind ended."""
    from fuzz.kinds import KINDS
    from fuzz.worker import run_all

    preload()
    folder = tempfile.mkdtemp(prefix="fuzz-")
    os.environ.setdefault("SUNDOG_DEBUG", "")
    try:
        yield from run_all(numbers, KINDS[kind], folder=folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def preload():
    """Import once what every fork needs."""
    for module in (
        "sundog.api.synthesizer",
        "sundog.api.adjust",
        "sundog.api.evaluate",
        "sundog.cli.app",
        "sundog.methods.compare",
        "sundog.report.certificate",
        "sundog.private.complete",
        "sundog.private.draft",
        "sundog.api.evaluate_linked",
        "pandas",
        "polars",
        "opendp.measurements",
        "duckdb",
        "pyarrow.csv",
    ):
        importlib.import_module(module)


if __name__ == "__main__":
    sys.exit(main())
