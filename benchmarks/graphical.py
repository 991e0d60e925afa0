"""The graphical-model methods against their targets: error of all two-way marginals, CPU seconds, memory.

    python benchmarks/graphical.py                             # mst on Adult, 3 seeds
    python benchmarks/graphical.py --method aim --seeds 1
    python benchmarks/graphical.py --table acs2024_ny_multitask --method mst aim --seeds 1 --json

The tables are public and lie beside the project (../shared/data). The error is the mean over all pairs of columns of
the L1 distance between the two-way marginals (numbers in 32 equal bins) of the synthetic and of the real rows; each run
is a process of its own, so that CPU seconds and memory are its own. The bootstrap of the real rows is the floor.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from itertools import combinations
from pathlib import Path
from typing import Any

DATA = Path(__file__).resolve().parents[1].parent / "shared" / "data"
LEFT_OUT = {"adult": ("split", "fnlwgt")}
SHORT = [("adult", "mst", 1)]
FULL = [
    ("adult", "mst", 3),
    ("adult", "aim", 3),
    ("acs2024_ny_multitask", "mst", 1),
    ("acs2024_ny_multitask", "aim", 1),
]
"""Table, method, number of seeds."""


def load(name: str) -> tuple[Any, str]:
    from sundog.schema import Schema

    document = json.loads((DATA / f"{name}.schema.json").read_text(encoding="utf-8"))
    document["fields"] = [field for field in document["fields"] if field["name"] not in LEFT_OUT.get(name, ())]
    return Schema.from_json(document), str(DATA / f"{name}.parquet")


def error(real: Any, other: Any) -> float:
    import numpy as np

    from sundog.queries import Marginal, answer

    distances = []
    for pair in combinations(real.schema.names, 2):
        query = Marginal.of(real.schema, *pair, bins=32)
        distances.append(np.abs(answer(query, real) / len(real) - answer(query, other) / len(other)).sum())
    return float(np.mean(distances))


def bootstrap(real: Any) -> float:
    import numpy as np

    from sundog.keys import key_of, uniforms
    from sundog.rows import Rows

    drawn = np.floor(uniforms(key_of(0), len(real)) * len(real)).astype(np.int64)
    return error(real, Rows(real.schema, tuple(codes[drawn] for codes in real.codes)))


def one(name: str, method: str, *, epsilon: float, delta: float, seed: int) -> dict[str, Any]:
    import sundog
    from sundog.sources import open_table

    schema, path = load(name)
    with tempfile.TemporaryDirectory() as folder:
        start = time.process_time()
        made = sundog.Synthesizer(
            schema, epsilon=epsilon, delta=delta, method=method, seed=seed, dataset=name, ledger=Path(folder) / "l.db"
        ).fit(path)
        rows = made.model.rows()
        cpu = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    real = open_table(path).read(schema)
    result = {"table": name, "method": method, "seed": seed, "cpuSeconds": cpu, "peakMB": peak}
    result |= {"error": error(real, rows), "measurements": len(made.released.measurements)}
    return result | {"columns": len(schema.names), "bootstrap": bootstrap(real)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--table", default="adult")
    parser.add_argument("--method", nargs="+", default=["mst"])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--seed", type=int, help="run one seed in this process (used by the command itself)")
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--delta", type=float, default=1e-9)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    if not (DATA / f"{given.table}.parquet").exists():
        sys.exit(f"The table {given.table} is not at {DATA}; it lies beside the project where benchmarks are run.")
    if given.seed is not None:
        budget = {"epsilon": given.epsilon, "delta": given.delta}
        print(json.dumps(one(given.table, given.method[0], seed=given.seed, **budget)))
        return
    sizes = [(given.table, method, given.seeds) for method in given.method]
    results = run(sizes, epsilon=given.epsilon, delta=given.delta)
    print(json.dumps(results) if given.json else table(results))


def run(sizes: list[tuple[str, str, int]], *, epsilon: float = 1.0, delta: float = 1e-9) -> list[dict[str, Any]]:
    budget = ["--epsilon", str(epsilon), "--delta", str(delta)]
    return [
        _child([*budget, "--table", name, "--method", method], seed) for name, method, n in sizes for seed in range(n)
    ]


def _child(options: list[str], seed: int) -> dict[str, Any]:
    command = [sys.executable, __file__, *options, "--seed", str(seed)]
    done = subprocess.run(
        command, check=True, capture_output=True, text=True, env=os.environ | {"OMP_NUM_THREADS": "2"}
    )
    return json.loads(done.stdout)


def table(results: list[dict[str, Any]]) -> str:
    lines = ["table                 method     seed  mean L1 of pairs  bootstrap  CPU s  peak MB  measurements"]
    for r in results:
        numbers = f"{r['error']:16.4f} {r['bootstrap']:10.4f} {r['cpuSeconds']:6.0f} {r['peakMB']:8.0f} {r['measurements']:13d}"
        lines.append(f"{r['table']:21} {r['method']:10} {r['seed']:4d}  {numbers}")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
