"""What a share of the budget for adjusting costs, by paired runs: the figures behind the default `adjust_share`.

    python benchmarks/adjust_share.py [--datasets adult mushroom] [--epsilons 1 2 4] [--shares .05 .1 .2] [--seeds 2] [--json]

NO RUN OF THIS IS A RELEASE: standard normal draws by seed take the place of the privacy noise, through a patch in this file
alone, and the tables are public. The package itself has no noise with a seed.

Independent runs differ by about a tenth in the JS distance, so that a few of them do not show a change of 3 %. Here every share
has the same draws, relative to its scale, wherever it asks the same query: the draws are chosen by the seed and by the exact
answer. `auto` makes rows with all of the budget ("without"), with what a share for adjusting leaves ("before"), and the
latter are adjusted ("with"). Figures are changes, with their standard errors over the runs:

- JS by the budget, by adjusting, in all: the JS distance of "before" to that of "without", of "with" to "before", of "with" to "without".
- F1: that of "with" less that of "without".
- correlations: their error after adjusting, divided by that of "without".

Metrics, columns and the held-out rows are those of post_processing.py.
"""

import math
import statistics
import tempfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import harness
import post_processing
from auto import patched
from harness import DATA, Case, bars, markdown, publish
from methods_table import tables

EPSILONS, SHARES = (1.0, 2.0, 4.0), (0.05, 0.1, 0.2)
FIGURES = {
    "js_budget": "JS by the budget",
    "js_adjusting": "JS by adjusting",
    "js": "JS in all",
    "f1": "F1",
    "correlations": "correlations, factor",
}
COLUMNS = {"runs": "runs"} | {
    key: told for name, label in FIGURES.items() for key, told in ((name, label), (f"{name}_error", "±"))
}
SHORT = {"datasets": ("mushroom",), "epsilons": (2.0,), "shares": (post_processing.SHARE,), "seeds": 1, "delta": 1e-9}
FULL = {"datasets": post_processing.DATASETS, "epsilons": EPSILONS, "shares": SHARES, "seeds": 2, "delta": 1e-9}


def paired(seed: int) -> Callable[[Any, float], Any]:
    """Noise that is no privacy noise: the same standard normals for the same exact answer, whatever the scale."""
    import numpy as np

    def add(counts: Any, scale: float) -> Any:
        random = np.random.default_rng([seed, zlib.crc32(np.ascontiguousarray(counts, dtype=np.int64).tobytes())])
        return counts + np.rint(scale * random.normal(size=len(counts))).astype(np.int64)

    return add


def work(settings: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """One table at one epsilon: the changes that every share makes."""
    from sundog.domain import Schema

    document, train, test = tables(settings["dataset"])
    schema, found = Schema.from_json(document), {}
    with tempfile.TemporaryDirectory() as folder, patched("private.noise", add_gaussian=paired(seed)):
        options = {"delta": settings["delta"], "method": "auto", "seed": seed}
        spend = {"folder": Path(folder), "schema": schema, "train": train, "options": options}
        without = post_processing.fitted(spend, "without", epsilon=settings["epsilon"]).sample()
        for share in settings["shares"]:
            plan = {"epsilon": settings["epsilon"], "share": share, "measures": post_processing.MEASURES}
            made = post_processing.one_budget(spend, plan, account=f"share {share:g}")
            found[f"{share:g}"] = changes(post_processing.judged(schema, train, test, without=without, made=made))
    return found


def changes(figures: Mapping[str, Any]) -> dict[str, float]:
    """What the budget did, what adjusting did, and both."""
    without, before, after = (figures[f"js_{rows}"] for rows in ("without", "before", "with"))
    return {
        "js_budget": before / without - 1,
        "js_adjusting": after / before - 1,
        "js": after / without - 1,
        "f1": figures["f1_with"] - figures["f1_without"],
        "correlations": 1 - figures["improvement"],
    }


def run(sizes: Mapping[str, Any], *, fresh: bool = False) -> dict[str, Any]:
    """The changes by share, and those of the first share by table and by epsilon; also as Markdown and SVG files."""
    if not DATA.is_dir():
        return {"absent": str(DATA)}
    cases = [
        Case(
            f"{dataset}-{epsilon:g}",
            {"dataset": dataset, "epsilon": epsilon, "shares": list(sizes["shares"]), "delta": sizes["delta"]},
        )
        for dataset in sizes["datasets"]
        for epsilon in sizes["epsilons"]
    ]
    results = harness.run("adjust_share", cases, work=work, seeds=range(sizes["seeds"]), fresh=fresh)
    done = [line for line in results if "result" in line]
    result = {"by share": by_share(done), f"share {sizes['shares'][0]:g}": by_part(done, f"{sizes['shares'][0]:g}")}
    publish("adjust_share", result, table=table(result), picture=bars(result["by share"], FIGURES))
    return result


def by_share(results: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, float]]:
    """One line per share, over all tables and epsilons."""
    shares = dict.fromkeys(share for line in results for share in line["result"])
    return {share: averaged([line["result"][share] for line in results]) for share in shares}


def by_part(results: Sequence[Mapping[str, Any]], share: str) -> dict[str, dict[str, float]]:
    """One line per table and one per epsilon, at one share."""
    parts: dict[str, list[Mapping[str, float]]] = {}
    for name, told in (("dataset", "{}"), ("epsilon", "epsilon {:g}")):
        for line in results:
            parts.setdefault(told.format(line["settings"][name]), []).append(line["result"][share])
    return {part: averaged(runs) for part, runs in parts.items()}


def averaged(runs: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Means, and their standard errors where there is more than one run."""
    found = {"runs": float(len(runs))}
    for name in FIGURES:
        values = [each[name] for each in runs]
        found[name] = statistics.fmean(values)
        if len(values) > 1:
            found[f"{name}_error"] = statistics.stdev(values) / math.sqrt(len(values))
    return found


def table(result: Mapping[str, Any]) -> str:
    """One table by share, and one by table and epsilon."""
    if "absent" in result:
        return f"the public tables are not there ({result['absent']}); nothing was run"
    return "\n\n".join(f"{name}\n\n{markdown(lines, COLUMNS)}" for name, lines in result.items())


def main() -> None:
    parser = harness.options(__doc__)
    parser.add_argument("--datasets", nargs="+", default=FULL["datasets"])
    parser.add_argument("--epsilons", nargs="+", type=float, default=EPSILONS)
    parser.add_argument("--shares", nargs="+", type=float, default=SHARES, help="parts of the budget for adjusting")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--delta", type=float, default=1e-9)
    harness.command(parser, run=run, table=table)


if __name__ == "__main__":
    main()
