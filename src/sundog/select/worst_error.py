"""Worst error: each round, choose what the model answers worst, measure it, refit.

The rule of MWEM (Hardt, Ligett, McSherry 2012) in zCDP, as RAP, RAP++, Private-GSD, GEM and MWEM+PGM use it: `rounds`
rounds of `per_round` choices, made at once by noisy top-k (the papers print its scale in three wrong ways; the curator
has the right one), an equal part of the budget left for each round. A choice is a block of a query (a whole marginal, or
one of many thousand 0/1 queries held together), scored by the L1 or the largest error of its answers. Nothing is measured
twice.
"""

import math
from dataclasses import dataclass
from typing import Annotated, Any, Protocol

import numpy as np
from jaxtyping import Bool

from sundog.declare import Range, check_declared
from sundog.generate import Generator
from sundog.queries import Query
from sundog.released import Proposal, Released, Score, Selection
from sundog.select.base import FORBIDDEN, affordable, estimates, leftover, selections, spent_up


@dataclass(frozen=True)
class WorstError:
    """T rounds of K choices."""

    rounds: Annotated[int, "T: how many rounds there are.", Range(1, 10**5)] = 20
    per_round: Annotated[int, "K: how many are chosen in a round.", Range(1, 10**5)] = 1
    share_select: Annotated[float, "The part of each round's budget that choosing takes.", Range(0.001, 0.999)] = 0.5
    score: Annotated[Score, "How an answer's error is taken: the sum over its cells, or the largest."] = "L1"
    megabytes: Annotated[float, "The largest model, for generators whose model grows.", Range(0.0001, 10**5)] = 1.0
    selects = True
    reads_model = True
    columns_first = True
    measures_all = False
    refits = True

    def __post_init__(self) -> None:
        check_declared(self)

    def accepts(self, query: Query) -> bool:
        """Every query is accepted."""
        return True

    def propose(
        self,
        workload: tuple[Query, ...],
        *,
        model: tuple[Generator[Any], Any],
        released: Released,
        remaining_rho: float,
        previous: Proposal | None,
    ) -> Proposal | None:
        """The next round, or None after the last one."""
        left = self.rounds - selections(released)
        if left < 1 or spent_up(released, remaining_rho):
            return None
        candidates = affordable(model, workload, megabytes=self.megabytes)
        count = int(fresh_blocks(candidates, released).sum())
        if count < 1:
            return leftover(released, remaining_rho)
        rho = remaining_rho / min(left, math.ceil(count / self.per_round))
        return choice(self, workload, k=self.per_round, rho=rho, model=model, released=released)


class Chooses(Protocol):
    """What a rule that chooses the worst says of a round."""

    @property
    def share_select(self) -> float:
        """The part of the round's budget that choosing takes."""

    @property
    def score(self) -> Score:
        """How an answer's error is taken."""

    @property
    def megabytes(self) -> float:
        """The largest model, for generators whose model grows."""


def choice(
    rule: Chooses,
    workload: tuple[Query, ...],
    *,
    k: int,
    rho: float,
    model: tuple[Generator[Any], Any],
    released: Released,
) -> Proposal | None:
    """A round: choose the k worst answered that are not measured yet, and measure them."""
    candidates = affordable(model, workload, megabytes=rule.megabytes)
    fresh = fresh_blocks(candidates, released)
    if not fresh.any():
        return leftover(released, rho)
    selection = Selection(
        candidates,
        estimates(model, candidates, released),
        k=min(k, int(fresh.sum())),
        score=rule.score,
        weights=fresh.astype(np.int64).tolist(),
        penalties=np.where(fresh, 0, FORBIDDEN).tolist(),
    )
    select = rho * rule.share_select
    return Proposal(selection=selection, rho_select=select, rho_measure=rho - select)


def fresh_blocks(candidates: tuple[Query, ...], released: Released) -> Bool[np.ndarray, " blocks"]:
    """Which blocks of the candidates are not measured yet; of blocks that ask the same only the first counts."""
    known = {key for measurement in released.measurements for key in measurement.query.block_keys()}
    fresh = []
    for key in (key for query in candidates for key in query.block_keys()):
        fresh.append(key not in known)
        known.add(key)
    return np.array(fresh, dtype=bool)
