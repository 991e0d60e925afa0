"""`auto` as it is, beside an earlier commit of this project: by how much every metric is better, over tables and budgets.

    python benchmarks/versions.py --before COMMIT [--datasets adult ...] [--epsilons 0.1 1 10] [--seeds 3] [--json]

Both versions make rows in processes of their own, the earlier one from `git archive`; this version's metrics judge both, on the
rows of methods_table.py. A gain is the part of the earlier error that is gone (of F1 and inverse KL: the part that was added).
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import ahead
import harness
import methods_table
from harness import DATA, Case, bars, markdown, publish

ROOT = Path(__file__).resolve().parents[1]
BEFORE, NOW = "before", "now"
MAKE = """
import sys
from pyarrow import parquet
import json, sundog
where, epsilon, delta, seed = sys.argv[1], float(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])
document = json.load(open(f"{where}/schema.json"))
made = sundog.Synthesizer(document, epsilon=epsilon, delta=delta, method="auto", seed=seed, ledger=f"{where}/ledger.sqlite")
parquet.write_table(made.fit(parquet.read_table(f"{where}/train.parquet")).sample(), f"{where}/made.parquet")
"""
SHORT = {"before": "HEAD", "datasets": ["mushroom"], "epsilons": [1.0], "seeds": 1, "delta": 1e-9}
FULL = {"before": "HEAD", "datasets": ahead.DATASETS, "epsilons": ahead.EPSILONS, "seeds": 3, "delta": 1e-9}


def work(settings: Mapping[str, Any], seed: int) -> dict[str, float]:
    """Every metric's gain on one table at one epsilon."""
    import sundog

    document, train, test = methods_table.tables(settings["dataset"])
    with tempfile.TemporaryDirectory() as folder:
        earlier = Path(folder) / "earlier"
        earlier.mkdir()
        archived = subprocess.run(
            ["git", "archive", settings["before"], "src"],
            cwd=ROOT, check=True, capture_output=True,
        ).stdout  # fmt: skip
        subprocess.run(["tar", "-x", "-C", str(earlier)], input=archived, check=True)
        made = {
            name: _made(Path(folder) / name, source, document, train, settings=settings, seed=seed)
            for name, source in ((BEFORE, earlier / "src"), (NOW, ROOT / "src"))
        }
        ledger = Path(folder) / "ledger.sqlite"
        found = sundog.evaluate_tables(train, made, schema=document, test=test, ledger=ledger, learning=True)
    scores = {table.name: table.scores for table in found.tables}
    return {
        metric: ahead.gain(metric, score.value, scores[NOW][metric].value)
        for metric, score in scores[BEFORE].items()
        if metric in methods_table.COLUMNS and score.value and metric in scores[NOW]
    }


def _made(
    folder: Path, source: Path, document: Mapping[str, Any], train: Any, *, settings: Mapping[str, Any], seed: int
) -> Any:
    """The rows of the version whose package lies in `source`."""
    import json

    from pyarrow import parquet

    folder.mkdir()
    (folder / "schema.json").write_text(json.dumps(document), encoding="utf-8")
    parquet.write_table(train, folder / "train.parquet")
    told = [str(folder), str(settings["epsilon"]), str(settings["delta"]), str(seed)]
    environment = {**os.environ, "PYTHONPATH": str(source)}
    subprocess.run([sys.executable, "-c", MAKE, *told], check=True, env=environment)
    return parquet.read_table(folder / "made.parquet")


def run(sizes: Mapping[str, Any], *, fresh: bool = False) -> dict[str, Any]:
    """Per epsilon and table the gains, the mean over the seeds; and their means over the tables."""
    if not DATA.is_dir():
        return {"absent": str(DATA)}
    commit = subprocess.run(
        ["git", "rev-parse", "--short", sizes["before"]],
        cwd=ROOT, check=True, capture_output=True, text=True,
    ).stdout.strip()  # fmt: skip
    found = {}
    for epsilon in sizes["epsilons"]:
        shared = {"before": commit, "epsilon": epsilon, "delta": sizes["delta"]}
        cases = [Case(f"{name}-{epsilon:g}", {"dataset": name, **shared}) for name in sizes["datasets"]]
        results = harness.run("versions", cases, work=work, seeds=range(sizes["seeds"]), fresh=fresh)
        lines = {case.rpartition("-")[0]: with_mean(numbers) for case, numbers in harness.mean_by_case(results).items()}
        found[f"epsilon {epsilon:g}"] = lines | {"all": means_over(list(lines.values()))}
    pictured = {name: lines["all"] for name, lines in found.items()}
    publish("versions", found, table=table(found), picture=bars(pictured, {"mean": "mean gain"}))
    return found


def with_mean(numbers: Mapping[str, float]) -> dict[str, float]:
    """The gains of one table, and their mean."""
    gains = {name: value for name, value in numbers.items() if name not in ("cpu_s", *ahead.COSTS)}
    return gains | {"mean": fmean(gains.values())}


def means_over(lines: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Every metric's mean over the tables that have it."""
    names = dict.fromkeys(name for line in lines for name in line)
    return {name: fmean(line[name] for line in lines if name in line) for name in names}


def table(result: Mapping[str, Any]) -> str:
    """Per epsilon a table of gains."""
    if "absent" in result:
        return f"the public tables are not there ({result['absent']}); nothing was run"
    columns = {name: heading for name, heading in methods_table.COLUMNS.items() if name not in ahead.COSTS}
    return "\n\n".join(
        f"{name}\n\n{markdown(lines, {**columns, 'mean': 'mean'}, first='table')}" for name, lines in result.items()
    )


def main() -> None:
    parser = harness.options(__doc__)
    parser.add_argument("--before", required=True, help="the earlier commit")
    parser.add_argument("--datasets", nargs="+", choices=ahead.DATASETS, default=["adult", "bank_marketing"])
    parser.add_argument("--epsilons", nargs="+", type=float, default=ahead.EPSILONS)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--delta", type=float, default=1e-9)
    harness.command(parser, run=run, table=table)


if __name__ == "__main__":
    main()
