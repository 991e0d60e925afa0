"""Workload: queries with weights. Built from public values only: the schema, a seed, released one-way measurements."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sundog.errors import UserError
from sundog.queries import Query
from sundog.rows import Rows
from sundog.schema import Schema
from sundog.workload import build


@dataclass(frozen=True, eq=False)
class Workload:
    """Queries and how much each counts."""

    schema: Schema
    queries: tuple[Query, ...]
    weights: tuple[float, ...]

    def __post_init__(self) -> None:
        if not self.queries:
            raise UserError("workload: it holds no query; the schema may lack columns of the kind it asks for.")
        if len(self.weights) != len(self.queries) or min(self.weights) <= 0:
            raise UserError("workload: every query needs a weight above 0.")

    def __add__(self, other: "Workload") -> "Workload":
        if self.schema != other.schema:
            raise UserError("workload: two workloads over different schemas cannot be combined.")
        return Workload(self.schema, self.queries + other.queries, self.weights + other.weights)

    def __len__(self) -> int:
        return len(self.queries)

    @property
    def cells(self) -> int:
        """The number of answers."""
        return sum(query.size for query in self.queries)

    def weighted(self, weight: float) -> "Workload":
        """The same queries, all counting so many times as much."""
        return replace(self, weights=tuple(weight * each for each in self.weights))

    @staticmethod
    def marginals(
        schema: Schema,
        *,
        k: int = 2,
        sample: int | None = None,
        seed: int = 0,
        columns: Sequence[str] | None = None,
        bins: int | None = None,
    ) -> "Workload":
        """k-way marginals over all (or named) columns; `sample` draws so many of them."""
        return _equal(schema, build.marginals(schema, k=k, sample=sample, seed=seed, columns=columns, bins=bins))

    @staticmethod
    def prefixes(
        schema: Schema,
        *,
        count: int = 1000,
        labels: int = 1,
        numbers: int = 2,
        seed: int = 0,
        reference: Rows | None = None,
    ) -> "Workload":
        """Random prefixes: so many labels and thresholds from below (Private-GSD, Section 5)."""
        return _equal(
            schema, build.prefixes(schema, count=count, labels=labels, numbers=numbers, seed=seed, reference=reference)
        )

    @staticmethod
    def ranges(
        schema: Schema,
        *,
        count: int = 1000,
        labels: int = 1,
        numbers: int = 1,
        seed: int = 0,
        reference: Rows | None = None,
    ) -> "Workload":
        """Random ranges: so many labels and half-open intervals."""
        return _equal(
            schema, build.ranges(schema, count=count, labels=labels, numbers=numbers, seed=seed, reference=reference)
        )

    @staticmethod
    def trees(schema: Schema, *, levels: int = 5, numbers: int = 1, labels: int = 1) -> "Workload":
        """Binary-tree marginals: every choice of so many categorical and numeric columns."""
        return _equal(schema, build.trees(schema, levels=levels, numbers=numbers, labels=labels))

    @staticmethod
    def halfspaces(
        schema: Schema, *, directions: int = 100, thresholds: int = 20, seed: int = 0, reference: Rows | None = None
    ) -> "Workload":
        """Random directions over all columns, with thresholds where they matter under the public bounds."""
        return _equal(
            schema,
            build.halfspaces(schema, directions=directions, thresholds=thresholds, seed=seed, reference=reference),
        )

    @staticmethod
    def conditional_marginals(
        schema: Schema, *, targets: Sequence[str] | None = None, k: int = 2, bins: int | None = None
    ) -> "Workload":
        """Every target with every k categorical columns (RAP++: CM)."""
        return _equal(
            schema, build.conditional_marginals(schema, targets=build.targets_of(schema, targets), k=k, bins=bins)
        )

    @staticmethod
    def conditional_ranges(
        schema: Schema,
        *,
        targets: Sequence[str] | None = None,
        count: int = 1000,
        numbers: int = 2,
        seed: int = 0,
        reference: Rows | None = None,
    ) -> "Workload":
        """Every label of every target with random thresholds on so many numeric columns (RAP++: MM)."""
        wanted = build.targets_of(schema, targets)
        return _equal(
            schema,
            build.conditional_ranges(
                schema, targets=wanted, count=count, numbers=numbers, seed=seed, reference=reference
            ),
        )

    @staticmethod
    def conditional_thresholds(
        schema: Schema,
        *,
        targets: Sequence[str] | None = None,
        directions: int = 100,
        thresholds: int = 20,
        seed: int = 0,
        reference: Rows | None = None,
    ) -> "Workload":
        """Every label of every target with linear thresholds over the numeric columns (RAP++: LT)."""
        wanted = build.targets_of(schema, targets)
        return _equal(
            schema,
            build.conditional_thresholds(
                schema, targets=wanted, directions=directions, thresholds=thresholds, seed=seed, reference=reference
            ),
        )

    @staticmethod
    def at_least(
        schema: Schema, *, k: int = 3, least: int = 2, sample: int | None = None, seed: int = 0, bins: int | None = None
    ) -> "Workload":
        """t-out-of-k queries over the categorical columns (RAP, Appendix D)."""
        return _equal(schema, build.at_least(schema, k=k, least=least, sample=sample, seed=seed, bins=bins))

    @staticmethod
    def moments(schema: Schema, *, columns: Sequence[str] | None = None) -> "Workload":
        """Centred first and second moments of the numeric (or named) columns."""
        return _equal(schema, build.moments(schema, columns=columns))

    @staticmethod
    def load(path: str | Path, schema: Schema, *, reference: Rows | None = None) -> "Workload":
        """A workload from a TOML file (docs/workloads.md)."""
        from sundog.workload.file import load_workload

        return load_workload(path, schema, reference=reference)


KINDS: Mapping[str, Callable[..., Workload]] = {
    "marginals": Workload.marginals,
    "prefixes": Workload.prefixes,
    "ranges": Workload.ranges,
    "trees": Workload.trees,
    "halfspaces": Workload.halfspaces,
    "conditional_marginals": Workload.conditional_marginals,
    "conditional_ranges": Workload.conditional_ranges,
    "conditional_thresholds": Workload.conditional_thresholds,
    "at_least": Workload.at_least,
    "moments": Workload.moments,
}
"""The workloads that files and the command line can name."""


def _equal(schema: Schema, queries: Sequence[Any]) -> Workload:
    return Workload(schema, tuple(queries), (1.0,) * len(queries))
