"""How long `auto` takes and how much memory it needs, by the size of the table.

    python benchmarks/auto_speed.py [--sizes 1000000x30 ...] [--json]

The table is that of counting.py, as a Parquet file; writing it costs nothing here. Wider tables have its 15 columns again and again:
those of one repeat depend on each other, those of different repeats do not (`related`: how many measured pairs lie within one).
More rows than ten million are read from hard links to one file. At most a million rows are sampled: larger tables are written in parts.
"""

import os
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import counting
import harness
import numpy as np
from harness import Case, bars, markdown, mean_by_case, publish

COLUMNS = {"fit": "CPU s to fit", "cpu": "CPU s in all", "wall": "s", "rss_mb": "MB", "measured": "measured tables",
           "pairs": "of them pairs", "related": "related pairs"}  # fmt: skip
SHORT = {"sizes": ("100000x15",)}
FULL = {
    "sizes": (
        "100000x15",
        "1000000x15",
        "1000000x30",
        "10000000x15",
        "10000000x30",
        "100000000x15",
        "5000x200",
        "5000x1000",
    )
}
MOST_SAMPLED = 1_000_000


def document(columns: int) -> dict[str, Any]:
    """The schema: every column of counting.py, again with a number as often as there is room."""
    fields = counting.document()["fields"]
    return {"fields": [{**fields[k % 15], "name": _name(fields[k % 15]["name"], k)} for k in range(columns)]}


def _name(name: str, place: int) -> str:
    return name if place < 15 else f"{name} {place // 15 + 1}"


def _repeat(name: str) -> int:
    """Of which repeat of the 15 columns a column is."""
    last = name.rpartition(" ")[2]
    return int(last) if last.isdigit() else 1


def write(settings: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """The table as a file."""
    import pyarrow as pa
    from pyarrow import parquet

    random, writer = np.random.default_rng(seed), None
    for start in range(0, settings["rows"], counting.CHUNK):
        rows = min(counting.CHUNK, settings["rows"] - start)
        parts: dict[str, Any] = {}
        for place in range(0, settings["columns"], 15):
            parts |= {_name(name, place): column for name, column in counting.make_chunk(random, rows).items()}
        chunk = pa.table(parts).select([field["name"] for field in document(settings["columns"])["fields"]])
        writer = writer or parquet.ParquetWriter(settings["path"], chunk.schema)
        writer.write_table(chunk)
    writer.close()
    return {}


def work(settings: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """Synthesise the file."""
    import sundog

    with tempfile.TemporaryDirectory() as folder:
        written, size = Path(folder) / "data.parquet", min(settings["rows"], counting.MOST_IN_FILE)
        harness.measured(write, {**settings, "rows": size, "path": str(written)}, seed)
        for link in range(settings["rows"] // size):
            os.link(written, Path(folder) / f"part-{link}.parquet")
        cpu, wall = time.process_time(), time.monotonic()
        fitted = sundog.Synthesizer(
            document(settings["columns"]), epsilon=1.0, delta=1e-9, dataset="speed", ledger=Path(folder) / "ledger.db"
        ).fit(str(Path(folder) / "part-*.parquet"))
        fit = time.process_time() - cpu
        fitted.sample(min(settings["rows"], MOST_SAMPLED))
        pairs = [m.query.columns for m in fitted.released.measurements if len(m.query.columns) == 2]
        return {
            "fit": fit,
            "cpu": time.process_time() - cpu,
            "wall": time.monotonic() - wall,
            "measured": len(fitted.released.measurements),
            "pairs": len(pairs),
            "related": sum(len({_repeat(name) for name in names}) == 1 for names in pairs),
        }


def run(sizes: Mapping[str, Any], *, fresh: bool = False) -> dict[str, Any]:
    """One line a size."""
    cases = []
    for size in sizes["sizes"]:
        rows, columns = (int(float(part)) for part in size.split("x"))
        cases.append(Case(size, {"rows": rows, "columns": columns}))
    result = mean_by_case(harness.run("auto_speed", cases, work=work, fresh=fresh))
    publish("auto_speed", result, table=table(result), picture=bars(result, COLUMNS))
    return result


def table(result: Mapping[str, Any]) -> str:
    """Markdown."""
    return markdown(result, COLUMNS, first="rows x columns")


def main() -> None:
    """Run what was asked for."""
    parser = harness.options(__doc__)
    parser.add_argument("--sizes", nargs="+", default=list(FULL["sizes"]), metavar="ROWSxCOLUMNS")
    harness.command(parser, run=run, table=table)


if __name__ == "__main__":
    main()
