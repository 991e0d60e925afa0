"""The experiments of the Private-GSD paper (Liu, Tang, Vietri, Wu 2023) on the tables at hand: Figures 3 to 7 and 9, Tables 3 and 4.

    python benchmarks/private_gsd.py [--figures 3 4 5 6 7 9 table3 table4] [--datasets ...] [--epsilons ...] [--seeds 3] [--json]

Mean and largest error of each workload over epsilon (one row replaced, delta 1/n^2, all noise accounted for):

| figure | workload | chosen | methods |
|---|---|---|---|
| 3 | random prefixes | adaptively | private-gsd, rap++ |
| 4 | random halfspaces | adaptively | private-gsd, rap++ |
| 5 | all 2-way categorical marginals | all at once (mst and aim as they do) | private-gsd, rap, gem, mst, aim |
| 6 | all 2-way binary trees | all at once | private-gsd, rap, gem |
| 7 | all 3-way categorical marginals | adaptively | private-gsd, rap, gem, mwem-pgm |
| 9 | binary trees, all at once, or halfspaces, adaptively; also trees and pairs of labels | | private-gsd with each, rap++ with halfspaces |
| table3 | all 2-way binary trees, epsilon 1 | all at once | private-gsd over P_mut and P_cross |
| table4 | all 2-way binary trees, epsilon 1 | all at once | private-gsd over the cells that a candidate changes |

Figure 9 is the macro-F1 of logistic regression on held-out rows, four targets of ACS New York (acs_multitask.py). The paper's trees are of one label and
one number each, so that no two labels are related to each other; with pairs of labels they are.
The paper used five ACS tasks of California; here are those of New York, and Adult. It reports the best of several numbers of
rounds, which is a look at the private table that nobody paid for; here their number is fixed. RAP++ makes its choices in a
tenth of the rounds, as in the paper, with as many choices in all; `--choices 1000` per round are the paper's. Where queries are
chosen, single columns are measured first, with half of the budget, which the paper does not do.
"""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import acs_multitask
import answers_of
import harness
from harness import DATA, Case, curves, markdown, mean_by_case, publish
from projection import costs, load

FIGURES = {
    "3": ("random prefixes", ("private-gsd", "rap++")),
    "4": ("random halfspaces", ("private-gsd", "rap++")),
    "5": ("2-way categorical marginals", ("private-gsd", "rap", "gem", "mst", "aim")),
    "6": ("2-way binary trees", ("private-gsd", "rap", "gem")),
    "7": ("3-way categorical marginals", ("private-gsd", "rap", "gem", "mwem-pgm")),
    "9": (
        "F1 of four targets",
        ("private-gsd, trees", "private-gsd, trees and labels", "private-gsd, halfspaces", "rap++, halfspaces"),
    ),
    "table3": ("2-way binary trees over P_mut and P_cross", ("private-gsd",)),
    "table4": ("2-way binary trees over the rate of mutation and crossover", ("private-gsd",)),
}
ADAPTIVE, ONLY_LABELS = ("3", "4", "7"), ("5", "7")
LABELS_TOO = "trees and labels"
"""In Figure 9: the workload of Figure 6, and all pairs of labels."""
LEARNING, TRIVIAL = "9", "employed"
"""The figure about models, and the target that the paper leaves out of it: other columns give it away."""
FIGURE_OF = {"trees": "6", LABELS_TOO: "6", "halfspaces": "4"}
KINDS = {"f1": "f1", "f1_real": "real"}
POPULATIONS = ((10, 10), (50, 50), (100, 100), (50, 200), (500, 500))
RATES = (1, 2, 5, 10, 25)
"""Cells that a candidate changes, by mutation and by crossover alike; the paper's population (50, 50)."""
GENERATIONS = 100_000
"""The paper's limit for Table 4."""
ALONG = {"table3": "P_mut", "table4": "cells changed"}
COLUMNS = {
    "mean_error": "mean error", "max_error": "max error", "f1": "F1", "f1_real": "F1, real", "fit_cpu_s": "CPU s",
    "peak_mb": "MB",
}  # fmt: skip
POPULATIONS_OF: Mapping[str, Mapping[str, dict[str, int]]] = {
    "table3": {f"{m}-{c}": {"mutations": m, "crossovers": c} for m, c in POPULATIONS},
    "table4": {
        f"rate {rate}": {"mutations": 50, "crossovers": 50, "changes": rate, "generations": GENERATIONS, "rows": 1000}
        for rate in RATES
    },
}
SHORT = {
    "figures": ["3", "5", "6", "table3"],
    "datasets": ["acs2024_ny_mobility"],
    "epsilons": [1.0],
    "seeds": 1,
    "methods": ["private-gsd", "rap"],
    "queries": 2000,
    "rounds": 10,
    "choices": None,
}
FULL = {
    "figures": list(FIGURES),
    "datasets": ["acs2024_ny_mobility", "acs2024_ny_income", "adult"],
    "epsilons": [0.07, 0.23, 0.52, 0.74, 1.0],
    "seeds": 3,
    "methods": [],
    "queries": 20_000,
    "rounds": 50,
    "choices": None,
}


def recipe_for(settings: Mapping[str, Any]) -> Any:
    """How a method runs in a figure: its own generator, on the figure's workload, chosen as the figure says."""
    from sundog.methods.recipe import First, Recipe
    from sundog.methods.recipes import recipe_of
    from sundog.methods.workloads import one_way
    from sundog.select import Everything, WorstError

    figure, method = settings["figure"], recipe_of(settings["method"])
    generator, rule, first = method.generator, method.rule, First(one_way, 0.5)
    if method.name == "private-gsd":
        generator = replace(generator, **{"rows": 2000} | settings.get("population", {}))
    if figure in ADAPTIVE:
        fewer = 10 if method.name == "rap++" else 1
        rule = WorstError(rounds=max(1, settings["rounds"] // fewer), per_round=settings.get("choices", 10 * fewer))
    elif method.name not in ("mst", "aim"):
        rule, first = Everything(), None
    return Recipe(method.name, "", lambda schema: workload(settings, schema), rule, generator, first=first)


def workload(settings: Mapping[str, Any], schema: Any) -> Any:
    """The figure's queries."""
    from sundog.queries.workload import Workload

    match settings["figure"]:
        case "3":
            made = Workload.prefixes(schema, count=settings["queries"])
        case "4":
            return answers_of.paper_halfspaces(schema, settings["queries"])
        case "5" | "7":
            made = Workload.marginals(schema, k=2 if settings["figure"] == "5" else 3)
        case _:
            made = Workload.trees(schema, levels=5)
    return (*made.queries, *(pairs_of_labels(schema) if settings.get("labels") else ()))


def pairs_of_labels(schema: Any) -> Any:
    """The marginals of all pairs of label columns."""
    from sundog.domain import Categorical
    from sundog.queries.workload import Workload

    labels = [column.name for column in schema.columns if isinstance(column, Categorical)]
    return Workload.marginals(schema, k=2, columns=labels).queries


def work(settings: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """One run."""
    if settings["figure"] == LEARNING:
        return learned(settings, seed)
    schema = answers_of.schema_of(settings["dataset"], only_labels=settings["figure"] in ONLY_LABELS)
    recipe = recipe_for(settings)
    figures, _, _ = answers_of.measured(recipe, schema, settings["dataset"], epsilon=settings["epsilon"], seed=seed)
    return figures


def learned(settings: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """Figure 9: models learned from the rows of one method and one workload; one process, with starting and compiling."""
    from pyarrow import parquet

    from sundog.random.keys import key_of

    method, queries = settings["method"].split(", ")
    schema, train, _ = load(acs_multitask.DATASET)
    recipe = recipe_for(settings | {"method": method, "figure": FIGURE_OF[queries], "labels": queries == LABELS_TOO})
    with tempfile.TemporaryDirectory(prefix="sundog-benchmark-") as folder:
        file = Path(folder) / "train.parquet"
        parquet.write_table(train, file)
        released, state = answers_of.fitted(recipe, schema, file, epsilon=settings["epsilon"], seed=seed)
    rows = recipe.generator.sample(key_of(seed), state, rows=released.rows)
    spent = costs()
    scores = acs_multitask.scores(rows)
    names = [target for target in schema.targets if target != TRIVIAL]
    means = {key: sum(scores[f"{name}, {kind}"] for name in names) / len(names) for key, kind in KINDS.items()}
    return means | {"fit_cpu_s": spent["made_cpu_s"], "peak_mb": spent["made_mb"]}


def cases_of(figure: str, dataset: str, sizes: Mapping[str, Any]) -> list[Case]:
    """All runs of a figure on one table."""
    shared = {"figure": figure, "dataset": dataset, "queries": sizes["queries"], "rounds": sizes["rounds"]}
    if populations := POPULATIONS_OF.get(figure):
        fixed = shared | {"method": "private-gsd", "epsilon": 1.0}
        return [
            Case(f"{dataset}-{name}", fixed | {"population": population | {"operator": "best of population"}})
            for name, population in populations.items()
        ]
    methods = [method for method in FIGURES[figure][1] if not sizes["methods"] or method in sizes["methods"]]
    more = {"rap++": {"choices": sizes["choices"]}} if sizes["choices"] and figure in ADAPTIVE else {}
    return [
        Case(f"{dataset}-{method}-{epsilon:g}", shared | {"method": method, "epsilon": epsilon} | more.get(method, {}))
        for method in methods
        for epsilon in sizes["epsilons"]
    ]


def run(sizes: Mapping[str, Any], *, fresh: bool = False) -> dict[str, Any]:
    """Every figure on every table; also as Markdown and SVG files."""
    if not DATA.is_dir():
        return {"absent": str(DATA)}
    found: dict[str, Any] = {}
    for figure in sizes["figures"]:
        for dataset in sizes["datasets"] if figure != LEARNING else [acs_multitask.DATASET]:
            cases = cases_of(figure, dataset, sizes)
            results = harness.run(f"private_gsd-{figure}", cases, work=work, seeds=range(sizes["seeds"]), fresh=fresh)
            called = f"Table {figure[-1]}" if figure in POPULATIONS_OF else f"Figure {figure}"
            name = f"{called}: {FIGURES[figure][0]}, {dataset}"
            means = mean_by_case(results)
            found[name] = {case.removeprefix(f"{dataset}-"): numbers for case, numbers in means.items()}
            value = "f1" if figure == LEARNING else "mean_error"
            by_method = curve_of(cases, means, value)
            picture = curves(by_method, x=ALONG.get(figure, "epsilon"), y=COLUMNS[value], log_x=True)
            stem = f"private_gsd-{figure}-{dataset}"
            publish(stem, found[name], table=f"{name}\n\n{markdown(found[name], COLUMNS)}", picture=picture)
    return found


def curve_of(
    cases: Sequence[Case], means: Mapping[str, Mapping[str, float]], value: str
) -> dict[str, dict[float, float]]:
    """For every method this value over epsilon, over the number of mutations, or over how much each changes."""
    series: dict[str, dict[float, float]] = {}
    for case in cases:
        if case.name in means:
            population = case.settings.get("population")
            at = population.get("changes", population["mutations"]) if population else case.settings["epsilon"]
            series.setdefault(case.settings["method"], {})[at] = means[case.name][value]
    return series or {"nothing": {1.0: 0.0}}


def table(result: Mapping[str, Any]) -> str:
    """One table a figure and dataset."""
    if "absent" in result:
        return f"the public tables are not there ({result['absent']}); nothing was run"
    return "\n\n".join(f"{name}\n\n{markdown(lines, COLUMNS)}" for name, lines in result.items())


def main() -> None:
    """Run this benchmark alone."""
    parser = harness.options(__doc__)
    parser.add_argument("--figures", nargs="+", choices=FIGURES, default=FULL["figures"])
    parser.add_argument("--datasets", nargs="+", default=FULL["datasets"])
    parser.add_argument("--epsilons", nargs="+", type=float, default=FULL["epsilons"])
    parser.add_argument("--methods", nargs="+", default=[], help="default: all of the figure's")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--queries", type=int, default=FULL["queries"], help="random prefixes or halfspaces")
    parser.add_argument("--rounds", type=int, default=FULL["rounds"], help="of ten choices each")
    parser.add_argument("--choices", type=int, help="of rap++ in each of its rounds (default: 100)")
    harness.command(parser, run=run, table=table)


if __name__ == "__main__":
    main()
