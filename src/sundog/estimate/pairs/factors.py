"""What all tables say together: one low-rank model of every table's dependence. Free: released values only.

Each column gets a matrix of factors, one line per cell; the dependence of a pair (its counts beyond independence) is the
product of the two matrices. The factors minimise the squared distance to all measured tables, weighted by their precision,
plus a ridge that is set by the noise (the same as a penalty on the sum of singular values). A relation that runs through
many tables stands out from their noise long before it does in any one of them.

Rare cells carry weaker factors: line i is scaled by its share to the power TAPER. Tables on coarser axes see sums of lines.
Neighbouring cells of a column with an order are alike: the ridge there is weaker, and the difference of neighbouring lines has one too.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.linalg import eigh

from sundog.domain.axis import Axis

RANK = 20
STRENGTH = 0.28
TAPER = 0.35
LEVEL, CHANGE = 0.45, 0.7
"""Of the ridge, in columns with an order: on the lines themselves, and on the differences of neighbouring ones."""
SHORTEST = 2
"""So few cells have no order to speak of."""
ROUNDS = 10
STEPS = 8
"""Of conjugate gradients, from where the round before ended."""


@dataclass(frozen=True, eq=False)
class Excess:
    """A table's counts beyond independence, and the noise in them."""

    axes: tuple[Axis, Axis]
    counts: Float[np.ndarray, "a b"]
    stddev: float


@dataclass(frozen=True, eq=False)
class _Sight:
    """One table as seen from one of its columns: how its cells are made of the column's, and the other side."""

    summing: Float[np.ndarray, "cells fine"]
    other: str
    other_summing: Float[np.ndarray, "other_cells other_fine"]
    counts: Float[np.ndarray, "cells other_cells"]
    weight: float


def common_dependence(
    tables: Sequence[Excess],
    *,
    axes: Mapping[str, Axis],
    shares: Mapping[str, Float[np.ndarray, " cells"]],
    in_order: Mapping[str, int],
) -> list[Float[np.ndarray, "a b"]]:
    """For every table the part of its dependence that all tables together support.

    `in_order` tells how many cells of a column, the first ones, stand in an order; of columns that it does not have, none do.
    """
    names = list(dict.fromkeys(axis.column for table in tables for axis in table.axes))
    summing = {axis: _summing(axis, axes, shares) for table in tables for axis in table.axes}
    cells = sum(axes[name].size for name in names)
    typical = float(np.exp(np.mean([np.log(table.stddev) for table in tables])))
    ridge = STRENGTH * np.sqrt(cells) / typical
    sights = _sights(tables, summing)
    factors = _spectral(tables, summing, names=names, axes=axes)
    penalties = {name: ridge * _penalty(axes[name].size, in_order.get(name, 0)) for name in names}
    for _ in range(ROUNDS):
        for name in names:
            factors[name] = _improved(factors, name, sights[name], penalties[name])
    return [
        summing[a] @ factors[a.column] @ (summing[b] @ factors[b.column]).T for a, b in (table.axes for table in tables)
    ]


def _penalty(size: int, in_order: int) -> Float[np.ndarray, "fine fine"]:
    """The ridge on a column's lines, as a matrix."""
    made = np.eye(size)
    if in_order > SHORTEST:
        steps = np.diff(np.eye(in_order), axis=0)
        made[:in_order, :in_order] = LEVEL * np.eye(in_order) + CHANGE * steps.T @ steps
    return made


def _summing(
    axis: Axis, axes: Mapping[str, Axis], shares: Mapping[str, Float[np.ndarray, " cells"]]
) -> Float[np.ndarray, "cells fine"]:
    """How the cells of a table's axis are made of its column's lines, with their scale."""
    place = axes[axis.column].parents(axis)
    matrix = np.zeros((axis.size, len(place)))
    matrix[place, np.arange(len(place))] = shares[axis.column] ** TAPER
    return matrix


def _sights(
    tables: Sequence[Excess], summing: Mapping[Axis, Float[np.ndarray, "cells fine"]]
) -> dict[str, list[_Sight]]:
    sights: dict[str, list[_Sight]] = {}
    for table in tables:
        first, second = table.axes
        for here, there, counts in ((first, second, table.counts), (second, first, table.counts.T)):
            sight = _Sight(summing[here], there.column, summing[there], counts, 1 / table.stddev**2)
            sights.setdefault(here.column, []).append(sight)
    return sights


def _spectral(
    tables: Sequence[Excess],
    summing: Mapping[Axis, Float[np.ndarray, "cells fine"]],
    *,
    names: Sequence[str],
    axes: Mapping[str, Axis],
) -> dict[str, Float[np.ndarray, "fine rank"]]:
    """A start: the leading eigenvectors of all tables laid out as one symmetric matrix."""
    ends = np.cumsum([axes[name].size for name in names])
    place = {name: slice(end - axes[name].size, end) for name, end in zip(names, ends, strict=True)}
    back = {axis: np.linalg.pinv(matrix) for axis, matrix in summing.items()}
    whole = np.zeros((ends[-1], ends[-1]))
    for table in tables:
        first, second = table.axes
        block = back[first] @ table.counts @ back[second].T
        whole[place[first.column], place[second.column]] = block
        whole[place[second.column], place[first.column]] = block.T
    cells = int(ends[-1])
    values, vectors = eigh(whole, subset_by_index=(max(cells - RANK, 0), cells - 1))
    start = vectors * np.sqrt(np.maximum(values, 1e-6))
    return {name: start[place[name]] for name in names}


def _improved(
    factors: Mapping[str, Float[np.ndarray, "fine rank"]],
    name: str,
    sights: Sequence[_Sight],
    penalty: Float[np.ndarray, "fine fine"],
) -> Float[np.ndarray, "fine rank"]:
    """The best factors of one column given the others', by conjugate gradients."""
    grams: dict[int, tuple[Float[np.ndarray, "cells fine"], Float[np.ndarray, "rank rank"]]] = {}
    wanted = np.zeros_like(factors[name])
    for sight in sights:
        other = sight.other_summing @ factors[sight.other]
        wanted += sight.weight * sight.summing.T @ (sight.counts @ other)
        gram = sight.weight * other.T @ other
        held = grams.get(id(sight.summing))
        grams[id(sight.summing)] = (sight.summing, gram if held is None else held[1] + gram)

    def applied(lines: Float[np.ndarray, "fine rank"]) -> Float[np.ndarray, "fine rank"]:
        return penalty @ lines + sum(matrix.T @ (matrix @ lines @ gram) for matrix, gram in grams.values())

    return _solved(applied, wanted, start=factors[name])


def _solved(
    applied: Callable[[Float[np.ndarray, "fine rank"]], Float[np.ndarray, "fine rank"]],
    wanted: Float[np.ndarray, "fine rank"],
    *,
    start: Float[np.ndarray, "fine rank"],
) -> Float[np.ndarray, "fine rank"]:
    """Solve the linear system by conjugate gradients."""
    lines, residual = start.copy(), wanted - applied(start)
    direction, size = residual.copy(), float((residual**2).sum())
    for _ in range(STEPS):
        if size <= 1e-18:
            break
        image = applied(direction)
        length = size / float((direction * image).sum())
        lines += length * direction
        residual -= length * image
        size, before = float((residual**2).sum()), size
        direction = residual + size / before * direction
    return lines
