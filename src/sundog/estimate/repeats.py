"""Repeats: several measurements of one query are one, their mean weighted by precision. Free: released values only.

Gaussian noise loses nothing by being drawn in parts: at rho_1 and then at rho_2 the mean is as precise as at rho_1 + rho_2.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from sundog.queries import Query
from sundog.released import Measurement


def without_repeats(measurements: Iterable[Measurement]) -> list[Measurement]:
    """One measurement per query, in the order in which queries were first measured."""
    same: dict[Query, list[Measurement]] = {}
    for measurement in measurements:
        same.setdefault(measurement.query, []).append(measurement)
    return [as_one(group) for group in same.values()]


def as_one(same: Sequence[Measurement]) -> Measurement:
    """Several measurements of one query as one."""
    if len(same) == 1:
        return same[0]
    precision = np.array([1 / measurement.stddev**2 for measurement in same])
    values = sum(p * measurement.values for p, measurement in zip(precision / precision.sum(), same, strict=True))
    return replace(same[0], values=np.rint(values).astype(np.int64), stddev=float(precision.sum() ** -0.5))
