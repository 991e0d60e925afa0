"""Measurement: a query, its noisy integer answer and the standard deviation of the noise; with what was paid for it.

Its receipt names the ledger entry that paid for it. A Guarantee is what may be claimed for all measurements together.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from jaxtyping import Int

from sundog.domain.unit import PrivacyUnit
from sundog.queries import Query

NoiseKind = Literal["gaussian", "laplace"]
KeyGround = Literal["checked", "ensured"]
"""How it is known that a key names one record: a run checked it before measuring, or a constraint of the database ensures it."""


@dataclass(frozen=True, eq=False)
class Measurement:
    """A noisy answer: `values` = exact counts + independent noise of standard deviation `stddev`, rounded."""

    query: Query
    values: Int[np.ndarray, " cells"]
    stddev: float
    receipt: str
    noise: NoiseKind = "gaussian"


@dataclass(frozen=True, eq=False)
class Scores:
    """Noisy scores of candidate queries, one per block: how far each is from an estimate that was public at the time."""

    candidates: tuple[Query, ...]
    values: Int[np.ndarray, " blocks"]
    stddev: float
    receipt: str


@dataclass(frozen=True)
class Payment:
    """One line of the certificate: what was paid for, by which mechanism, at what cost."""

    receipt: str
    mechanism: str
    label: str
    rho: float
    delta: float = 0.0
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Guarantee:
    """The claim: rho-zCDP (approximate by `delta_spent`), which is (epsilon, delta)-DP, for one privacy unit."""

    unit: PrivacyUnit
    accounting: str
    rho: float
    delta_spent: float = 0.0
    epsilon: float | None = None
    delta: float | None = None
    keys: Mapping[str, KeyGround] = field(default_factory=dict)
    """Of linked tables: those whose keys the bound rests on, and how it is known that each names one record."""
