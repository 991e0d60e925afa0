"""Worst error: each round, choose the queries that the model answers worst, measure them, refit.

The rule of MWEM (Hardt, Ligett, McSherry 2012) in zCDP, as RAP, RAP++, Private-GSD, GEM and MWEM+PGM use it: `rounds`
rounds of `per_round` queries, chosen at once by noisy top-k (the papers print its scale in three wrong ways; the curator
has the right one), an equal part of the budget for each round. A candidate is a whole query, scored by the L1 or the
largest error of its answer, or (`single`) every single answer of every query. Nothing is measured twice.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from sundog.generate import Generator
from sundog.proposal import Proposal, Score, Selection
from sundog.queries import Query
from sundog.released import Released
from sundog.select.base import affordable, estimates, leftover, selections, spent_up, unmeasured

FORBIDDEN = 2**52
"""A penalty that no error can outweigh: the single answers that were measured already."""


@dataclass(frozen=True)
class WorstError:
    """T rounds of K queries; `share_select` of each round's budget goes to choosing them."""

    rounds: int = 20
    per_round: int = 1
    share_select: float = 0.5
    score: Score = "L1"
    single: bool = False
    megabytes: float = 4.0
    selects = True
    refits = True

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
        candidates = workload if self.single else unmeasured(workload, released)
        candidates = affordable(model, candidates, megabytes=self.megabytes)
        taken = [_measured(query, released) if self.single else [] for query in candidates]
        count = sum(query.size for query in candidates) if self.single else len(candidates)
        count -= sum(len(places) for places in taken)
        if count < 1:
            return leftover(released, remaining_rho)
        rho = remaining_rho / min(left, math.ceil(count / self.per_round))
        selection = Selection(
            candidates,
            estimates(model, candidates, released),
            k=min(self.per_round, count),
            score=self.score,
            single=self.single,
            penalties=_penalties(candidates, taken) if self.single else None,
        )
        select = rho * self.share_select
        return Proposal(selection=selection, rho_select=select, rho_measure=rho - select)


def _penalties(candidates: Sequence[Query], taken: list[list[int]]) -> list[int]:
    penalties = [np.zeros(query.size, dtype=np.int64) for query in candidates]
    for penalty, places in zip(penalties, taken, strict=True):
        penalty[places] = FORBIDDEN
    return [int(value) for value in np.concatenate(penalties)]


def _measured(query: Query, released: Released) -> list[int]:
    """Which single answers of a query were measured."""
    singles = [m.query for m in released.measurements if m.query.size == 1]
    if not singles:
        return []
    places = _places(query)  # type: ignore[arg-type]
    found = [places.get(_name(single)) for single in singles]
    return [place for place in found if place is not None]


@lru_cache(maxsize=256)
def _places(query: Query) -> dict[str, int]:
    return {_name(query.subset([place])): place for place in range(query.size)}


def _name(query: Query) -> str:
    return json.dumps(query.to_json(), sort_keys=True)
