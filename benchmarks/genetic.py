"""Private-GSD's Reach: generations per second, CPU seconds to the early stop, average error, memory.

Adult (15 columns; epsilon 1, delta 1/n^2, one row replaced), from the private table to fitted rows: measuring, choosing,
noise, ledger and search are all included; compiling is not (it is done once per machine, then cached). Adaptive cases
choose 10 of 20,000 questions in each of 50 rounds. Each case and seed runs in a process of its own.

    python benchmarks/genetic.py [--cases categorical trees ...] [--rows 1000 10000 0] [--seeds 5] [--paper] [--json]

--rows 0 means as many rows as the table has; --paper uses the paper's operator (best of population).
"""

import time
from collections.abc import Mapping
from typing import Any

import answers_of
import harness
from harness import DATA, Case, bars, markdown, mean_by_case, publish

SUMMARY = "Private-GSD's Reach"
ADULT, ACS = "adult", "acs2024_ny_multitask"
CASES = {
    "categorical": {"data": ADULT, "what": "all 2-way categorical marginals"},
    "trees": {"data": ADULT, "what": "all 2-way binary trees, 5 levels"},
    "prefixes": {"data": ADULT, "what": "20,000 prefixes, 50 rounds x 10"},
    "halfspaces": {"data": ADULT, "what": "20,000 halfspaces, 50 rounds x 10"},
    "acs": {"data": ACS, "what": "ACS New York, 29 columns: all 2-way tables"},
}
TARGETS = {
    "categorical": {"generations_per_s": 20_000, "fit_cpu_s": 3, "mean_error": 0.0004, "peak_mb": 500},
    "trees": {"generations_per_s": 10_000, "fit_cpu_s": 5, "mean_error": 0.0004, "peak_mb": 500},
    "prefixes": {"fit_cpu_s": 60, "mean_error": 0.004, "peak_mb": 1000},
    "halfspaces": {"fit_cpu_s": 120, "mean_error": 0.008, "peak_mb": 1500},
    "acs": {"fit_cpu_s": 60},
}
COLUMNS = {
    "generations_per_s": "generations/s",
    "fit_cpu_s": "CPU s",
    "mean_error": "mean error",
    "max_error": "max error",
    "peak_mb": "MB",
    "loss_per_floor": "loss / noise floor",
    "generations": "generations",
}
SPEED_GENERATIONS = 10_000
OURS, PAPERS = "every improvement", "best of population"
SHORT = {"cases": ["categorical", "trees"], "rows": [1000], "seeds": 3, "operator": OURS}
FULL = {"cases": list(CASES), "rows": [1000, 10_000, 0], "seeds": 5, "operator": OURS}


def recipe_for(case: str, rows: int, *, operator: str) -> Any:
    """What the case measures, how it chooses, how it searches."""
    from sundog.estimate.bins import Bins
    from sundog.generate import Genetic
    from sundog.methods.recipe import First, Recipe
    from sundog.methods.workloads import one_way, two_way
    from sundog.queries.choosing import label_names
    from sundog.queries.workload import Workload
    from sundog.select import Everything, WorstError

    workloads = {
        "categorical": lambda schema: Workload.marginals(schema, k=2, columns=label_names(schema)).queries,
        "trees": lambda schema: Workload.trees(schema, levels=5).queries,
        "prefixes": lambda schema: Workload.prefixes(schema, count=20_000).queries,
        "halfspaces": lambda schema: answers_of.paper_halfspaces(schema, 20_000),
        "acs": two_way,
    }
    generator = Genetic(rows=rows or None, operator=operator)
    adaptive = case in ("prefixes", "halfspaces")
    rule = WorstError(rounds=50, per_round=10) if adaptive else Everything()
    first = First(one_way, 0.5 if adaptive else 0.25) if adaptive or case == "acs" else None
    bins = Bins() if case == "acs" else None
    return Recipe(case, "", workloads[case], rule, generator, first=first, bins=bins)


def work(settings: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """One run."""
    data = CASES[settings["case"]]["data"]
    recipe = recipe_for(settings["case"], settings["rows"], operator=settings["operator"])
    figures, released, state = answers_of.measured(
        recipe, answers_of.schema_of(data), data, epsilon=settings["epsilon"], seed=seed
    )
    outcome = state.outcome
    figures |= {"rows": len(state.rows), "generations": outcome.generations, "stop": outcome.stop}
    figures |= {"loss_per_floor": outcome.loss / outcome.noise_floor}
    return figures | {"generations_per_s": speed(recipe, state, released)}


def speed(recipe: Any, state: Any, released: Any) -> float:
    """Generations per CPU second of the search alone, from its start."""
    from dataclasses import replace

    from sundog.random.keys import key_of

    def seconds(generations: int) -> float:
        generator = replace(recipe.generator, rows=len(state.rows), window=1e9, generations=generations)
        begin = time.process_time()
        generator.fit(key_of(1), generator.init(key_of(0), released.schema), released=released)
        return time.process_time() - begin

    idle = min(seconds(0) for _ in range(3))
    return SPEED_GENERATIONS / max(seconds(SPEED_GENERATIONS) - idle, 1e-6)


def run(sizes: Mapping[str, Any], *, fresh: bool = False) -> dict[str, Any]:
    """The means over the seeds of every case and number of rows."""
    if not DATA.is_dir():
        return {"absent": str(DATA)}
    shared = {"operator": sizes["operator"], "epsilon": 1.0}
    cases = [
        Case(f"{case}-{rows or 'n'}", {"case": case, "rows": rows, **shared})
        for case in sizes["cases"]
        for rows in sizes["rows"]
    ]
    results = harness.run("genetic", cases, work=work, seeds=range(sizes["seeds"]), fresh=fresh)
    lines = mean_by_case(results)
    result = {"benchmark": "genetic", "summary": SUMMARY, "targets": TARGETS, "means": lines, "runs": results}
    publish("genetic", result, table=table(result), picture=bars(lines, COLUMNS))
    return result


def table(result: Mapping[str, Any]) -> str:
    """The means for people, then what was to be reached."""
    if "absent" in result:
        return f"the public tables are not there ({result['absent']}); nothing was run"
    lines = [f"{SUMMARY}, means over the seeds", "", markdown(result["means"], COLUMNS, first="case, N'"), ""]
    for case in dict.fromkeys(run["settings"]["case"] for run in result["runs"]):
        wanted = ", ".join(f"{COLUMNS[name]} {value:g}" for name, value in TARGETS[case].items())
        lines.append(f"{case}: {CASES[case]['what']}; to reach at N' = 1000: {wanted}")
    return "\n".join(lines)


def _chosen(given: dict[str, Any]) -> dict[str, Any]:
    operator = PAPERS if given.pop("paper") else OURS
    return {**given, "operator": operator}


def main() -> None:
    """Run this benchmark alone."""
    parser = harness.options(SUMMARY)
    parser.add_argument("--cases", nargs="+", choices=CASES, default=SHORT["cases"])
    parser.add_argument("--rows", type=int, nargs="+", default=[1000])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--paper", action="store_true", help="the paper's operator: the best of each population")
    harness.command(parser, run=run, table=table, sizes=_chosen)


if __name__ == "__main__":
    main()
