"""The genetic search over one dataset: its arrays, and the loop that runs the operators until there is reason to stop.

The loop calls the compiled operators for a fixed number of generations at a time. In between it looks at the loss, the
clock and the keyboard, so that a time cap or Ctrl-C returns the best rows so far.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float

from sundog.domain.rows import Rows
from sundog.generate.genetic.candidates import best_of_population, every_improvement
from sundog.generate.genetic.compile import Compiled
from sundog.progress import tell_share
from sundog.queries import Query

CHUNK = 500
"""Generations between two looks at the clock and the keyboard."""
ELITE_AGE = 0.1
"""Elite datasets are taken once per this many generations per row, so that copying them costs a generation the same."""
Operator = Literal["every improvement", "best of population"]
Stop = Literal["early stop", "noise floor", "generations", "time cap", "Ctrl-C", "nothing to fit"]


@dataclass(frozen=True)
class Effort:
    """How a search makes candidates and when it ends (see genetic.Genetic)."""

    operator: Operator
    mutations: int
    crossovers: int
    elite_size: int
    changes: int
    generations: int
    window: int
    tolerance: float
    seconds: float | None
    stop_at_noise: bool


@dataclass(frozen=True)
class Outcome:
    """How a search ended."""

    loss: float
    noise_floor: float
    generations: int
    accepted: int
    stop: Stop

    @property
    def interrupted(self) -> bool:
        """Whether the user stopped it."""
        return self.stop == "Ctrl-C"

    @property
    def note(self) -> str:
        """What the user should know of how it ended; empty where it ended by itself."""
        reasons = {"Ctrl-C": "Ctrl-C", "time cap": "its time cap", "generations": "the generations limit"}
        if self.stop not in reasons:
            return ""
        return (
            f"The search was ended by {reasons[self.stop]}; the best rows so far are used "
            f"(loss {self.loss:,.0f}, noise floor {self.noise_floor:,.0f})."
        )


class Search:
    """The rows being changed (codes and atoms), and the residuals of all answers."""

    def __init__(
        self, rows: Rows, queries: Sequence[Query], *, targets: Float[np.ndarray, " answers"], weights: Sequence[float]
    ) -> None:
        self.schema = rows.schema
        self.compiled = Compiled.of(rows, queries, weights)
        self.codes = np.ascontiguousarray(np.stack(rows.codes, axis=1).astype(np.int64))
        places = [axis.cells(codes) for axis, codes in zip(self.compiled.atoms.axes, rows.codes, strict=True)]
        self.atoms = np.ascontiguousarray(np.stack(places, axis=1).astype(np.int32))
        self.residuals = -targets
        self.calls = self.compiled.begin(rows, self.atoms, self.residuals)
        self.weights = np.repeat(np.asarray(weights, dtype=float), [query.size for query in queries])

    @property
    def loss(self) -> float:
        """The sum of squared residuals, each in units of its noise."""
        return float(np.sum(self.weights * self.residuals**2))

    @property
    def noise_floor(self) -> float:
        """What the loss of the private table itself would be, on average: one for each answer."""
        return float(len(self.residuals))

    def rows(self) -> Rows:
        """The rows as they are now."""
        return Rows(self.schema, tuple(np.ascontiguousarray(column) for column in self.codes.T))

    def run(self, seed: int, effort: Effort) -> Outcome:
        """Search until there is reason to stop."""
        progress = _Progress(self, effort)
        if not self.compiled.active:
            return progress.outcome("nothing to fit")
        advance = self._advancer(seed, effort)
        try:
            stop = None
            while stop is None:
                progress.add(*advance(progress.next_chunk()))
                stop = progress.reason_to_stop()
        except KeyboardInterrupt:
            stop = "Ctrl-C"
        return progress.outcome(stop)

    def _advancer(self, seed: int, effort: Effort) -> Callable[[int], tuple[int, float, int]]:
        """A function that runs this many generations: how many they were, the change of loss, what was accepted."""
        state = np.array([seed], dtype=np.uint64)
        elites = _Elites(self, effort.elite_size - 1)
        fixed = (self.compiled.integers, self.calls.lines)
        arrays = (self.atoms, self.codes, elites.atoms, elites.codes, state)
        sizes = (effort.mutations, effort.crossovers)

        def advance(generations: int) -> tuple[int, float, int]:
            if effort.operator == "best of population":
                change, accepted = best_of_population(*fixed, *arrays, *sizes, generations, effort.changes)
            else:
                change, accepted = every_improvement(*fixed, *arrays, *sizes, generations)
            elites.age(generations)
            return generations, change, accepted

        return advance


class _Elites:
    """Earlier datasets that donate values, the latest first."""

    def __init__(self, search: Search, number: int) -> None:
        self.search = search
        self.atoms = np.repeat(search.atoms[None], number, axis=0)
        self.codes = np.repeat(search.codes[None], number, axis=0)
        self.old = 0

    def age(self, generations: int) -> None:
        """Take the current dataset once enough generations have gone by."""
        self.old += generations
        if len(self.atoms) and self.old >= max(CHUNK, ELITE_AGE * len(self.search.codes)):
            self.old = 0
            for kept, now in ((self.atoms, self.search.atoms), (self.codes, self.search.codes)):
                kept[1:] = kept[:-1].copy()
                kept[0] = now


class _Progress:
    """Counts generations, watches the loss, and tells how far the search is."""

    def __init__(self, search: Search, effort: Effort) -> None:
        self.search, self.effort = search, effort
        self.loss, self.floor = search.loss, search.noise_floor
        self.generations, self.accepted, self.checked = 0, 0, (0, self.loss)
        self.began = self.told = time.monotonic()

    def next_chunk(self) -> int:
        """How many generations to run before the next look."""
        until = min(self.checked[0] + self.effort.window, self.effort.generations)
        return max(1, min(CHUNK, until - self.generations))

    def add(self, generations: int, change: float, accepted: int) -> None:
        """What a chunk did."""
        self.generations += generations
        self.loss += change
        self.accepted += accepted

    def reason_to_stop(self) -> Stop | None:
        """Why to stop now, if there is a reason."""
        now = time.monotonic()
        if now - self.told > 0.5:
            self.told = now
            speed = self.generations / (now - self.began)
            seconds = self.effort.seconds
            done = self.generations / max(self.effort.generations, 1)
            done = max(done, (now - self.began) / seconds) if seconds else done
            tell_share(done, f"loss {self.loss:,.0f} (noise floor {self.floor:,.0f}), {speed:,.0f} generations/s")
        if self.effort.stop_at_noise and self.loss <= self.floor:
            return "noise floor"
        if self.generations - self.checked[0] >= self.effort.window:
            if self.checked[1] - self.loss <= self.effort.tolerance * self.checked[1]:
                return "early stop"
            self.checked = (self.generations, self.loss)
        if self.generations >= self.effort.generations:
            return "generations"
        return "time cap" if self.effort.seconds is not None and now - self.began >= self.effort.seconds else None

    def outcome(self, stop: Stop) -> Outcome:
        """How it ended, with the loss added up again."""
        return Outcome(self.search.loss, self.floor, self.generations, self.accepted, stop)
