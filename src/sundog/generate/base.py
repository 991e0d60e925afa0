"""Generator: from released measurements to synthetic rows. Public zone: pure functions of public values.

A generator is a frozen dataclass of hyperparameters; what it learns is an explicit state.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np
from jaxtyping import Float

from sundog.domain import Schema
from sundog.domain.constraints.kinds import Constraint
from sundog.domain.rows import Rows
from sundog.errors import UserError
from sundog.queries import Query
from sundog.random.keys import Key
from sundog.released import Released

State = TypeVar("State")
Fits = Mapping[type[Any], float]
"""A registry of the classes of queries that a generator can fit, and over how many columns at most."""


def in_registry(registry: Fits, query: Query) -> bool:
    """Whether a query's class is in the registry, over this many columns."""
    return len(query.columns) <= registry.get(type(query), 0)


class Generator(Protocol[State]):
    """What every generator offers."""

    def supports(self, query: Query) -> bool:
        """Whether measurements of this query can be fitted: its class is in the family's registry."""

    def init(self, key: Key, schema: Schema) -> State:
        """The state before anything is known."""

    def fit(self, key: Key, state: State, *, released: Released) -> State:
        """The state after these measurements; starts from the given one."""

    def answer(self, state: State, query: Query) -> Float[np.ndarray, " cells"]:
        """The model's answer to a query, as proportions of the rows."""

    def sample(self, key: Key, state: State, *, rows: int) -> Rows:
        """Synthetic rows, drawn from the fitted state with this key."""


@runtime_checkable
class SizeLimited(Protocol):
    """A generator whose model grows with what was measured; rules then leave out what it could not hold."""

    @property
    def megabytes(self) -> float:
        """The most that its model may take."""

    def megabytes_with(self, state: Any, queries: Sequence[Query]) -> list[float]:
        """For each of these queries, what the model would take if it were measured too."""

    def megabytes_of(self, schema: Schema, queries: Sequence[Query], *, cells: int | None) -> float:
        """About what a model of all these queries would take, numbers in at most this many cells."""


@runtime_checkable
class UsesPublic(Protocol):
    """A generator that can start from a public table."""

    def init_public(self, key: Key, schema: Schema, *, public: Rows) -> Any:
        """The state before anything is measured, given a public table of the same schema."""


@runtime_checkable
class Constrained(Protocol):
    """A generator that takes constraints of the schema into account while it fits, not only in its rows."""

    def fits_with(self, constraint: Constraint) -> bool:
        """Whether it does so for this one."""


@dataclass(frozen=True)
class Ending:
    """How fitting ended: whether the user stopped it, what the user should know of it, and whether the clock ended it."""

    interrupted: bool = False
    note: str = ""
    timed_out: bool = False

    @property
    def repeatable(self) -> bool:
        """Whether the same fit ends in the same state: neither the user nor the clock ended it."""
        return not (self.interrupted or self.timed_out)


@runtime_checkable
class EndsEarly(Protocol):
    """A generator whose fitting a user or a limit may end before it is done."""

    def ending(self, state: Any) -> Ending:
        """How the fit that led to this state ended."""


def ending_of(generator: Generator[Any], state: Any) -> Ending:
    """How a fit ended; by itself, where a generator says nothing of it."""
    return generator.ending(state) if isinstance(generator, EndsEarly) else Ending()


@runtime_checkable
class UsesDeclared(Protocol):
    """A generator that has a use for queries that the schema declares, though it does not fit them."""

    def uses(self, query: Query, schema: Schema) -> bool:
        """Whether it needs this query for something that the schema declares."""


def can_use(generator: Generator[Any], query: Query, schema: Schema) -> bool:
    """Whether a generator fits a query, or needs it for something that the schema declares."""
    return generator.supports(query) or (isinstance(generator, UsesDeclared) and generator.uses(query, schema))


def check_measured(generator: Generator[Any], released: Released) -> None:
    """Refuse measurements that a generator would ignore."""
    for measurement in released.measurements:
        if not can_use(generator, measurement.query, released.schema):
            name = type(generator).__name__
            raise UserError(f"{name}: it cannot fit {measurement.query.describe()!r}; choose another generator.")
