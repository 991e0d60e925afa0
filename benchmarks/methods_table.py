"""All methods on all tables at one budget, with every metric.

    python benchmarks/methods_table.py --datasets adult bank_marketing --epsilon 1 --seeds 3

Four fifths of the rows are synthesised, one fifth tests the models. CPU seconds are those of fitting and sampling; memory
is that of the whole process with evaluation. Noise is drawn from the operating system, so seeds never repeat exactly.
"""

import json
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import harness
from harness import DATA, Case, bars, markdown, mean_by_case, publish

COLUMNS = {
    "tv1": "TV1",
    "tv2": "TV2",
    "tv3": "TV3",
    "prefix": "prefix",
    "halfspace": "halfspace",
    "counting": "count",
    "thresholding": "thresh",
    "covariance": "cov",
    "sw1": "SW1",
    "correlation": "corr",
    "js_distance": "JS",
    "inverse_kl": "inv. KL",
    "f1": "F1",
    "boosting_error": "boost err",
    "synthesis_cpu_s": "CPU s",
    "rss_mb": "MB",
}
NOT_FEATURES = {"adult": ["split"]}
REFERENCES = ("real rows", "bootstrap")
SHORT = {
    "datasets": ["adult"],
    "methods": ["auto", "independent", "mst", "rap", *REFERENCES],
    "epsilon": 1.0,
    "delta": 1e-9,
    "seeds": 1,
    "learning": True,
}
FULL = {
    "methods": [],
    "datasets": ["adult", "bank_marketing", "acs2024_ny_multitask"],
    "epsilon": 1.0,
    "delta": 1e-9,
    "seeds": 5,
    "learning": True,
}


def tables(dataset: str) -> tuple[dict[str, Any], Any, Any]:
    """The schema document, and the training and test rows as Arrow tables; the split is the same for all methods."""
    import numpy as np
    from pyarrow import parquet

    document = json.loads((DATA / f"{dataset}.schema.json").read_text(encoding="utf-8"))
    document["name"] = dataset
    out = NOT_FEATURES.get(dataset, [])
    document["fields"] = [field for field in document["fields"] if field["name"] not in out]
    table = parquet.read_table(DATA / f"{dataset}.parquet").drop_columns(out)
    order = np.random.default_rng(0).permutation(len(table))
    cut = int(0.8 * len(table))
    return document, table.take(order[:cut]), table.take(order[cut:])


def work(settings: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """Synthesise, and compare with the real rows."""
    import sundog

    document, train, test = tables(settings["dataset"])
    with tempfile.TemporaryDirectory() as folder:
        ledger = Path(folder) / "ledger.sqlite"
        rows, seconds = made(settings, document, train, seed=seed, ledger=ledger)
        found = sundog.evaluate_tables(
            train, {"made": rows}, schema=document, test=test, ledger=ledger, learning=settings["learning"]
        )
    scores = {name: score.value for name, score in found.tables[0].scores.items()}
    return scores | {"synthesis_cpu_s": seconds, "rows": rows.num_rows}


def made(
    settings: Mapping[str, Any], document: dict[str, Any], train: Any, *, seed: int, ledger: Path
) -> tuple[Any, float]:
    """The rows of one method, or of a reference, and the CPU seconds of making them."""
    import numpy as np

    import sundog

    if settings["method"] == "real rows":
        return train, 0.0
    if settings["method"] == "bootstrap":
        return train.take(np.random.default_rng(seed).integers(0, len(train), len(train))), 0.0
    start = time.process_time()
    fitted = sundog.Synthesizer(
        document,
        epsilon=settings["epsilon"],
        delta=settings["delta"],
        method=settings["method"],
        seed=seed,
        ledger=ledger,
    ).fit(train)
    return fitted.sample(), time.process_time() - start


def run(sizes: Mapping[str, Any], *, fresh: bool = False) -> dict[str, Any]:
    """The means over the seeds, table by table, method by method; also as Markdown and SVG files."""
    import sundog

    if not DATA.is_dir():
        return {"absent": str(DATA)}
    shared = {name: sizes[name] for name in ("epsilon", "delta", "learning")}
    everything: dict[str, Any] = {}
    for dataset in sizes["datasets"]:
        wanted = sizes["methods"] or [*sundog.METHODS, *REFERENCES]
        cases = [Case(f"{dataset}-{m.replace(' ', '-')}", {"dataset": dataset, "method": m, **shared}) for m in wanted]
        results = harness.run("methods_table", cases, work=work, seeds=range(sizes["seeds"]), fresh=fresh)
        lines = {case.removeprefix(f"{dataset}-"): numbers for case, numbers in mean_by_case(results).items()}
        name = f"{dataset}, epsilon {sizes['epsilon']:g}, delta {sizes['delta']:g}, mean of {sizes['seeds']} seeds"
        everything[name] = lines
        stem = f"methods_table-{dataset}-{sizes['epsilon']:g}"
        publish(stem, lines, table=f"{name}\n\n{markdown(lines, COLUMNS)}", picture=bars(lines, COLUMNS))
    return everything


def table(result: Mapping[str, Any]) -> str:
    """One table a dataset."""
    if "absent" in result:
        return f"the public tables are not there ({result['absent']}); nothing was run"
    return "\n\n".join(f"{name}\n\n{markdown(lines, COLUMNS)}" for name, lines in result.items())


def main() -> None:
    parser = harness.options(__doc__)
    parser.add_argument("--datasets", nargs="+", default=["adult", "bank_marketing"])
    parser.add_argument(
        "--methods", nargs="+", default=[], help="default: all, and the real rows and a bootstrap of them"
    )
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--delta", type=float, default=1e-9)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--no-learning", dest="learning", action="store_false")
    harness.command(parser, run=run, table=table)


if __name__ == "__main__":
    main()
