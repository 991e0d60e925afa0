"""Mirror descent with momentum on the potentials of a graphical model (see graphical.py).

    theta_C  <-  v_C - step * gradient_C(v),      v = theta + k/(k+3) (theta - theta before),

the gradient taken at the model's proportions. When the loss rises, the momentum is dropped and the step halved (restarts:
O'Donoghue and Candes 2015). Steps grow so slowly that this is rare: at the edge of what is stable, growing by 2 % a step,
momentum never built up, and 4,000 steps fitted worse than 400 do now.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Float

from sundog.generate.graphical.calibrated import Clique
from sundog.generate.graphical.message_passing import Potentials, Tables
from sundog.progress import tell_share

WINDOW = 50
FIRST, GROWTH = 2.0, 1.001
"""The first step, in inverses of the largest precision, and how much a step may be longer than the one before."""


@dataclass(frozen=True, eq=False)
class MeasuredTable:
    """A measured table of a clique: values, precisions, and for each axis the measured cell of every model cell."""

    clique: Clique
    values: Float[np.ndarray, "..."]
    precisions: Float[np.ndarray, "..."]
    maps: tuple[Any, ...]

    def joined(self, other: "MeasuredTable") -> "MeasuredTable":
        """Two measurements of the same cells as one, weighted by their precisions."""
        precisions = self.precisions + other.precisions
        values = (self.precisions * self.values + other.precisions * other.values) / precisions
        return replace(self, values=values, precisions=precisions)

    def loss(self, table: Float[np.ndarray, "..."]) -> tuple[float, Float[np.ndarray, "..."]]:
        """Half the weighted squared distance, and its gradient, for the clique's model proportions."""
        shown = table
        for axis, cells in enumerate(self.maps):
            if cells is not None:
                shown = _merged(shown, axis, cells, self.values.shape[axis])
        residual = self.precisions * (shown - self.values)
        value = 0.5 * float(np.vdot(residual, shown - self.values))
        for axis, cells in enumerate(self.maps):
            if cells is not None:
                residual = np.take(residual, cells, axis=axis)
        return value, residual


def _merged(table: Float[np.ndarray, "..."], axis: int, cells: Any, size: int) -> Float[np.ndarray, "..."]:
    moved = np.moveaxis(table, axis, 0)
    out = np.zeros((size, *moved.shape[1:]))
    np.add.at(out, cells, moved)
    return np.moveaxis(out, 0, axis)


@dataclass(frozen=True, eq=False)
class _Home:
    """Where a target is read off: the tree clique that holds it, and the potential it moves."""

    target: MeasuredTable
    node: int
    summed: tuple[int, ...]
    potential: Clique
    spread: tuple[slice | None, ...]


def descend(
    start: Potentials,
    targets: list[MeasuredTable],
    *,
    calibrate: Callable[[Potentials], Tables],
    nodes: tuple[Clique, ...],
    iterations: int,
    tolerance: float,
) -> tuple[Potentials, Tables]:
    """The potentials that fit the targets, and the tree's proportions under them."""
    homes = [_home(target, nodes, start) for target in targets]
    step = FIRST / max((float(target.precisions.max()) for target in targets), default=1.0)
    theta, ahead, momentum = start, start, 0
    tables = calibrate(ahead)
    loss, gradient = _evaluate(homes, tables)
    best = (loss, ahead, tables, gradient)
    window = loss
    for iteration in range(1, iterations + 1):
        tell_share(iteration / iterations)
        moved = {c: ahead[c] - step * gradient[c] if c in gradient else ahead[c] for c in ahead}
        weight = momentum / (momentum + 3)
        ahead = {c: moved[c] + weight * (moved[c] - theta[c]) for c in moved}
        theta, momentum = moved, momentum + 1
        tables = calibrate(ahead)
        loss, gradient = _evaluate(homes, tables)
        if loss <= best[0]:
            step *= GROWTH
            best = (loss, ahead, tables, gradient)
        else:
            step, momentum = step / 2, 0
            loss, theta, tables, gradient = best
            ahead = theta
        if iteration % WINDOW == 0:
            if window - loss <= tolerance * max(loss, 1.0):
                break
            window = loss
    return best[1], best[2]


def _home(target: MeasuredTable, nodes: tuple[Clique, ...], start: Potentials) -> _Home:
    wanted = {*target.clique}
    node = min((k for k, clique in enumerate(nodes) if wanted <= {*clique}), key=lambda k: (len(nodes[k]), k))
    potential = next(clique for clique in start if wanted <= {*clique})
    return _Home(
        target,
        node,
        tuple(axis for axis, column in enumerate(nodes[node]) if column not in wanted),
        potential,
        tuple(slice(None) if column in wanted else None for column in potential),
    )


def _evaluate(homes: list[_Home], tables: Tables) -> tuple[float, Potentials]:
    loss = 0.0
    gradient: Potentials = {}
    for home in homes:
        value, slope = home.target.loss(tables[home.node].sum(axis=home.summed) if home.summed else tables[home.node])
        loss += value
        moved = slope[home.spread]
        gradient[home.potential] = gradient[home.potential] + moved if home.potential in gradient else moved
    return loss, gradient
