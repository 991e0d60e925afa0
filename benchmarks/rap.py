"""RAP's own figures with our RAP, beside our other methods: errors of the ROUNDED rows on Adult, CPU seconds and memory.

    python benchmarks/rap.py [--parts reach cells epsilon workload queries rounds ...] [--seeds 3] [--json]

- reach: 64 random three-way marginals (338,899 cells) at epsilon 1, n' = 1000; every method measures what it usually does.
- cells: a workload of 25 million cells (64 five-way marginals), two rounds of two; it has to run.
- epsilon: the largest error of 64 three-way and 64 five-way marginals against epsilon (Figure 2).
- workload: the workload itself measured, more and more marginals, at epsilon 0.1 and 0.05 (Figures 3 and 4).
- queries: how many queries these workloads have (Figure 7).
- rounds: 16, 64 and all 364 three-way marginals measured at once (the budget divided by use, or equally), by ten rounds of three tables, by
  ten of a hundred cells, and all of them in as many rounds, against epsilon (the idea of Algorithm 2, under Figures 2 to 4).
- disjunctions: 64 tables of 1-out-of-3 queries against epsilon (Figure 10), answered by rows fitted to pairs, as by default, and by
  rows fitted to the queries themselves.
- ranges: 1,000 random prefixes of a label and two numbers, with bounds of their own, measured at once by `rap` and `rap++` at epsilon 1.
- rows: error and CPU seconds against the number of soft rows n' (Figure 6).
- oversampling: the error before rounding and after rounding every soft row this many times (Figure 5b).
- public: one half of the rows is private and `rap`, `gem` and `rap++` start from nothing, from the other half, from that half with every
  column shuffled, and from that half with the values of every second column exchanged (the last for the first, and so on): errors of all
  pairs of columns.

The paper measures single cells over rounds and reports the largest error; we measure whole tables once.
Needs the public tables in ../shared/data beside the repository. A second call does only what is missing.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import harness
from harness import DATA, Case, bars, curves, markdown, publish
from projection import COSTS, ERRORS, adult, costs, errors, exact, made, rounded_errors, synthesised

EPSILONS = (0.1, 0.25, 0.5, 1.0)
METHODS = ("rap", "gem", "auto", "mst", "independent")
HOWS = {
    16: ("at once", "equal shares", "every table"),
    64: ("at once", "equal shares", "tables", "cells"),
    364: ("at once", "tables"),
}
"""For numbers of marginals, in which ways they are measured."""
PARTS = {
    "reach": [Case(f"reach-{method}", {"part": "reach", "method": method}) for method in METHODS],
    "cells": [Case("cells", {"part": "cells"})],
    "epsilon": [
        Case(f"epsilon-{method}-{epsilon}", {"part": "epsilon", "method": method, "epsilon": epsilon})
        for method in ("rap", "auto")
        for epsilon in EPSILONS
    ],
    "workload": [
        Case(f"workload-{epsilon}-{marginals}", {"part": "workload", "epsilon": epsilon, "marginals": marginals})
        for epsilon in (0.1, 0.05)
        for marginals in (4, 16, 64)
    ],
    "queries": [
        Case(f"queries-{k}-{marginals}", {"part": "queries", "k": k, "marginals": marginals})
        for k in (3, 5)
        for marginals in (4, 16, 64, 256)
    ],
    "rounds": [
        Case(
            f"rounds-{marginals}-{how}-{epsilon}",
            {"part": "rounds", "how": how, "epsilon": epsilon, "marginals": marginals},
        )
        for epsilon in EPSILONS
        for marginals, hows in HOWS.items()
        for how in hows
    ],
    "disjunctions": [
        Case(f"disjunctions-{how}-{epsilon}", {"part": "disjunctions", "how": how, "epsilon": epsilon})
        for epsilon in EPSILONS
        for how in ("pairs", "asked")
    ],
    "ranges": [Case(f"ranges-{m}", {"part": "ranges", "method": m}) for m in ("rap", "rap++", "independent")],
    "rows": [Case(f"rows-{rows}", {"part": "rows", "rows": rows}) for rows in (50, 200, 1000, 2000)],
    "oversampling": [Case("oversampling", {"part": "oversampling"})],
    "public": [
        Case(
            f"public-{method}-{start}-{epsilon}",
            {"part": "public", "method": method, "start": start, "epsilon": epsilon},
        )
        for epsilon in (0.1, 1.0)
        for method in ("rap", "gem", "rap++")
        for start in ("nothing", "right", "shuffled", "exchanged")
    ],
}
ROUNDS: dict[str, dict[str, Any]] = {
    "at once": {"rounds": 1},
    "equal shares": {"rounds": 1},
    "tables": {"rounds": 10, "per_round": 3},
    "cells": {"rounds": 10, "per_round": 100, "candidates": "queries"},
    "every table": {"rounds": 16, "per_round": 1},
}
OVERSAMPLING = (1, 5, 20, 50)
COLUMNS = {"queries": "queries", **ERRORS, "max_3": "max, 3-way", "max_5": "max, 5-way", **COSTS}
SHORT = {"cases": [PARTS["reach"][0], PARTS["reach"][-1], PARTS["epsilon"][0], PARTS["rows"][0]], "seeds": 1}
FULL = {"cases": [case for part in PARTS.values() for case in part], "seeds": 3}


def random_marginals(schema: Any, *, k: int = 3, marginals: int = 64, bins: int = 33) -> Any:
    """Random k-way marginals; with 33 bins for wide numbers the 64 three-way ones have 338,899 cells."""
    from sundog.queries.workload import Workload

    return Workload.marginals(schema, k=k, sample=marginals, seed=0, bins=bins).queries


def reach(settings: Mapping[str, Any], seed: int) -> dict[str, float]:
    """The 64 three-way marginals by one method, at epsilon 1."""
    from sundog.methods.recipes import recipe_of

    schema, table, _ = adult()
    _, rows, spent = synthesised(schema, table, recipe=recipe_of(settings["method"]), epsilon=1.0, seed=seed)
    return rounded_errors(schema, table, random_marginals(schema), rows=rows) | spent


def cells(settings: Mapping[str, Any], seed: int) -> dict[str, float]:
    """Two rounds of two five-way marginals out of 25 million cells."""
    from sundog.generate import RelaxedProjection
    from sundog.generate.projection.adam import Descent
    from sundog.methods.recipe import First, Recipe
    from sundog.methods.workloads import one_way
    from sundog.select import WorstError

    schema, table, _ = adult()
    queries = random_marginals(schema, k=5, bins=17)
    recipe = Recipe(
        "rap", "", lambda _: queries, WorstError(rounds=2, per_round=2), RelaxedProjection(descent=Descent(steps=100)),
        first=First(one_way, share=0.2),
    )  # fmt: skip
    _, rows, spent = synthesised(schema, table, recipe=recipe, epsilon=1.0, seed=seed)
    total = sum(query.size for query in queries)
    return {"cells": total} | rounded_errors(schema, table, queries, rows=rows) | spent


def epsilon(settings: Mapping[str, Any], seed: int) -> dict[str, float]:
    """Figure 2: one fit, and the largest error of three- and five-way marginals."""
    from sundog.methods.recipes import recipe_of

    schema, table, _ = adult()
    recipe = recipe_of(settings["method"])
    _, rows, spent = synthesised(schema, table, recipe=recipe, epsilon=settings["epsilon"], seed=seed)
    three, five = (
        rounded_errors(schema, table, random_marginals(schema, k=k, bins=bins), rows=rows)
        for k, bins in ((3, 33), (5, 10))
    )
    return three | {"max_3": three["max"], "max_5": five["max"], "tv_5": five["tv"]} | spent


def workload(settings: Mapping[str, Any], seed: int) -> dict[str, float]:
    """Figures 3 and 4: the workload itself measured at once."""
    from sundog.select import Everything

    def asked(schema: Any) -> Any:
        return random_marginals(schema, marginals=settings["marginals"], bins=10)

    return _asked(Everything(), asked, epsilon=settings["epsilon"], seed=seed)


def queries(settings: Mapping[str, Any], seed: int) -> dict[str, float]:
    """Figure 7: the cells of a workload."""
    schema, _, _ = adult()
    asked = random_marginals(schema, k=settings["k"], marginals=settings["marginals"], bins=10)
    return {"queries": sum(query.size for query in asked)}


def rounds(settings: Mapping[str, Any], seed: int) -> dict[str, float]:
    """Algorithm 2 against one shot."""
    from sundog.select import Adaptive

    def asked(schema: Any) -> Any:
        return random_marginals(schema, marginals=settings["marginals"], bins=10)

    rule = Adaptive(**ROUNDS[settings["how"]])
    if settings["how"] == "equal shares":  # every cell counts as much as its table is small
        rule = rule.weighted(tuple(1 / query.size for query in asked(adult()[0])))
    return _asked(rule, asked, epsilon=settings["epsilon"], seed=seed)


def disjunctions(settings: Mapping[str, Any], seed: int) -> dict[str, float]:
    """Figure 10: at least one of three columns agrees."""
    from sundog.methods.recipes import recipe_of
    from sundog.queries import AtLeast
    from sundog.select import Everything

    def asked(schema: Any) -> Any:
        return tuple(AtLeast(marginal, 1) for marginal in random_marginals(schema, bins=10))

    if settings["how"] == "asked":
        return _asked(Everything(), asked, epsilon=settings["epsilon"], seed=seed)
    schema, table, _ = adult()
    _, rows, spent = synthesised(schema, table, recipe=recipe_of("rap"), epsilon=settings["epsilon"], seed=seed)
    return rounded_errors(schema, table, asked(schema), rows=rows) | spent


def ranges(settings: Mapping[str, Any], seed: int) -> dict[str, float]:
    """Prefixes whose bounds follow no bins."""
    from sundog.methods.recipes import recipe_of
    from sundog.queries.workload import Workload
    from sundog.select import Everything

    def asked(schema: Any) -> Any:
        return Workload.prefixes(schema, count=1000).queries

    recipe = recipe_of(settings["method"])
    if settings["method"] != "independent":
        return _asked(Everything(), asked, epsilon=1.0, seed=seed, generator=recipe.generator)
    schema, table, _ = adult()
    _, rows, spent = synthesised(schema, table, recipe=recipe, epsilon=1.0, seed=seed)
    return rounded_errors(schema, table, asked(schema), rows=rows) | spent


def _asked(
    rule: Any, asked: Callable[[Any], Any], *, epsilon: float, seed: int, generator: Any = None
) -> dict[str, float]:
    """Queries of three columns, measured as they are asked, as this rule has it: the errors of all of them."""
    from sundog.generate import RelaxedProjection
    from sundog.methods.recipe import First, Recipe
    from sundog.methods.workloads import one_way

    schema, table, _ = adult()
    queries, fitting = asked(schema), generator or RelaxedProjection()
    recipe = Recipe("rap", "", lambda _: queries, rule, fitting, first=First(one_way, share=0.2))
    _, rows, spent = synthesised(schema, table, recipe=recipe, epsilon=epsilon, seed=seed)
    return rounded_errors(schema, table, queries, rows=rows) | spent


def soft_rows(settings: Mapping[str, Any], seed: int) -> dict[str, float]:
    """Figure 6: another n'."""
    from sundog.methods.recipes import recipe_of

    schema, table, _ = adult()
    recipe = recipe_of("rap")
    recipe = replace(recipe, generator=replace(recipe.generator, rows=settings["rows"]))
    _, rows, spent = synthesised(schema, table, recipe=recipe, epsilon=1.0, seed=seed)
    return rounded_errors(schema, table, random_marginals(schema), rows=rows) | spent


def oversampling(settings: Mapping[str, Any], seed: int) -> dict[str, float]:
    """Figure 5b: 1000 soft rows before rounding, and each rounded this many times."""
    from sundog.methods.recipes import recipe_of
    from sundog.random.keys import key_of

    schema, table, _ = adult()
    queries, recipe = random_marginals(schema), recipe_of("rap")
    _, state = made(schema, table, recipe=recipe, epsilon=1.0, seed=seed)
    spent, real = costs(), exact(schema, table, queries)
    before = errors(real, [recipe.generator.answer(state, query) for query in queries])
    found = {"tv_soft": before["tv"], "max_soft": before["max"]}
    for times in OVERSAMPLING:
        rows = recipe.generator.sample(key_of(seed), state, rows=1000 * times)
        after = rounded_errors(schema, table, queries, rows=rows)
        found |= {f"tv_{times}": after["tv"], f"max_{times}": after["max"]}
    return found | spent


def public(settings: Mapping[str, Any], seed: int) -> dict[str, float]:
    """Rows of a half, from a start by the other half: the errors of all pairs."""
    import numpy as np

    from sundog.methods.recipes import recipe_of
    from sundog.queries.workload import Workload
    from sundog.sources import open_table

    schema, table, _ = adult()
    halves = np.array_split(np.random.default_rng(seed).permutation(table.num_rows), 2)
    private, other = (table.take(np.sort(half)) for half in halves)
    start = started(open_table(other).read(schema), settings["start"])
    recipe = recipe_of(settings["method"])
    chosen = {"recipe": recipe, "epsilon": settings["epsilon"], "seed": seed}
    _, rows, spent = synthesised(schema, private, **chosen, public=start)
    pairs = Workload.marginals(schema, k=2, bins=33).queries
    return rounded_errors(schema, private, pairs, rows=rows) | spent


def started(rows: Any, how: str) -> Any:
    """The public rows as they are, without any relation, or with wrong ones."""
    import numpy as np

    from sundog.domain.rows import Rows

    if how == "nothing":
        return None
    random, codes = np.random.default_rng(0), list(rows.codes)
    if how == "shuffled":
        codes = [random.permutation(own) for own in codes]
    if how == "exchanged":
        codes[::2] = [column.size - 1 - own for column, own in zip(rows.schema.columns[::2], codes[::2], strict=True)]
    return Rows(rows.schema, tuple(codes))


TASKS = {
    "reach": reach, "cells": cells, "epsilon": epsilon, "workload": workload, "queries": queries, "rounds": rounds,
    "disjunctions": disjunctions, "ranges": ranges, "rows": soft_rows, "oversampling": oversampling, "public": public,
}  # fmt: skip


def work(settings: Mapping[str, Any], seed: int) -> dict[str, float]:
    """One case."""
    return TASKS[settings["part"]](settings, seed)


def run(sizes: Mapping[str, Any], *, fresh: bool = False) -> dict[str, Any]:
    """The means over the seeds, case by case; also published as JSON, Markdown and pictures."""
    if not DATA.is_dir():
        return {"absent": str(DATA)}
    result = harness.means("rap", sizes, work=work, fresh=fresh, first_seed=1)
    lines = result["cases"]
    publish("rap", result, table=table(result), picture=bars(lines, COLUMNS))
    for name, (picture, x) in pictures(sizes["cases"], lines).items():
        publish(f"rap-{name}", result, table=table(result), picture=curves(picture, x=x, y="error", log_x=True))
    return result


def pictures(cases: Sequence[Case], lines: Mapping[str, Any]) -> dict[str, tuple[dict[str, dict[float, float]], str]]:
    """The figures: for each its lines and what runs along the bottom; those without any point are left out."""
    found: dict[str, tuple[dict[str, dict[float, float]], str]] = {}

    def point(picture: str, along: str, line: str, at: float, value: float) -> None:
        found.setdefault(picture, ({}, along))[0].setdefault(line, {})[at] = value

    for case in cases:
        numbers, settings = lines.get(case.name, {}), case.settings
        if not numbers:
            continue
        if settings["part"] == "epsilon":
            for k in (3, 5):
                point("epsilon", "epsilon", f"{settings['method']}, {k}-way", settings["epsilon"], numbers[f"max_{k}"])
        elif settings["part"] == "workload":
            name = f"epsilon {settings['epsilon']}"
            point("workload", "marginals", name, settings["marginals"], numbers["max"])
        elif settings["part"] == "queries":
            point("queries", "marginals", f"{settings['k']}-way", settings["marginals"], numbers["queries"])
        elif settings["part"] in ("rounds", "disjunctions"):
            picture = f"rounds-{settings['marginals']}" if settings["part"] == "rounds" else "disjunctions"
            point(picture, "epsilon", settings["how"], settings["epsilon"], numbers["max"])
        elif settings["part"] == "rows":
            point("rows", "soft rows", "TV", settings["rows"], numbers["tv"])
        elif settings["part"] == "oversampling":
            for times in OVERSAMPLING:
                point("oversampling", "copies of a soft row", "TV", times, numbers[f"tv_{times}"])
    return found


def table(result: Mapping[str, Any]) -> str:
    """One line per case; oversampling in a table of its own."""
    if "absent" in result:
        return f"the public tables are not there ({result['absent']}); nothing was run"
    lines = {name: numbers for name, numbers in result["cases"].items() if name != "oversampling"}
    parts = [markdown(lines, COLUMNS)]
    if "oversampling" in result["cases"]:
        names = {f"tv_{times}": f"TV, {times} copies" for times in ("soft", *OVERSAMPLING)}
        parts.append(markdown({"oversampling": result["cases"]["oversampling"]}, names))
    return "\n\n".join(["", *parts, *result["failed"]])


def main() -> None:
    parser = harness.options(__doc__)
    parser.add_argument("--parts", nargs="+", choices=tuple(PARTS), default=list(PARTS))
    parser.add_argument("--seeds", type=int, default=3)
    harness.command(parser, run=run, table=table, sizes=harness.of_parts(PARTS))


if __name__ == "__main__":
    main()
