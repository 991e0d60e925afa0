"""What adjusting takes: CPU seconds, memory, optimality, and the error of drawing rows against the privacy noise.

    python benchmarks/adjust_speed.py [--sizes ROWS,COLUMNS,MEASURED ...] [--fresh] [--json]

A made-up table of correlated numbers, and a synthetic one in which they are less so. Measured with epsilon 1, delta 1e-9. The
aim at 307,511 rows and 10 columns (65 measures): 15 CPU seconds to a KKT residual of 1e-8, and 1 GB. Time is that of the
matching alone; memory is that of the whole process.
"""

import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import harness
from harness import Case, bars, markdown, mean_by_case, publish

COLUMNS = {
    "measures": "measures",
    "points": "distinct rows",
    "matching_cpu_s": "CPU s",
    "rss_mb": "MB",
    "kktResidual": "KKT residual",
    "newtonSteps": "Newton steps",
    "violation": "violation",
    "effectiveSampleShare": "rows worth",
    "largestErrorBefore": "error before",
    "noise": "privacy noise",
    "drawing": "error of drawing",
}
SHORT = {"sizes": [(50_000, 10, 10)]}
FULL = {"sizes": [(50_000, 10, 10), (307_511, 10, 10), (307_511, 104, 10), (10_000, 100, 62)]}
"""Rows, columns of the table, and how many of them are measured."""


def work(settings: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """Measure, and match once."""
    from sundog.api.adjust import Adjustment, TableToAdjust, chosen, measuring_terms
    from sundog.api.charging import curator_for
    from sundog.api.options import Charged, Consent, Privacy
    from sundog.domain import Schema
    from sundog.postprocess.match import match
    from sundog.postprocess.matching import Matching
    from sundog.private.table import PrivateTable
    from sundog.random.keys import key_of

    rows, columns = settings["rows"], settings["columns"]
    schema = Schema.from_json(_document(columns))
    measures = "correlations: " + ", ".join(f"c{k}" for k in range(settings["measured"]))
    synthetic = _table(rows, columns, strength=0.5, seed=seed)
    real = PrivateTable(_table(rows, columns, strength=0.7, seed=seed + 1))
    with tempfile.TemporaryDirectory() as folder:
        paid = {"privacy": Privacy(1.0, 1e-9), "charged": Charged(Path(folder) / "ledger.sqlite", "benchmark")}
        terms = measuring_terms("gaussian", measures, purpose=None)
        curator = curator_for(real, schema, **paid, consent=Consent(), terms=terms)
        plan = Adjustment.of(
            TableToAdjust(synthetic), measures, schema=schema, matching=Matching(closest=True), curator=curator
        )
        released = plan.measured(curator)
    measurements = chosen(released, plan.measures.queries)
    total = {"total": float(released.rows), "total_stddev": released.rows_stddev}
    start = time.process_time()
    done = match(key_of(seed), plan.rows, measurements=measurements, **total, matching=plan.matching)
    return done.describe() | {
        "measures": sum(m.query.size for m in measurements),
        "points": len(done.tilt.shares),
        "matching_cpu_s": time.process_time() - start,
        "noise": max(m.stddev / m.query.scale for m in measurements) / rows,
        "drawing": done.made - done.after,
    }


def _document(columns: int) -> dict[str, Any]:
    bounds = {"minimum": 0, "maximum": 999, "required": True}
    fields = [{"name": f"c{k}", "type": "integer", "constraints": bounds} for k in range(columns)]
    return {"name": "made up", "fields": fields}


def _table(rows: int, columns: int, *, strength: float, seed: int) -> Any:
    """Numbers that share a common part, so that all pairs have about the same correlation."""
    import numpy as np
    import pyarrow as pa

    random = np.random.default_rng(seed)
    common = random.normal(size=rows)
    made = {}
    for k in range(columns):
        value = strength * common + np.sqrt(1 - strength**2) * random.normal(size=rows)
        made[f"c{k}"] = np.clip(np.round(500 + 150 * value), 0, 999).astype(np.int64)
    return pa.table(made)


def run(sizes: Mapping[str, Any], *, fresh: bool = False) -> dict[str, Any]:
    """One line a size."""
    cases = [
        Case(
            f"{rows} rows, {columns} columns, {measured} measured",
            {"rows": rows, "columns": columns, "measured": measured},
        )
        for rows, columns, measured in sizes["sizes"]
    ]
    lines = mean_by_case(harness.run("adjust_speed", cases, work=work, fresh=fresh))
    pictured = {name: COLUMNS[name] for name in ("matching_cpu_s", "rss_mb", "noise", "drawing")}
    publish("adjust_speed", lines, table=table(lines), picture=bars(lines, pictured))
    return lines


def table(result: Mapping[str, Any]) -> str:
    """One line a size."""
    return "\n" + markdown(result, COLUMNS)


def _chosen(given: dict[str, Any]) -> dict[str, Any]:
    sizes = given["sizes"]
    return {"sizes": [tuple(map(int, size.split(","))) for size in sizes] if sizes else FULL["sizes"]}


def main() -> None:
    parser = harness.options(__doc__)
    parser.add_argument("--sizes", nargs="+", metavar="ROWS,COLUMNS,MEASURED", help="default: all")
    harness.command(parser, run=run, table=table, sizes=_chosen)


if __name__ == "__main__":
    main()
