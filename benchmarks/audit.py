"""Lower bounds on what every method spends beside what it claims, at three budgets: `sundog audit mechanism` on made-up tables.

python benchmarks/audit.py [--methods auto mst] [--rhos 0.5 2 8] [--runs 150] [--json]

Slow generators are given fewer steps (QUICK): the noise, the choices and what is paid do not depend on them.
"""

from collections.abc import Mapping
from typing import Any

import harness
from harness import Case, bars, markdown, mean_by_case, publish

METHODS = (
    "auto",
    "independent",
    "mst",
    "aim",
    "mwem-pgm",
    "privpgd",
    "private-gsd",
    "private-gsd-adaptive",
    "rap",
    "gem",
    "rap++",
    "rap++-polished",
)
QUICK: dict[str, dict[str, Any]] = {
    "privpgd": {"particles": 1000, "steps": 100, "epochs": 20},
    "rap": {"rows": 100, "descent.steps": 100},
    "gem": {"rows": 100, "descent.steps": 100},
    "rap++": {"rows": 100, "descent.steps": 50},
    "rap++-polished": {"rows": 100, "projection.rows": 100, "projection.descent.steps": 50, "genetic.generations": 200},
}
PICTURED = {"mu": "mu claimed", "values_mu": "proven, values", "rows_mu": "proven, rows"}
COLUMNS = {
    "rho": "claimed rho",
    "values_rho": "rho at least, values",
    "rows_rho": "rho at least, rows",
    "mu": "claimed mu",
    "values_mu": "mu at least, values",
    "rows_mu": "mu at least, rows",
    "epsilon": "claimed epsilon (delta 1e-5)",
    "values_epsilon": "epsilon at least, values",
    "rows_epsilon": "epsilon at least, rows",
    "broken": "disproved",
    "cpu_s": "CPU s",
}
SHORT = {"methods": ["auto", "independent"], "rhos": [2.0], "runs": 60, "seeds": 1}
FULL = {"methods": list(METHODS), "rhos": [0.5, 2.0, 8.0], "runs": 150, "seeds": 1}


def work(settings: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """One method at one budget."""
    from sundog import audit_mechanism

    name = settings["method"]
    found = audit_mechanism(
        name, rho=settings["rho"], runs=settings["runs"], settings=QUICK.get(name), seed=seed
    ).methods[0]
    numbers = {"rho": found.rho, "mu": (2 * found.rho) ** 0.5, "epsilon": found.epsilon, "broken": float(found.broken)}
    for attack, bound in found.bounds.items():
        numbers |= {f"{attack}_rho": bound.rho, f"{attack}_mu": bound.mu, f"{attack}_epsilon": bound.epsilon}
        numbers |= {f"{attack}_hits": bound.hits, f"{attack}_false": bound.false_alarms, "judged": bound.runs}
    return numbers


def run(sizes: Mapping[str, Any], *, fresh: bool = False) -> dict[str, Any]:
    """Bounds and claims for every method and budget."""
    cases = [
        Case(f"{method} rho {rho:g}", {"method": method, "rho": rho, "runs": sizes["runs"]})
        for rho in sizes["rhos"]
        for method in sizes["methods"]
    ]
    lines = mean_by_case(harness.run("audit", cases, work=work, seeds=range(sizes["seeds"]), fresh=fresh))
    publish("audit", lines, table=table(lines), picture=bars(lines, PICTURED))
    return lines


def table(result: Mapping[str, Any]) -> str:
    """One line per method and budget."""
    return markdown(result, COLUMNS, first="method")


def main() -> None:
    parser = harness.options(__doc__)
    parser.add_argument("--methods", nargs="+", default=FULL["methods"])
    parser.add_argument("--rhos", type=float, nargs="+", default=FULL["rhos"])
    parser.add_argument("--runs", type=int, default=FULL["runs"])
    parser.add_argument("--seeds", type=int, default=1)
    harness.command(parser, run=run, table=table)


if __name__ == "__main__":
    main()
