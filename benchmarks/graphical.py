"""The graphical-model methods against their targets: errors of two-way and three-way marginals, CPU seconds, memory.

    python benchmarks/run.py graphical [--full] [--json]
    python benchmarks/graphical.py --cases adult/mst adult/aim adult/aim/triples acs2024_ny_multitask/aim --seeds 3

A case is TABLE/METHOD, or TABLE/METHOD/triples, where the method chooses among 64 three-way marginals (and what they
contain) instead of all pairs. The tables are public and lie beside the project (../shared/data). Errors are mean L1
distances between marginals of the synthetic and of the real rows, numbers in 32 equal bins: of all pairs of columns, and
of the 64 three-way marginals. CPU seconds are those of the synthesis, memory is that of its process before evaluation.
"""

import argparse
import json
import resource
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import harness
from harness import DATA, Case, bars, markdown, mean_by_case, publish

LEFT_OUT = {"adult": ("split", "fnlwgt")}
TRIPLES = 64
COLUMNS = {
    "pairs": "mean L1 of pairs",
    "triples": "of 64 triples",
    "measurements": "measured",
    "synthesis_cpu_s": "CPU s",
    "synthesis_mb": "MB",
}
SHORT = {"cases": ["adult/bootstrap", "adult/mst", "adult/aim", "adult/mwem-pgm"], "seeds": 1}
FULL = {
    "cases": [
        *SHORT["cases"],
        "adult/aim/triples",
        "acs2024_ny_multitask/bootstrap",
        "acs2024_ny_multitask/mst",
        "acs2024_ny_multitask/aim",
        "acs2024_ny_multitask/mwem-pgm",
    ],
    "seeds": 3,
}
BUDGET = {"epsilon": 1.0, "delta": 1e-9}


def load(name: str) -> tuple[Any, str]:
    """The schema of the modelled columns, and where the table lies."""
    from sundog.domain import Schema

    document = json.loads((DATA / f"{name}.schema.json").read_text(encoding="utf-8"))
    document["fields"] = [field for field in document["fields"] if field["name"] not in LEFT_OUT.get(name, ())]
    return Schema.from_json(document), str(DATA / f"{name}.parquet")


def error(real: Any, other: Any, *, k: int = 2, sample: int | None = None) -> float:
    """The mean L1 distance of k-way marginals."""
    import numpy as np

    from sundog.queries import answer
    from sundog.queries.workload import Workload

    queries = Workload.marginals(real.schema, k=k, sample=sample, bins=32).queries
    return float(np.mean([np.abs(answer(q, real) / len(real) - answer(q, other) / len(other)).sum() for q in queries]))


def bootstrap(real: Any, seed: int) -> Any:
    """As many rows, drawn from the real ones: not private, the floor."""
    import numpy as np

    from sundog.domain.rows import Rows
    from sundog.random.keys import key_of, uniforms

    drawn = np.floor(uniforms(key_of(seed), len(real)) * len(real)).astype(np.int64)
    return Rows(real.schema, tuple(codes[drawn] for codes in real.codes))


def method_of(name: str, workload: str) -> str:
    """The method's name; one that chooses among triples is registered first."""
    from sundog.methods.recipes import METHODS
    from sundog.queries.workload import Workload

    if workload == "triples":
        triples = lambda schema: Workload.marginals(schema, k=3, sample=TRIPLES).queries  # noqa: E731
        METHODS[f"{name}-triples"] = replace(METHODS[name], name=f"{name}-triples", workload=triples)
        return f"{name}-triples"
    return name


def work(settings: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """One synthesis, and how far it is off."""
    from sundog.sources import open_table

    schema, path = load(settings["table"])
    made: dict[str, Any] = {}
    if settings["method"] == "bootstrap":
        rows = bootstrap(open_table(path).read(schema), seed)
    else:
        rows, made = synthesis(schema, path, settings, seed)
    real = open_table(path).read(schema)
    return made | {"pairs": error(real, rows), "triples": error(real, rows, k=3, sample=TRIPLES)}


def synthesis(schema: Any, path: str, settings: Mapping[str, Any], seed: int) -> tuple[Any, dict[str, Any]]:
    """The synthetic rows and what they cost."""
    import sundog

    method = method_of(settings["method"], settings["workload"])
    budget = {"epsilon": settings["epsilon"], "delta": settings["delta"]}
    with tempfile.TemporaryDirectory() as folder:
        start = time.process_time()
        made = sundog.Synthesizer(
            schema, method=method, seed=seed, dataset=settings["table"], ledger=Path(folder) / "ledger.db", **budget
        ).fit(path)
        rows = made.model.rows()
        cpu = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return rows, {"synthesis_cpu_s": cpu, "synthesis_mb": peak, "measurements": len(made.released.measurements)}


def case_of(name: str, budget: Mapping[str, float]) -> Case:
    table, method, *workload = name.split("/")
    settings = {"table": table, "method": method, "workload": workload[0] if workload else "pairs", **budget}
    return Case(name.replace("/", "-"), settings)


def run(sizes: Mapping[str, Any], *, budget: Mapping[str, float] = BUDGET, fresh: bool = False) -> dict[str, Any]:
    """The means over the seeds, and every run."""
    if not DATA.is_dir():
        return {"absent": str(DATA)}
    cases: Sequence[Case] = [case_of(name, budget) for name in sizes["cases"]]
    results = harness.run("graphical", cases, work=work, seeds=range(sizes["seeds"]), fresh=fresh)
    result = {"budget": dict(budget), "seeds": sizes["seeds"], "means": mean_by_case(results), "runs": results}
    publish("graphical", result, table=table(result), picture=bars(result["means"], COLUMNS))
    return result


def table(result: Mapping[str, Any]) -> str:
    """The means as a table."""
    if "absent" in result:
        return f"the public tables are not there ({result['absent']}); nothing was run"
    budget = f"epsilon {result['budget']['epsilon']:g}, delta {result['budget']['delta']:g}"
    return f"graphical models, {budget}, mean of {result['seeds']} seeds\n\n{markdown(result['means'], COLUMNS)}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", nargs="+", default=SHORT["cases"], metavar="TABLE/METHOD[/triples]")
    parser.add_argument("--seeds", type=int, default=SHORT["seeds"])
    parser.add_argument("--epsilon", type=float, default=BUDGET["epsilon"])
    parser.add_argument("--delta", type=float, default=BUDGET["delta"])
    parser.add_argument("--fresh", action="store_true", help="run again what has results already")
    parser.add_argument("--json", action="store_true", help="print JSON instead of Markdown")
    given = vars(parser.parse_args())
    as_json, budget = given.pop("json"), {name: given.pop(name) for name in ("epsilon", "delta")}
    result = run(given, budget=budget, fresh=given.pop("fresh"))
    print(json.dumps(result) if as_json else table(result))


if __name__ == "__main__":
    main()
