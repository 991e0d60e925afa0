"""SelectionRule: which queries to measure next. Public zone: it sees released values and a model, never rows."""

from typing import Any, Protocol

from sundog.generate import Generator
from sundog.proposal import Proposal
from sundog.queries import Query
from sundog.released import Released


class SelectionRule(Protocol):
    """Rules propose; the loop hands the proposal to the curator."""

    selects: bool
    """Whether it ever chooses privately; if not, the run is Gaussian only and accounted for exactly."""

    def propose(
        self,
        workload: tuple[Query, ...],
        *,
        model: tuple[Generator[Any], Any],
        released: Released,
        remaining_rho: float,
    ) -> Proposal | None:
        """The next round, or None when done."""
