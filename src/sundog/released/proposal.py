"""What a selection rule may ask of the curator: choose among candidates privately, then measure.

Rules live in the public zone: a proposal holds public values only (queries, a model's estimates, weights). The curator
scores the candidates on the private rows, chooses with noise and charges for it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Int

from sundog.errors import UserError
from sundog.queries import Query
from sundog.sizes import whole_number

Score = Literal["L1", "Linf"]


@dataclass(frozen=True, eq=False)
class Selection:
    """Choose the `k` blocks, among all blocks of the candidates, whose exact answers differ most from the estimates.

    A block is what belongs together in a query: a whole marginal, or one of many thousand 0/1 queries held as one.
    score = weight * (|exact - estimate| over the block, in the named norm) - penalty, with integer weights and penalties
    (one per block), so that scores are integers and their sensitivity is exact.
    """

    candidates: tuple[Query, ...]
    estimates: tuple[Int[np.ndarray, " cells"], ...]
    k: int = 1
    score: Score = "L1"
    weights: Sequence[int] | None = None
    penalties: Sequence[int] | None = None

    def __post_init__(self) -> None:
        whole_number("selection: how many to choose", self.k)
        if not self.candidates:
            raise UserError("selection: found no candidate; it needs at least one to choose from.")
        if [len(estimate) for estimate in self.estimates] != [query.size for query in self.candidates]:
            raise UserError("selection: the estimates do not fit the candidates; give one vector per candidate.")
        for numbers in (self.weights, self.penalties):
            if numbers is not None and len(numbers) != self.blocks:
                raise UserError(f"selection: found {len(numbers)} weights or penalties for {self.blocks} blocks.")
        if self.weights is not None and min(self.weights) < 0:
            raise UserError("selection: weights must not be negative.")

    @property
    def blocks(self) -> int:
        """How many there are to choose from."""
        return sum(query.size // query.block for query in self.candidates)


@dataclass(frozen=True, eq=False)
class Proposal:
    """One round: optional noisy scores, an optional private choice, then measuring `queries` and the chosen ones."""

    queries: tuple[Query, ...] = ()
    scoring: Selection | None = None
    rho_score: float = 0.0
    selection: Selection | None = None
    rho_select: float = 0.0
    rho_measure: float = 0.0
    shares: Sequence[float] | None = None
