"""PrivPGD on Adult at the paper's setting: six metrics, time, memory; ablations; cost by size; the paper's Figure 3.

14 columns in at most 32 bins, epsilon 2.5, delta 1e-5, rows replaced, all 91 two-way marginals, 80 % of the rows to fit and
20 % to test. The rows are public, so the measurements are drawn here with ordinary floating-point noise of the scale that
the curator would use; nothing is released. Figures of the authors' code (on an H200, their own order of labels) are beside.

    python benchmarks/particles.py [--seeds 5] [--particles 100000] [--ablation] [--scaling] [--protected] [--gpu] [--json]
"""

import argparse
import itertools
import json
import resource
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import numpy as np

from sundog.axis import Axis
from sundog.consistency import consistent
from sundog.generate import Particles
from sundog.generate.declared_penalties import sigmoid_query
from sundog.generate.particle_targets import grains, make_targets
from sundog.generate.sliced_projection import sliced_w1
from sundog.keys import key_of, split
from sundog.private.accountant import Budget
from sundog.queries import Marginal, Query, answer
from sundog.released import Guarantee, Measurement, Released
from sundog.rows import Rows
from sundog.schema import Column, Schema
from sundog.schema.constraints import ProtectedStatistic
from sundog.sources import open_table
from sundog.unit import PrivacyUnit

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
AUTHORS = {
    "sw1": 0.0021,
    "tv": 0.0381,
    "covariance": 0.079,
    "counting": 0.0105,
    "thresholding": 0.0043,
    "boosting": 0.151,
}
ABLATIONS = {
    "default": {},
    "no consistency": {"consistency": False},
    "least-squares projection": {"projection": "least squares"},
    "80 % masked": {"updated": 0.2},
    "ten directions": {"directions": 10},
    "paper's rate .1": {"rate": 0.1},
    "simplex embedding": {"embedding": "simplex"},
}


Figures = dict[str, float]


class Table:
    """A public table, binned, split, with random queries and the exact answers to compare with."""

    def __init__(
        self,
        seed: int,
        name: str = "adult",
        drop: tuple[str, ...] = ("education", "split"),
        constraints: tuple[dict[str, Any], ...] = (),
    ) -> None:
        document = json.loads((DATA / f"{name}.schema.json").read_text())
        document["fields"] = [field for field in document["fields"] if field["name"] not in drop]
        self.schema = Schema.from_json(document | {"constraints": list(constraints)})
        everything = open_table(DATA / f"{name}.parquet").read(self.schema)
        self.axes = [_axis(column) for column in self.schema.columns]
        random = np.random.default_rng(seed)
        order = random.permutation(len(everything))
        train = np.sort(order[: int(0.8 * len(order))])
        self.rows = Rows(self.schema, tuple(codes[train] for codes in everything.codes))
        self.real = self.cells(self.rows)
        self.test = self.cells(
            Rows(self.schema, tuple(codes[np.sort(order[len(train) :])] for codes in everything.codes))
        )
        self.pairs = list(itertools.combinations(range(len(self.axes)), 2))
        self.boxes, self.halfspaces = _boxes(random, self), _halfspaces(random, self)
        self.target = self.schema.position(self.schema.targets[0])

    def cells(self, rows: Rows) -> np.ndarray:
        """The cells of rows, column by column."""
        return np.stack([axis.cells(rows.column(axis.column)) for axis in self.axes]).astype(np.int64)

    def embedded(self, cells: np.ndarray) -> np.ndarray:
        """Cells at equally spaced centres in [0, 1]."""
        return np.stack([(own + 0.5) / axis.size for own, axis in zip(cells, self.axes, strict=True)])

    def released(self, seed: int, noise: str = "exact", extra: tuple[Query, ...] = ()) -> Released:
        """Noisy measurements: "exact" accounting with shares by size, or the authors' scale for every table."""
        random = np.random.default_rng(seed + 1000)
        queries = [Marginal((self.axes[i], self.axes[j])) for i, j in self.pairs] + list(extra)
        rho = Budget(epsilon=2.5, delta=1e-5).total_rho("gaussian")
        shares = np.array([float(q.sensitivity_squared("replace")) ** (1 / 3) * q.size ** (2 / 3) for q in queries])
        measured = []
        for query, share in zip(queries, shares / shares.sum(), strict=True):
            scale = (float(query.sensitivity_squared("replace")) / (2 * rho * share)) ** 0.5
            scale = 2.018494130810843 * (2 * len(queries)) ** 0.5 if noise == "authors" else scale
            noisy = answer(query, self.rows) + np.round(random.normal(0, scale, query.size)).astype(np.int64)
            measured.append(Measurement(query, noisy, scale, "benchmark"))
        guarantee = Guarantee(PrivacyUnit("replace"), "gaussian", rho)
        return Released(self.schema, tuple(measured), guarantee, public_rows=len(self.rows))

    def metrics(self, cells: np.ndarray, boosting: bool = True) -> Figures:
        """The paper's six metrics."""
        tables = [(self.table(self.real, *pair), self.table(cells, *pair)) for pair in self.pairs]
        slices = [sliced_w1(p, q, self.projections(*pair)) for pair, (p, q) in zip(self.pairs, tables, strict=True)]
        found = {"sw1": np.mean(slices), "tv": np.mean([0.5 * np.abs(p - q).sum() for p, q in tables])}
        own, real = np.cov(self.embedded(cells)), np.cov(self.embedded(self.real))
        found["covariance"] = np.linalg.norm(own - real) / np.linalg.norm(own)
        found["counting"] = _relative([_in_box(cells, b).mean() - _in_box(self.real, b).mean() for b in self.boxes],
                                      [_in_box(self.real, b).mean() for b in self.boxes])  # fmt: skip
        ours, true = self.embedded(cells), self.embedded(self.real)
        above = [((t @ ours[c] > b).mean(), (t @ true[c] > b).mean()) for c, t, b in self.halfspaces]
        found["thresholding"] = _relative([a - b for a, b in above], [b for _, b in above])
        if boosting:
            found["boosting"] = self.boosting(cells)
        return {name: float(value) for name, value in found.items()}

    def table(self, cells: np.ndarray, i: int, j: int) -> np.ndarray:
        """A two-way marginal, as proportions."""
        size = self.axes[i].size * self.axes[j].size
        return np.bincount(cells[i] * self.axes[j].size + cells[j], minlength=size) / cells.shape[1]

    def projections(self, i: int, j: int) -> np.ndarray:
        """The centres of a two-way marginal's cells along 50 directions."""
        angles = np.pi * (np.arange(50) + 0.5) / 50
        x, y = ((np.arange(self.axes[k].size) + 0.5) / self.axes[k].size for k in (i, j))
        return np.cos(angles)[:, None] * np.repeat(x, len(y)) + np.sin(angles)[:, None] * np.tile(y, len(x))

    def boosting(self, cells: np.ndarray) -> float:
        """The test error of gradient boosting trained on these cells."""
        from sklearn.ensemble import GradientBoostingClassifier

        features = [k for k in range(len(self.axes)) if k != self.target]
        model = GradientBoostingClassifier(random_state=0).fit(cells[features].T, cells[self.target])
        return np.mean(model.predict(self.test[features].T) != self.test[self.target])


def _axis(column: Column) -> Axis:
    axis = Axis.of(column, 32)
    return axis if axis.size <= 32 else Axis.grouped(column, [code * 32 // column.size for code in range(column.size)])


def _boxes(random: np.random.Generator, table: Table, count: int = 200) -> list[Any]:
    boxes = []
    while len(boxes) < count:
        box = []
        for column in random.choice(len(table.axes), 3, replace=False):
            low = random.integers(0, table.axes[column].size)
            box.append((column, low, random.integers(low, table.axes[column].size)))
        if 0.05 <= _in_box(table.real, box).mean() <= 0.95:
            boxes.append(box)
    return boxes


def _in_box(cells: np.ndarray, box: Any) -> np.ndarray:
    inside = np.ones(cells.shape[1], bool)
    for column, low, high in box:
        inside &= (cells[column] >= low) & (cells[column] <= high)
    return inside


def _halfspaces(random: np.random.Generator, table: Table, count: int = 200) -> list[Any]:
    real, found = table.embedded(table.real), []
    for _ in range(count):
        columns, theta = random.choice(len(table.axes), 3, replace=False), random.normal(size=3)
        along = theta @ real[columns] / np.linalg.norm(theta)
        found.append((columns, theta / np.linalg.norm(theta), random.uniform(along.min(), along.max())))
    return found


def _relative(differences: list[float], answers: list[float]) -> float:
    return np.mean(np.abs(differences)) / np.mean(answers)


def run(
    table: Table,
    generator: Particles,
    *,
    seed: int,
    noise: str = "exact",
    boosting: bool = True,
    extra: tuple[Query, ...] = (),
) -> tuple[Figures, Rows]:
    """One fit, timed, and its metrics."""
    released = table.released(seed, noise, extra)
    first, second, third = split(key_of(seed), 3)
    state = generator.init(first, table.schema)
    wall, cpu = time.perf_counter(), time.process_time()
    state = generator.fit(second, state, released=released)
    found = {"cpu_s": time.process_time() - cpu, "wall_s": time.perf_counter() - wall}
    rows = generator.sample(third, state, rows=generator.particles)
    found |= table.metrics(table.cells(rows), boosting=boosting)
    found["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return found, rows


def projection_seconds(table: Table, seed: int) -> float:
    """CPU seconds of consistency and projection of all tables."""
    released, axes = table.released(seed), tuple(table.axes)
    start = time.process_time()
    estimates = consistent(released)
    options = {"kind": "line", "projection": "sliced W1", "particles": 100_000}
    make_targets(key_of(0), table.schema, estimates=estimates, axes=axes, **options)
    assert grains(table.schema, [e.query for e in estimates]) == axes
    return time.process_time() - start


def mean_of(results: list[Figures]) -> Figures:
    return {name: float(np.mean([result[name] for result in results])) for name in results[0]}


def show(title: str, rows: dict[str, Figures]) -> None:
    names = list(next(iter(rows.values())))
    print(f"\n{title}\n{'':26s}" + " ".join(f"{name:>12s}" for name in names))
    for label, row in rows.items():
        print(f"{label:26s}" + " ".join(f"{row[name]:12.4f}" if name in row else " " * 12 for name in names))


def main_figures(options: argparse.Namespace, generator: Particles) -> dict[str, Figures]:
    rows = {}
    for noise in options.noise:
        tables = ((seed, Table(seed)) for seed in range(options.seeds))
        rows[f"{noise} noise"] = mean_of([run(t, generator, seed=s, noise=noise)[0] for s, t in tables])
    return rows | {"authors (H200, 384 s)": AUTHORS}


def ablation(options: argparse.Namespace, generator: Particles) -> dict[str, Figures]:
    rows = {}
    for label, change in ABLATIONS.items():
        runs = [run(Table(s), replace(generator, **change), seed=s, boosting=False)[0] for s in range(options.seeds)]
        rows[label] = mean_of(runs)
        print(label, {k: round(v, 5) for k, v in rows[label].items()}, flush=True)
    return rows


def embeddings(options: argparse.Namespace, generator: Particles) -> dict[str, Figures]:
    """Line against simplex on several tables."""
    rows = {}
    for name, drop in (
        ("adult", ("education", "split")),
        ("bank_marketing", ()),
        ("mushroom", ()),
        ("online_shoppers", ()),
    ):
        for kind in ("line", "simplex"):
            found = [
                run(Table(s, name, drop), replace(generator, embedding=kind), seed=s, boosting=False)[0]
                for s in range(options.seeds)
            ]
            rows[f"{name}, {kind}"] = mean_of(found)
            print(f"{name}, {kind}", {k: round(v, 5) for k, v in rows[f"{name}, {kind}"].items()}, flush=True)
    return rows


def scaling(generator: Particles) -> dict[str, Figures]:
    """CPU seconds per epoch by particles and by marginals: the cost of 6 epochs less that of 2, divided by 4."""
    table, rows = Table(0), {}
    released = table.released(0)
    for particles, marginals in (
        (25_000, 91),
        (50_000, 91),
        (100_000, 91),
        (200_000, 91),
        (100_000, 45),
        (100_000, 22),
    ):
        part = released.with_measurements(released.measurements[:marginals])
        spent = []
        for epochs in (2, 6):
            own = replace(generator, particles=particles, epochs=epochs, steps=1)
            state = own.init(key_of(0), table.schema)
            start = time.process_time()
            own.fit(key_of(1), state, released=part)
            spent.append(time.process_time() - start)
        rows[f"{particles} x {marginals}"] = {"cpu_s_per_epoch": (spent[1] - spent[0]) / 4}
    return rows


def protected(options: argparse.Namespace, generator: Particles) -> dict[str, Figures]:
    """The paper's Figure 3: the protected statistic's error grows with the strength, the others stay."""
    names = Table(0).schema.names
    theta = np.random.default_rng(3).normal(size=len(names))
    weights = dict(zip(names, (theta / np.linalg.norm(theta)).round(3).tolist(), strict=True))
    rows = {}
    for strength in options.strengths:
        declared = {"kind": "protected", "weights": weights, "threshold": 0.1, "strength": strength}
        table = Table(0, constraints=(declared,))
        statistic = next(c for c in table.schema.constraints if isinstance(c, ProtectedStatistic))
        query = sigmoid_query(statistic)
        found, made = run(table, generator, seed=0, boosting=not options.quick, extra=(query,))
        error = abs(answer(query, made)[0] / len(made) - answer(query, table.rows)[0] / len(table.rows)) / 1000
        rows[f"strength {strength:g}"] = {"protected": float(error)} | found
        print(f"strength {strength:g}", {k: round(v, 5) for k, v in rows[f"strength {strength:g}"].items()}, flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--particles", type=int, default=100_000)
    parser.add_argument("--epochs", type=int, default=Particles().epochs)
    parser.add_argument("--noise", nargs="+", default=["exact", "authors"], choices=["exact", "authors"])
    for flag in ("--ablation", "--embeddings", "--scaling", "--protected", "--gpu", "--quick", "--json"):
        parser.add_argument(flag, action="store_true")
    parser.add_argument("--strengths", type=float, nargs="+", default=[0.0, 0.1, 1.0, 10.0, 100.0])
    options = parser.parse_args()
    generator = Particles(particles=options.particles, epochs=options.epochs, steps=1)
    if options.gpu:
        generator = replace(generator, engine="jax")
        run(Table(0), replace(generator, epochs=1, steps=1), seed=0, boosting=False)  # compile before timing
    results = {"device": str(jax.devices()[0])}
    if options.ablation:
        results["ablation"] = ablation(options, generator)
    if options.embeddings:
        results["embeddings"] = embeddings(options, generator)
    if options.scaling:
        results["scaling"] = scaling(generator)
    if options.protected:
        results["protected"] = protected(options, generator)
    if not (options.ablation or options.embeddings or options.scaling or options.protected):
        results["projection"] = {"consistency and projection": {"cpu_s": projection_seconds(Table(0), 0)}}
        results["metrics"] = main_figures(options, generator)
    if options.json:
        print(json.dumps(results))
        return
    print(f"device: {results.pop('device')}")
    for title, rows in results.items():
        show(title, rows)


if __name__ == "__main__":
    main()
