"""Everything: measure the whole workload once, with all of the budget.

The budget is divided by use: for the (weighted) sum of absolute errors the best share of a query is
(D * weight * cells)^(2/3), with D its sensitivity in rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sundog.domain.unit import Neighbours
from sundog.generate import Generator
from sundog.queries import Query
from sundog.released import Proposal, Released


@dataclass(frozen=True)
class Everything:
    """One shot; `weights` say how much each query counts (default: equally)."""

    weights: tuple[float, ...] | None = None
    selects = False
    reads_model = False
    columns_first = False
    measures_all = True
    refits = False

    def weighted(self, weights: tuple[float, ...]) -> "Everything":
        """The rule with the workload's weights."""
        return replace(self, weights=weights)

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
        """All queries that are not measured yet."""
        if previous is not None:
            return None
        shares = shares_of(workload, self.weights or (1.0,) * len(workload), released.guarantee.unit.neighbours)
        return Proposal(queries=workload, rho_measure=remaining_rho, shares=shares)


def shares_of(queries: Sequence[Query], weights: Sequence[float], neighbours: Neighbours) -> list[float]:
    """How to divide the budget: (D * weight * cells)^(2/3) for each query."""
    return [
        float(query.sensitivity_squared(neighbours) / query.scale**2) ** (1 / 3) * (weight * query.size) ** (2 / 3)
        for query, weight in zip(queries, weights, strict=True)
    ]
