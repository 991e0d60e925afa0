"""Reading text: CPU seconds and peak memory for lines of 15 columns, by Sundog's reader and by the engine's own.

The table of `counting` is written as CSV into a temporary folder by another process. Then one process reads it and encodes
all rows, by the path that every run takes; for comparison, the same columns are encoded from DuckDB's CSV reader, which
Sundog used before and which cannot promise that one line touches no other.

    python benchmarks/reading.py [--rows 1000000 ...] [--fresh] [--json]
"""

import argparse
import json
import resource
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import harness
import numpy as np
from counting import CHUNK, document, make_chunk
from harness import Case, bars, publish

SUMMARY = "reading and encoding CSV lines of 15 columns"
SHORT, FULL = (1_000_000,), (1_000_000, 12_000_000)
READERS = ("sundog", "engine")
PICTURED = {"cpu_s": "CPU s", "peak_mb": "peak MB"}


def write_lines(settings: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """The table as a CSV file."""
    import pyarrow as pa
    from pyarrow import csv

    random, rows = np.random.default_rng(2 + seed), settings["rows"]
    with open(settings["path"], "wb") as file:
        for start in range(0, rows, CHUNK):
            chunk = pa.table(make_chunk(random, min(CHUNK, rows - start)))
            columns = [column.cast(pa.string()) for column in chunk.columns]
            plain = pa.table(columns, names=chunk.column_names)
            csv.write_csv(plain, file, csv.WriteOptions(include_header=start == 0, quoting_style="needed"))
    return {}


def engine_table(path: str, names: Sequence[str]) -> Any:
    """The file by the engine's own reader, as it was used before."""
    from sundog.sources.duck import DuckTable, connect
    from sundog.sources.encode import RawColumn, literal

    spec = ", ".join(f"'c{k}': 'VARCHAR'" for k in range(len(names)))
    relation = (
        f"read_csv({literal(path)}, columns={{{spec}}}, auto_detect=false, header=true, delim=',', quote='\"', "
        "escape='\"', strict_mode=false, null_padding=true, ignore_errors=true, parallel=false, "
        "allow_quoted_nulls=false, max_line_size=67108864, buffer_size=268435456)"
    )
    raw = {name: RawColumn(f"c{k}", "VARCHAR") for k, name in enumerate(names)}
    return DuckTable(connect(), relation, raw, label="the file")


def read(path: str, reader: str) -> dict[str, float]:
    """What one process needs to read and encode the file."""
    from sundog.domain import Schema
    from sundog.domain.unit import PrivacyUnit
    from sundog.sources import open_table

    schema = Schema.from_json(document())

    def count(rows: Any, out: np.ndarray) -> None:
        out[0] += len(rows)

    def add_up(data: str) -> np.ndarray:
        source = open_table(data) if reader == "sundog" else engine_table(data, schema.names)
        return source.add_up(schema, PrivacyUnit(), add=count, size=1)

    small = Path(path).with_name("small.csv")
    with open(path, "rb") as file:
        small.write_bytes(file.read(1 << 16))
    add_up(str(small))  # compile, as the first run ever does
    wall, cpu = time.perf_counter(), time.process_time()
    (rows,) = add_up(path).tolist()
    spent = {"cpu_s": time.process_time() - cpu, "wall_s": time.perf_counter() - wall}
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return {"rows": rows, **spent, "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit}


def work(settings: Mapping[str, Any], seed: int) -> dict[str, float]:
    """Write the file in another process, and read it in this one."""
    with tempfile.TemporaryDirectory(prefix="sundog-reading-") as folder:
        path = Path(folder) / "table.csv"
        harness.measured(write_lines, {"path": str(path), "rows": settings["rows"]}, seed)
        return {"file_mb": round(path.stat().st_size / 1e6, 1), **read(str(path), settings["reader"])}


def run(rows: Sequence[int], *, fresh: bool = False) -> dict[str, Any]:
    """The measurements for several numbers of lines."""
    cases = [
        Case(f"{reader}, {wanted} rows", {"rows": wanted, "reader": reader})
        for wanted in sorted(rows)
        for reader in READERS
    ]
    lines = harness.run("reading", cases, work=work, fresh=fresh)
    results = [line["result"] | {"reader": line["case"].partition(",")[0]} for line in lines if "result" in line]
    result = {"benchmark": "reading", "summary": SUMMARY, "results": results}
    shown = {f"{each['reader']}, {each['rows']:,} rows": each for each in results}
    publish("reading", result, table=table(result), picture=bars(shown, PICTURED))
    return result


def table(result: dict[str, Any]) -> str:
    """The measurements for people."""
    heads = ["reader", "rows", "file MB", "CPU s", "wall s", "peak MB"]
    lines = ["  ".join(f"{head:>12}" for head in heads)]
    for each in result["results"]:
        cells = [each["reader"], f"{each['rows']:,}"]
        cells += [f"{each[key]:.1f}" for key in ("file_mb", "cpu_s", "wall_s", "peak_mb")]
        lines.append("  ".join(f"{cell:>12}" for cell in cells))
    return "\n".join([SUMMARY, *lines])


def main() -> None:
    """Run this benchmark alone."""
    parser = argparse.ArgumentParser(description=SUMMARY)
    parser.add_argument("--rows", type=lambda text: int(float(text)), nargs="+", default=list(SHORT))
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--fresh", action="store_true", help="measure again what has results already")
    given = parser.parse_args()
    result = run(given.rows, fresh=given.fresh)
    print(json.dumps(result) if given.json else table(result))


if __name__ == "__main__":
    main()
