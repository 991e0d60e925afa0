"""Foretold against found errors: what `sundog plan` says before, and what `evaluate` finds after, table by table.

The constants of the plan (sundog/methods/plan.py) were fitted to the tables marked so; the others test it. Found errors are
total variation of single columns (TV1) and of pairs (TV2), of the synthetic rows of `auto` to all real rows.

python benchmarks/plan.py [--epsilon 0.1 1 3] [--seeds 1] [--tables adult ...] [--json]
"""

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import harness
from harness import DATA, Case, bars, markdown, mean_by_case, publish

DELTA = 1e-9
FITTED = (
    "adult",
    "acs2024_wy_persons",
    "mushroom",
    "california_housing",
    "bank_marketing",
    "online_shoppers",
    "nist_national2019",
)
TESTED = (
    "acs2024_wy_households",
    "diamonds",
    "acs2024_ny_income",
    "acs2024_ny_mobility",
    "acs2011_us_multitask",
    "diabetes130",
)
SHORT: dict[str, Any] = {"epsilon": [1.0], "seeds": 1, "tables": ["mushroom", "acs2024_wy_households"]}
FULL: dict[str, Any] = {"epsilon": [0.1, 1.0, 3.0], "seeds": 1, "tables": [*FITTED, *TESTED]}
COLUMNS_WITHIN, PAIRS_WITHIN = 0.25, 0.40


def work(settings: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """Plan, synthesize, compare."""
    from pyarrow import parquet

    import sundog
    from sundog.domain import Schema
    from sundog.evaluate.base import Comparison
    from sundog.evaluate.total_variation import TotalVariation
    from sundog.sources import open_table

    schema = Schema.load(DATA / f"{settings['table']}.schema.json")
    table = parquet.read_table(DATA / f"{settings['table']}.parquet")
    real = open_table(table).read(schema)
    foretold = sundog.plan(schema, rows=len(real), epsilon=settings["epsilon"], delta=DELTA).budgets[0].expected
    with tempfile.TemporaryDirectory() as folder:
        made = sundog.Synthesizer(
            schema,
            epsilon=settings["epsilon"],
            delta=DELTA,
            dataset="plan",
            seed=seed,
            ledger=Path(folder) / "ledger",
            confirmed=True,
            accept_unreviewed=True,
        ).fit(table)
    found = Comparison(real, made.model.rows())
    one, two = (TotalVariation(ways).score(found).value for ways in (1, 2))
    return {
        "columns predicted": foretold.column_error,
        "columns found": one,
        "columns ratio": foretold.column_error / one,
        "pairs predicted": foretold.pair_error,
        "pairs found": two,
        "pairs ratio": foretold.pair_error / two,
    }


def run(sizes: Mapping[str, Any], *, fresh: bool = False) -> dict[str, Any]:
    """One line per table and epsilon, and how many are within the bounds."""
    if not DATA.is_dir():
        return {"absent": str(DATA)}
    cases = [
        Case(f"{table}, epsilon {epsilon:g}", {"table": table, "epsilon": epsilon})
        for table in sizes["tables"]
        for epsilon in sizes["epsilon"]
    ]
    lines = mean_by_case(harness.run("plan", cases, work=work, seeds=range(sizes["seeds"]), fresh=fresh))
    for name, chosen in (("all tables", (*FITTED, *TESTED)), ("fitted to", FITTED), ("tested on", TESTED)):
        lines[name] = _within([line for case, line in lines.items() if case.partition(",")[0] in chosen])
    pictured = {case: line for case, line in lines.items() if "columns ratio" in line}
    publish(
        "plan", lines, table=table(lines), picture=bars(pictured, {"columns ratio": "columns", "pairs ratio": "pairs"})
    )
    return lines


def _within(lines: list[Mapping[str, float]]) -> dict[str, float]:
    if not lines:
        return {}
    columns = [abs(line["columns ratio"] - 1) <= COLUMNS_WITHIN for line in lines]
    pairs = [abs(line["pairs ratio"] - 1) <= PAIRS_WITHIN for line in lines]
    return {
        "% of columns within 25 %": 100 * sum(columns) / len(lines),
        "% of pairs within 40 %": 100 * sum(pairs) / len(lines),
    }


def table(result: Mapping[str, Any]) -> str:
    """One line per table and epsilon."""
    if "absent" in result:
        return f"the public tables are not there ({result['absent']}); nothing was run"
    columns = dict.fromkeys(
        name for numbers in result.values() for name in numbers if not name.startswith(("cpu", "rss", "wall"))
    )
    return markdown(result, {name: name for name in columns})


def main() -> None:
    parser = harness.options(__doc__)
    parser.add_argument("--epsilon", type=float, nargs="+", default=FULL["epsilon"])
    parser.add_argument("--tables", nargs="+", default=FULL["tables"])
    parser.add_argument("--seeds", type=int, default=1)
    harness.command(parser, run=run, table=table)


if __name__ == "__main__":
    main()
