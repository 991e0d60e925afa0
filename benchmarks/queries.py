"""Queries: exact answers of marginals, prefixes and halfspaces, and relaxed marginals with their gradients.

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

SUMMARY = "exact and relaxed answers of the classes of queries"
ROWS, CHUNK = 1_000_000, 65_536
SOFT_ROWS, GROWTH = 1000, (8, 16, 32, 64)
TARGETS = {
    "marginals": "64 three-way marginals of Adult: < 0.1 CPU s",
    "prefixes": "20,000 prefixes of Adult (no target)",
    "halfspaces-20k": "1,000 directions x 20 thresholds, 1M rows: <= 20 CPU s",
    "halfspaces-200k": "10,000 directions x 20 thresholds, 1M rows: <= 150 CPU s, <= 1000 MB",
    "relaxed": "64 three-way marginals of 1,000 soft rows, forward and backward: no compilation as the set grows",
    "trivial": "share of thresholds true of < 0.1 % or > 99.9 % of Adult's rows (RAP++ draws: 69 %)",
    "rounding": "100,000 rows x 20 columns of 16 cells (no target)",
}
SHORT = ("marginals", "prefixes", "halfspaces-20k", "relaxed", "trivial", "rounding")
FULL = tuple(TARGETS)
ON_ADULT = ("marginals", "prefixes", "relaxed", "trivial")
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
    from sundog.schema import Schema
    from sundog.sources import open_table

    schema = Schema.load(DATA / "adult.schema.json")
    return schema, open_table(str(DATA / "adult.parquet")).read(schema)


def fresh(rows: Any) -> Any:
    """The same rows, without what was worked out for earlier queries."""
    from sundog.rows import Rows

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
    from sundog.rows import Rows

    return Rows(rows.schema, tuple(codes[:count] for codes in rows.codes))


def marginals() -> dict[str, float]:
    """64 three-way marginals."""
    from sundog.workload import Workload

    return exact_on_adult(lambda schema: Workload.marginals(schema, k=3, sample=64, seed=0))


def prefixes() -> dict[str, float]:
    """20,000 prefixes of a label and two numbers."""
    from sundog.workload import Workload

    return exact_on_adult(lambda schema: Workload.prefixes(schema, count=20_000))


def embedded_schema() -> Any:
    """40 numbers and 12 columns of five labels: 100 places in the embedding."""
    from sundog.schema import Categorical, Numeric, Schema

    numbers = [Numeric(f"number {k}", "integer", 0, 9999) for k in range(40)]
    labels = [Categorical(f"label {k}", tuple("abcde")) for k in range(12)]
    return Schema((*numbers, *labels))


def halfspaces(directions: int) -> dict[str, float]:
    """So many directions with 20 thresholds each."""
    from sundog.rows import Rows
    from sundog.workload import Workload

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


def relaxed() -> dict[str, float]:
    """A growing set of marginals of soft rows: each step forward and backward, against a traced and compiled function."""
    import jax

    from sundog.relaxed_marginals import marginal_loss_and_gradient

    schema = adult()[0]
    from sundog.workload import Workload

    queries = Workload.marginals(schema, k=3, sample=GROWTH[-1], seed=0, bins=32).queries
    axes = list(dict.fromkeys(axis for query in queries for axis in query.axes))
    random = np.random.default_rng(0)
    blocks = [random.dirichlet(np.ones(axis.size), SOFT_ROWS).astype(np.float32) for axis in axes]
    places = [[axes.index(axis) for axis in query.axes] for query in queries]
    targets = [random.dirichlet(np.ones(query.size)).astype(np.float32) for query in queries]
    result: dict[str, float] = {"rows": SOFT_ROWS, "answers": sum(query.size for query in queries)}

    def step(count: int) -> None:
        weights = [1.0] * count
        marginal_loss_and_gradient(blocks, places[:count], targets=targets[:count], weights=weights)

    compiled: list[str] = []
    jax.monitoring.register_event_duration_secs_listener(
        lambda event, *_, **__: compiled.append(event) if event.endswith("backend_compile_duration") else None
    )
    step(1)
    for count in GROWTH:
        result[f"first_cpu_s_{count}"] = timed(lambda: step(count))  # noqa: B023
    result["cpu_s"] = sorted(timed(lambda: step(GROWTH[-1])) for _ in range(5))[2]
    result |= {"peak_mb_before_tracing": peak_mb(), "compilations": len(compiled)}
    compiled.clear()
    traced = jax.jit(jax.value_and_grad(_traced), static_argnums=1)
    problem = tuple((tuple(place), axes_shape) for place, axes_shape in zip(places, map(_shape, queries), strict=True))
    for count in GROWTH:
        work = lambda: jax.block_until_ready(traced(blocks, problem[:count], targets[:count]))  # noqa: B023, E731
        result[f"traced_first_cpu_s_{count}"] = timed(work)
        result["traced_cpu_s"] = sorted(timed(work) for _ in range(5))[2]
    return result | {"traced_compilations": len(compiled)}


def _shape(query: Any) -> tuple[int, ...]:
    return query.shape


def _traced(blocks: Any, problem: Any, targets: Any) -> Any:
    """The same loss, for jax to differentiate and compile."""
    import jax.numpy as jnp

    loss = 0.0
    for (places, shape), target in zip(problem, targets, strict=True):
        order = sorted(range(3), key=lambda k: shape[k])
        first, second, third = (blocks[places[k]] for k in order)
        left = (first[:, :, None] * second[:, None, :]).reshape(SOFT_ROWS, -1)
        error = left.T @ third / SOFT_ROWS - jnp.transpose(target.reshape(shape), order).reshape(left.shape[1], -1)
        loss = loss + (error**2).sum()
    return loss


def trivial() -> dict[str, float]:
    """How many thresholds say nothing, with uniform reference rows and with rows from one-way marginals at rho 0.003."""
    from sundog.keys import key_of
    from sundog.private.accountant import Budget
    from sundog.private.curator import Curator
    from sundog.private.ledger import Ledger
    from sundog.private.table import PrivateTable
    from sundog.queries import answer
    from sundog.reference import reference_rows
    from sundog.workload import Workload

    schema, rows = adult()
    with tempfile.TemporaryDirectory(prefix="sundog-queries-") as folder:
        ledger = Ledger(Path(folder) / "ledger.sqlite")
        table = PrivateTable(str(DATA / "adult.parquet"))
        curator = Curator(table, schema, budget=Budget(rho=0.003), dataset="adult", ledger=ledger)
        curator.measure(Workload.marginals(schema, k=1).queries, 0.003)
        reference = reference_rows(key_of(0), curator.released())
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


def rounding() -> dict[str, float]:
    """Both ways of rounding."""
    import jax.numpy as jnp

    from sundog.keys import key_of
    from sundog.rounding import round_independently, round_systematically
    from sundog.schema import Categorical, Schema
    from sundog.soft import Layout, SoftRows

    schema = Schema(tuple(Categorical(f"c{k}", tuple("abcdefghijklmnop")) for k in range(20)))
    random = np.random.default_rng(0)

    def soft(rows: int) -> SoftRows:
        values = tuple(jnp.asarray(random.dirichlet(np.ones(16), rows)) for _ in range(20))
        return SoftRows(Layout.of(schema), values, (None,) * 20)

    for way in (round_independently, round_systematically):
        way(key_of(0), soft(10))
    rows = soft(100_000)
    result = {"rows": 100_000, "answers": 20, "independent_cpu_s": timed(lambda: round_independently(key_of(1), rows))}
    return result | {"cpu_s": timed(lambda: round_systematically(key_of(1), rows))}


TASKS: dict[str, Callable[[], dict[str, float]]] = {
    "marginals": marginals,
    "prefixes": prefixes,
    "halfspaces-20k": lambda: halfspaces(1_000),
    "halfspaces-200k": lambda: halfspaces(10_000),
    "relaxed": relaxed,
    "trivial": trivial,
    "rounding": rounding,
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
