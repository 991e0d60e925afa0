"""Where another method of ours is ahead of `auto` by more than 2 %: every metric, on every table, at three budgets.

    python benchmarks/ahead.py [--datasets adult ...] [--methods independent mst ...] [--epsilons 0.1 1 10] [--seeds 3] [--json]

One comparison is one metric of one method on one table at one epsilon; means over the seeds, on the rows of methods_table.py.
All methods of a table are evaluated together, so that its baselines are scored once. Metrics that a table does not have, or that
are zero, are not compared; a method that fails is left out, and named.
"""

import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import harness
import methods_table
from harness import DATA, Case, bars, markdown, mean_by_case, publish

AUTO = "auto"
METHODS = ("independent", "mst", "aim", "private-gsd", "rap", "gem", "mwem-pgm", "privpgd")
DATASETS = (
    "adult", "bank_marketing", "mushroom", "online_shoppers", "diamonds", "california_housing", "nist_national2019",
    "acs2024_wy_persons", "acs2024_wy_households", "acs2011_us_multitask", "acs2024_ny_income", "acs2024_ny_mobility",
    "acs2024_ny_multitask", "diabetes130",
)  # fmt: skip
EPSILONS = (0.1, 1.0, 10.0)
COSTS = ("synthesis_cpu_s", "rss_mb")
AHEAD = 0.02
SHORT = {"datasets": ["mushroom"], "methods": ["independent"], "epsilons": [1.0], "seeds": 1, "delta": 1e-9}
FULL = {"datasets": DATASETS, "methods": METHODS, "epsilons": EPSILONS, "seeds": 3, "delta": 1e-9}


def gain(metric: str, mine: float, other: float) -> float:
    """By which part of `mine` the other is better; negative where it is worse."""
    from sundog.evaluate import LEARNING, REAL

    higher = {**REAL, **LEARNING}[metric].better == "higher"
    return (other - mine if higher else mine - other) / abs(mine)


def gains(lines: Mapping[str, Mapping[str, float]]) -> Iterator[tuple[str, str, float]]:
    """Every comparison of one table: the method, the metric, and how far it is ahead of `auto`."""
    mine = lines.get(AUTO, {})
    for method, numbers in lines.items():
        if method != AUTO:
            for metric in methods_table.COLUMNS:
                if metric not in COSTS and mine.get(metric) and numbers.get(metric) is not None:
                    yield method, metric, gain(metric, mine[metric], numbers[metric])


def work(settings: Mapping[str, Any], seed: int) -> dict[str, float]:
    """Every method's scores on one table at one epsilon, under "METHOD METRIC"."""
    import sundog
    from sundog.errors import UserError

    document, train, test = methods_table.tables(settings["dataset"])
    made = {}
    with tempfile.TemporaryDirectory() as folder:
        ledger = Path(folder) / "ledger.sqlite"
        for method in settings["methods"]:
            try:
                made[method], _ = methods_table.made(
                    {**settings, "method": method}, document, train, seed=seed, ledger=ledger
                )
            except UserError as error:
                print(f"ahead: {settings['dataset']}, {method}: {error}", file=sys.stderr, flush=True)
        found = sundog.evaluate_tables(train, made, schema=document, test=test, ledger=ledger, learning=True)
    return {
        f"{table.name} {metric}": score.value
        for table in found.tables
        for metric, score in table.scores.items()
        if metric in methods_table.COLUMNS
    }


def by_method(numbers: Mapping[str, float]) -> dict[str, dict[str, float]]:
    """The scores of every method."""
    found: dict[str, dict[str, float]] = {}
    for name, value in numbers.items():
        method, _, metric = name.rpartition(" ")
        found.setdefault(method, {})[metric] = value
    return found


def run(sizes: Mapping[str, Any], *, fresh: bool = False) -> dict[str, Any]:
    """Per epsilon: what is ahead, table by table, and how many comparisons that are, method by method."""
    if not DATA.is_dir():
        return {"absent": str(DATA)}
    found: dict[str, Any] = {}
    for epsilon in sizes["epsilons"]:
        shared = {"methods": [AUTO, *sizes["methods"]], "epsilon": epsilon, "delta": sizes["delta"]}
        cases = [Case(f"{dataset}-{epsilon:g}", {"dataset": dataset, **shared}) for dataset in sizes["datasets"]]
        results = harness.run("ahead", cases, work=work, seeds=range(sizes["seeds"]), fresh=fresh)
        compared = [
            (case.rpartition("-")[0], method, metric, ahead)
            for case, numbers in mean_by_case(results).items()
            for method, metric, ahead in gains(by_method(numbers))
        ]
        found[f"epsilon {epsilon:g}"] = {"counts": counts(compared), "ahead": words(compared)}
    pictured = {name: each["counts"]["all"] for name, each in found.items()}
    publish("ahead", found, table=table(found), picture=bars(pictured, {"share": "share ahead"}))
    return found


def counts(compared: Sequence[tuple[str, str, str, float]]) -> dict[str, dict[str, float]]:
    """Comparisons, and those in which the other is ahead, per method and in all."""
    lines = {}
    for method in (*dict.fromkeys(each[1] for each in compared), "all"):
        own = [each[3] for each in compared if method in (each[1], "all")]
        ahead = sum(value > AHEAD for value in own)
        lines[method] = {"compared": len(own), "ahead": ahead, "share": ahead / max(len(own), 1)}
    return lines


def words(compared: Sequence[tuple[str, str, str, float]]) -> dict[str, str]:
    """For every table, who is ahead in what, and by how much."""
    found: dict[str, dict[str, list[str]]] = {}
    for dataset, method, metric, ahead in compared:
        if ahead > AHEAD:
            named = f"{methods_table.COLUMNS[metric]} {100 * ahead:.0f}%"
            found.setdefault(dataset, {}).setdefault(method, []).append(named)
    return {
        dataset: "; ".join(f"{method} {', '.join(each)}" for method, each in methods.items())
        for dataset, methods in found.items()
    }


def table(result: Mapping[str, Any]) -> str:
    """Per epsilon, the counts and the words."""
    if "absent" in result:
        return f"the public tables are not there ({result['absent']}); nothing was run"
    parts = []
    for name, each in result.items():
        columns = {"compared": "comparisons", "ahead": "ahead of auto", "share": "share"}
        lines = [f"- {dataset}: {who}" for dataset, who in each["ahead"].items()]
        parts.append("\n".join([name, "", markdown(each["counts"], columns, first="method"), "", *lines]))
    return "\n\n".join(parts)


def main() -> None:
    parser = harness.options(__doc__)
    parser.add_argument("--datasets", nargs="+", choices=DATASETS, default=DATASETS)
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=METHODS)
    parser.add_argument("--epsilons", nargs="+", type=float, default=EPSILONS)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--delta", type=float, default=1e-9)
    harness.command(parser, run=run, table=table)


if __name__ == "__main__":
    main()
