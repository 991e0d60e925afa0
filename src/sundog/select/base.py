"""SelectionRule: which queries to measure next. Public zone: it sees released values and a model, never rows."""

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Int

from sundog.generate import Generator, SizeLimited
from sundog.queries import Query
from sundog.released import Proposal, Released

FORBIDDEN = 1 << 50
"""A penalty that no error can outweigh: what is measured already, or would be lost in noise."""


class SelectionRule(Protocol):
    """Rules propose; the loop hands the proposal to the curator."""

    @property
    def selects(self) -> bool:
        """Whether it ever chooses privately; if not, the run is Gaussian only and accounted for exactly."""

    @property
    def reads_model(self) -> bool:
        """Whether it looks at the model: if not, none is fitted before it proposes."""

    columns_first: bool
    """Whether it needs every column measured alone first, also where users bring their own workload."""

    @property
    def measures_all(self) -> bool:
        """Whether it measures the whole workload, so that a model that grows with it can be foreseen."""

    @property
    def refits(self) -> bool:
        """Whether its next proposal needs the model fitted to what was just measured; if not, fitting waits to the end."""

    def accepts(self, query: Query) -> bool:
        """Whether it can choose or measure this query; what it cannot is refused before anything is spent."""

    def propose(
        self,
        workload: tuple[Query, ...],
        *,
        model: tuple[Generator[Any], Any],
        released: Released,
        remaining_rho: float,
        previous: Proposal | None,
    ) -> Proposal | None:
        """The next round, or None when done; `previous` is the last proposal, with the estimates of its time."""


@runtime_checkable
class Weighted(Protocol):
    """A rule that can weight the queries of a workload."""

    def weighted(self, weights: tuple[float, ...]) -> SelectionRule:
        """The rule with these weights, one per query."""


@runtime_checkable
class Splits(Protocol):
    """A rule that may measure other queries than the workload's own."""

    def split(self, workload: tuple[Query, ...]) -> tuple[Query, ...]:
        """The queries that the rule may measure."""


@runtime_checkable
class Settles(Protocol):
    """A rule that leaves choices open until the workload and the budget, both public, are known."""

    def settled(self, workload: tuple[Query, ...], *, rho: float) -> SelectionRule:
        """The rule with its choices made."""


def estimates(
    model: tuple[Generator[Any], Any], queries: Sequence[Query], released: Released
) -> tuple[Int[np.ndarray, " cells"], ...]:
    """The model's answers as whole counts."""
    generator, state = model
    return tuple(np.rint(generator.answer(state, query) * released.rows).astype(np.int64) for query in queries)


def affordable(
    model: tuple[Generator[Any], Any], candidates: Sequence[Query], *, megabytes: float
) -> tuple[Query, ...]:
    """The candidates that keep a model with a size (a junction tree) within the limit; all of them for other models."""
    generator, state = model
    if not isinstance(generator, SizeLimited):
        return tuple(candidates)
    limit = min(megabytes, generator.megabytes)
    sizes = generator.megabytes_with(state, candidates)
    return tuple(query for query, size in zip(candidates, sizes, strict=True) if size <= limit)


def selections(released: Released) -> int:
    """How many private choices were paid for."""
    return sum(payment.mechanism == "exponential" for payment in released.payments)


def leftover(released: Released, remaining_rho: float) -> Proposal | None:
    """When nothing new can be measured: what is left of the budget measures again what was measured, for less noise."""
    queries = tuple({tuple(m.query.block_keys()): m.query for m in released.measurements}.values())
    if not queries or spent_up(released, remaining_rho):
        return None
    return Proposal(queries=queries, rho_measure=remaining_rho, shares=[query.size ** (2 / 3) for query in queries])


def spent_up(released: Released, remaining_rho: float) -> bool:
    """Whether only rounding is left of the budget."""
    return remaining_rho <= 1e-9 * (released.guarantee.rho + remaining_rho)
