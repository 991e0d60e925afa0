"""Limits: what a pass over the rows costs as rows, columns and cells grow, one at a time; and what a run of any size would.

The made-up table has columns of whole numbers, cut into equal bins; all pairs of columns are counted in one pass, and the noise of
all cells is drawn. Three costs are told apart: reading and encoding, per row and column; counting, per row and pair; noise,
per cell. `predicted` adds them up for a table that nobody has here.

    python benchmarks/limits.py [--fresh] [--json]
"""

import argparse
import json
import tempfile
import time
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import harness
import numpy as np
from harness import Case, curves, publish

SUMMARY = "one pass over all pairs of columns, by rows, columns and bins"
BASE = {"rows": 500_000, "columns": 30, "bins": 16}
AXES = {
    "rows": (250_000, 500_000, 1_000_000),
    "columns": (8, 15, 30, 60, 100),
    "bins": (4, 8, 16, 32, 64),
}
SHORT = {name: sizes[:3] for name, sizes in AXES.items()}
FULL = AXES
STEPS, GROUP, MOST_DRAWN = 1000, 1 << 17, 50_000
LARGE = {"rows": 10**10, "columns": 10**3, "bins": 16}


def work(settings: Mapping[str, Any], seed: int) -> dict[str, float]:
    """The three costs for one table."""
    from sundog.domain import Schema
    from sundog.domain.unit import PrivacyUnit
    from sundog.private import noise
    from sundog.private.table import PrivateTable, open_private
    from sundog.queries import Marginal, add_all

    rows, columns, bins = (settings[name] for name in ("rows", "columns", "bins"))
    bounds = {"minimum": 0, "maximum": STEPS - 1, "required": True}
    fields = [
        {"name": f"x{k}", "type": "integer", "constraints": bounds, "sundog": {"bins": bins}} for k in range(columns)
    ]
    schema = Schema.from_json({"name": "limits", "fields": fields})
    queries = [Marginal.of(schema, *pair) for pair in combinations(schema.names, 2)]
    cells = sum(query.size for query in queries)

    def seconds(data: Any, asked: Sequence[Any]) -> float:
        source, before = open_private(PrivateTable(data)), time.process_time()
        size = sum(query.size for query in asked)
        source.add_up(schema, PrivacyUnit(), add=lambda batch, out: add_all(asked, batch, out), size=size)
        return time.process_time() - before

    with tempfile.TemporaryDirectory(prefix="sundog-limits-") as folder:
        few, path = Path(folder) / "few.parquet", Path(folder) / "table.parquet"
        _write(few, 10, columns, seed)
        _write(path, rows, columns, seed)
        seconds(str(few), queries)  # compile
        encoded = seconds(str(path), [])
        counted = seconds(str(path), queries) - encoded
    before = time.process_time()
    noise.add_gaussian(np.zeros(min(cells, MOST_DRAWN), dtype=np.int64), 30.0)
    per_cell = (time.process_time() - before) / min(cells, MOST_DRAWN)
    return {
        "cells": cells,
        "encode_cpu_s": encoded,
        "count_cpu_s": counted,
        "noise_cpu_s": per_cell * cells,
        "encode_ns": encoded / rows / columns * 1e9,
        "count_ns": counted / rows / len(queries) * 1e9,
        "noise_us": per_cell * 1e6,
    }


def _write(path: Path, rows: int, columns: int, seed: int) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    random, names = np.random.default_rng(seed), [f"x{k}" for k in range(columns)]
    with parquet.ParquetWriter(path, pa.schema([(name, pa.int16()) for name in names])) as writer:
        for start in range(0, rows, GROUP):
            size = min(GROUP, rows - start)
            writer.write_table(pa.table({name: random.integers(0, STEPS, size, dtype=np.int16) for name in names}))


def run(axes: Mapping[str, Sequence[int]], *, fresh: bool = False) -> dict[str, Any]:
    """The curves, and what they say of a table that is too large to try."""
    cases = {f"{name} {size}": BASE | {name: size} for name, sizes in axes.items() for size in sizes}
    lines = harness.run(
        "limits", [Case(name.replace(" ", "-"), each) for name, each in cases.items()], work=work, fresh=fresh
    )
    results = [line["settings"] | line["result"] for line in lines if "result" in line]
    result = {"benchmark": "limits", "summary": SUMMARY, "results": results, "predicted": predicted(results, LARGE)}
    by_axis = {
        name: {each[name] / BASE[name]: each["count_cpu_s"] for each in results if _along(each, name)} for name in axes
    }
    picture = curves(by_axis, x="size against 500,000 rows, 30 columns, 16 bins", y="counting, CPU s", log_x=True)
    publish("limits", result, table=table(result), picture=picture)
    return result


def _along(each: Mapping[str, Any], name: str) -> bool:
    return all(each[other] == BASE[other] for other in BASE if other != name)


def predicted(results: Sequence[Mapping[str, Any]], size: Mapping[str, int]) -> dict[str, float]:
    """The costs of a table of another size, from the medians of the unit costs."""
    encode, count, draw = (
        float(np.median([each[name] for each in results])) for name in ("encode_ns", "count_ns", "noise_us")
    )
    pairs = size["columns"] * (size["columns"] - 1) // 2
    cells = pairs * size["bins"] ** 2
    return dict(size) | {
        "pairs": pairs,
        "cells": cells,
        "encode_cpu_s": size["rows"] * size["columns"] * encode * 1e-9,
        "count_cpu_s": size["rows"] * pairs * count * 1e-9,
        "noise_cpu_s": cells * draw * 1e-6,
        "totals_mb_per_task": cells * 8 / 2**20,
    }


def table(result: dict[str, Any]) -> str:
    """The measurements for people."""
    heads = [
        "rows",
        "columns",
        "bins",
        "cells",
        "encode CPU s",
        "count CPU s",
        "noise CPU s",
        "ns/cell read",
        "ns/row, pair",
        "us/cell drawn",
    ]
    lines = ["  ".join(f"{head:>13}" for head in heads)]
    for each in result["results"]:
        sizes = [f"{each[name]:,}" for name in ("rows", "columns", "bins", "cells")]
        costs = [
            f"{each[name]:.2f}"
            for name in ("encode_cpu_s", "count_cpu_s", "noise_cpu_s", "encode_ns", "count_ns", "noise_us")
        ]
        lines.append("  ".join(f"{cell:>13}" for cell in [*sizes, *costs]))
    told = ", ".join(f"{name} {value:.3g}" for name, value in result["predicted"].items())
    return "\n".join([SUMMARY, *lines, f"predicted: {told}"])


def main() -> None:
    """Run this benchmark alone."""
    parser = argparse.ArgumentParser(description=SUMMARY)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--fresh", action="store_true", help="measure again what has results already")
    given = parser.parse_args()
    result = run(FULL, fresh=given.fresh)
    print(json.dumps(result) if given.json else table(result))


if __name__ == "__main__":
    main()
