"""Everything: measure the whole workload once, with all of the budget.

The budget is divided by use: for the sum of absolute errors the best share of a query is (D * cells)^(2/3), with D its
sensitivity; the sensitivities of one workload are nearly equal, so cells decide.
"""

from dataclasses import dataclass
from typing import Any

from sundog.generate import Generator
from sundog.proposal import Proposal
from sundog.queries import Query
from sundog.released import Released


@dataclass(frozen=True)
class Everything:
    """One shot."""

    selects = False
    refits = False

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
        shares = [
            float(query.sensitivity_squared(released.guarantee.unit.neighbours)) ** (1 / 3) * query.size ** (2 / 3)
            for query in workload
        ]
        return Proposal(queries=workload, rho_measure=remaining_rho, shares=shares)
