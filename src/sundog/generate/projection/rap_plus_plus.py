"""RAP++: annealed projection (Vietri et al. 2022). Mixed rows: soft labels, and numbers that stay numbers.

Thresholds on numbers become sigmoids of sharpness sigma. A small sigma has gradients everywhere but answers another
question; a large one is faithful but flat. So sigma starts small and doubles whenever progress stalls, separately for
each class of queries (cells of numeric axes, ranges, halfspaces):

    D' <- Adam on sum over ALL measurements of (q^[sigma](D') - a)^2 / stddev^2,   sigma_class <- 2 sigma_class.

The exact loss (numbers on their grid, exact thresholds, labels in expectation) decides which rows are kept, so that no
stage can make the result worse. What differs from the authors' code: all classes share one loss (theirs forgets), nothing
is measured twice, Adam's step index is the step, rounding is unbiased, memory is bounded by panels.

Known limit (Private-GSD, Figure 1): rows that must rest exactly between two close thresholds. The sigmoids of
thresholds on both sides cancel, rows far away feel nothing, and the descent can stay at a poor place. Starting from the
one-way measurements removes the usual cause; see docs/explanation/projection.md for what to do when it matters.
"""

from dataclasses import dataclass, field, replace
from typing import Annotated

import numpy as np
from jaxtyping import Float

from sundog.declare import Range, check_declared
from sundog.domain import Numeric, Schema
from sundog.domain.axis import Axis
from sundog.domain.rows import Rows
from sundog.errors import UserError
from sundog.estimate.bins import uniform_leaves
from sundog.generate.base import check_measured
from sundog.generate.projection.adam import Best, Descent, Params, Position, Problem, advanced, respaced, started
from sundog.generate.projection.forms import FORMS
from sundog.generate.projection.panels import Kind
from sundog.generate.projection.rap import (
    Simplex,
    SoftMaker,
    goes_on,
    held_frame,
    not_trapped,
    only_columns,
    problem_of,
    restarted,
    soft_answer,
)
from sundog.generate.projection.rounding import rounded
from sundog.generate.projection.soft_table import Frame, SoftTable
from sundog.generate.projection.starts import fresh_params
from sundog.progress import tell_share
from sundog.queries import Query
from sundog.random.keys import Key
from sundog.released import Released

MOST_TURNS = 8
"""Thresholds take turns in the loss, a part per step, where there are many thousands of them."""


@dataclass(frozen=True)
class Annealing:
    """Sigma of every class from `first`, doubling when a window gains less than `tolerance`, up to `last`.

    Blunt sigmoids see the whole column and find how columns go together; sharp ones move rows to the nearest threshold and
    fit the noise there. So rows that know nothing start blunt, and rows of an earlier round go on at `again`.
    """

    first: Annotated[float, "The sharpness at the start.", Range(1e-3, 1e6)] = 32.0
    last: Annotated[float, "The descent ends when the softest class is sharper than this.", Range(1e-3, 1e9)] = 2048.0
    tolerance: Annotated[
        float, "A class whose loss a window lowers by less than this part of it becomes twice as sharp.", Range(0, 1)
    ] = 0.001
    again: Annotated[
        float,
        "The sharpness from which a later round goes on, if it is above the first and below the last.",
        Range(1e-3, 1e9),
    ] = 128.0

    def start(self, *, warm: bool) -> float:
        """The sharpness with which a descent begins; a later round (`warm`) starts sharper."""
        return min(max(self.first, self.again), self.last) if warm else self.first

    def __post_init__(self) -> None:
        check_declared(self)
        if self.first > self.last:
            raise UserError(f"annealing: found sharpness {self.first} to {self.last}; it must not fall.")


@dataclass(frozen=True)
class AnnealedProjection:
    """`rows` mixed rows (the paper's n-hat), moved by `descent` while `annealing` sharpens the thresholds."""

    rows: Annotated[int, "The paper's n-hat: how many mixed rows there are.", Range(1, 10**5)] = 1000
    simplex: Annotated[Simplex, "How numbers become probabilities."] = "softmax"
    descent: Descent = field(default_factory=Descent)
    annealing: Annealing = field(default_factory=Annealing)

    def __post_init__(self) -> None:
        check_declared(self)

    def supports(self, query: Query) -> bool:
        """Every class of queries that has a form: marginals, trees, ranges and halfspaces, by label or not."""
        return type(query) in FORMS

    def init(self, key: Key, schema: Schema) -> SoftTable:
        """Rows uniform under the public bounds."""
        leaves = {column.name: uniform_leaves(column) for column in schema.columns}
        frame = Frame(schema, tuple(None if _number(column) else Axis.of(column) for column in schema.columns))
        return SoftTable(frame, fresh_params(key, frame, leaves=leaves, rows=self.rows, simplex=self.simplex), leaves)

    def init_public(self, key: Key, schema: Schema, *, public: Rows) -> SoftTable:
        """The same; fitted rows will start from those of a public table."""
        return replace(self.init(key, schema), public=public)

    def fit(self, key: Key, state: SoftTable, *, released: Released) -> SoftTable:
        """Project onto all measurements, from the given rows where they are held alike."""
        check_measured(self, released)
        frame = held_frame(released, numbers=True)

        def fitted(start: SoftTable) -> tuple[SoftTable, float]:
            table = restarted(key, start, frame, released=released, simplex=self.simplex)
            if only_columns(released):
                return table, 0.0
            problem = problem_of(table, released, maker=SoftMaker(table.frame, self.simplex))
            warm = start.public is not None or (start.descended and goes_on(start, frame))
            best = self.annealed(table.params, problem, first=self.annealing.start(warm=warm))
            return replace(table, params=best.params, descended=True, public=state.public), best.loss

        return not_trapped(state, fitted)

    def annealed(self, params: Params, problem: Problem, *, first: float) -> Best:
        """The rows of least exact loss on the way from soft to sharp thresholds."""
        sharpness = problem.sharpness(first)
        position = self._paced(started(params, problem, descent=self.descent, sharpness=sharpness), first)
        exact, relaxed = problem.exact_losses(params), dict[Kind, float]()
        best, turns = Best(params, sum(exact.values())), problem.turns(min(MOST_TURNS, self.descent.window))
        for step in range(0, self.descent.steps, self.descent.window):
            tell_share(step / self.descent.steps)
            position, losses = advanced(position, problem, steps=self.descent.window, sharpness=sharpness, turns=turns)
            found = problem.exact_losses(position.params)
            best = best.better(position.params, sum(found.values()))
            for kind in losses:
                if self._stalled(losses[kind], relaxed.get(kind)) or self._stalled(found[kind], exact[kind]):
                    sharpness[kind] *= 2
            exact, relaxed = found, losses
            softest = min(sharpness[kind] for kind in losses if kind in problem.annealed_kinds)
            if softest > self.annealing.last:
                break
            position = respaced(self._paced(position, softest), problem, sharpness=sharpness)
        return best

    def _stalled(self, loss: float, before: float | None) -> bool:
        return before is not None and loss > before * (1 - self.annealing.tolerance)

    def _paced(self, position: Position, sharpness: float) -> Position:
        """Steps of numbers as small as the sharpest sigmoid is narrow."""
        slower = self.descent.number_rate * self.annealing.first / sharpness
        return replace(position, rates=(position.rates[0], slower))

    def answer(self, state: SoftTable, query: Query) -> Float[np.ndarray, " cells"]:
        """The answer with exact numbers, in expectation over the rounding of labels."""
        return soft_answer(state, query, maker=SoftMaker(state.frame, self.simplex))

    def sample(self, key: Key, state: SoftTable, *, rows: int) -> Rows:
        """Randomised rounding of labels, each soft row as often as needed; numbers on their grid."""
        return rounded(key, state, rows=rows, simplex=self.simplex)


def _number(column: object) -> bool:
    return isinstance(column, Numeric) and column.steps > 1
