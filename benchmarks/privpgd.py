"""PrivPGD's own figures: the six metrics of its tables, an ablation, cost by size, and its protected statistic (Figure 3).

    python benchmarks/privpgd.py [--parts reach ablation embeddings cost protected] [--seeds 3] [--json]

- reach: Adult with the authors' tables and noise, at their number of particles and at ours, and as the method measures; the authors' own figures beside.
- ablation: on three tables one thing at a time done as in the paper, or left out; then all of it as in the version before.
- embeddings: unordered labels on a line or on a simplex, on several tables.
- cost: CPU seconds of an epoch by particles and by marginals.
- protected: errors against the strength and the sharpness of the penalty on one threshold statistic (Figure 3). Every seed has a
  direction of its own over all columns, and a threshold with a given share of the rows above it.

All methods in its setting are in privpgd_methods.py. Needs the public tables in ../shared/data beside the repository. A second call does only what is missing.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import harness
from harness import DATA, Case, bars, curves, publish

AUTHORS = {
    "sw1": 0.0021, "tv": 0.0381, "covariance": 0.079, "counting": 0.0105, "thresholding": 0.0043, "boosting": 0.151,
    "fit_cpu_s": 384.0,
}  # fmt: skip
"""The authors' code on Adult, five seeds; seconds on an H200, not CPU seconds."""
ABLATIONS: dict[str, dict[str, Any]] = {
    "default": {},
    "equal bins": {"derived": False},
    "tables projected one by one in sliced W1": {"projection": "sliced W1"},
    "the same, not made consistent": {"projection": "sliced W1", "consistency": False},
    "least squares one by one": {"projection": "least squares"},
    "200 epochs": {"epochs": 200},
    "1000 epochs": {"epochs": 1000},
    "last rate .0003": {"final_rate": 3e-4},
    "80 % masked": {"updated": 0.2},
    "ten directions": {"directions": 10},
    "first rate .1": {"rate": 0.1},
    "simplex embedding": {"embedding": "simplex"},
    "before: equal bins, sliced W1, 200 epochs": {
        "derived": False, "projection": "sliced W1", "epochs": 200, "final_rate": 3e-4
    },
}  # fmt: skip
ABLATED = ("adult", "online_shoppers", "diamonds")
SIZES = ((10_000, 91), (20_000, 91), (50_000, 91), (100_000, 91), (1_000_000, 91), (20_000, 45), (20_000, 22))
STRENGTHS = (0.0, 0.3, 1.0, 3.0, 10.0)
ABOVE = 0.2
"""The share of rows above the protected threshold."""
FEW_ABOVE = 0.004
FEW = 10_000


def reach(noise: str, particles: int = 20_000) -> Case:
    """Adult with the authors' tables and noise, or as the method measures."""
    return Case(f"reach-{noise}-{particles}", {"part": "reach", "noise": noise, "particles": particles})


def cost(particles: int, marginals: int) -> Case:
    """The epochs of one size."""
    return Case(f"cost-{particles}-{marginals}", {"part": "cost", "particles": particles, "marginals": marginals})


def protected(
    strength: float, sharpness: float = 20.0, *, table: str = "adult", above: float = ABOVE, particles: int = 20_000
) -> Case:
    """A penalty of one strength and sharpness; without strength, the sharpness is nothing but that of the query."""
    chosen = {"strength": strength, "sharpness": sharpness, "table": table, "above": above}
    name = f"{table}: {above:g} above, strength {strength:g}, sharpness {sharpness:g}"
    return Case(name, {"part": "protected", "particles": particles} | chosen)


def all_protected() -> list[Case]:
    """Strengths at the default sharpness, other sharpnesses, another table, and a threshold that few rows pass."""
    others = [protected(strength, sharpness) for sharpness in (5.0, 50.0) for strength in (1.0, 3.0)]
    there = [protected(1.0, sharpness, table="bank_marketing") for sharpness in (5.0, 20.0)]
    few = [protected(1.0, sharpness, above=FEW_ABOVE) for sharpness in (5.0, 20.0)]
    without = [protected(0.0, table="bank_marketing"), protected(0.0, above=FEW_ABOVE)]
    return [protected(strength) for strength in STRENGTHS] + others + without + there + few


PARTS = {
    "reach": [reach("exact"), reach("authors"), reach("authors", 100_000)],
    "ablation": [
        Case(f"{table}: {name}", {"part": "ablation", "name": name, "particles": FEW, "table": table})
        for table in ABLATED
        for name in ABLATIONS
    ],
    "embeddings": [
        Case(f"{table}-{kind}", {"part": "embeddings", "table": table, "kind": kind, "particles": FEW})
        for table in ("adult", "bank_marketing", "mushroom", "online_shoppers")
        for kind in ("line", "simplex")
    ],
    "cost": [cost(*size) for size in SIZES],
    "protected": all_protected(),
}
COLUMNS = {
    "protected_true": "true share", "protected": "protected", "protected_soft": "its sigmoid", "sw1": "SW1", "tv": "TV", "covariance": "covariance", "counting": "counting",
    "thresholding": "thresholding", "boosting": "boosting error", "epoch_cpu_s": "CPU s an epoch",
    "cleaning_cpu_s": "cleaning CPU s", "fit_cpu_s": "fit CPU s", "fit_mb": "fit MB",
}  # fmt: skip
SHORT = {
    "cases": [
        reach("exact", FEW),
        cost(10_000, 91),
        cost(20_000, 91),
        protected(0.0, particles=FEW),
        protected(1.0, particles=FEW),
    ],
    "seeds": 1,
}
FULL = {"cases": [case for part in PARTS.values() for case in part], "seeds": 3}


def fitted(table: Any, generator: Any, *, seed: int, released: Any) -> tuple[dict[str, float], Any]:
    """One fit: what it cost, and its rows."""
    from projection import costs

    from sundog.random.keys import key_of, split

    first, second, third = split(key_of(seed), 3)
    state = generator.init(first, table.schema)
    start = time.process_time()
    state = generator.fit(second, state, released=released)
    found = {"fit_cpu_s": time.process_time() - start}
    rows = generator.sample(third, state, rows=generator.particles)
    return found | {"fit_mb": costs()["made_mb"]}, rows


def particles(settings: Mapping[str, Any], **changes: Any) -> Any:
    """The generator as the method has it, with another number of particles."""
    from sundog.generate import Particles

    return replace(Particles(particles=settings["particles"], steps=1), **changes)


def do_reach(settings: Mapping[str, Any], seed: int) -> dict[str, float]:
    from privpgd_table import Table

    table = Table(seed)
    released = table.released(seed, settings["noise"])
    found, rows = fitted(table, particles(settings), seed=seed, released=released)
    return found | table.metrics(table.cells(rows)) | {"cleaning_cpu_s": cleaning_seconds(released)}


def cleaning_seconds(released: Any) -> float:
    """CPU seconds that making probability measures of all tables takes."""
    from sundog.estimate.bins import leaves_of
    from sundog.generate.particles.targets import estimated

    start = time.process_time()
    estimated(released, leaves_of(released), projection="together", agree=True)
    return time.process_time() - start


def do_ablation(settings: Mapping[str, Any], seed: int) -> dict[str, float]:
    from privpgd_table import Table

    changes = dict(ABLATIONS[settings["name"]])
    table, derived = Table(seed, settings["table"]), changes.pop("derived", True)
    released = table.released(seed, derived=derived)
    found, rows = fitted(table, particles(settings, **changes), seed=seed, released=released)
    return found | table.metrics(table.cells(rows), boosting=False)


def do_embeddings(settings: Mapping[str, Any], seed: int) -> dict[str, float]:
    from privpgd_table import Table

    table, generator = Table(seed, settings["table"]), particles(settings, embedding=settings["kind"])
    found, rows = fitted(table, generator, seed=seed, released=table.released(seed))
    return found | table.metrics(table.cells(rows), boosting=False)


def do_cost(settings: Mapping[str, Any], seed: int) -> dict[str, float]:
    """The cost of 12 epochs less that of 2; as if there were as many rows, since particles are at most four a row."""
    from privpgd_table import Table

    table = Table(seed)
    released = replace(table.released(seed), public_rows=settings["particles"])
    pairs = [measured for measured in released.measurements if len(measured.query.columns) == 2]
    part = released.with_measurements(tuple(pairs[: settings["marginals"]]))
    fits = [fitted(table, particles(settings, epochs=n), seed=seed, released=part)[0] for n in (2, 12)]
    return {"epoch_cpu_s": (fits[1]["fit_cpu_s"] - fits[0]["fit_cpu_s"]) / 10, "fit_mb": fits[1]["fit_mb"]}


def do_protected(settings: Mapping[str, Any], seed: int) -> dict[str, float]:
    """A threshold over all columns is measured, and pushed away from its estimate."""
    from privpgd_table import Table

    from sundog.queries import SigmoidSum, answer

    table = Table(seed, settings["table"], constraints=(threshold_of(settings, seed),))
    query = SigmoidSum.of(table.schema.constraints[0])
    found, rows = fitted(table, particles(settings), seed=seed, released=table.released(seed, extra=(query,)))
    hard, soft = (
        [count / len(own) for own, count in zip((rows, table.rows), counts, strict=True)]
        for counts in (
            [query.above(own) for own in (rows, table.rows)],
            [answer(query, own)[0] / query.scale for own in (rows, table.rows)],
        )
    )
    apart = {"protected": abs(hard[0] - hard[1]), "protected_soft": float(abs(soft[0] - soft[1]))}
    return {"protected_true": hard[1]} | apart | found | table.metrics(table.cells(rows))


def threshold_of(settings: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """The declared statistic: a random direction, and the threshold that the given share of the public rows passes."""
    import numpy as np
    from privpgd_table import Table

    from sundog.queries.sigmoid import SigmoidSum

    table = Table(seed, settings["table"])
    theta = np.random.default_rng(100 + seed).normal(size=len(table.schema.names))
    weights = (theta / np.linalg.norm(theta)).round(3).tolist()
    sums = SigmoidSum(table.schema.names, tuple(weights), 0.0).sums(table.rows)
    chosen = {"strength": settings["strength"], "sharpness": settings["sharpness"]}
    threshold = round(float(np.quantile(sums, 1 - settings["above"])), 3)
    named = dict(zip(table.schema.names, weights, strict=True))
    return {"kind": "protected", "weights": named, "threshold": threshold} | chosen


TASKS = {
    "reach": do_reach, "ablation": do_ablation, "embeddings": do_embeddings, "cost": do_cost,
    "protected": do_protected,
}  # fmt: skip


def work(settings: Mapping[str, Any], seed: int) -> dict[str, float]:
    """One case."""
    return TASKS[settings["part"]](settings, seed)


def run(sizes: Mapping[str, Any], *, fresh: bool = False) -> dict[str, Any]:
    """The means over the seeds, case by case; also published as JSON, Markdown and pictures."""
    if not DATA.is_dir():
        return {"absent": str(DATA)}
    result = harness.means("privpgd", sizes, work=work, fresh=fresh)
    lines = result["cases"]
    result = {**result, "cases": lines | {"authors (H200)": AUTHORS}}
    publish("privpgd", result, table=table(result), picture=bars(lines, COLUMNS))
    for name, (picture, x, y) in pictures(sizes["cases"], lines).items():
        publish(f"privpgd-{name}", result, table=table(result), picture=curves(picture, x=x, y=y))
    return result


def pictures(
    cases: Sequence[Case], lines: Mapping[str, Any]
) -> dict[str, tuple[dict[str, dict[float, float]], str, str]]:
    """Cost by particles and by marginals, and Figure 3; those without any point are left out."""
    found: dict[str, tuple[dict[str, dict[float, float]], str, str]] = {}

    def point(picture: str, labels: tuple[str, str], line: str, at: float, value: float) -> None:
        found.setdefault(picture, ({}, *labels))[0].setdefault(line, {})[at] = value

    for case in cases:
        numbers, settings = lines.get(case.name, {}), case.settings
        if numbers and settings["part"] == "cost":
            value = numbers["epoch_cpu_s"]
            if settings["marginals"] == 91:
                point("particles", ("particles", "CPU s"), "an epoch, 91 marginals", settings["particles"], value)
            if settings["particles"] == 20_000:
                point("marginals", ("marginals", "CPU s"), "an epoch, 20,000 particles", settings["marginals"], value)
        elif numbers and case in [protected(strength) for strength in STRENGTHS]:
            for name in ("protected", "counting", "thresholding", "tv"):
                point("protected", ("strength", "error"), COLUMNS[name], settings["strength"], numbers[name])
    return found


def table(result: Mapping[str, Any]) -> str:
    """One line per case."""
    return harness.means_table(result, COLUMNS)


def main() -> None:
    parser = harness.options(__doc__)
    parser.add_argument("--parts", nargs="+", choices=tuple(PARTS), default=list(PARTS))
    parser.add_argument("--seeds", type=int, default=3)
    harness.command(parser, run=run, table=table, sizes=harness.of_parts(PARTS))


if __name__ == "__main__":
    main()
