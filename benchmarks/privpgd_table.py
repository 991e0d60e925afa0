"""A public table at PrivPGD's setting: split, with the paper's six metrics and noise of two kinds.

The metrics count in at most 32 equal bins a column. Epsilon 2.5 unless told otherwise, delta 1e-5, rows replaced, all two-way marginals, 80 % of the rows to fit and 20 %
to test. The rows are public, so `released` draws its measurements with ordinary floating-point noise of the scale that the
curator would use; nothing is released.
"""

import itertools
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from harness import DATA
from pyarrow import parquet

from sundog.domain import Column, Schema
from sundog.domain.axis import Axis
from sundog.domain.rows import Rows
from sundog.domain.unit import PrivacyUnit
from sundog.generate.particles.sliced_projection import sliced_w1
from sundog.methods.recipes import recipe_of
from sundog.methods.workloads import two_way
from sundog.private.accountant import Budget
from sundog.private.curator import Curator
from sundog.private.ledger import Ledger
from sundog.private.spending import Spending
from sundog.private.table import PrivateTable
from sundog.queries import Marginal, Query, answer
from sundog.released import Guarantee, Measurement, Released
from sundog.sources import open_table

EPSILON, DELTA = 2.5, 1e-5
AUTHORS_NOISE = 2.018494130810843
"""The noise multiplier that the authors' code finds for epsilon 2.5, delta 1e-5."""
NOT_FEATURES = {"adult": ("education", "split")}
FEATURES = {
    "diabetes130": (
        "time_in_hospital", "num_lab_procedures", "num_procedures", "num_medications", "number_outpatient",
        "number_emergency", "number_inpatient", "number_diagnoses", "readmitted",
    ),
}  # fmt: skip
"""Of tables of which the paper takes the numbers and the target alone: those."""
Figures = dict[str, float]


class Table:
    """A public table, binned, split, with random queries and the exact answers to compare with."""

    def __init__(
        self,
        seed: int,
        name: str = "adult",
        *,
        epsilon: float = EPSILON,
        constraints: tuple[dict[str, Any], ...] = (),
    ) -> None:
        document = json.loads((DATA / f"{name}.schema.json").read_text())
        out = NOT_FEATURES.get(name, ())
        document["fields"] = [
            field
            for field in document["fields"]
            if field["name"] not in out and field["name"] in FEATURES.get(name, (field["name"],))
        ]
        self.schema = Schema.from_json(document | {"constraints": list(constraints)})
        everything = open_table(DATA / f"{name}.parquet").read(self.schema)
        self.name, self.budget = name, Budget(epsilon=epsilon, delta=DELTA)
        self.axes = [_axis(column) for column in self.schema.columns]
        random = np.random.default_rng(seed)
        order = random.permutation(len(everything))
        self.train = np.sort(order[: int(0.8 * len(order))])
        self.rows = Rows(self.schema, tuple(codes[self.train] for codes in everything.codes))
        self.real = self.cells(self.rows)
        self.test = self.cells(
            Rows(self.schema, tuple(codes[np.sort(order[len(self.train) :])] for codes in everything.codes))
        )
        self.pairs = list(itertools.combinations(range(len(self.axes)), 2))
        self.boxes, self.halfspaces = _boxes(random, self), _halfspaces(random, self)
        self.target = self.schema.position(self.schema.targets[0])

    def curator(self, *, selects: bool) -> Curator:
        """The door to the rows to fit for methods that measure by themselves, with a ledger that is thrown away."""
        rows = parquet.read_table(DATA / f"{self.name}.parquet", columns=list(self.schema.names)).take(self.train)
        spending = Spending(
            self.budget, "benchmark", unit=PrivacyUnit("replace"), accounting="zcdp" if selects else "gaussian",
            ledger=Ledger(Path(tempfile.mkdtemp()) / "ledger.db"),
        )  # fmt: skip
        return Curator(PrivateTable(rows), self.schema, spending=spending)

    def cells(self, rows: Rows) -> np.ndarray:
        """The cells of rows, column by column."""
        return np.stack([axis.cells(rows.column(axis.column)) for axis in self.axes]).astype(np.int64)

    def embedded(self, cells: np.ndarray) -> np.ndarray:
        """Cells at equally spaced centres in [0, 1]."""
        return np.stack([(own + 0.5) / axis.size for own, axis in zip(cells, self.axes, strict=True)])

    def released(
        self, seed: int, noise: str = "exact", extra: tuple[Query, ...] = (), *, derived: bool = True
    ) -> Released:
        """Noisy measurements: as the method measures, or of the paper's equal bins; "authors": their scale for every table."""
        random, recipe = np.random.default_rng(seed + 1000), recipe_of("privpgd")
        rho, first = self.budget.total_rho("gaussian"), recipe.first
        if noise == "authors" or not derived:
            queries = [Marginal((self.axes[i], self.axes[j])) for i, j in self.pairs]
            return self._measured(random, [*queries, *extra], rho=rho, noise=noise)
        columns = first.queries(self.schema)
        alone = self._measured(random, columns, rho=rho * first.share, shares=first.shares(self.schema))
        tables = recipe.bins.rebin(two_way(self.schema), alone)
        rest = self._measured(random, [*tables, *extra], rho=rho * (1 - first.share))
        return rest.with_measurements((*alone.measurements, *rest.measurements))

    def _measured(
        self,
        random: np.random.Generator,
        queries: Sequence[Query],
        *,
        rho: float,
        noise: str = "exact",
        shares: Sequence[float] | None = None,
    ) -> Released:
        """Seeded normals for noise, by shares of rho or by size."""
        by_size = [float(q.sensitivity_squared("replace")) ** (1 / 3) * q.size ** (2 / 3) for q in queries]
        part = np.array(shares or by_size) / sum(shares or by_size)
        measured = []
        for query, share in zip(queries, part, strict=True):
            scale = (float(query.sensitivity_squared("replace")) / (2 * rho * share)) ** 0.5
            scale = AUTHORS_NOISE * (2 * len(queries)) ** 0.5 if noise == "authors" else scale
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
