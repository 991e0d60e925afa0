"""What a selection rule may ask of the curator: choose among candidates privately, then measure.

Rules live in the public zone: a proposal holds public values only (queries, a model's estimates, weights). The curator
scores the candidates on the private rows, chooses with noise and charges for it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Int

from sundog.queries import Query

Score = Literal["L1", "Linf"]


@dataclass(frozen=True, eq=False)
class Selection:
    """Choose `k` of the candidates whose exact answers differ most from the estimates.

    score = weight * (|exact - estimate| in the named norm) - penalty, with integer weights and penalties, so that scores
    are integers and their sensitivity is exact.
    """

    candidates: tuple[Query, ...]
    estimates: tuple[Int[np.ndarray, " cells"], ...]
    k: int = 1
    score: Score = "L1"
    weights: Sequence[int] | None = None
    penalties: Sequence[int] | None = None


@dataclass(frozen=True, eq=False)
class Proposal:
    """One round: an optional private choice (paid `rho_select`), then measuring `queries` and the chosen ones."""

    queries: tuple[Query, ...] = ()
    selection: Selection | None = None
    rho_select: float = 0.0
    rho_measure: float = 0.0
    shares: Sequence[float] | None = None
