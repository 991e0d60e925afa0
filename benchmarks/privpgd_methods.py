"""All methods in PrivPGD's own setting: its six metrics, on the tables at hand, at the paper's three epsilons and one more (Tables 1 to 6).

    python benchmarks/privpgd_methods.py [--tables adult mushroom] [--methods auto mst] [--epsilons 2.5] [--seeds 3] [--json]

Each method runs as users run it, on four fifths of the rows (delta 1e-5, one row replaced); privpgd_table.py has the setting.
`--full` takes days on two cores; a second call does only what is missing.
"""

import time
from collections.abc import Iterable, Mapping
from typing import Any

import harness
from harness import DATA, Case, curves, publish

METHODS = (
    "privpgd", "private-gsd", "auto", "mst", "aim", "mwem-pgm", "independent", "rap", "gem", "rap++", "rap++-polished",
    "private-gsd-adaptive",
)  # fmt: skip
TABLES = (
    "adult", "acs2024_ny_income", "bank_marketing", "mushroom", "online_shoppers", "diamonds", "california_housing",
    "acs2024_ny_mobility", "acs2024_wy_persons", "nist_national2019", "diabetes130", "acs2024_ny_multitask",
)  # fmt: skip
EPSILONS = (0.2, 0.5, 1.0, 2.5)
METRICS = {
    "sw1": "SW1", "tv": "TV", "covariance": "covariance", "counting": "counting", "thresholding": "thresholding",
    "boosting": "boosting error",
}  # fmt: skip
COLUMNS = METRICS | {"fit_cpu_s": "CPU s", "fit_mb": "MB"}
TOLD = ("boosting", "covariance", "counting", "thresholding", "sw1", "tv")
"""The paper's metrics, in the order of its Tables 1 to 6."""
PAPER: dict[tuple[str, str], dict[float, tuple[float | None, ...]]] = {
    ("acs2024_ny_income", "privpgd"): {
        2.5: (0.19, 0.001, 0.00078, 0.00031, 0.00043, 0.028),
        1.0: (0.19, 0.0019, 0.00092, 0.00039, 0.0006, 0.042),
        0.2: (0.19, 0.0098, 0.0027, 0.00086, 0.0024, 0.15),
    },
    ("acs2024_ny_income", "private-gsd"): {
        2.5: (0.2, 0.0049, 0.0017, 0.00083, 0.00093, 0.045),
        1.0: (0.2, 0.0061, 0.0017, 0.00089, 0.00095, 0.046),
        0.2: (0.2, 0.0058, 0.0018, 0.0008, 0.001, 0.052),
    },
    ("acs2024_ny_mobility", "privpgd"): {
        2.5: (0.23, 0.0091, 0.0014, 0.00051, 0.0011, 0.056),
        1.0: (0.23, 0.021, 0.0029, 0.00085, 0.0026, 0.13),
        0.2: (0.24, 0.085, 0.014, 0.003, 0.011, 0.46),
    },
    ("acs2024_ny_mobility", "private-gsd"): {
        2.5: (0.24, 0.0092, 0.0013, 0.00068, 0.00055, 0.015),
        1.0: (0.24, 0.0096, 0.0012, 0.00049, 0.0006, 0.016),
        0.2: (0.24, 0.018, 0.0019, 0.00076, None, 0.035),
    },
    ("diabetes130", "privpgd"): {
        2.5: (0.4, 0.0013, 0.0013, 0.00042, 0.00084, 0.028),
        1.0: (0.4, 0.0033, 0.0026, 0.001, 0.002, 0.052),
        0.2: (0.42, 0.01, 0.013, 0.0045, 0.0082, 0.17),
    },
    ("diabetes130", "private-gsd"): {
        2.5: (0.41, 0.0017, 0.0017, 0.00026, 0.00067, 0.026),
        1.0: (0.41, 0.0036, 0.0024, 0.00096, None, 0.039),
        0.2: (0.41, 0.014, 0.0083, 0.0041, 0.011, 0.12),
    },
}
"""The paper's own figures on tables of the same kind: California over five years (seven times the rows), and another part of Diabetes."""
Numbers = Mapping[str, float]


def cases_of(tables: Iterable[str], methods: Iterable[str], epsilons: Iterable[float]) -> list[Case]:
    """One case per table, method and epsilon."""
    names = tuple(methods)
    return [
        Case(f"{table}, {method}, {epsilon:g}", {"table": table, "method": method, "epsilon": epsilon})
        for table in tables
        for epsilon in epsilons
        for method in names
    ]


SHORT = {"cases": cases_of(["mushroom"], ["independent", "auto"], [2.5]), "seeds": 1}
FULL = {"cases": cases_of(TABLES, METHODS, EPSILONS), "seeds": 3}


def work(settings: Mapping[str, Any], seed: int) -> dict[str, float]:
    """One method on one table at one epsilon."""
    from privpgd_table import Table
    from projection import costs

    from sundog.methods.loop import run as synthesise
    from sundog.methods.recipes import recipe_of
    from sundog.random.keys import key_of

    table = Table(seed, settings["table"], epsilon=settings["epsilon"])
    recipe = recipe_of(settings["method"])
    start = time.process_time()
    curator = table.curator(selects=recipe.rule.selects)
    released, state = synthesise(key_of(seed), curator, recipe=recipe, report=lambda _: None)
    rows = recipe.generator.sample(key_of(seed), state, rows=released.rows)
    spent = {"fit_cpu_s": time.process_time() - start, "fit_mb": costs()["made_mb"]}
    return spent | table.metrics(table.cells(rows))


def run(sizes: Mapping[str, Any], *, fresh: bool = False) -> dict[str, Any]:
    """The means over the seeds, case by case, and how often each method is the best."""
    if not DATA.is_dir():
        return {"absent": str(DATA)}
    result = harness.means("privpgd_methods", sizes, work=work, fresh=fresh)
    result |= {"best": best(result["cases"]), "paper": told(result["cases"])}
    publish("privpgd_methods", result, table=table(result), picture=picture(result["cases"]))
    return result


def best(lines: Mapping[str, Numbers]) -> dict[str, dict[str, int]]:
    """For every method, in how many tables and epsilons it has the lowest error, metric by metric."""
    cells: dict[tuple[str, str, str], dict[str, float]] = {}
    for name, numbers in lines.items():
        table_name, method, epsilon = name.split(", ")
        for metric in METRICS:
            cells.setdefault((table_name, epsilon, metric), {})[method] = numbers[metric]
    won: dict[str, dict[str, int]] = {}
    for (_, _, metric), errors in cells.items():
        counts = won.setdefault(min(errors, key=errors.__getitem__), dict.fromkeys(METRICS, 0))
        counts[metric] += 1
    return dict(sorted(won.items(), key=lambda each: -sum(each[1].values())))


def told(lines: Mapping[str, Numbers]) -> dict[str, dict[str, float]]:
    """The paper's figures of the cases that it has."""
    found = {}
    for name in lines:
        table_name, method, epsilon = name.split(", ")
        if values := PAPER.get((table_name, method), {}).get(float(epsilon)):
            found[name] = {key: value for key, value in zip(TOLD, values, strict=True) if value is not None}
    return found


def picture(lines: Mapping[str, Numbers]) -> str:
    """TV over epsilon, averaged over the tables that every method of the run has."""
    points: dict[str, dict[float, list[float]]] = {}
    for name, numbers in lines.items():
        _, method, epsilon = name.split(", ")
        points.setdefault(method, {}).setdefault(float(epsilon), []).append(numbers["tv"])
    means = {method: {at: sum(all_) / len(all_) for at, all_ in by.items()} for method, by in points.items()}
    return curves(means, x="epsilon", y="TV", log_x=True)


def table(result: Mapping[str, Any]) -> str:
    """One line per case, how often each method was the best, and the paper's own figures."""
    lines = harness.means_table(result, COLUMNS)
    if "absent" in result:
        return lines
    won = {method: counts | {"all": sum(counts.values())} for method, counts in result["best"].items()}
    parts = ["Best in", harness.markdown(won, METRICS | {"all": "all"}, first="method")]
    parts += ["The paper's own", harness.markdown(result["paper"], METRICS)] if result["paper"] else []
    return "\n\n".join([lines, *parts])


def main() -> None:
    """Run what was asked for."""
    parser = harness.options(__doc__)
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=list(TABLES))
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--epsilons", nargs="+", type=float, default=list(EPSILONS))
    parser.add_argument("--seeds", type=int, default=3)
    harness.command(
        parser, run=run, table=table,
        sizes=lambda given: {
            "cases": cases_of(given["tables"], given["methods"], given["epsilons"]), "seeds": given["seeds"]
        },
    )  # fmt: skip


if __name__ == "__main__":
    main()
