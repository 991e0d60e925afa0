"""Workload error: how far the synthetic answers are from the real ones, or from the released measurements.

    error of an answer = |real / n - synthetic / m|,    mean and max over all answers of the workload, and by query class

Against released measurements nothing private is needed. There the noise is part of the difference: `measured_noise` is
the root mean square of (synthetic - measured) / stddev, about 1 where the table fits as well as the noise allows.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from jaxtyping import Float

from sundog.domain.rows import Rows
from sundog.evaluate.base import Better, Comparison, Measured, Needs, Score
from sundog.queries import Query, answer

Statistic = Literal["mean", "max"]


@dataclass(frozen=True)
class WorkloadError:
    """Mean or largest error over the answers of the workload, on real rows."""

    statistic: Statistic
    better: ClassVar[Better] = "lower"
    needs: ClassVar[Needs] = "real"

    @property
    def name(self) -> str:
        """The name in reports: workload_mean or workload_max."""
        return f"workload_{self.statistic}"

    @property
    def summary(self) -> str:
        """The definition in a sentence, for reports."""
        return f"{self.statistic} absolute error of the workload's answers, as a share of the rows"

    def score(self, subject: Comparison) -> Score | None:
        """Over all answers, and by query class; None without a workload."""
        gaps = [np.abs(shares(query, subject.real) - shares(query, subject.synthetic)) for query in subject.workload]
        return by_class(subject.workload, gaps, statistic=self.statistic)


@dataclass(frozen=True)
class MeasuredError:
    """Mean or largest difference between the synthetic answers and the released measurements."""

    statistic: Statistic
    better: ClassVar[Better] = "lower"
    needs: ClassVar[Needs] = "released"

    @property
    def name(self) -> str:
        """The name in reports: measured_mean or measured_max."""
        return f"measured_{self.statistic}"

    @property
    def summary(self) -> str:
        """The definition in a sentence, for reports."""
        return f"{self.statistic} absolute difference to the released measurements (noise included), as a share of the rows"

    def score(self, subject: Measured) -> Score | None:
        """Over all answers, and by query class; None where nothing was measured."""
        measurements, rows = subject.released.measurements, subject.released.rows
        gaps = [np.abs(m.values / m.query.scale / rows - shares(m.query, subject.synthetic)) for m in measurements]
        return by_class([m.query for m in measurements], gaps, statistic=self.statistic)


@dataclass(frozen=True)
class MeasuredNoise:
    """The difference to the released measurements in units of their noise."""

    name = "measured_noise"
    summary = "root mean square difference to the released measurements, in standard deviations of their noise"
    better: ClassVar[Better] = "lower"
    needs: ClassVar[Needs] = "released"

    def score(self, subject: Measured) -> Score | None:
        """Over all answers, and by query class; None where nothing was measured with noise."""
        noisy = [m for m in subject.released.measurements if m.stddev > 0]
        scale = subject.released.rows / len(subject.synthetic)
        squares = [((m.values - answer(m.query, subject.synthetic) * scale) / m.stddev) ** 2 for m in noisy]
        found = by_class([m.query for m in noisy], squares, statistic="mean")
        if found is None:
            return None
        return Score(found.value**0.5, {name: value**0.5 for name, value in found.parts.items()})


def query_class(query: Query) -> str:
    """The class of a query in words; marginals by their number of columns.

    >>> from sundog.queries import Marginal
    >>> from sundog.domain import Schema
    >>> schema = Schema.from_json({"fields": [{"name": "a", "type": "boolean"}, {"name": "b", "type": "boolean"}]})
    >>> query_class(Marginal.of(schema, "a", "b"))
    '2-way marginal'
    """
    name = str(query.to_json()["query"])
    return f"{len(query.columns)}-way marginal" if name == "marginal" else name


def shares(query: Query, rows: Rows) -> Float[np.ndarray, " cells"]:
    """The answers as shares of the rows."""
    return answer(query, rows) / query.scale / max(len(rows), 1)


def by_class(
    queries: Sequence[Query], values: Sequence[Float[np.ndarray, " cells"]], *, statistic: Statistic
) -> Score | None:
    """The statistic over all answers, and over those of each query class."""
    if not queries:
        return None
    reduce = np.mean if statistic == "mean" else np.max
    classes: dict[str, list[Float[np.ndarray, " cells"]]] = {}
    for query, value in zip(queries, values, strict=True):
        classes.setdefault(query_class(query), []).append(value)
    parts = {name: float(reduce(np.concatenate(found))) for name, found in classes.items()}
    return Score(float(reduce(np.concatenate(list(values)))), parts)
