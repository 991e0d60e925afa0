"""Polished projection: RAP++ finds the rows, a genetic search (Private-GSD) repairs what sigmoids cannot see.

Sigmoids have known blind spots (annealed_projection.py); a search that changes one cell at a time and looks at exact
answers has none, but is slow from afar. So the rounded rows of the projection are where the search starts, on the same
measurements: no privacy cost, and by the measurements' exact loss never worse than those rows.
"""

from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
from jaxtyping import Float

from sundog.declare import Range, check_declared
from sundog.domain import Schema
from sundog.domain.conditions import Condition
from sundog.domain.rows import Rows
from sundog.generate.base import Ending, check_measured
from sundog.generate.genetic.private_gsd import Genetic, GeneticState
from sundog.generate.projection.rap_plus_plus import AnnealedProjection
from sundog.generate.projection.soft_table import SoftTable
from sundog.queries import Query
from sundog.random.keys import Key, split
from sundog.released import Released


@dataclass(frozen=True, eq=False)
class PolishedState:
    """The projection's rows, and what the search made of them."""

    table: SoftTable
    search: GeneticState


@dataclass(frozen=True)
class Polished:
    """`rows` rounded rows of the `projection`, improved by the `genetic` search."""

    rows: Annotated[int, "How many rounded rows the search starts from.", Range(1, 10**6)] = 2000
    projection: AnnealedProjection = field(default_factory=AnnealedProjection)
    genetic: Genetic = field(default_factory=lambda: Genetic(generations=5000))

    def __post_init__(self) -> None:
        check_declared(self)

    def supports(self, query: Query) -> bool:
        """What the projection supports."""
        return self.projection.supports(query) and self.genetic.supports(query)

    def init(self, key: Key, schema: Schema) -> PolishedState:
        """Rows uniform under the public bounds."""
        table = self.projection.init(key, schema)
        return PolishedState(table, GeneticState(self.projection.sample(key, table, rows=self.rows)))

    def fit(self, key: Key, state: PolishedState, *, released: Released) -> PolishedState:
        """Fit by projection, round the rows, then search from them."""
        check_measured(self, released)
        fit_key, round_key, search_key = split(key, 3)
        table = self.projection.fit(fit_key, state.table, released=released)
        rows = self.projection.sample(round_key, table, rows=self.rows)
        return PolishedState(table, self.genetic.improved(search_key, rows, released=released))

    def ending(self, state: PolishedState) -> Ending:
        """How the search ended."""
        return self.genetic.ending(state.search)

    def answer(self, state: PolishedState, query: Query) -> Float[np.ndarray, " cells"]:
        """Counted on the improved rows."""
        return self.genetic.answer(state.search, query)

    def sample(self, key: Key, state: PolishedState, *, rows: int) -> Rows:
        """The improved rows, as often as needed."""
        return self.genetic.sample(key, state.search, rows=rows)

    def narrowed(self, state: PolishedState, condition: Condition) -> PolishedState | None:
        """The improved rows that satisfy a condition."""
        search = self.genetic.narrowed(state.search, condition)
        return None if search is None else PolishedState(state.table, search)
