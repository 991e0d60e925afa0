"""Worst error: in every round measure the questions that the model answers worst (RAP, RAP++, Private-GSD, GEM, MWEM).

Round r of T chooses K blocks by report-noisy-top-K on |exact - estimate| and measures them; the budget left is divided
equally over the rounds left, and within a round between choosing and measuring, so the last round uses up the rest. The
first step measures every column's own marginal: generators start from it, and it tells the number of rows where that is
private. No block is ever measured twice. The papers' printed noise is corrected (docs/privacy.md).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Int

from sundog.generate import Generator
from sundog.proposal import Proposal, Score, Selection
from sundog.queries import Query
from sundog.released import Released
from sundog.select.everything import shares_of
from sundog.workload import Workload

NEVER = 1 << 50
"""The penalty of a block that is measured already."""


@dataclass(frozen=True)
class WorstError:
    """`rounds` rounds of `per_round` choices; `start_share` of the budget goes to one-way marginals first."""

    rounds: int = 10
    per_round: int = 5
    select_share: float = 0.5
    start_share: float = 0.1
    score: Score = "L1"
    selects = True

    def propose(
        self,
        workload: tuple[Query, ...],
        *,
        model: tuple[Generator[Any], Any],
        released: Released,
        remaining_rho: float,
    ) -> Proposal | None:
        """First the one-way marginals, then round after round."""
        if not released.measurements and self.start_share > 0:
            return self._start(released, self.start_share * remaining_rho)
        done = sum(payment.mechanism == "exponential" for payment in released.payments)
        fresh = _fresh(workload, released)
        if done >= self.rounds or not fresh.any():
            return None
        rho = remaining_rho / (self.rounds - done)
        selection = self._selection(workload, model=model, released=released, fresh=fresh)
        return Proposal(
            selection=selection, rho_select=rho * self.select_share, rho_measure=rho * (1 - self.select_share)
        )

    def _start(self, released: Released, rho: float) -> Proposal:
        queries = Workload.marginals(released.schema, k=1).queries
        shares = shares_of(queries, (1.0,) * len(queries), released.guarantee.unit.neighbours)
        return Proposal(queries=queries, rho_measure=rho, shares=shares)

    def _selection(
        self,
        workload: tuple[Query, ...],
        *,
        model: tuple[Generator[Any], Any],
        released: Released,
        fresh: Int[np.ndarray, " blocks"],
    ) -> Selection:
        generator, state = model
        estimates = tuple(
            np.rint(released.rows * generator.answer(state, query)).astype(np.int64) for query in workload
        )
        return Selection(
            workload,
            estimates,
            k=min(self.per_round, int(fresh.sum())),
            score=self.score,
            weights=fresh.astype(np.int64).tolist(),
            penalties=((1 - fresh.astype(np.int64)) * NEVER).tolist(),
        )


def _fresh(workload: tuple[Query, ...], released: Released) -> Int[np.ndarray, " blocks"]:
    """Which blocks of the workload are not measured yet."""
    known = {key for measurement in released.measurements for key in measurement.query.block_keys()}
    return np.array([key not in known for query in workload for key in query.block_keys()], dtype=bool)
