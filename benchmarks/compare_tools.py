"""Other tools beside ours: same tables, same budget, same neighbours, same evaluator, CPU seconds and memory measured alike.

    python benchmarks/peers/environments.py                    first: one environment per tool
    python benchmarks/compare_tools.py [--tools NAME ...] [--tables NAME ...] [--epsilons 0.3 1 10] [--minutes 10] [--json]

Every cell (tool, table, epsilon, seed) is one process in the tool's environment, with one thread, ended after --cpu-seconds or
at --memory megabytes. A finished cell is a line in docs/evidence/peers.jsonl and is not run again without --fresh; failures are tried
again with --retry. Cells are run from small epsilons to large ones; after a time-out on a table the tool is not tried at larger
ones there. --minutes ends the run between two cells; the same command goes on. --page writes the page's tables and pictures.
"""

import argparse
import json
import os
import signal
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import harness
from harness import DATA, RESULTS
from peers import budget, children, data, environments, page
from peers.store import Cell, Store
from peers.tools import BY_NAME, TOOLS, Tool

ADAPTERS = Path(__file__).resolve().parent / "peers" / "adapters"
FOLDER = RESULTS / "peers"
STORE = Path(__file__).resolve().parents[1] / "docs" / "evidence" / "peers.jsonl"
"""Part of the project: the page is made from it, and whoever has the environments can go on."""
DELTA = 1e-6
EPSILONS = (0.3, 1.0, 10.0)
THREADS = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
"""The same for all: libraries that spin on several cores would count more seconds than they work."""


def cells(options: argparse.Namespace) -> Iterator[tuple[Tool, Cell]]:
    """All that is asked for: per tool all tables, small epsilons first; tools without a promise once per table."""
    for tool in (BY_NAME[name] for name in options.tools):
        for epsilon in sorted(options.epsilons) if tool.private else (0.0,):
            for table in options.tables:
                for seed in range(options.seeds):
                    yield tool, Cell(tool.name, table, epsilon, seed)


def wanted(cell: Cell, store: Store, options: argparse.Namespace) -> bool:
    """Whether a cell must be run: nothing is known about it, or it is to be run again."""
    found = store.found.get(cell)
    return found is None or options.fresh or (options.retry and found["outcome"] == children.FAILED)


def ended_before(cell: Cell, store: Store) -> bool:
    """Whether the tool met a limit on this table at a smaller epsilon: it is not tried at larger ones."""
    limits = (children.TIME_OUT, children.MEMORY)
    return any(
        other.tool == cell.tool
        and other.table == cell.table
        and other.epsilon < cell.epsilon
        and result["outcome"] in limits
        for other, result in store.found.items()
    )


def run_cell(tool: Tool, cell: Cell, options: argparse.Namespace) -> dict[str, Any]:
    """One process of the tool."""
    folder, out, log = tables(cell.table), made(cell), FOLDER / "log.txt"
    out.unlink(missing_ok=True)
    epsilon, delta = cell.epsilon, DELTA
    if tool.private:
        epsilon, delta = budget.given(epsilon, delta, promised=tool.neighbours, wanted=budget.ADD_REMOVE)
    job = {
        "method": tool.method, "epsilon": epsilon, "delta": delta, "seed": cell.seed,
        "schema": json.loads((folder / "schema.json").read_text(encoding="utf-8")),
        "train": str(folder / "train.parquet"), "out": str(out),
    }  # fmt: skip
    (FOLDER / "job.json").write_text(json.dumps(job), encoding="utf-8")
    command = [str(environments.interpreter(tool.environment)), "-W", "ignore", str(ADAPTERS / tool.adapter)]
    ended = children.limited(
        [*command, str(FOLDER / "job.json")], cpu_s=options.cpu_seconds, memory_mb=options.memory, log=log,
        environment=os.environ | THREADS,
    )  # fmt: skip
    result = {"outcome": ended.outcome, "cpu_s": round(ended.cpu_s, 2), "rss_mb": round(ended.rss_mb)}
    return result | ({"error": _last(log)} if ended.outcome == children.FAILED else {})


def tables(name: str) -> Path:
    """The folder with a table's rows and schema, made where it is not there."""
    folder = FOLDER / "tables" / name
    if not (folder / "schema.json").exists():
        done = harness.measured(data.prepare, {"table": name, "folder": str(folder)}, 0)
        if "error" in done:
            raise SystemExit(f"{name} cannot be prepared: {done['error']}")
    return folder


def made(cell: Cell) -> Path:
    """Where the rows that a tool made lie."""
    return FOLDER / f"{cell.tool.replace(' ', '-')}-{cell.table}-{cell.epsilon:g}-{cell.seed}.parquet"


def _last(log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return lines[-1][:200] if lines else "no message"


def judge(store: Store) -> None:
    """Evaluate all rows that were made and not yet judged, one process per table."""
    waiting: dict[str, list[Cell]] = {}
    for cell, result in store.found.items():
        if result["outcome"] == children.DONE and "scores" not in result and made(cell).exists():
            waiting.setdefault(cell.table, []).append(cell)
    for table, cells_of in waiting.items():
        paths = [str(made(cell)) for cell in cells_of]
        judged = harness.measured(evaluate, {"folder": str(tables(table)), "made": paths}, 0)
        for place, cell in enumerate(cells_of):
            found = {"scores": judged["result"]["scores"][place]} if "result" in judged else {"error": judged["error"]}
            store.keep(cell, store.found[cell] | found)
            print(f"{cell.tool}, {table}, epsilon {cell.epsilon:g}: {_words(store.found[cell])}", file=sys.stderr)


def evaluate(settings: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """Sundog's evaluator on the rows that tools made, with rows held out for models."""
    import tempfile

    import sundog

    folder = Path(settings["folder"])
    with tempfile.TemporaryDirectory() as place:
        found = sundog.evaluate_tables(
            folder / "train.parquet", {path: path for path in settings["made"]}, schema=folder / "schema.json",
            test=folder / "test.parquet", ledger=Path(place) / "ledger.sqlite", learning=True, seed=seed,
        )  # fmt: skip
    return {"scores": [{name: score.value for name, score in each.scores.items()} for each in found.tables]}


def run(options: argparse.Namespace, store: Store) -> list[str]:
    """Run what is missing until the minutes are over; what could not be run, in words."""
    end, problems = time.monotonic() + 60 * options.minutes, []
    FOLDER.mkdir(parents=True, exist_ok=True)
    for tool, cell in cells(options):
        if not wanted(cell, store, options):
            continue
        if time.monotonic() > end:
            problems.append("the minutes are over; the same command goes on from here")
            break
        if not environments.interpreter(tool.environment).exists():
            problems.append(f"{tool.name}: no environment; python benchmarks/peers/environments.py {tool.environment}")
            continue
        before = ended_before(cell, store)
        result = {"outcome": "not tried"} if before else run_cell(tool, cell, options)
        store.keep(cell, result)
        print(f"{cell.tool}, {cell.table}, epsilon {cell.epsilon:g}: {_words(result)}", file=sys.stderr, flush=True)
    judge(store)
    return problems


def _words(result: Mapping[str, Any]) -> str:
    used = f", {result['cpu_s']:.0f} CPU s, {result['rss_mb']} MB" if "cpu_s" in result else ""
    found = f", TV2 {result['scores']['tv2']:.4f}" if "scores" in result else ""
    return result["outcome"] + used + found + (f" ({result['error']})" if "error" in result else "")


def main() -> int:
    """Run, then show."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tools", nargs="+", choices=list(BY_NAME), default=[tool.name for tool in TOOLS], metavar="NAME",
                        help=f"which of: {', '.join(BY_NAME)}")  # fmt: skip
    parser.add_argument("--tables", nargs="+", choices=list(data.COLUMNS), default=list(data.COMPARED))
    parser.add_argument("--epsilons", nargs="+", type=float, default=list(EPSILONS))
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--cpu-seconds", type=float, default=180.0, help="a cell is ended after these")
    parser.add_argument("--memory", type=float, default=6000.0, help="a cell is ended at these megabytes")
    parser.add_argument("--minutes", type=float, default=600.0, help="start no cell after these")
    parser.add_argument("--results", type=Path, default=STORE, metavar="FILE", help="the results file")
    parser.add_argument("--fresh", action="store_true", help="run again what has results already")
    parser.add_argument("--retry", action="store_true", help="run again what failed")
    parser.add_argument(
        "--page", action="store_true", help="then write the tables and pictures of docs/evidence/peers.md"
    )
    parser.add_argument("--json", action="store_true", help="print all results as JSON")
    options = parser.parse_args()
    if not DATA.is_dir():
        print(f"the public tables are not there ({DATA}); nothing was run", file=sys.stderr)
        return 1
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))  # so that the child is ended too
    store = Store(options.results)
    problems = run(options, store)
    for problem in problems:
        print(f"problem: {problem}", file=sys.stderr)
    if options.page:
        page.write(store.listed())
    if options.json:
        print(json.dumps({"machine": harness.machine(), "cells": store.listed(), "problems": problems}))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
