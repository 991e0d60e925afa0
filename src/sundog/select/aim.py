"""AIM: an adaptive and iterative choice of marginals (McKenna, Mullins, Sheldon, Miklau 2022).

Each round chooses, among all marginals r contained in the workload's, by the exponential mechanism the one of best

    w_r ( || M_r(D) - M_r(model) ||_1  -  sqrt(2/pi) stddev n_r ),      w_r = sum over workload s of c_s |r intersect s|,

measures it and refits. Rounds start at 1/(16 d) of the budget, 10 % of it for choosing; when a measurement moved the
model by no more than its noise, || M_r(model) - M_r(model before) ||_1 <= sqrt(2/pi) stddev n_r, the next round may spend
four times as much (half the noise). When less than two rounds are left, the last one spends all. Marginals that would
make the model larger than the limit times the spent share of the budget are left out. A marginal may be chosen again.

The size limit is 1 MB by default (the paper's: 80), so that a run takes minutes on two cores.

What differs from published code: |error| scores are not treated as monotone, the L1 score's sensitivity is 2 under
"replace" (the curator applies it), weights are integers, the one-way start is charged, and its share is a choice of the
recipe (methods.py).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations
from typing import Annotated, Any

import numpy as np

from sundog.declare import Range, check_declared
from sundog.generate import Generator
from sundog.queries import Marginal, Query
from sundog.queries.sensitivity import gaussian_stddev
from sundog.released import Proposal, Released, Selection
from sundog.select.base import FORBIDDEN, affordable, estimates, leftover, spent_up

EXPECTED = math.sqrt(2 / math.pi)
"""E|N(0, 1)|."""
FIXED_POINT = 16
"""Weights are whole multiples of 1/16 of the least."""


@dataclass(frozen=True)
class AIM:
    """How the budget is divided; and the workload's weights c_s."""

    rounds: Annotated[
        float, "T / d: rounds per column that the budget would pay for at the start.", Range(0.01, 10**4)
    ] = 16.0
    share_select: Annotated[
        float, "1 - alpha: the part of each round's budget that choosing takes.", Range(0.001, 0.999)
    ] = 0.1
    megabytes: Annotated[
        float, "MAX-SIZE: the largest model, reached with the last of the budget.", Range(0.0001, 10**5)
    ] = 1.0
    weights: tuple[float, ...] | None = None
    selects = True
    reads_model = True
    columns_first = True
    measures_all = False
    refits = True

    def __post_init__(self) -> None:
        check_declared(self)

    def weighted(self, weights: tuple[float, ...]) -> "AIM":
        """The rule with the workload's weights."""
        return replace(self, weights=weights)

    def accepts(self, query: Query) -> bool:
        """Marginals: it chooses among those that they contain."""
        return isinstance(query, Marginal)

    def propose(
        self,
        workload: tuple[Query, ...],
        *,
        model: tuple[Generator[Any], Any],
        released: Released,
        remaining_rho: float,
        previous: Proposal | None,
    ) -> Proposal | None:
        """What to choose and measure in the next round."""
        if spent_up(released, remaining_rho):
            return None
        spent = released.guarantee.rho
        total = spent + remaining_rho
        scored = self.candidates(workload)
        allowed = affordable(model, list(scored), megabytes=self.megabytes * spent / total)
        if not allowed:
            return leftover(released, remaining_rho)
        rho = self._round_rho(model, released, previous, total=total)
        rho = remaining_rho if remaining_rho < 2 * rho else rho
        return self._round([(query, scored[query]) for query in allowed], model, released, rho)

    def candidates(self, workload: tuple[Query, ...]) -> dict[Query, int]:
        """The marginals contained in the workload's, of two columns or more, with their weights in fixed point."""
        return _candidates(workload, self.weights or (1.0,) * len(workload))

    def _round(
        self, scored: Sequence[tuple[Query, int]], model: tuple[Generator[Any], Any], released: Released, rho: float
    ) -> Proposal:
        measure = rho * (1 - self.share_select)
        queries = tuple(query for query, _ in scored)
        unit = released.guarantee.unit
        penalties = [
            min(round(weight * EXPECTED * gaussian_stddev(query, measure, unit=unit) * query.size), FORBIDDEN)
            for query, weight in scored
        ]
        selection = Selection(
            queries,
            estimates(model, queries, released),
            weights=[weight for _, weight in scored],
            penalties=penalties,
        )
        return Proposal(selection=selection, rho_select=rho - measure, rho_measure=measure)

    def _round_rho(
        self, model: tuple[Generator[Any], Any], released: Released, previous: Proposal | None, *, total: float
    ) -> float:
        """This round's price: that of the last one, times four if the last one taught nothing beyond its noise."""
        if previous is None or previous.selection is None:
            return total / (self.rounds * len(released.schema.columns))
        last = released.measurements[-1]
        before = previous.selection.estimates[previous.selection.candidates.index(last.query)]
        (now,) = estimates(model, [last.query], released)
        moved = float(np.abs(now - before).sum())
        rho = previous.rho_select + previous.rho_measure
        return 4 * rho if moved <= EXPECTED * last.stddev * last.query.size else rho


@lru_cache(maxsize=2)
def _candidates(workload: tuple[Query, ...], importance: tuple[float, ...]) -> dict[Query, int]:
    """Kept from round to round. A marginal's weight is the sum over its columns of the queries that ask about them."""
    columns: dict[str, float] = {}
    for c, query in zip(importance, workload, strict=True):
        for name in query.columns:
            columns[name] = columns.get(name, 0.0) + c
    below = {part: None for query in workload if isinstance(query, Marginal) for part in _parts(query)}
    weights = {part: sum(columns[name] for name in part.columns) for part in below}
    least = min((weight for weight in weights.values() if weight > 0), default=1.0)
    return {part: round(weight / least * FIXED_POINT) for part, weight in weights.items() if weight > 0}


def _parts(query: Marginal) -> list[Marginal]:
    """The marginal itself and those over two or more of its columns."""
    return [Marginal(axes) for k in range(2, len(query.axes) + 1) for axes in combinations(query.axes, k)]
