"""The metrics. A new one is one file and one line here; the law tests read these dictionaries."""

from typing import Any

from sundog.evaluate.base import Comparison, Measured, Metric, Score
from sundog.evaluate.divergences import InverseKL, JensenShannon
from sundog.evaluate.halfspaces import Halfspaces
from sundog.evaluate.k_marginal import KMarginal, SubSample
from sundog.evaluate.learning import BoostingError, LogisticF1
from sundog.evaluate.moments import Correlation, Covariance, UtilityImprovement
from sundog.evaluate.prefixes import Prefixes
from sundog.evaluate.propensity import Detection, PropensityRatio
from sundog.evaluate.protected import ProtectedShares
from sundog.evaluate.sliced_wasserstein import SlicedWasserstein
from sundog.evaluate.sparse_queries import Counting, Thresholding
from sundog.evaluate.total_variation import TotalVariation
from sundog.evaluate.violations import ConstraintViolations
from sundog.evaluate.workload import MeasuredError, MeasuredNoise, WorkloadError

__all__ = [
    "LEARNING",
    "METRICS",
    "PROTECTED",
    "REAL",
    "RELEASED",
    "TELLING",
    "Comparison",
    "Measured",
    "Metric",
    "Score",
]


def _named(*metrics: Metric[Comparison]) -> dict[str, Metric[Comparison]]:
    return {metric.name: metric for metric in metrics}


REAL = _named(
    TotalVariation(1),
    TotalVariation(2),
    TotalVariation(3),
    Prefixes(),
    Halfspaces(),
    Counting(),
    Thresholding(),
    Covariance(),
    SlicedWasserstein(2),
    SlicedWasserstein(1),
    SlicedWasserstein(3),
    Correlation(),
    UtilityImprovement(),
    JensenShannon(),
    InverseKL(),
    KMarginal(),
    SubSample(),
    WorkloadError("mean"),
    WorkloadError("max"),
)
"""Metrics on real rows, CONFIDENTIAL, in the order of the tables."""

LEARNING = _named(LogisticF1(), BoostingError())
"""Metrics on real rows that predict the targets, CONFIDENTIAL; they need scikit-learn."""

TELLING = _named(PropensityRatio(), Detection())
"""Metrics on real rows that train models to tell the tables apart, CONFIDENTIAL; they need scikit-learn."""

PROTECTED = _named(ProtectedShares())
"""Metrics on real rows of what the schema wants to be unlike them, CONFIDENTIAL."""

RELEASED: dict[str, Metric[Measured]] = {
    metric.name: metric
    for metric in (MeasuredError("mean"), MeasuredError("max"), MeasuredNoise(), ConstraintViolations())
}
"""Metrics on released measurements, public."""

METRICS: dict[str, Metric[Any]] = {**REAL, **LEARNING, **TELLING, **PROTECTED, **RELEASED}
"""All of them."""
