"""How long evaluation takes: all metrics but learning on up to 1,000,000 rows x 29 columns (ACS New York, resampled).

python benchmarks/evaluate_speed.py [--rows 200000] [--json]
"""

import itertools
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import harness
from harness import DATA, Case, bars, markdown, mean_by_case, publish

DATASET = "acs2024_ny_multitask"
PICTURED = {"all": "CPU s", "rss_mb": "peak MB"}
SHORT = {"rows": [50_000], "seeds": 1}
FULL = {"rows": [50_000, 200_000, 1_000_000], "seeds": 1}


def work(settings: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """Read, disclose and score; CPU seconds metric by metric."""
    import numpy as np
    from pyarrow import parquet

    from sundog.api.evaluate import evaluate_tables

    table = parquet.read_table(DATA / f"{DATASET}.parquet")
    random = np.random.default_rng(seed)
    real, made = (table.take(random.integers(0, len(table), settings["rows"])) for _ in range(2))
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / name for name in ("real.parquet", "made.parquet")]
        parquet.write_table(real, paths[0])
        parquet.write_table(made, paths[1])
        del table, real, made
        marks: list[tuple[str, float]] = []
        evaluate_tables(
            paths[0],
            {"made": paths[1]},
            schema=DATA / f"{DATASET}.schema.json",
            ledger=Path(folder) / "ledger.sqlite",
            learning=False,
            progress=lambda message: marks.append((message, time.process_time())),
        )
        marks.append(("end", time.process_time()))
    steps = {name.removeprefix("made: "): later - at for (name, at), (_, later) in itertools.pairwise(marks)}
    return steps | {"all": marks[-1][1] - marks[0][1]}


def run(sizes: Mapping[str, Any], *, fresh: bool = False) -> dict[str, Any]:
    """CPU seconds step by step, and memory, for every number of rows."""
    if not DATA.is_dir():
        return {"absent": str(DATA)}
    cases = [Case(f"{rows} rows", {"rows": rows}) for rows in sizes["rows"]]
    results = harness.run("evaluate_speed", cases, work=work, seeds=range(sizes["seeds"]), fresh=fresh)
    lines = mean_by_case(results)
    publish("evaluate_speed", lines, table=table(lines), picture=bars(lines, PICTURED))
    return lines


def table(result: Mapping[str, Any]) -> str:
    """One line per number of rows."""
    if "absent" in result:
        return f"the public tables are not there ({result['absent']}); nothing was run"
    steps = [name for name in dict.fromkeys(n for numbers in result.values() for n in numbers) if name != "rss_mb"]
    return markdown(result, {name: name for name in steps} | {"rss_mb": "peak MB"}, first="CPU s")


def main() -> None:
    parser = harness.options(__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=FULL["rows"])
    parser.add_argument("--seeds", type=int, default=1)
    harness.command(parser, run=run, table=table)


if __name__ == "__main__":
    main()
