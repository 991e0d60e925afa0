"""Adam (optax) on soft tables: steps in windows, and the best parameters so far are what is kept.

One step: the panels' gradient by the feature matrix, pulled back to the parameters, one Adam update, the new matrix. The
host looks at the loss once per window only, so that steps are dispatched ahead. When a window has not improved the best
loss by `tolerance` (relative), the learning rate is halved; after `halvings` of them the descent ends.
A descent may begin with a `warmup`: a network whose first steps are large loses what tells its rows apart, and then stays where
all columns are independent.

A descent from a public table that agrees with the measurements ends where its loss is that of the noise (`enough`): further
steps would replace what the public table knows by noise. It is looked at more often, so as not to go past.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Protocol

from sundog.declare import Range, check_declared
from sundog.generate.projection.features import HARD
from sundog.generate.projection.panels import Kind, Matrix, Panel, add_panels
from sundog.generate.projection.soft_table import Frame, Known
from sundog.lazy_jax import jax, jit, jnp, optax
from sundog.progress import tell_share

Params = Any
LOOK = 5
"""Steps between two looks at the loss of a descent that may end at the noise."""


class Maker(Protocol):
    """How parameters become the feature matrix; hashable, so that compiled steps are found again."""

    @property
    def frame(self) -> Frame:
        """How the rows are held and what is asked of them."""

    def __call__(self, params: Params, known: Known, sharpness: Any, *, hard: bool = False) -> Matrix:
        """Compute the feature matrix of the parameters."""


@dataclass(frozen=True)
class Descent:
    """How Adam goes and when it ends."""

    rate: Annotated[float, "The learning rate of probabilities (logits or weights).", Range(1e-9, 100)] = 0.1
    number_rate: Annotated[float, "The learning rate of numbers, which lie in [0, 1].", Range(1e-9, 1)] = 0.1
    steps: Annotated[int, "The most steps.", Range(0, 10**7)] = 1000
    window: Annotated[int, "Steps between two looks at the loss.", Range(1, 10**5)] = 25
    tolerance: Annotated[
        float, "A window that lowers the loss by less than this part of it halves the rate.", Range(0, 1)
    ] = 0.01
    halvings: Annotated[int, "After this many halvings the descent ends.", Range(0, 100)] = 3
    warmup: Annotated[
        int, "Steps in which the rate rises to its full value; until then it is not halved.", Range(0, 10**5)
    ] = 0

    def __post_init__(self) -> None:
        check_declared(self)


@dataclass(frozen=True, eq=False)
class Problem:
    """What is minimised: the maker, what it takes beside the parameters, and the panels."""

    maker: Maker
    known: Known
    panels: Sequence[Panel]

    def sharpness(self, value: float) -> dict[Kind, float]:
        """One value for every kind of panel; the features need those of cells and of halfspaces."""
        return dict.fromkeys(("cells", "halfspaces", *(panel.kind for panel in self.panels)), value)

    @property
    def annealed_kinds(self) -> tuple[Kind, ...]:
        """The classes whose sharpness matters: all but tables of labels, where there is anything else."""
        frame, kinds = self.maker.frame, {panel.kind for panel in self.panels}
        numbers = any(frame.number(axis.column) is not None for axis in frame.further)
        return tuple(kind for kind in kinds if kind != "cells" or numbers or len(kinds) == 1)

    def turns(self, most: int) -> int:
        """In how many turns the panels of thresholds can go, each with two panels at least."""
        return max(1, min(most, sum(panel.kind != "cells" for panel in self.panels) // 2))

    def exact_losses(self, params: Params) -> dict[Kind, float]:
        """The exact loss of each class: thresholds exact, labels in expectation over their rounding."""
        matrix = hard_matrix(params, self.known, maker=self.maker)
        losses, _ = add_panels(matrix, self.panels, sharpness=self.sharpness(HARD))
        return {kind: float(loss) for kind, loss in losses.items()}


@dataclass(frozen=True, eq=False)
class Best:
    """The best parameters so far and their loss."""

    params: Params
    loss: float

    def better(self, params: Params, loss: float) -> "Best":
        """These, or the given ones if their loss is less."""
        return Best(params, loss) if loss < self.loss else self


@dataclass(frozen=True, eq=False)
class Position:
    """Where a descent is: parameters, Adam's moments, the matrix of these parameters, and the rates."""

    params: Params
    moments: Any
    matrix: Matrix
    rates: tuple[float, float]


def started(params: Params, problem: Problem, *, descent: Descent, sharpness: dict[Kind, float]) -> Position:
    """The state of Adam before its first step."""
    moments = optax.scale_by_adam().init(params)
    matrix = _soft(params, problem.known, _pair(sharpness), maker=problem.maker)
    return Position(params, moments, matrix, (descent.rate, descent.number_rate))


def advanced(
    position: Position, problem: Problem, *, steps: int, sharpness: dict[Kind, float], turns: int = 1
) -> tuple[Position, dict[Kind, float]]:
    """This many steps; the position after them, and the loss of each class before the last ones.

    With `turns` the panels of thresholds take turns, a part of them per step: many say the same. Tables are always in.
    """
    params, moments, matrix = position.params, position.moments, position.matrix
    tables = [panel for panel in problem.panels if panel.kind == "cells"]
    others = [panel for panel in problem.panels if panel.kind != "cells"]
    seen: list[dict[Kind, Any]] = []
    for step in range(steps):
        fixed, by_tables = add_panels(matrix, tables, sharpness=sharpness)
        shared, by_others = add_panels(matrix, others[step % turns :: turns], sharpness=sharpness)
        seen = [*seen[1 - turns :], shared] if turns > 1 else [shared]
        params, moments, matrix = _stepped(
            params,
            moments,
            by_tables + turns * by_others,
            problem.known,
            _pair(sharpness),
            position.rates,
            maker=problem.maker,
        )
    losses = {kind: float(loss) for kind, loss in fixed.items()}
    for part in seen:
        for kind, loss in part.items():
            losses[kind] = losses.get(kind, 0.0) + float(loss)
    return replace(position, params=params, moments=moments, matrix=matrix), losses


def descended(params: Params, problem: Problem, *, descent: Descent, enough: float = 0.0) -> Best:
    """The best parameters of a descent whose relaxed loss is the exact one (soft cells only), or the first that are enough."""
    still = problem.sharpness(1.0)
    window = min(LOOK, descent.window) if enough else descent.window
    tolerance = descent.tolerance * window / descent.window
    position = started(params, problem, descent=descent, sharpness=still)
    best, halved = Best(params, sum(problem.exact_losses(params).values()) if enough else float("inf")), 0
    for step in range(0, descent.steps, window):
        if best.loss <= enough or halved > descent.halvings:
            break
        tell_share(step / descent.steps)
        warm = min(1.0, (step + window) / descent.warmup) if descent.warmup else 1.0
        rates = (descent.rate * warm / 2**halved, descent.number_rate * warm / 2**halved)
        position, losses = advanced(replace(position, rates=rates), problem, steps=window, sharpness=still)
        loss = sum(losses.values())
        if warm == 1.0 and loss > best.loss * (1 - tolerance):
            halved += 1
        best = best.better(position.params, loss)
    return best


def respaced(position: Position, problem: Problem, *, sharpness: dict[Kind, float]) -> Position:
    """The same order of numbers with evenly spaced ranks, where a column's number is its rank."""
    numbers = {
        name: (jnp.argsort(jnp.argsort(number)) + 0.5) / number.shape[0] if name in problem.known.quantiles else number
        for name, number in position.params["numbers"].items()
    }
    params = {**position.params, "numbers": numbers}
    return replace(position, params=params, matrix=_soft(params, problem.known, _pair(sharpness), maker=problem.maker))


def _pair(sharpness: dict[Kind, float]) -> tuple[float, float]:
    """What the features need: the sharpness of cells, and of halfspaces."""
    return sharpness["cells"], sharpness["halfspaces"]


@jit(static=("maker",))
def _soft(params: Params, known: Known, sharpness: Any, *, maker: Maker) -> Matrix:
    return maker(params, known, sharpness)


@jit(static=("maker",))
def hard_matrix(params: Params, known: Known, *, maker: Maker) -> Matrix:
    """The feature matrix with exact numbers and thresholds."""
    return maker(params, known, (HARD, HARD), hard=True)


@jit(static=("maker",))
def _stepped(
    params: Params, moments: Any, gradient: Matrix, known: Known, sharpness: Any, rates: Any, *, maker: Maker
) -> tuple[Params, Any, Matrix]:
    _, pull = jax.vjp(lambda p: maker(p, known, sharpness), params)
    updates, moments = optax.scale_by_adam().update(pull(gradient)[0], moments)
    moved = _moved(params, updates, rates)
    return moved, moments, maker(moved, known, sharpness)


def _moved(params: Params, updates: Any, rates: Any) -> Params:
    """One step against the gradient; numbers have their own rate and stay in [0, 1]."""
    moved = jax.tree.map(lambda value, update: value - rates[0] * update, params, updates)
    if "numbers" in params:
        moved["numbers"] = {
            name: jnp.clip(value - rates[1] * updates["numbers"][name], 0.0, 1.0)
            for name, value in params["numbers"].items()
        }
    return moved
