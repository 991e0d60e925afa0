"""Relaxed answers of many marginals and the gradient of their squared error, for rows that are soft over axes (RAP).

With P_c the (rows, cells) block of column c and n rows, a marginal over columns a, b, c has the relaxed proportions
T[i,j,k] = 1/n sum_r P_a[r,i] P_b[r,j] P_c[r,k], and

    loss = sum over marginals m of weight_m * ||T_m - target_m||^2.

T is a polynomial, so its gradient is written out instead of traced: the smaller columns are gone through cell by cell and
the two largest ones are left to dense matrix products, three for each cell (answer, and both gradients). Nothing is padded
to the largest marginal, nothing is scattered, memory stays at a few blocks, and since nothing is compiled, a growing set
costs nothing but its own arithmetic. Against one traced and compiled function of the whole set
(benchmarks/queries.py) it takes half the CPU time, and no compilation instead of seconds for every new set.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from threadpoolctl import ThreadpoolController

from sundog.axis import Axis
from sundog.errors import UserError
from sundog.queries import Marginal
from sundog.soft import Layout, coarsening

Block = Float[np.ndarray, "rows cells"]
Each = Float[np.ndarray, "rows 1"]
Held = Each | None
"""How much each row counts; None: 1."""
Table = Float[np.ndarray, "..."]
Places = Sequence[int]
"""Which blocks a marginal is over, in the order of its axes."""


def marginal_loss_and_gradient(
    blocks: Sequence[Block],
    marginals: Sequence[Places],
    *,
    targets: Sequence[Float[np.ndarray, " cells"]],
    weights: Sequence[float],
) -> tuple[float, list[Block]]:
    """The weighted squared error of all marginals' proportions, and its gradient by every block.

    >>> half = np.full((1, 2), 0.5)
    >>> loss, (gradient,) = marginal_loss_and_gradient([half], [(0,)], targets=[np.array([1.0, 0.0])], weights=[1.0])
    >>> loss, gradient.tolist()
    (0.5, [[-1.0, 1.0]])
    """
    with _one_thread().limit(limits=1, user_api="blas"):
        return _loss_and_gradient(blocks, marginals, targets, weights)


@cache
def _one_thread() -> ThreadpoolController:
    """Products this small lose far more to threads that wait for each other than they gain."""
    return ThreadpoolController()


def _loss_and_gradient(
    blocks: Sequence[Block],
    marginals: Sequence[Places],
    targets: Sequence[Float[np.ndarray, " cells"]],
    weights: Sequence[float],
) -> tuple[float, list[Block]]:
    gradients = [np.zeros_like(block) for block in blocks]
    loss = 0.0
    for places, target, weight in zip(marginals, targets, weights, strict=True):
        table = target.reshape([1, *(blocks[place].shape[1] for place in places)])
        order = sorted(range(len(places)), key=lambda k: table.shape[k + 1])
        parts = [Part(blocks[places[k]], gradients[places[k]]) for k in order]
        if len(parts) == 1:
            every = np.ones((len(blocks[0]), 1), dtype=blocks[0].dtype)
            loss += _last_two(None, [Part(every, np.zeros_like(every)), *parts], table, weight=weight)[0]
        else:
            loss += _cell_by_cell(None, parts, table[0].transpose(order), weight=weight)[0]
    return loss, gradients


def relaxed_answers(blocks: Sequence[Block], marginals: Sequence[Places]) -> list[Float[np.ndarray, " cells"]]:
    """The proportions alone, one flat vector a marginal."""
    with _one_thread().limit(limits=1, user_api="blas"):
        return [_proportions([blocks[place] for place in places]) for places in marginals]


class Part(NamedTuple):
    """A column's block and the gradient that is being added up for it."""

    block: Block
    gradient: Block


def _cell_by_cell(held: Held, parts: list[Part], target: Table, *, weight: float) -> tuple[float, Each]:
    """Add the gradients of one table in which every row counts `held`; its loss, and its gradient by `held`."""
    if len(parts) == 2:
        return _last_two(held, parts, target, weight=weight)
    loss, by_held = 0.0, np.zeros((len(parts[0].block), 1), dtype=parts[0].block.dtype)
    for cell in range(parts[0].block.shape[1]):
        member = parts[0].block[:, cell : cell + 1]
        count = member if held is None else held * member
        cell_loss, by_count = _cell_by_cell(count, parts[1:], target[cell], weight=weight)
        loss += cell_loss
        parts[0].gradient[:, cell : cell + 1] += by_count if held is None else held * by_count
        by_held += by_count * member
    return loss, by_held


def _last_two(held: Held, parts: list[Part], target: Table, *, weight: float) -> tuple[float, Each]:
    """The same for two columns: error = left^T right / n - target, and the products of its derivative."""
    left, right = parts
    counted = left.block if held is None else held * left.block
    error = counted.T @ right.block
    error /= len(left.block)
    error -= target
    loss = weight * float(np.vdot(error, error))
    error *= 2 * weight / len(left.block)
    right.gradient[...] += counted @ error
    by_counted = right.block @ error.T
    by_held = np.einsum("rc,rc->r", by_counted, left.block)[:, None]
    left.gradient[...] += by_counted if held is None else held * by_counted
    return loss, by_held


def _proportions(parts: list[Block]) -> Float[np.ndarray, " cells"]:
    """Products of the halves of the columns, as one matrix product."""
    middle = (len(parts) + 1) // 2
    left, right = _outer(parts[:middle]), _outer(parts[middle:]) if parts[middle:] else np.ones_like(parts[0][:, :1])
    return (left.T @ right).ravel() / len(left)


def _outer(parts: list[Block]) -> Block:
    product = parts[0]
    for part in parts[1:]:
        product = (product[:, :, None] * part[:, None, :]).reshape(len(product), -1)
    return product


@dataclass(frozen=True)
class MarginalSet:
    """Marginals of soft rows with a given layout, also where a query's cells are coarser than those the rows hold."""

    layout: Layout
    marginals: tuple[Marginal, ...]

    def __post_init__(self) -> None:
        for axis in self._axes:
            if self.layout.axes[self.layout.schema.position(axis.column)] is None:
                raise UserError(f"column {axis.column!r} is held as a number; hold it in bins (Layout.of, binned=...).")

    @cached_property
    def _axes(self) -> tuple[Axis, ...]:
        return tuple(dict.fromkeys(axis for marginal in self.marginals for axis in marginal.axes))

    @cached_property
    def _merges(self) -> tuple[tuple[int, Float[np.ndarray, "held cells"] | None], ...]:
        """For every axis the place of its column and the matrix that merges the held cells into its own."""
        places = [self.layout.schema.position(axis.column) for axis in self._axes]
        held = [self.layout.axes[place] for place in places]
        return tuple(
            (place, None if fine == axis or fine is None else coarsening(fine, axis))
            for place, fine, axis in zip(places, held, self._axes, strict=True)
        )

    def loss_and_gradient(
        self,
        values: Sequence[Block],
        *,
        targets: Sequence[Float[np.ndarray, " cells"]],
        weights: Sequence[float],
    ) -> tuple[float, list[Block]]:
        """`marginal_loss_and_gradient` by the values that the rows hold, one block a column."""
        blocks = [values[place] if merge is None else values[place] @ merge for place, merge in self._merges]
        places = [[self._axes.index(axis) for axis in marginal.axes] for marginal in self.marginals]
        loss, by_block = marginal_loss_and_gradient(blocks, places, targets=targets, weights=weights)
        gradients = [np.zeros_like(value) for value in values]
        for (place, merge), gradient in zip(self._merges, by_block, strict=True):
            gradients[place] += gradient if merge is None else gradient @ merge.T
        return loss, gradients

    def answers(self, values: Sequence[Block]) -> list[Float[np.ndarray, " cells"]]:
        """The relaxed proportions of every marginal."""
        blocks = [values[place] if merge is None else values[place] @ merge for place, merge in self._merges]
        return relaxed_answers(
            blocks, [[self._axes.index(axis) for axis in marginal.axes] for marginal in self.marginals]
        )
