"""What the parts and the constants of `auto` are worth: each left out or changed in turn, on several tables and budgets.

    python benchmarks/auto.py [--changes NAME ...] [--tables TABLE:EPSILON ...] [--seeds 3] [--json]

A figure is the mean over the seeds, divided by that of `auto` as it is: below one, the change would help. Four fifths of
the rows are synthesised, as in methods_table.py; no models are trained.
"""

import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import harness
import methods_table
from harness import DATA, Case, bars, markdown, mean_by_case, publish

METRICS = {name: methods_table.COLUMNS[name] for name in (
    "tv1", "tv2", "tv3", "prefix", "halfspace", "counting", "thresholding", "covariance", "sw1")}  # fmt: skip
TABLES = ("adult:1", "adult:0.1", "bank_marketing:1", "acs2024_wy_persons:1", "nist_national2019:1", "diamonds:0.3")
AS_IS = "as it is"
SHORT = {"tables": ("adult:1",), "changes": (AS_IS, "no common dependence", "no empirical Bayes"), "seeds": 1}


@contextmanager
def patched(module: str, **values: Any) -> Iterator[None]:
    """Constants of a module of the package changed for a while."""
    from importlib import import_module

    where = import_module(f"sundog.{module}")
    before = {name: getattr(where, name) for name in values}
    for name, value in values.items():
        setattr(where, name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(where, name, value)


def rule(**values: Any) -> Callable[[Any], Any]:
    """Another setting of the rule."""
    return lambda recipe: replace(recipe, rule=replace(recipe.rule, **values))


def binned(**values: Any) -> Callable[[Any], Any]:
    """Other bins for pairs."""
    return lambda recipe: replace(recipe, bins=replace(recipe.bins, **values))


def first(share: float) -> Callable[[Any], Any]:
    """Another share for the columns alone."""
    return lambda recipe: replace(recipe, first=replace(recipe.first, share=share))


def search(**values: Any) -> Callable[[Any], Any]:
    """Another effort of the search."""
    return lambda recipe: replace(recipe, generator=replace(recipe.generator, **values))


def _flat(values: Any, stddev: float, total: float) -> Any:
    from sundog.estimate.nonnegative import nonnegative

    return nonnegative(values.astype(float), total)


def _raked(table: Any, row: Any, column: Any, *, trend: Any = None) -> Any:
    """Negative cells emptied, then rows and columns scaled in turn."""
    from sundog.estimate.pairs.table_fit import raked

    return raked(table, row, column)


def _none_empty(values: Any, *, expected: Any, stddev: float) -> Any:
    return 0.0 * values


def _no_trends(cleaned: Any, observed: Any, *, sides: Any, stddevs: Any) -> Any:
    return [None] * len(cleaned)


def _anywhere(*_: Any, **__: Any) -> dict[str, Any]:
    return {}


CHANGES: dict[str, tuple[Callable[[Any], Any], Any]] = {
    AS_IS: (lambda recipe: recipe, nullcontext),
    "no common dependence": (lambda recipe: recipe, lambda: patched("estimate.pairs.factors", STRENGTH=1e9)),
    "no order in common dependence": (
        lambda recipe: recipe,
        lambda: patched("estimate.pairs.factors", LEVEL=1.0, CHANGE=0.0),
    ),
    "values anywhere in their cells": (
        lambda recipe: recipe,
        lambda: patched("generate.pooled.pooled_search", parts_of=_anywhere),
    ),
    "no empirical Bayes": (lambda recipe: recipe, lambda: patched("estimate.hierarchy", posterior_counts=_flat)),
    "no second resolution": (rule(coarse=1000), nullcontext),
    "no least-squares fit": (lambda recipe: recipe, lambda: patched("estimate.pairs.pool", fitted=_raked)),
    "no trends": (lambda recipe: recipe, lambda: patched("estimate.pairs.pool", trends=_no_trends)),
    "no empty cells": (lambda recipe: recipe, lambda: patched("estimate.pairs.pool", emptiness=_none_empty)),
    "numbers to predict cleaned like others": (lambda recipe: recipe, lambda: patched("estimate.pairs.pool", KEPT=0.0)),
    "targets that are all but fixed like others": (
        lambda recipe: recipe,
        lambda: patched("estimate.pairs.determined", NEAR=1e9),
    ),
    "labels that all but fix a target cleaned like others": (
        lambda recipe: recipe,
        lambda: patched("estimate.pairs.pool", near_targets=lambda released, leaves: {}),
    ),
    "no residuals": (rule(share_residuals=0.0), nullcontext),
    "no ties": (
        lambda recipe: recipe,
        lambda: patched("generate.pooled.pooled_search", dependencies=lambda released: []),
    ),
    "no order inside cells": (
        lambda recipe: recipe,
        lambda: patched("generate.pooled.pooled_search", followers=lambda released, pooled, leaves: ()),
    ),
    "no start along the tree": (
        lambda recipe: recipe,
        lambda: patched("generate.pooled.pooled_search", along_tree=lambda key, pooled, start: tuple(start.values())),
    ),
    "no search": (search(passes=1, tolerance=1.0), nullcontext),
    "strength 0.14": (lambda recipe: recipe, lambda: patched("estimate.pairs.factors", STRENGTH=0.14)),
    "strength 0.56": (lambda recipe: recipe, lambda: patched("estimate.pairs.factors", STRENGTH=0.56)),
    "columns 0.15": (first(0.15), nullcontext),
    "columns 0.35": (first(0.35), nullcontext),
    "columns 0.45": (first(0.45), nullcontext),
    "scores 0.02": (rule(share_scores=0.02), nullcontext),
    "scores 0.08": (rule(share_scores=0.08), nullcontext),
    "kappa 0.24": (rule(kappa=0.24), nullcontext),
    "kappa 0.48": (rule(kappa=0.48), nullcontext),
    "targets like others": (rule(target_weight=1.0), nullcontext),
    "targets 4 times": (rule(target_weight=4.0), nullcontext),
    "no wider tables": (rule(share_wider=0.0), nullcontext),
    "bins by mass": (binned(taper=1.0), nullcontext),
    "bins by roots": (binned(taper=0.5), nullcontext),
    "bins 12": (binned(most=12), nullcontext),
    "bins 24": (binned(most=24), nullcontext),
    "bins 32": (binned(most=32), nullcontext),
    "no finer bins": (binned(finest=1.0), nullcontext),
    "coarse 4": (rule(coarse=4), nullcontext),
    "coarse 8": (rule(coarse=8), nullcontext),
    "rare 0.0025": (binned(rare=0.0025), nullcontext),
    "rare 0.01": (binned(rare=0.01), nullcontext),
    "levels 3": (lambda recipe: recipe, lambda: patched("estimate.hierarchy", LEVELS=3)),
    "levels 5": (lambda recipe: recipe, lambda: patched("estimate.hierarchy", LEVELS=5)),
    "leaves 256": (lambda recipe: recipe, lambda: patched("estimate.hierarchy", LEAVES=256)),
    "trees from 12 codes": (lambda recipe: recipe, lambda: patched("estimate.hierarchy", MOST_SINGLE_CELLS=12)),
    "branch 2": (lambda recipe: recipe, lambda: patched("estimate.hierarchy", BRANCH=2, LEVELS=7)),
    "margins 1": (lambda recipe: recipe, lambda: patched("generate.pooled.pooled_search", MARGINS=1.0)),
    "passes 20": (search(passes=20, tolerance=0.01), nullcontext),
}
FULL = {"tables": TABLES, "changes": tuple(CHANGES), "seeds": 3}


def work(settings: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """Synthesise with the change, and compare with the real rows."""
    import sundog
    from sundog.methods import recipes as methods

    change, setting = CHANGES[settings["change"]]
    document, train, _ = methods_table.tables(settings["dataset"])
    methods.METHODS["changed"] = replace(change(methods.METHODS["auto"]), name="changed")
    with tempfile.TemporaryDirectory() as folder, setting():
        ledger = Path(folder) / "ledger.sqlite"
        fitted = sundog.Synthesizer(
            document, epsilon=settings["epsilon"], delta=1e-9, method="changed", seed=seed, ledger=ledger
        ).fit(train)
        found = sundog.evaluate_tables(train, {"made": fitted.sample()}, schema=document, ledger=ledger, learning=False)
    return {name: found.tables[0].scores[name].value for name in METRICS if name in found.tables[0].scores}


def run(sizes: Mapping[str, Any], *, fresh: bool = False) -> dict[str, Any]:
    """For every change the ratio to `auto` as it is, metric by metric, as a mean over tables and seeds."""
    if not DATA.is_dir():
        return {"absent": str(DATA)}
    ratios: dict[str, dict[str, float]] = {}
    changes = (AS_IS, *(name for name in sizes["changes"] if name != AS_IS))
    by_table: dict[str, dict[str, dict[str, float]]] = {}
    for table in sizes["tables"]:
        dataset, epsilon = table.split(":")
        cases = [
            Case(f"{table.replace(':', '-')}-{name.replace(' ', '-')}",
                 {"dataset": dataset, "epsilon": float(epsilon), "change": name})
            for name in changes
        ]  # fmt: skip
        means = mean_by_case(harness.run("auto", cases, work=work, seeds=range(sizes["seeds"]), fresh=fresh))
        base = means[cases[0].name]
        by_table[table] = {
            name: {metric: means[case.name][metric] / base[metric] for metric in METRICS if base.get(metric)}
            for name, case in zip(changes, cases, strict=True) if case.name in means
        }  # fmt: skip
    for name in changes:
        held = [lines[name] for lines in by_table.values() if name in lines]
        ratios[name] = {m: sum(line[m] for line in held if m in line) / len(held) for m in METRICS} if held else {}
    result = {"mean": ratios, "tables": by_table}
    publish("auto", result, table=table_of(result), picture=bars(ratios, METRICS))
    return result


def table(result: Mapping[str, Any]) -> str:
    """The mean over the tables, then each one."""
    return (
        f"the public tables are not there ({result['absent']}); nothing was run"
        if "absent" in result
        else table_of(result)
    )


def table_of(result: Mapping[str, Any]) -> str:
    """Markdown."""
    parts = [f"mean over the tables\n\n{markdown(result['mean'], METRICS, first='change')}"]
    parts += [f"{name}\n\n{markdown(lines, METRICS, first='change')}" for name, lines in result["tables"].items()]
    return "\n\n".join(parts)


def main() -> None:
    """Run what was asked for."""
    parser = harness.options(__doc__)
    parser.add_argument("--changes", nargs="+", default=list(CHANGES), choices=list(CHANGES), metavar="NAME")
    parser.add_argument("--tables", nargs="+", default=list(TABLES), metavar="TABLE:EPSILON")
    parser.add_argument("--seeds", type=int, default=3)
    harness.command(parser, run=run, table=table)


if __name__ == "__main__":
    main()
