"""Run the benchmarks: the short ones, or with --full all of them. A new benchmark is one file and one name here.

A benchmark module has SHORT and FULL (the sizes of each), run(sizes, fresh=...) -> a result for machines, table(result) ->
for people. Every finished case lies in results/ and is not measured again without --fresh, so a run that was stopped goes on
where it was. A benchmark that fails, or whose data are absent, is named at the end, and the exit status is 1.

    python benchmarks/run.py [--full] [--fresh] [--jobs N] [--json] [NAME ...]
"""

import argparse
import json
import os
import platform
import resource
import sys
import time
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import harness

BENCHMARKS = (
    "counting",
    "engines",
    "limits",
    "reading",
    "queries",
    "evaluate_speed",
    "audit",
    "audit_release",
    "answers",
    "plan",
    "methods_table",
    "ahead",
    "rap",
    "rap_plus_plus",
    "graphical",
    "genetic",
    "private_gsd",
    "privpgd",
    "privpgd_methods",
    "adjust_speed",
    "post_processing",
    "adjust_share",
    "auto",
    "auto_speed",
    "high_order",
    "writing",
    "linked",
)
INTERRUPTED = 130


def machine() -> dict[str, str | int]:
    """What the figures were measured on."""
    return {
        "cores": os.cpu_count() or 1,
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9),
        "architecture": platform.machine(),
        "python": platform.python_version(),
    }


def say(text: str) -> None:
    """A line of progress."""
    print(text, file=sys.stderr, flush=True)


def measure(name: str, *, full: bool, fresh: bool) -> tuple[dict[str, Any], list[str]]:
    """A benchmark's name, result and table for people, and what went wrong in it."""
    before = len(harness.PROBLEMS)
    try:
        module = import_module(name)
        result = module.run(module.FULL if full else module.SHORT, fresh=fresh)
        if "absent" in result:
            return {"name": name, "result": result}, [
                f"{name}: not run, there are no public tables ({result['absent']})"
            ]
        found = {"name": name, "result": result, "table": module.table(result)}
    except Exception as error:  # the others still run
        return {"name": name, "error": str(error)}, [f"{name}: {type(error).__name__}: {error}"]
    return found, harness.PROBLEMS[before:]


def measure_all(names: Sequence[str], *, full: bool, fresh: bool, show: bool) -> tuple[list[dict[str, Any]], list[str]]:
    """All of them, one after the other, with a line of progress each."""
    results, problems = [], []
    for place, name in enumerate(names, start=1):
        say(f"[{place}/{len(names)}] {name} ...")
        start, cpu, kept = time.monotonic(), _cpu_seconds(), harness.COUNTS["kept"]
        found, wrong = measure(name, full=full, fresh=fresh)
        results.append(found)
        problems += wrong
        kept = harness.COUNTS["kept"] - kept
        again = f", {kept} results from before" if kept else ""
        outcome = f"{len(wrong)} problems" if wrong else "done"
        spent = f"{time.monotonic() - start:.0f} s, {_cpu_seconds() - cpu:.0f} CPU s"
        say(f"[{place}/{len(names)}] {name}: {outcome} in {spent}{again}")
        if show and "table" in found:
            print(f"\n{name}: {found['table']}\n", flush=True)
    return results, problems


def _cpu_seconds() -> float:
    """Of this process and all that it has waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description="Sundog's benchmarks.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which of: {', '.join(BENCHMARKS)} (default: all)")
    parser.add_argument("--full", action="store_true", help="also the long ones")
    parser.add_argument("--fresh", action="store_true", help="measure again what has results already")
    parser.add_argument(
        "--jobs",
        type=int,
        default=1,
        help="cases of a benchmark at a time; its CPU seconds are then those of a busy machine",
    )
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    given = parser.parse_args(arguments)
    unknown = [name for name in given.names if name not in BENCHMARKS]
    if unknown:
        parser.error(f"benchmark {unknown[0]!r} is unknown; benchmarks are {', '.join(BENCHMARKS)}")
    harness.JOBS["at once"] = max(1, given.jobs)
    try:
        results, problems = measure_all(
            given.names or BENCHMARKS, full=given.full, fresh=given.fresh, show=not given.json
        )
    except KeyboardInterrupt:
        say("\nstopped; what was finished is kept, and the same command without --fresh goes on from there")
        return INTERRUPTED
    if given.json:
        print(json.dumps({"machine": machine(), "benchmarks": results, "problems": problems}))
    else:
        print("machine:", ", ".join(f"{key} {value}" for key, value in machine().items()))
    for problem in problems:
        say(f"problem: {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
