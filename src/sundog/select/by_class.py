"""By class: measure the whole workload once, the budget divided equally among its classes of queries.

RAP++ mixes classes that cannot be compared by cells: a table is one partition, ten thousand thresholds are ten thousand
queries. An equal part for every class (marginals and trees, ranges, halfspaces) is public and keeps the many from
starving the few; within a class the budget is divided as Everything does, (D * cells)^(2/3).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from sundog.generate import Generator
from sundog.proposal import Proposal
from sundog.queries import Conditional, Query
from sundog.released import Released
from sundog.select.everything import shares_of


@dataclass(frozen=True)
class ByClass:
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
        """All queries, once."""
        if previous is not None:
            return None
        kinds = np.array([class_of(query) for query in workload])
        shares = np.array(shares_of(workload, (1.0,) * len(workload), released.guarantee.unit.neighbours))
        for kind in set(kinds):
            shares[kinds == kind] /= shares[kinds == kind].sum()
        return Proposal(queries=workload, rho_measure=remaining_rho, shares=shares.tolist())


def class_of(query: Query) -> str:
    """The class a query belongs to; by target or not is the same class."""
    return type(query.inner if isinstance(query, Conditional) else query).__name__
