"""Where another method of ours is ahead of `auto` by more than 2 %: every metric, on every table, at three budgets.

    python benchmarks/ahead.py [--datasets adult ...] [--methods independent mst ...] [--epsilons 0.1 1 10] [--seeds 3] [--json]

One comparison is one metric of one method on one table at one epsilon; means over the seeds, on the rows and with the results
of methods_table.py, which are not measured twice. Metrics that a table does not have, or that are zero, are not compared.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import harness
import methods_table
from harness import DATA, bars, markdown, publish

AUTO = "auto"
METHODS = ("independent", "mst", "aim", "private-gsd", "rap", "gem", "mwem-pgm", "privpgd")
DATASETS = (
    "adult", "bank_marketing", "mushroom", "online_shoppers", "diamonds", "california_housing", "nist_national2019",
    "acs2024_wy_persons", "acs2024_wy_households", "acs2011_us_multitask", "acs2024_ny_income", "acs2024_ny_mobility",
    "acs2024_ny_multitask", "diabetes130",
)  # fmt: skip
EPSILONS = (0.1, 1.0, 10.0)
HIGHER = ("correlation", "inverse_kl", "f1")
"""Metrics of which more is better."""
COSTS = ("synthesis_cpu_s", "rss_mb")
AHEAD = 0.02
SHORT = {"datasets": ["mushroom"], "methods": ["independent"], "epsilons": [1.0], "seeds": 1, "delta": 1e-9}
FULL = {"datasets": DATASETS, "methods": METHODS, "epsilons": EPSILONS, "seeds": 3, "delta": 1e-9}


def gain(metric: str, mine: float, other: float) -> float:
    """By which part of `mine` the other is better; negative where it is worse."""
    return (other - mine if metric in HIGHER else mine - other) / abs(mine)


def gains(lines: Mapping[str, Mapping[str, float]]) -> Iterator[tuple[str, str, float]]:
    """Every comparison of one table: the method, the metric, and how far it is ahead of `auto`."""
    mine = lines.get(AUTO, {})
    for method, numbers in lines.items():
        if method != AUTO:
            for metric in methods_table.COLUMNS:
                if metric not in COSTS and mine.get(metric) and numbers.get(metric) is not None:
                    yield method, metric, gain(metric, mine[metric], numbers[metric])


def run(sizes: Mapping[str, Any], *, fresh: bool = False) -> dict[str, Any]:
    """Per epsilon: what is ahead, table by table, and how many comparisons that are, method by method."""
    if not DATA.is_dir():
        return {"absent": str(DATA)}
    found: dict[str, Any] = {}
    for epsilon in sizes["epsilons"]:
        asked = {
            "datasets": sizes["datasets"], "methods": [AUTO, *sizes["methods"]], "epsilon": epsilon, "learning": True,
            "delta": sizes["delta"], "seeds": sizes["seeds"],
        }  # fmt: skip
        tables = methods_table.run(asked, fresh=fresh)
        compared = [
            (name.split(",")[0], method, metric, ahead)
            for name, lines in tables.items()
            for method, metric, ahead in gains(lines)
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
