"""Private-GSD: a genetic search for the dataset that best explains the noisy answers (Liu, Tang, Vietri, Wu 2023).

    minimise over datasets of N' rows:   sum over answers a of (count_a(rows) - N'/n * noisy_a)^2 / (N'/n * stddev_a)^2

by changing one cell of one row at a time: a mutation gives it another value, a crossover the value of another row. It asks
nothing of the queries but their counts, so it takes every class of them, and numbers stay as fine as their grid.

What differs from the paper and why (figures in docs/explanation/private-gsd.md):
- A candidate costs what it touches, never all queries, and no dataset is copied (forms/base.py).
- Squared errors are weighted by 1/stddev^2, the likelihood of the noise. Noisy answers are not clipped to [0, 1].
- The start is not uniform: every column follows its measured margin, if there is one.
- By default each improving candidate is accepted in turn with its exact change, not only the best of a generation; and a
  mutation draws any piece of the column that the queries tell apart (atoms.py) with equal chance, or one nearby.
  `operator="best of population"` is the paper's.
- Elite datasets serve as donors only: the current rows and `elite_size` - 1 earlier states of them. In the paper they
  differ from the best dataset in a few cells at most.
"""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from jaxtyping import Float

from sundog.declare import Range, check_declared
from sundog.domain import Schema
from sundog.domain.conditions import Condition, satisfied
from sundog.domain.rows import Rows
from sundog.errors import UserError
from sundog.generate.base import Ending, check_measured
from sundog.generate.genetic.compile import held_per_row
from sundog.generate.genetic.forms import FORMS
from sundog.generate.genetic.search import Effort, Operator, Outcome, Search
from sundog.generate.genetic.start import independent_start, public_start, uniform_start
from sundog.queries import Query, answer
from sundog.random.draws import evenly
from sundog.random.keys import Key, integer_seed, split
from sundog.released import Released

MOST_ROWS = 100_000
"""N' where none is given: the number of rows, but no more than this."""
MOST_HELD = 100_000_000
"""N' is also kept so small that the numbers held of all rows (products with directions) stay below this, 4 bytes each."""
UNFITTED_ROWS = 1000
ROUNDING = 12**-0.5
"""Answers are whole numbers: no stddev is taken for less than their rounding."""


@dataclass(frozen=True, eq=False)
class GeneticState:
    """The synthetic rows, how the last search ended (None: nothing is fitted yet), and the public rows to start from."""

    rows: Rows
    outcome: Outcome | None = None
    public: Rows | None = None


@dataclass(frozen=True)
class Genetic:
    """The genetic search, with its settings."""

    rows: Annotated[int | None, "N'; by default as many as the table has, at most 100,000.", Range(1, 10**7)] = None
    mutations: Annotated[
        int, "P_mut: how many candidates of a generation give a cell another value.", Range(0, 10**5)
    ] = 50
    crossovers: Annotated[
        int, "P_cross: how many candidates of a generation take a cell's value from another row.", Range(0, 10**5)
    ] = 50
    elite_size: Annotated[int, "How many datasets donate values in crossovers.", Range(1, 100)] = 2
    generations: Annotated[int | None, "The most generations there may be; by default 500 N'.", Range(0, 10**12)] = None
    window: Annotated[
        float,
        "The search ends when N' * window generations lower the loss by less than `tolerance` of it; one that goes on from "
        "fitted rows (adaptive rounds) looks ten times as often.",
        Range(1e-6, 1e9),
    ] = 1.0
    tolerance: Annotated[float, "See window.", Range(0, 1)] = 1e-4
    seconds: Annotated[
        float | None, "A cap on the time of one search; what is found then depends on the machine.", Range(0, 10**7)
    ] = None
    stop_at_noise: Annotated[bool, "Stop where the loss is what the private table itself would have."] = False
    operator: Annotated[
        Operator, "Accept every improving candidate in turn, or only the best of a generation (the paper's)."
    ] = "every improvement"
    changes: Annotated[
        int,
        "Cells that one candidate of operator 'best of population' changes (the paper's mutation and crossover rate).",
        Range(1, 1000),
    ] = 1

    def __post_init__(self) -> None:
        check_declared(self)
        if self.mutations + self.crossovers < 1:
            raise UserError("genetic search: mutations and crossovers are both 0; a generation needs a candidate.")
        if self.changes > 1 and self.operator != "best of population":
            raise UserError("genetic search: several changes per candidate need operator 'best of population'.")

    def supports(self, query: Query) -> bool:
        """Every class of queries that has a form."""
        return type(query) in FORMS

    def init(self, key: Key, schema: Schema) -> GeneticState:
        """Rows that are uniform over every column."""
        return GeneticState(uniform_start(key, schema, rows=self.rows or UNFITTED_ROWS))

    def init_public(self, key: Key, schema: Schema, *, public: Rows) -> GeneticState:
        """A state that starts from the public rows."""
        return GeneticState(public, public=public)

    def fit(self, key: Key, state: GeneticState, *, released: Released) -> GeneticState:
        """Search from the state's rows if they are fitted, else from public rows or independent columns."""
        check_measured(self, released)
        start_key, search_key = split(key, 2)
        rows, fresh = state.rows, state.outcome is None
        if fresh and state.public is not None:
            rows = public_start(start_key, state.public, rows=self._size(released))
        elif fresh:
            rows = independent_start(start_key, released, rows=self._size(released))
        return self._searched(search_key, rows, released=released, effort=self._effort(len(rows), fresh))

    def improved(self, key: Key, rows: Rows, *, released: Released) -> GeneticState:
        """Search from rows that another generator has fitted to these measurements."""
        return self._searched(key, rows, released=released, effort=self._effort(len(rows), fresh=False))

    def _searched(self, key: Key, rows: Rows, *, released: Released, effort: Effort) -> GeneticState:
        """The rows after one search, with how it ended."""
        search = _search(rows, released)
        outcome = search.run(integer_seed(key), effort)
        return GeneticState(search.rows(), outcome)

    def answer(self, state: GeneticState, query: Query) -> Float[np.ndarray, " cells"]:
        """Counted on the rows."""
        return answer(query, state.rows) / len(state.rows)

    def ending(self, state: GeneticState) -> Ending:
        """How the last search ended."""
        ended = state.outcome
        return Ending() if ended is None else Ending(ended.interrupted, ended.note, ended.stop == "time cap")

    def sample(self, key: Key, state: GeneticState, *, rows: int) -> Rows:
        """The rows themselves; another number of them by repeating or leaving out rows as evenly as possible."""
        held = len(state.rows)
        if rows == held:
            return state.rows
        chosen = evenly(key, held, rows=rows)
        return Rows(state.rows.schema, tuple(codes[chosen] for codes in state.rows.codes))

    def narrowed(self, state: GeneticState, condition: Condition) -> GeneticState | None:
        """The rows that satisfy a condition."""
        kept = np.flatnonzero(satisfied(condition, state.rows.widened()))
        return GeneticState(state.rows.take(kept), state.outcome) if len(kept) else None

    def _size(self, released: Released) -> int:
        """The number of rows to search, N' of the paper."""
        if self.rows is not None:
            return self.rows
        held = held_per_row([measurement.query for measurement in released.measurements])
        return max(1, min(released.rows, MOST_ROWS, MOST_HELD // max(held, 1)))

    def _effort(self, rows: int, fresh: bool) -> Effort:
        return Effort(
            operator=self.operator,
            mutations=self.mutations,
            crossovers=self.crossovers,
            elite_size=self.elite_size,
            changes=self.changes,
            generations=500 * rows if self.generations is None else self.generations,
            window=max(1, round(rows * self.window * (1.0 if fresh else 0.1))),
            tolerance=self.tolerance,
            seconds=self.seconds,
            stop_at_noise=self.stop_at_noise,
        )


def _search(rows: Rows, released: Released) -> Search:
    scale = len(rows) / released.rows
    measured = released.measurements
    weights = [(max(m.stddev, ROUNDING) * scale) ** -2 for m in measured]
    targets: Float[np.ndarray, " answers"] = np.concatenate([m.values * scale for m in measured])
    return Search(rows, [m.query for m in measured], targets=targets, weights=weights)
