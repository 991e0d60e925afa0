"""Private-GSD on public tables: generations per second, CPU seconds to the early stop, average error, memory.

Adult (15 columns; epsilon 1, delta 1/n^2, one row replaced), from the private table to fitted rows: measuring, choosing,
noise, ledger and search are all included; compiling is not (it is done once per machine, then cached). The average error
is the mean over all answers of the workload of |proportion on synthetic rows - proportion on the table|, against the
exact answers (these tables are public). Adaptive cases choose 10 of 20,000 questions in each of 50 rounds.
Each case runs in a process of its own.

    python benchmarks/genetic.py [--cases categorical trees ...] [--rows 1000 10000 0] [--seeds 3] [--paper] [--json]

--rows 0 means as many rows as the table has; --paper uses the paper's operator (best of population).
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

SUMMARY = "Private-GSD on public tables"
DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
ADULT, ACS = "adult", "acs2024_ny_multitask"
CASES = {
    "categorical": {"data": ADULT, "what": "all 2-way categorical marginals"},
    "trees": {"data": ADULT, "what": "all 2-way binary trees, 5 levels"},
    "prefixes": {"data": ADULT, "what": "20,000 prefixes, 50 rounds x 10"},
    "halfspaces": {"data": ADULT, "what": "20,000 halfspaces, 50 rounds x 10"},
    "acs": {"data": ACS, "what": "ACS, 29 columns: all 2-way tables"},
}
TARGETS = {
    "categorical": {"generations_per_s": 20_000, "cpu_s": 3, "error": 0.0004, "peak_mb": 500},
    "trees": {"generations_per_s": 10_000, "cpu_s": 5, "error": 0.0004, "peak_mb": 500},
    "prefixes": {"cpu_s": 60, "error": 0.004, "peak_mb": 1000},
    "halfspaces": {"cpu_s": 120, "error": 0.008, "peak_mb": 1500},
    "acs": {"cpu_s": 60},
}
SHORT = [(case, 1000, seed) for case in ("categorical", "trees") for seed in range(3)]
FULL = [(case, rows, seed) for case in CASES for rows in (1000, 10_000, 0) for seed in range(3)]


def schema_of(data: str) -> Any:
    """The table's schema; Adult without the column that splits it for prediction."""
    from sundog.schema import Schema

    document = json.loads((DATA / f"{data}.schema.json").read_text())
    document["fields"] = [field for field in document["fields"] if field["name"] != "split"]
    return Schema.from_json(document)


def recipe_for(case: str, rows: int, *, operator: str) -> Any:
    """What the case measures, how it chooses, how it searches."""
    from sundog.bins import Bins
    from sundog.generate import Genetic
    from sundog.methods import First, Recipe, one_way, two_way
    from sundog.select import Everything, WorstError
    from sundog.workload import Workload
    from sundog.workload.build import label_names

    workloads = {
        "categorical": lambda schema: Workload.marginals(schema, k=2, columns=label_names(schema)).queries,
        "trees": lambda schema: Workload.trees(schema, levels=5).queries,
        "prefixes": lambda schema: Workload.prefixes(schema, count=20_000).queries,
        "halfspaces": lambda schema: Workload.halfspaces(schema, directions=20_000, thresholds=1).queries,
        "acs": two_way,
    }
    generator = Genetic(rows=rows or None, operator=operator)
    adaptive = case in ("prefixes", "halfspaces")
    rule = WorstError(rounds=50, per_round=10) if adaptive else Everything()
    first = First(one_way, 0.5 if adaptive else 0.25) if adaptive or case == "acs" else None
    bins = Bins() if case == "acs" else None
    return Recipe(case, "", workloads[case], rule, generator, first=first, bins=bins)


def one_run(case: str, rows: int, seed: int, *, operator: str) -> dict[str, Any]:
    """One run in this process, after everything was compiled or loaded from the cache."""
    schema = schema_of(CASES[case]["data"])
    with tempfile.TemporaryDirectory(prefix="sundog-genetic-") as folder:
        fitted(case, schema, 1, seed=0, operator=operator, ledger=Path(folder) / "first.db", table=small(schema))
        wall, cpu = time.perf_counter(), time.process_time()
        table = DATA / f"{CASES[case]['data']}.parquet"
        recipe, released, state = fitted(
            case, schema, rows, seed=seed, operator=operator, ledger=Path(folder) / "ledger.db", table=table
        )
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
    result = {"case": case, "rows": len(state.rows), "seed": seed, "operator": operator, "cpu_s": cpu, "wall_s": wall}
    result |= {"peak_mb": peak, "generations": state.outcome.generations, "stop": state.outcome.stop}
    result |= {"loss": state.outcome.loss, "noise_floor": state.outcome.noise_floor}
    return result | speed(recipe, state, released) | errors(recipe, schema, state, released, table)


def fitted(case: str, schema: Any, rows: int, *, seed: int, operator: str, ledger: Path, table: Any) -> Any:
    """Spend epsilon 1 on a table and fit."""
    from sundog.keys import key_of
    from sundog.private.accountant import Budget
    from sundog.private.curator import Curator
    from sundog.private.ledger import Ledger
    from sundog.private.table import PrivateTable
    from sundog.synthesize import run
    from sundog.unit import PrivacyUnit

    recipe = recipe_for(case, rows, operator=operator)
    curator = Curator(
        PrivateTable(table),
        schema,
        budget=Budget(epsilon=1.0, delta=1 / rows_of(table) ** 2),
        dataset=case,
        unit=PrivacyUnit("replace"),
        accounting="zcdp" if recipe.rule.selects else "gaussian",
        ledger=Ledger(ledger),
    )
    return recipe, *run(key_of(seed), curator, recipe=recipe, report=lambda _: None)


def rows_of(table: Any) -> int:
    """The number of rows, which is public here."""
    from pyarrow import parquet

    return parquet.read_metadata(table).num_rows if isinstance(table, Path) else 50


def small(schema: Any) -> Any:
    """A little table to compile with."""
    from sundog.keys import key_of
    from sundog.workload.build import uniform_rows

    return uniform_rows(key_of(0), schema, 50).to_arrow()


def speed(recipe: Any, state: Any, released: Any) -> dict[str, float]:
    """Generations per CPU second of the search alone."""
    from dataclasses import replace

    from sundog.keys import key_of

    generator = replace(recipe.generator, rows=len(state.rows), window=1e9, generations=0)
    begin = time.process_time()
    generator.fit(key_of(1), generator.init(key_of(0), released.schema), released=released)
    idle, begin = time.process_time() - begin, time.process_time()
    generations = 2000
    replace(generator, generations=generations).fit(
        key_of(1), generator.init(key_of(0), released.schema), released=released
    )
    return {"generations_per_s": generations / max(time.process_time() - begin - idle, 1e-6)}


def errors(recipe: Any, schema: Any, state: Any, released: Any, table: Path) -> dict[str, float]:
    """The mean and largest error over all answers of the workload as it was asked."""
    from sundog.queries import answer
    from sundog.sources import open_table

    queries = recipe.workload(schema)
    if recipe.bins is not None:
        queries = recipe.bins.rebin(queries, released)
    rows = open_table(str(table)).read(schema)
    parts = [recipe.generator.answer(state, query) - answer(query, rows) / len(rows) for query in queries]
    difference = np.abs(np.concatenate(parts))
    return {"error": float(difference.mean()), "max_error": float(difference.max()), "answers": len(difference)}


def run(sizes: list[tuple[str, int, int]], *, operator: str = "every improvement") -> dict[str, Any]:
    """The measurements of several (case, rows, seed)."""
    if not (DATA / f"{ADULT}.parquet").exists():
        raise SystemExit(f"genetic: the public tables are not at {DATA}; put them there to run this benchmark.")
    results = []
    for size in sizes:
        command = [sys.executable, str(Path(__file__).resolve()), "--one", json.dumps([*size, operator])]
        results.append(json.loads(subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout))
        print(line(results[-1]), file=sys.stderr, flush=True)
    return {"benchmark": "genetic", "summary": SUMMARY, "targets": TARGETS, "results": results}


HEADS = ("case", "N'", "seed", "gen/s", "CPU s", "error", "max error", "peak MB", "loss", "generations")


def line(each: dict[str, Any]) -> str:
    """One run in one line."""
    shown = [
        each["case"],
        f"{each['rows']:,}",
        each["seed"],
        f"{each['generations_per_s']:,.0f}",
        f"{each['cpu_s']:.1f}",
    ]
    shown += [f"{each['error']:.6f}", f"{each['max_error']:.4f}", f"{each['peak_mb']:.0f}", f"{each['loss']:,.0f}"]
    return "  ".join(f"{cell!s:>11}" for cell in [*shown, f"{each['generations']:,}"])


def table(result: dict[str, Any]) -> str:
    """The measurements for people."""
    lines = ["  ".join(f"{head:>11}" for head in HEADS), *(line(each) for each in result["results"])]
    for case in dict.fromkeys(each["case"] for each in result["results"]):
        wanted = ", ".join(f"{name} {value:g}" for name, value in TARGETS[case].items())
        lines.append(f"{case}: {CASES[case]['what']}; target at N' = 1000: {wanted}")
    return "\n".join([SUMMARY, *lines])


def main() -> None:
    """Run this benchmark alone."""
    parser = argparse.ArgumentParser(description=SUMMARY)
    parser.add_argument("--cases", nargs="+", choices=CASES, default=["categorical", "trees"])
    parser.add_argument("--rows", type=int, nargs="+", default=[1000])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--paper", action="store_true", help="the paper's operator: the best of each population")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--one", type=json.loads, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        case, rows, seed, operator = given.one
        print(json.dumps(one_run(case, rows, seed, operator=operator)))
        return
    sizes = [(case, rows, seed) for case in given.cases for rows in given.rows for seed in range(given.seeds)]
    result = run(sizes, operator="best of population" if given.paper else "every improvement")
    print(json.dumps(result) if given.json else table(result))


if __name__ == "__main__":
    main()
