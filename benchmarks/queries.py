"""Queries: exact answers of marginals, prefixes and halfspaces.

Every task runs in a process of its own, after a small warm-up that compiles (as the first run ever does); CPU seconds
are of the task alone, the peak of memory is of the whole process. The halfspaces are over a made-up table of 40 numeric
columns and 12 of five labels, whose embedding has 100 places; its codes are made chunk by chunk, as a source streams
them, and making them is not counted. Adult is read from the folder of public tables beside the project, else left out.

    python benchmarks/queries.py [--tasks NAME ...] [--fresh] [--json]
"""

import resource
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import harness
import numpy as np
from harness import DATA, Case, bars, publish

SUMMARY = "exact answers of the classes of queries"
ROWS, CHUNK = 1_000_000, 65_536
TARGETS = {
    "marginals": "64 three-way marginals of Adult: < 0.1 CPU s",
    "prefixes": "20,000 prefixes of Adult (no target)",
    "halfspaces-20k": "1,000 directions x 20 thresholds, 1M rows: <= 20 CPU s",
    "halfspaces-200k": "10,000 directions x 20 thresholds, 1M rows: <= 150 CPU s, <= 1000 MB",
    "trivial": "share of thresholds true of < 0.1 % or > 99.9 % of Adult's rows (RAP++ draws: 69 %)",
}
SHORT = ("marginals", "prefixes", "halfspaces-20k", "trivial")
FULL = tuple(TARGETS)
ON_ADULT = ("marginals", "prefixes", "trivial")
PICTURED = {"cpu_s": "CPU s", "peak_mb": "peak MB"}


def peak_mb() -> float:
    """The most memory this process ever held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


def timed(work: Callable[[], Any]) -> float:
    """CPU seconds of one call."""
    start = time.process_time()
    work()
    return time.process_time() - start


def adult() -> Any:
    """Adult's rows, as synthetic and public tables are read."""
    from sundog.domain import Schema
    from sundog.sources import open_table

    schema = Schema.load(DATA / "adult.schema.json")
    return schema, open_table(str(DATA / "adult.parquet")).read(schema)


def fresh(rows: Any) -> Any:
    """The same rows, without what was worked out for earlier queries."""
    from sundog.domain.rows import Rows

    return Rows(rows.schema, rows.codes)


def exact_on_adult(workload: Callable[[Any], Any]) -> dict[str, float]:
    """Exact answers on Adult: the middle of five times."""
    from sundog.queries import add_all

    schema, rows = adult()
    queries = workload(schema).queries
    totals = np.zeros(sum(query.size for query in queries), dtype=np.int64)
    add_all(queries, _head(rows, 10), totals)
    times = sorted(timed(lambda: add_all(queries, fresh(rows), totals)) for _ in range(5))
    return {"cpu_s": times[2], "rows": len(rows), "answers": len(totals)}


def _head(rows: Any, count: int) -> Any:
    from sundog.domain.rows import Rows

    return Rows(rows.schema, tuple(codes[:count] for codes in rows.codes))


def marginals() -> dict[str, float]:
    """64 three-way marginals."""
    from sundog.queries.workload import Workload

    return exact_on_adult(lambda schema: Workload.marginals(schema, k=3, sample=64, seed=0))


def prefixes() -> dict[str, float]:
    """20,000 prefixes of a label and two numbers."""
    from sundog.queries.workload import Workload

    return exact_on_adult(lambda schema: Workload.prefixes(schema, count=20_000))


def embedded_schema() -> Any:
    """40 numbers and 12 columns of five labels: 100 places in the embedding."""
    from sundog.domain import Categorical, Numeric, Schema

    numbers = [Numeric(f"number {k}", "integer", 0, 9999) for k in range(40)]
    labels = [Categorical(f"label {k}", tuple("abcde")) for k in range(12)]
    return Schema((*numbers, *labels))


def halfspaces(directions: int) -> dict[str, float]:
    """This many directions with 20 thresholds each."""
    from sundog.domain.rows import Rows
    from sundog.queries.workload import Workload

    schema, random = embedded_schema(), np.random.default_rng(0)
    (query,) = Workload.halfspaces(schema, directions=directions, thresholds=20).queries

    def chunk(rows: int) -> Rows:
        return Rows(schema, tuple(random.integers(0, c.size, rows, dtype=np.uint16) for c in schema.columns))

    totals = np.zeros(query.size, dtype=np.int64)
    query.add(chunk(10), totals)
    seconds = sum(
        timed(lambda: query.add(chunk_rows, totals))  # noqa: B023
        for chunk_rows in (chunk(min(CHUNK, ROWS - start)) for start in range(0, ROWS, CHUNK))
    )
    return {"cpu_s": seconds, "rows": ROWS, "answers": query.size, "features": query.theta.shape[1]}


def trivial() -> dict[str, float]:
    """How many thresholds say nothing, with uniform reference rows and with rows from one-way marginals at rho 0.003."""
    from sundog.estimate.thresholds import reference_rows
    from sundog.private.accountant import Budget
    from sundog.private.curator import Curator
    from sundog.private.ledger import Ledger
    from sundog.private.spending import Spending
    from sundog.private.table import PrivateTable
    from sundog.queries import answer
    from sundog.queries.workload import Workload

    schema, rows = adult()
    with tempfile.TemporaryDirectory(prefix="sundog-queries-") as folder:
        ledger = Ledger(Path(folder) / "ledger.sqlite")
        table = PrivateTable(str(DATA / "adult.parquet"))
        curator = Curator(table, schema, spending=Spending(Budget(rho=0.003), "adult", ledger=ledger))
        curator.measure(Workload.marginals(schema, k=1).queries, 0.003)
        reference = reference_rows(curator.released())
    result: dict[str, float] = {"rows": len(rows), "answers": 0}
    start = time.process_time()
    for name, some in (("uniform", None), ("released", reference)):
        queries = {
            "prefixes_of_1_number": Workload.prefixes(
                schema, count=10_000, labels=0, numbers=1, reference=some
            ).queries[0],
            "prefixes_of_1_label_2_numbers": Workload.prefixes(schema, count=10_000, reference=some).queries[0],
            "linear_thresholds": Workload.conditional_thresholds(
                schema, targets=["income"], directions=500, reference=some
            )
            .queries[0]
            .inner,
        }
        for kind, query in queries.items():
            shares = answer(query, rows) / len(rows)
            result[f"{name}_{kind}"] = float(((shares < 0.001) | (shares > 0.999)).mean())
            result["answers"] += query.size
    return result | {"cpu_s": time.process_time() - start}


TASKS: dict[str, Callable[[], dict[str, float]]] = {
    "marginals": marginals,
    "prefixes": prefixes,
    "halfspaces-20k": lambda: halfspaces(1_000),
    "halfspaces-200k": lambda: halfspaces(10_000),
    "trivial": trivial,
}


def work(settings: Mapping[str, Any], seed: int) -> dict[str, float]:
    """One task."""
    found = TASKS[settings["task"]]()
    return {**found, "peak_mb": round(peak_mb(), 1)}


def run(tasks: Sequence[str], *, fresh: bool = False) -> dict[str, Any]:
    """The measurements of several tasks, each in a process of its own."""
    there = (DATA / "adult.parquet").exists()
    wanted = [task for task in tasks if there or task not in ON_ADULT]
    lines = harness.run("queries", [Case(task, {"task": task}) for task in wanted], work=work, fresh=fresh)
    results = [{"task": line["case"], **line["result"]} for line in lines if "result" in line]
    result = {"benchmark": "queries", "summary": SUMMARY, "targets": TARGETS, "results": results}
    publish("queries", result, table=table(result), picture=bars({e["task"]: e for e in results}, PICTURED))
    return result


def table(result: dict[str, Any]) -> str:
    """The measurements for people."""
    lines = [SUMMARY, f"{'task':>16}  {'rows':>10}  {'answers':>10}  {'CPU s':>8}  {'peak MB':>8}"]
    for each in result["results"]:
        numbers = f"{each['rows']:>10,}  {each['answers']:>10,}  {each['cpu_s']:>8.3f}  {each['peak_mb']:>8.0f}"
        lines.append(f"{each['task']:>16}  {numbers}  {result['targets'][each['task']]}")
        extra = [key for key in each if key not in ("task", "rows", "answers", "cpu_s", "peak_mb")]
        lines += [f"{'':>18}{key} {each[key]:.3g}" for key in extra]
    return "\n".join(lines)


def main() -> None:
    """Run this benchmark alone."""
    parser = harness.options(SUMMARY)
    parser.add_argument("--tasks", nargs="+", choices=FULL, default=list(SHORT))
    harness.command(parser, run=run, table=table, sizes=lambda given: given["tasks"])


if __name__ == "__main__":
    main()
