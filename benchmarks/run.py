"""Run the benchmarks: the short ones, or with --full all of them. A new benchmark is one file and one name here.

A benchmark module has SHORT and FULL (the sizes of each), run(sizes) -> a result for machines, table(result) -> for
people.

    python benchmarks/run.py [--full] [--json] [NAME ...]
"""

import argparse
import json
import os
import platform
import sys
from importlib import import_module

BENCHMARKS = (
    "counting",
    "queries",
    "evaluate_speed",
    "methods_table",
    "rap",
    "rap_plus_plus",
    "graphical",
    "genetic",
    "private_gsd",
    "privpgd",
    "adjust_speed",
    "post_processing",
    "auto",
    "auto_speed",
)


def machine() -> dict[str, str | int]:
    """What the figures were measured on."""
    return {
        "cores": os.cpu_count() or 1,
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9),
        "architecture": platform.machine(),
        "python": platform.python_version(),
    }


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description="Sundog's benchmarks.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which of: {', '.join(BENCHMARKS)} (default: all)")
    parser.add_argument("--full", action="store_true", help="also the long ones")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    given = parser.parse_args()
    unknown = [name for name in given.names if name not in BENCHMARKS]
    if unknown:
        parser.error(f"benchmark {unknown[0]!r} is unknown; benchmarks are {', '.join(BENCHMARKS)}")
    results = []
    for name in given.names or BENCHMARKS:
        module = import_module(name)
        print(f"running {name} ...", file=sys.stderr, flush=True)
        results.append(module.run(module.FULL if given.full else module.SHORT))
        if not given.json:
            print(f"\n{name}: {module.table(results[-1])}\n", flush=True)
    if given.json:
        print(json.dumps({"machine": machine(), "benchmarks": results}))
    else:
        print("machine:", ", ".join(f"{key} {value}" for key, value in machine().items()))


if __name__ == "__main__":
    main()
