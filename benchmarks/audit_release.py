"""Attacks on releases of Adult at three budgets, and on a copy of the table, which they must break: `sundog audit release`.

python benchmarks/audit_release.py [--method auto] [--epsilons 0.1 1 10] [--seeds 1] [--json]

Four fifths of the rows are synthesized, one fifth is held out. The copy claims epsilon 1.
"""

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import harness
from harness import DATA, Case, bars, markdown, mean_by_case, publish

DATASET, DELTA = "adult", 1e-9
COPY = 0.0
"""Stands for the budget of a copy."""
SHORT = {"method": "auto", "epsilons": [1.0, COPY], "seeds": 1}
FULL = {"method": "auto", "epsilons": [0.1, 1.0, 10.0, COPY], "seeds": 1}


def work(settings: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """Synthesize (or copy), attack; rates in per cent."""
    import numpy as np
    from pyarrow import parquet

    from sundog import Synthesizer, audit_release
    from sundog.domain.unit import PrivacyUnit
    from sundog.private.accountant import Budget

    schema = DATA / f"{DATASET}.schema.json"
    table = parquet.read_table(DATA / f"{DATASET}.parquet")
    order = np.random.default_rng(seed).permutation(len(table))
    cut = len(table) * 4 // 5
    train, test = (table.take(np.sort(part)) for part in (order[:cut], order[cut:]))
    with tempfile.TemporaryDirectory() as folder:
        ledger = Path(folder) / "ledger.sqlite"
        made: Any = train
        claimed: dict[str, Any] = {"claim": (Budget(1.0, DELTA), PrivacyUnit())}
        if settings["epsilon"] != COPY:
            budget = {"epsilon": settings["epsilon"], "delta": DELTA, "confirmed": True}
            options = {"method": settings["method"], "seed": seed, "accept_unreviewed": True, "dataset": DATASET}
            model = Synthesizer(schema, ledger=ledger, **budget, **options).fit(train)
            made, claimed = model.sample(), {"released": model.released}
        found = audit_release(
            train, made, schema=schema, test=test, ledger=ledger, dataset=DATASET, **claimed
        ).to_json()
    return {name: value for each in found["attacks"] for name, value in _figures(each).items()}


def _figures(each: Mapping[str, Any]) -> dict[str, float]:
    name = f"{each['kind']}, {each['name']}"
    return {
        f"{name}: in": 100 * each["members"]["rate"],
        f"{name}: out": 100 * each["outsiders"]["rate"],
        f"{name}: gain from": 100 * each["gain"]["interval"][0],
        f"{name}: baseline": 100 * each["baseline"],
        f"{name}: allowed": 100 * each["limit"],
        **(
            {f"{name}: AUC": each["auc"]["value"], f"{name}: AUC allowed": each["auc"]["limit"]}
            if "auc" in each
            else {}
        ),
    }


def run(sizes: Mapping[str, Any], *, fresh: bool = False) -> dict[str, Any]:
    """The rates of every attack at every budget."""
    if not DATA.is_dir():
        return {"absent": str(DATA)}
    cases = [
        Case("copy" if epsilon == COPY else f"epsilon {epsilon:g}", {"method": sizes["method"], "epsilon": epsilon})
        for epsilon in sizes["epsilons"]
    ]
    lines = mean_by_case(harness.run("audit_release", cases, work=work, seeds=range(sizes["seeds"]), fresh=fresh))
    pictured = {name: name for numbers in lines.values() for name in numbers if name.endswith(": in")}
    publish("audit_release", lines, table=table(lines), picture=bars(lines, pictured))
    return lines


def table(result: Mapping[str, Any]) -> str:
    """One line per figure, one column per release."""
    if "absent" in result:
        return f"the public tables are not there ({result['absent']}); nothing was run"
    names = dict.fromkeys(name for numbers in result.values() for name in numbers)
    turned = {name: {case: numbers[name] for case, numbers in result.items() if name in numbers} for name in names}
    return markdown(turned, {case: case for case in result}, first="figure")


def main() -> None:
    parser = harness.options(__doc__)
    parser.add_argument("--method", default="auto")
    parser.add_argument("--epsilons", type=float, nargs="+", default=FULL["epsilons"], help="0 stands for a copy")
    parser.add_argument("--seeds", type=int, default=1)
    harness.command(parser, run=run, table=table)


if __name__ == "__main__":
    main()
