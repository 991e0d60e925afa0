"""Engines: the marginals of benchmarks/counting.py, counted by every engine that can hold the table. Totals must be equal.

CPU seconds are those of all processes: Spark's are Java's and those of the Python workers; a database server's own are not ours. Peak memory
is that of the process that asks. An engine is started and counts a
table of ten rows first ("start": Java, workers, compiled code), and then the table. Clusters of one and of two workers, each
with one core, show what a second one is worth in elapsed time, where the machine has cores to spare.

    python benchmarks/engines.py [--rows 10000000] [--rows-per-unit K] [--engines NAME ...] [--fresh] [--json]
"""

import argparse
import hashlib
import json
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import counting
import harness
import psutil
import pyarrow.parquet
from harness import Case, bars, publish

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests"))  # a cluster on this machine, as the tests start it

SUMMARY = "105 two-way and 64 three-way marginals over 15 columns, by engine"
SHORT, FULL = (1_000_000, ("parquet", "spark files", "spark frame")), (10_000_000, None)
FEW = 10
TABLES = harness.RESULTS / "tables"
PICTURED = {"count_cpu_s": "counting, CPU s", "start_cpu_s": "start, CPU s"}
TARGET = (
    "target: Spark on files takes at most 1.5 times the CPU of Parquet here, beside its start; PostgreSQL at most 2 times in our process, "
    "in 700 MB"
)

Engine = Callable[[Path], Any]
"""The table in a Parquet file, in a form that can be opened."""


@contextmanager
def parquet() -> Iterator[Engine]:
    """This process."""
    yield str


@contextmanager
def spark_files(master: str = "local[2]") -> Iterator[Engine]:
    """Executors read stretches of the file."""
    from sundog.sources import OnSpark

    yield lambda path: OnSpark(str(path), master)


@contextmanager
def spark_frame() -> Iterator[Engine]:
    """A DataFrame: rows come through Java."""
    from sundog.sources.spark import session

    made = session.start("local[2]")
    yield lambda path: made.read.parquet(f"file://{path}")


@contextmanager
def cluster_of(workers: int) -> Iterator[Engine]:
    """A standalone cluster."""
    import spark_sessions

    os.environ |= spark_sessions.driver_environment()
    with (
        tempfile.TemporaryDirectory() as folder,
        spark_sessions.cluster(Path(folder), workers) as made,
        spark_files(made.address) as engine,
    ):
        yield engine


@contextmanager
def postgresql_server(counts: bool = False) -> Iterator[Engine]:
    """A server of our own, with a database per table; it streams the rows, or counts them. Its own CPU is not ours."""
    import postgresql
    from sundog.sources import OnServer

    with postgresql.server() as url:

        def engine(path: Path) -> Any:
            address = url.replace("///postgres", f"///t{hashlib.sha256(path.name.encode()).hexdigest()[:12]}")
            harness.measured(ingest, {"url": url, "address": address, "path": str(path)}, 0)
            return OnServer(address) if counts else address

        yield engine


def ingest(settings: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """A Parquet file as the only table of a new database."""
    import pyarrow as pa
    from pyarrow import parquet as files

    import postgresql

    name = settings["address"].partition("///")[2].partition("?")[0]
    postgresql.run(settings["url"], f"CREATE DATABASE {name}")
    with files.ParquetFile(settings["path"]) as file:
        rows = pa.RecordBatchReader.from_batches(file.schema_arrow, file.iter_batches())
        postgresql.ingest(settings["address"], "counting", rows)
    return {}


ENGINES: dict[str, Callable[[], AbstractContextManager[Engine]]] = {
    "parquet": parquet,
    "postgresql": postgresql_server,
    "postgresql counts": partial(postgresql_server, counts=True),
    "spark files": spark_files,
    "spark frame": spark_frame,
    "spark cluster of 1": partial(cluster_of, 1),
    "spark cluster of 2": partial(cluster_of, 2),
}
"""Every engine: what starts it and gives the tables that it holds."""


def work(settings: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """What one engine needs."""
    from sundog.domain.unit import PrivacyUnit
    from sundog.private.table import PrivateTable, open_private
    from sundog.queries import Counting

    schema, queries = counting.questions()
    bound = settings["rows_per_unit"]
    unit = PrivacyUnit() if bound is None else PrivacyUnit(column=schema.names[-1], rows=bound)

    def add_up(data: Any) -> Any:
        source = open_private(PrivateTable(data))
        source.check(schema.fields)
        wall, cpu = time.perf_counter(), cpu_seconds()
        size = sum(query.size for query in queries)
        found = source.add_up(schema, unit, add=Counting(queries), size=size)
        return found, time.perf_counter() - wall, cpu_seconds() - cpu

    before = cpu_seconds()
    with ENGINES[settings["engine"]]() as table_of:
        add_up(table_of(table_path(FEW, seed)))
        started = cpu_seconds() - before
        found, wall, cpu = add_up(table_of(table_path(settings["rows"], seed)))
    return {
        "engine": settings["engine"],
        "rows": int(found[: queries[0].size].sum()),
        "start_cpu_s": started,
        "count_cpu_s": cpu,
        "count_wall_s": wall,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10,
        "totals": hashlib.sha256(found.tobytes()).hexdigest(),
    }


def cpu_seconds() -> float:
    """The CPU seconds of this process and of all below it, also of those that are gone."""
    processes = [psutil.Process(), *psutil.Process().children(recursive=True)]
    times = []
    for process in processes:
        try:
            times.append(process.cpu_times())
        except psutil.Error:
            continue
    return sum(each.user + each.system + each.children_user + each.children_system for each in times)


def table_path(rows: int, seed: int) -> Path:
    """The table as a Parquet file, written once."""
    path = TABLES / f"counting-{rows}-{seed}.parquet"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part")
        counting.write_table({"path": str(part), "rows": rows}, seed)
        if rows == FEW:  # a row group per row: as many tasks as for a large table, so that every worker starts
            pyarrow.parquet.write_table(pyarrow.parquet.read_table(part), part, row_group_size=1)
        part.replace(path)
    return path


def run(
    sizes: tuple[int, Sequence[str] | None], *, rows_per_unit: int | None = None, fresh: bool = False
) -> dict[str, Any]:
    """The measurements of several engines."""
    rows, engines = sizes
    harness.measured(_write, {"rows": rows}, 0)
    cases = [
        Case(name.replace(" ", "-"), {"engine": name, "rows": rows, "rows_per_unit": rows_per_unit})
        for name in engines or ENGINES
    ]
    results = [line["result"] for line in harness.run("engines", cases, work=work, fresh=fresh) if "result" in line]
    if len({each["totals"] for each in results}) > 1:
        raise RuntimeError("engines: the totals differ")
    result = {"benchmark": "engines", "summary": SUMMARY, "rows_per_unit": rows_per_unit, "results": results}
    publish("engines", result, table=table(result), picture=bars({each["engine"]: each for each in results}, PICTURED))
    return result


def _write(settings: Mapping[str, Any], seed: int) -> dict[str, Any]:
    for rows in (FEW, settings["rows"]):
        table_path(rows, seed)
    return {}


def table(result: dict[str, Any]) -> str:
    """The measurements for people."""
    lines = [f"{'engine':20}{'rows':>12}{'start CPU s':>13}{'count CPU s':>13}{'elapsed s':>11}{'peak MB':>9}"]
    for each in result["results"]:
        figures = (
            f"{each['start_cpu_s']:13.1f}{each['count_cpu_s']:13.1f}{each['count_wall_s']:11.1f}{each['peak_mb']:9.0f}"
        )
        lines.append(f"{each['engine']:20}{each['rows']:12,}{figures}")
    return "\n".join([SUMMARY, *lines, "All totals are equal. " + TARGET])


def main() -> None:
    """Run this benchmark alone."""
    parser = argparse.ArgumentParser(description=SUMMARY)
    parser.add_argument("--rows", type=lambda text: int(float(text)), default=10_000_000)
    parser.add_argument("--rows-per-unit", type=int)
    parser.add_argument("--engines", nargs="+", choices=ENGINES, metavar="NAME", help=", ".join(ENGINES))
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--fresh", action="store_true", help="measure again what has results already")
    given = parser.parse_args()
    result = run((given.rows, given.engines), rows_per_unit=given.rows_per_unit, fresh=given.fresh)
    print(json.dumps(result) if given.json else table(result))


if __name__ == "__main__":
    main()
