"""By class: measure the whole workload once, with a fixed part of the budget for each class of queries.

RAP++ mixes classes that cannot be compared by cells: a table is one partition, ten thousand thresholds are ten thousand
queries. A fixed part is public and keeps the many from starving the few: `tables` for marginals and trees, the rest
equally for every other class there is; within a class the budget is divided as Everything does, (D * cells)^(2/3).
"""

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from sundog.declare import Range, check_declared
from sundog.generate import Generator
from sundog.queries import Conditional, Query
from sundog.released import Proposal, Released
from sundog.select.everything import shares_of

TABLES = {"Marginal", "BinaryTree"}


@dataclass(frozen=True)
class ByClass:
    """One shot."""

    tables: Annotated[
        float, "The part of the budget for marginals and trees, where there is anything else.", Range(0.001, 0.999)
    ] = 0.2
    selects = False
    reads_model = False
    columns_first = True
    measures_all = True
    refits = False

    def __post_init__(self) -> None:
        check_declared(self)

    def accepts(self, query: Query) -> bool:
        """Every query."""
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
        """All queries, once."""
        if previous is not None:
            return None
        kinds = np.array([class_of(query) for query in workload])
        shares = np.array(shares_of(workload, (1.0,) * len(workload), released.guarantee.unit.neighbours))
        others = sorted(set(kinds) - TABLES)
        for kind in set(kinds):
            tables = kind in TABLES
            part = self.tables / len(set(kinds) & TABLES) if tables else (1 - self.tables) / len(others)
            shares[kinds == kind] *= part / shares[kinds == kind].sum()
        return Proposal(queries=workload, rho_measure=remaining_rho, shares=shares.tolist())


def class_of(query: Query) -> str:
    """The class a query belongs to; by target or not is the same class."""
    return type(query.inner if isinstance(query, Conditional) else query).__name__
