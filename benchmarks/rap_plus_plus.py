"""RAP++'s own figures with our RAP++, beside our other methods: errors of the ROUNDED rows, CPU seconds and memory.

    python benchmarks/rap_plus_plus.py [--parts reach multitask annealing tasks rounds runtime columns] [--seeds 3] [--json]

- reach: Adult, epsilon 1, n' = 1000 and 2000: 28 class-conditional marginals and 20,000 linear thresholds measured; errors of the
  tables and of fresh thresholds, macro-F1 of logistic regression. `rap++-polished` adds the genetic search.
- multitask: ACS New York, 5 targets, macro-F1 of each (Figure 5): `rap++` with 200,000 thresholds (acs_multitask.py; on a GPU the
  steps there) beside other methods.
- annealing: 1000 two-way mixed marginals without noise from uniform rows, sigma annealed and fixed (Figure 1).
- tasks: per table, method and epsilon the error of mixed marginals that nobody measured (Figure 2), of class-conditional marginals of
  labels (Figure 7), macro-F1 (Figure 4) and CPU seconds. `rap, 30 bins` and `mwem-pgm, 30 bins` measure what the paper's RAP and PGM do: the
  target with every two other columns, numbers in 30 equal bins; all at once, and chosen in one round less than there are columns.
- rounds: the same with all that `rap++` measures chosen in rounds (5 of 3 tables and 5 of 100 thresholds, taking turns), and, as it
  does by default, at once.
- runtime: the same with the paper's numbers of rounds (7 of one table; 10 to 70 of 10 thresholds) and of bins for PGM (Figure 3).
- columns: no synthetic rows: what models of the real rows gain from numbers, target by target (Table 3), the paper's F1 beside.

Needs the public tables in ../shared/data beside the repository. A second call does only what is missing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import acs_multitask
import harness
import numpy as np
from harness import DATA, Case, bars, curves, publish
from projection import (
    COSTS,
    adult,
    costs,
    curator,
    exact,
    load,
    macro_f1,
    rounded_errors,
    synthesised,
)

FIXED = (4.0, 32.0, 256.0, 2048.0)
EPSILONS = (0.15, 1.0)
PAPER_F1 = {
    "income_gt_50k": (0.77, 0.93), "employed": (1.0, 1.0), "public_coverage": (0.77, 0.82), "commute_gt_20min": (0.78, 0.79),
    "same_house_1yr": (0.57, 0.58),
}  # fmt: skip
"""Of the paper's Table 3, target by target: F1 by labels alone, and by all columns."""
THRESHOLD_ROUNDS, PGM_BINS = (10, 30, 50, 70), (10, 20, 30, 50, 100)
BINNED = {"rap, 30 bins": ("rap", 30)} | {f"mwem-pgm, {bins} bins": ("mwem-pgm", bins) for bins in PGM_BINS}
"""The paper's RAP and PGM, which know numbers by equal bins: the method, and how many bins."""
METHODS = ("rap++", "rap, 30 bins", "mwem-pgm, 30 bins", "rap", "mwem-pgm", "mst", "auto")
MULTITASK = ("rap++", "mwem-pgm, 30 bins", "rap", "mwem-pgm", "mst", "auto")
TABLES = ("adult", "acs2024_ny_income")
RUNTIME = {f"rap++ in {rounds} rounds": (7, 1, rounds, 10) for rounds in THRESHOLD_ROUNDS}
ROUNDS = {
    name: dict(
        zip(("rule.rounds", "rule.per_round", "rule.threshold_rounds", "rule.thresholds_per_round"), how, strict=True)
    )
    for name, how in {"rap++ in rounds": (5, 3, 5, 100), **RUNTIME}.items()
}
"""Numbers of rounds and of choices in each, of tables and of thresholds."""


def _cases(part: str, methods: Sequence[str]) -> list[Case]:
    """Every table, method and epsilon."""
    return [
        Case(f"{part}-{name}-{method}-{epsilon}", {"part": part, "table": name, "method": method, "epsilon": epsilon})
        for name in TABLES
        for method in methods
        for epsilon in EPSILONS
    ]


PARTS = {
    "reach": [
        *(Case(f"reach-rap++-{rows}", {"part": "reach", "method": "rap++", "rows": rows}) for rows in (1000, 2000)),
        *(Case(f"reach-{m}", {"part": "reach", "method": m}) for m in ("rap++-polished", "rap", "auto")),
    ],
    "multitask": [
        Case(f"multitask-{method}-{epsilon}", {"part": "multitask", "method": method, "epsilon": epsilon})
        for method in MULTITASK
        for epsilon in EPSILONS
    ],
    "annealing": [
        Case(f"annealing-{sigma}", {"part": "annealing", "sigma": sigma})
        for sigma in ("annealed", *(f"{s:g}" for s in FIXED))
    ],
    "tasks": _cases("tasks", METHODS),
    "rounds": _cases("rounds", ("rap++", "rap++ in rounds")),
    "runtime": _cases("runtime", (*RUNTIME, *(f"mwem-pgm, {bins} bins" for bins in PGM_BINS))),
    "columns": [Case(f"columns-{target}", {"part": "columns", "target": target}) for target in PAPER_F1],
}
COLUMNS = {
    "tables_tv": "TV of tables", "fresh_mean": "fresh thresholds, mean", "fresh_max": "max", "mixed": "mixed marginals, mean",
    "labels": "label marginals, mean", "mean": "mean", "max": "max", "f1": "F1", "f1_real": "F1, real", "f1_labels": "F1, real, labels alone",
    "f1_paper": "the paper's F1", "f1_labels_paper": "the paper's, labels alone", **COSTS,
}  # fmt: skip
SHORT = {
    "cases": [PARTS["reach"][0], PARTS["annealing"][0], PARTS["annealing"][2], *PARTS["tasks"][3:4]],
    "seeds": 1,
}
FULL = {"cases": [case for part in PARTS.values() for case in part], "seeds": 3}


def reach(settings: Mapping[str, Any], seed: int) -> dict[str, float]:
    """The class-conditional marginals, fresh thresholds and logistic regression on Adult at epsilon 1."""
    from sundog.estimate.thresholds import reference_rows
    from sundog.methods.recipes import recipe_of
    from sundog.queries import answer
    from sundog.queries.workload import Workload

    schema, train, test = adult(whole=False)
    recipe = recipe_of(settings["method"])
    if "rows" in settings:
        recipe = replace(recipe, generator=replace(recipe.generator, rows=settings["rows"]))
    released, rows, spent = synthesised(schema, train, recipe=recipe, epsilon=1.0, seed=seed)
    tables = Workload.conditional_marginals(schema, k=2).queries
    fresh = Workload.conditional_thresholds(
        schema, directions=1000, thresholds=20, seed=77, reference=reference_rows(released)
    ).queries[0]
    apart = np.abs(exact(schema, train, [fresh])[0] - answer(fresh, rows) / len(rows)).reshape(-1, fresh.block)
    found = {"fresh_mean": float(apart[:, :-1].mean()), "fresh_max": float(apart.max())}
    found["tables_tv"] = rounded_errors(schema, train, tables, rows=rows)["tv"]
    return found | predicted(schema, train, test, rows=rows) | spent


def predicted(schema: Any, train: Any, test: Any, *, rows: Any) -> dict[str, float]:
    """Macro-F1 of the schema's first target."""
    target = schema.targets[0]
    found, real = (macro_f1(table, test, target, schema.targets) for table in (rows.to_arrow(), train))
    return {"f1": found, "f1_real": real}


def multitask(settings: Mapping[str, Any], seed: int) -> dict[str, float]:
    """Figure 5: five targets at once."""
    if settings["method"] == "rap++":
        return acs_multitask.work(settings, seed)
    schema, train, _ = load(acs_multitask.DATASET)
    recipe = recipe_by_name(settings["method"], schema)
    _, rows, spent = synthesised(schema, train, recipe=recipe, epsilon=settings["epsilon"], seed=seed)
    return spent | acs_multitask.scores(rows)


def annealing(settings: Mapping[str, Any], seed: int) -> dict[str, float]:
    """Figure 1: mixed marginals without noise, from uniform rows."""
    from sundog.estimate.thresholds import Thresholds
    from sundog.generate import AnnealedProjection
    from sundog.generate.projection.adam import Descent
    from sundog.generate.projection.rap_plus_plus import Annealing
    from sundog.queries.workload import Workload
    from sundog.random.keys import key_of

    schema, table, _ = load("acs2024_ny_mobility")
    held = curator(schema, table, epsilon=1000.0)
    held.measure(Workload.marginals(schema, k=1).queries, held.remaining_rho / 2)
    asked = Workload.prefixes(schema, count=1000, labels=1, numbers=1, seed=seed).queries
    queries = Thresholds().rebin(asked, held.released())
    held.measure(queries, held.remaining_rho)
    alone = tuple(m for m in held.released().measurements if len(m.query.columns) > 1)
    released = replace(held.released(), measurements=alone, public_rows=table.num_rows)
    sigma = settings["sigma"]
    how = Annealing(4.0, 4096.0, 0.01) if sigma == "annealed" else Annealing(float(sigma), float(sigma), 0.0)
    generator = AnnealedProjection(descent=Descent(steps=600), annealing=how)
    state = generator.fit(key_of(seed), generator.init(key_of(0), schema), released=released)
    rows = generator.sample(key_of(seed), state, rows=table.num_rows)
    return rounded_errors(schema, table, queries, rows=rows) | costs()


def tasks(settings: Mapping[str, Any], seed: int) -> dict[str, float]:
    """Figures 2, 3, 4 and 7: one table, one method, one epsilon."""
    from sundog.estimate.thresholds import Thresholds
    from sundog.queries.workload import Workload

    schema, train, test = adult(whole=False) if settings["table"] == "adult" else load(settings["table"])
    recipe = recipe_by_name(settings["method"], schema)
    _, rows, spent = synthesised(schema, train, recipe=recipe, epsilon=settings["epsilon"], seed=seed)
    asked = Workload.conditional_ranges(schema, count=5000, numbers=2, seed=7).queries
    mixed = Thresholds().rebin(asked, columns_of(schema, train))
    labels = Workload.conditional_marginals(schema, k=2).queries
    found = {
        name: rounded_errors(schema, train, queries, rows=rows)["mean"]
        for name, queries in (("mixed", mixed), ("labels", labels))
    }
    return found | predicted(schema, train, test, rows=rows) | spent


def columns(settings: Mapping[str, Any], seed: int) -> dict[str, float]:
    """Table 3: models of the real rows, by all columns and by labels alone."""
    from sundog.domain import Numeric

    schema, train, test = load(acs_multitask.DATASET)
    target, targets = settings["target"], schema.targets
    labels = [column.name for column in schema.columns if not isinstance(column, Numeric)]
    found = macro_f1(train.select(labels), test.select(labels), target, targets)
    told = dict(zip(("f1_labels_paper", "f1_paper"), PAPER_F1[target], strict=True))
    return {"f1_real": macro_f1(train, test, target, targets), "f1_labels": found} | told


def recipe_by_name(method: str, schema: Any) -> Any:
    """A named method, RAP++ in rounds, or the paper's RAP or PGM with binning."""
    from sundog.methods.recipes import recipe_of
    from sundog.methods.settings import with_settings
    from sundog.queries.workload import Workload

    if method in ROUNDS:
        return with_settings(recipe_of("rap++"), ROUNDS[method])
    if method not in BINNED:
        return recipe_of(method)
    name, bins = BINNED[method]
    recipe, tables = recipe_of(name), Workload.conditional_marginals(schema, columns=schema.names, bins=bins).queries
    if name == "mwem-pgm":
        recipe = with_settings(recipe, {"rule.rounds": len(schema.names) - 1})
    return replace(recipe, workload=lambda _: tables, bins=None)


def columns_of(schema: Any, table: Any) -> Any:
    """The columns alone, without noise worth mentioning: where the questions of Figure 2 are asked, the same for all."""
    from sundog.queries.workload import Workload

    held = curator(schema, table, epsilon=1e4)
    held.measure(Workload.marginals(schema, k=1).queries, held.remaining_rho)
    return held.released()


TASKS = {
    "reach": reach,
    "multitask": multitask,
    "annealing": annealing,
    "tasks": tasks,
    "rounds": tasks,
    "runtime": tasks,
    "columns": columns,
}


def work(settings: Mapping[str, Any], seed: int) -> dict[str, float]:
    """One case."""
    return TASKS[settings["part"]](settings, seed)


def run(sizes: Mapping[str, Any], *, fresh: bool = False) -> dict[str, Any]:
    """The means over the seeds, case by case; also published as JSON, Markdown and pictures."""
    if not DATA.is_dir():
        return {"absent": str(DATA)}
    result = harness.means("rap_plus_plus", sizes, work=work, fresh=fresh, first_seed=1)
    lines = result["cases"]
    publish("rap_plus_plus", result, table=table(result), picture=bars(lines, COLUMNS))
    for name, (picture, x, y) in pictures(sizes["cases"], lines).items():
        drawn = curves(picture, x=x, y=y, log_x=True)
        publish(f"rap_plus_plus-{name}", result, table=table(result), picture=drawn)
    return result


Picture = tuple[dict[str, dict[float, float]], str, str]


def pictures(cases: Sequence[Case], lines: Mapping[str, Any]) -> dict[str, Picture]:
    """The figures: for each its lines, and what runs along the bottom and up the side."""
    found: dict[str, Picture] = {}

    def point(picture: str, along: str, line: str, at: float, value: float, up: str) -> None:
        found.setdefault(picture, ({}, along, up))[0].setdefault(line, {})[at] = value

    for case in cases:
        numbers, settings = lines.get(case.name, {}), case.settings
        if not numbers:
            continue
        if settings["part"] == "annealing":
            annealed = settings["sigma"] == "annealed"
            for at in FIXED if annealed else (float(settings["sigma"]),):
                for kind in ("mean", "max"):
                    name = f"{kind}, {'annealed' if annealed else 'fixed'}"
                    point(f"annealing-{kind}", "sigma", name, at, numbers[kind], "error")
        elif settings["part"] in ("tasks", "runtime"):
            name, method, epsilon = settings["table"], settings["method"], settings["epsilon"]
            if settings["part"] == "runtime":
                line = f"{method.split()[0].strip(',')}, epsilon {epsilon:g}"
                point(f"runtime-{name}", "CPU s", line, numbers["made_cpu_s"], numbers["f1"], "macro-F1")
            else:
                point(f"mixed-{name}", "epsilon", method, epsilon, numbers["mixed"], "mean error")
                point(f"f1-{name}", "epsilon", method, epsilon, numbers["f1"], "macro-F1")
    return found


def table(result: Mapping[str, Any]) -> str:
    """One line per case."""
    return harness.means_table(result, COLUMNS)


def main() -> None:
    parser = harness.options(__doc__)
    parser.add_argument("--parts", nargs="+", choices=tuple(PARTS), default=list(PARTS))
    parser.add_argument("--seeds", type=int, default=3)
    harness.command(parser, run=run, table=table, sizes=harness.of_parts(PARTS))


if __name__ == "__main__":
    main()
