"""Counting: 105 two-way and 64 three-way marginals of a table of 15 columns, through the path that every run takes.

The made-up table (labels with a long tail, skewed decimals; 10 million rows are about 200 MB) is written as Parquet into
a temporary folder. It is then opened as a PrivateTable, and its source adds up all marginals in one pass; after that
the noise for all cells is drawn. Each part is timed in a process of its own, so that making the table costs nothing
here; the peak of memory is taken after counting. More rows than the file holds are read as hard links to it.

With --rows-per-unit the rows of each value of the last column count as one unit's and are bounded: the worst case for
sorting, since nearly every row is its own unit.

    python benchmarks/counting.py [--rows 10000000 ...] [--rows-per-unit K] [--fresh] [--json]
"""

import argparse
import json
import os
import resource
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import harness
import numpy as np
from harness import Case, bars, publish

SUMMARY = "105 two-way and 64 three-way marginals over 15 columns"
SHORT, FULL = (1_000_000, 10_000_000), (1_000_000, 10_000_000, 100_000_000)
MOST_IN_FILE = 10_000_000
CHUNK = 500_000
TARGET = {"rows": 10_000_000, "cpu_s": 15.0, "peak_mb": 600.0}

LABELS = {"sex": 2, "insured": 2, "triage": 5, "region": 8, "district": 12, "reason": 16, "ward": 20, "code": 60}
WHOLE = {"age": (0, 100), "minutes": (0, 600), "visits": (0, 50)}
DECIMAL = {"bmi": (10, 60, 3), "temperature": (34, 42, 3), "paid": (0, 2000, 2), "score": (0, 1, 6)}
PICTURED = {"count_cpu_s": "counting, CPU s", "peak_mb": "peak MB", "noise_cpu_s": "noise, CPU s"}
BINS, THREE_WAY, RHO = 16, 64, 0.1


def document() -> dict[str, Any]:
    """The schema of the table."""
    labels = [
        {"name": name, "type": "string", "categories": _labels(size), "constraints": {"required": True}}
        for name, size in LABELS.items()
    ]
    whole = [_bounded(name, "integer", low, high) for name, (low, high) in WHOLE.items()]
    decimal = [_bounded(name, "number", low, high, decimals=places) for name, (low, high, places) in DECIMAL.items()]
    return {"name": "counting", "fields": [*labels, *whole, *decimal]}


def _labels(size: int) -> list[str]:
    return [f"label {number:02d}" for number in range(size)]


def _bounded(name: str, kind: str, low: int, high: int, **extra: int) -> dict[str, Any]:
    bounds = {"minimum": low, "maximum": high}
    return {"name": name, "type": kind, "constraints": bounds, "sundog": {"bins": BINS, **extra}}


def make_chunk(random: np.random.Generator, rows: int) -> dict[str, Any]:
    """Some rows: long-tailed labels, skewed numbers that depend on one hidden number, a few missing values."""
    import pyarrow as pa

    hidden = random.random(rows)
    columns: dict[str, Any] = {}
    for name, size in LABELS.items():
        place = np.clip(size * (0.5 * hidden + 0.5 * random.random(rows)) ** 3, 0, size - 1).astype(np.int8)
        columns[name] = pa.DictionaryArray.from_arrays(pa.array(place), pa.array(_labels(size)))
    columns["age"] = (100 * np.sqrt(hidden * random.random(rows))).astype(np.int64)
    columns["minutes"] = np.minimum(random.gamma(1.5, 30.0, rows) * (1 + hidden), 600).astype(np.int64)
    columns["visits"] = np.minimum(random.geometric(0.3, rows), 50)
    columns["bmi"] = np.round(np.clip(random.normal(22 + 6 * hidden, 4, rows), 10, 60), 3)
    columns["temperature"] = np.round(36.5 + random.gamma(1.0, 0.5, rows), 3)
    columns["paid"] = np.where(random.random(rows) < 0.3, 0.0, np.round(random.lognormal(4, 1, rows), 2))
    columns["score"] = random.beta(2, 8, rows)
    columns["bmi"] = pa.array(columns["bmi"], mask=random.random(rows) < 0.1)
    return columns


def write_table(settings: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """The table as a Parquet file."""
    import pyarrow as pa
    from pyarrow import parquet

    random, rows, writer = np.random.default_rng(2 + seed), settings["rows"], None
    for start in range(0, rows, CHUNK):
        chunk = pa.table(make_chunk(random, min(CHUNK, rows - start)))
        writer = writer or parquet.ParquetWriter(settings["path"], chunk.schema)
        writer.write_table(chunk)
    if writer is not None:
        writer.close()
    return {}


def questions() -> tuple[Any, list[Any]]:
    """The schema, and the marginals."""
    from sundog.domain import Schema
    from sundog.queries import Marginal

    schema = Schema.from_json(document())
    triples = np.random.default_rng(0).permutation(list(combinations(schema.names, 3)))[:THREE_WAY]
    return schema, [Marginal.of(schema, *names) for names in [*combinations(schema.names, 2), *triples.tolist()]]


def count(data: str, rows_per_unit: int | None) -> dict[str, float]:
    """What one process needs to count everything and to draw the noise."""
    from sundog.domain.unit import PrivacyUnit
    from sundog.private import noise
    from sundog.private.table import PrivateTable, open_private
    from sundog.queries import add_all

    schema, queries = questions()
    cells = sum(query.size for query in queries)
    unit = PrivacyUnit() if rows_per_unit is None else PrivacyUnit(column=schema.names[-1], rows=rows_per_unit)

    def add_up(source: Any) -> np.ndarray:
        return source.add_up(schema, unit, add=lambda rows, out: add_all(queries, rows, out), size=cells)

    add_up(open_private(PrivateTable(make_chunk(np.random.default_rng(0), 10))))  # compile, as the first run ever does
    result: dict[str, float] = {"queries": len(queries), "cells": cells}
    source = open_private(PrivateTable(data))
    wall, cpu = time.perf_counter(), time.process_time()
    totals = add_up(source)
    result |= {"count_cpu_s": time.process_time() - cpu, "count_wall_s": time.perf_counter() - wall}
    result["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (
        2**20 if sys.platform == "darwin" else 2**10
    )
    result["rows"] = int(totals[: queries[0].size].sum())
    cpu = time.process_time()
    noise.add_gaussian(totals, noise.gaussian_scale(len(queries), RHO))
    return result | {"noise_cpu_s": time.process_time() - cpu}


def work(settings: Mapping[str, Any], seed: int) -> dict[str, float]:
    """Write the table in another process, and count it in this one."""
    rows, size = settings["rows"], min(settings["rows"], MOST_IN_FILE)
    with tempfile.TemporaryDirectory(prefix="sundog-counting-") as folder:
        written = Path(folder) / "table.parquet"
        harness.measured(write_table, {"path": str(written), "rows": size}, seed)
        for link in range(rows // size):
            os.link(written, Path(folder) / f"part-{link}.parquet")
        file_mb = round(written.stat().st_size / 1e6, 1)
        return {"file_mb": file_mb, **count(str(Path(folder) / "part-*.parquet"), settings["rows_per_unit"])}


def run(rows: Sequence[int], *, rows_per_unit: int | None = None, fresh: bool = False) -> dict[str, Any]:
    """The measurements for several numbers of rows."""
    cases = [Case(f"{wanted} rows", {"rows": wanted, "rows_per_unit": rows_per_unit}) for wanted in sorted(rows)]
    lines = harness.run("counting", cases, work=work, fresh=fresh)
    results = [line["result"] for line in lines if "result" in line]
    result = {"benchmark": "counting", "summary": SUMMARY, "target": TARGET, "results": results}
    publish(
        "counting", result, table=table(result), picture=bars({f"{e['rows']:,} rows": e for e in results}, PICTURED)
    )
    return result


def table(result: dict[str, Any]) -> str:
    """The measurements for people."""
    heads = ["rows", "count CPU s", "count wall s", "peak MB", "cells", "noise CPU s", "noise us/cell"]
    lines = ["  ".join(f"{head:>13}" for head in heads)]
    for each in result["results"]:
        per_cell = each["noise_cpu_s"] / each["cells"] * 1e6
        cells = [f"{each['rows']:,}", *(f"{each[key]:.1f}" for key in ("count_cpu_s", "count_wall_s", "peak_mb"))]
        cells += [f"{each['cells']:,}", f"{each['noise_cpu_s']:.1f}", f"{per_cell:.1f}"]
        lines.append("  ".join(f"{cell:>13}" for cell in cells))
    target = f"target at {TARGET['rows']:,} rows: {TARGET['cpu_s']:g} CPU s, {TARGET['peak_mb']:g} MB"
    return "\n".join([SUMMARY, *lines, target])


def main() -> None:
    """Run this benchmark alone."""
    parser = argparse.ArgumentParser(description=SUMMARY)
    parser.add_argument("--rows", type=lambda text: int(float(text)), nargs="+", default=[10_000_000])
    parser.add_argument("--rows-per-unit", type=int)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--fresh", action="store_true", help="measure again what has results already")
    given = parser.parse_args()
    result = run(given.rows, rows_per_unit=given.rows_per_unit, fresh=given.fresh)
    print(json.dumps(result) if given.json else table(result))


if __name__ == "__main__":
    main()
