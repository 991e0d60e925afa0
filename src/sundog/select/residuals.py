"""Residuals: how other columns go with a target that is a number, beyond the number that it follows.

The price of a stone follows its weight; what its clarity adds shows in the table of clarity and price hardly at all, because clear
stones are light. Tables of three columns show it, but have thousands of cells, most of them empty. So the cells of weight and price
are joined along the strip where the rows lie: for every cell of the weight, the prices that are usual for it are cut into PARTS
equally likely parts, by the released table of both. That part by a third column is a small table (a partition of the rows,
sundog.queries.joined), and tells the third column's effect at any weight.

A public rule decides: the target's noisy score with the number that it follows most closely is a good part of the
largest possible (sundog.estimate.pairs.determined), and the noise of a count would be at most NOISE of its mean. Columns that are much
like that number tell nothing more; of very many others, those with the highest scores beside the target are looked at.
"""

import math
from collections.abc import Sequence, Set
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from sundog.domain import Schema
from sundog.domain.axis import Axis
from sundog.estimate.bins import coarsened, leaves_of
from sundog.estimate.pairs.determined import followed_numbers
from sundog.estimate.pairs.pool import pool
from sundog.generate import Generator
from sundog.queries import Joined, Marginal, Query
from sundog.queries.sensitivity import gaussian_stddev
from sundog.released import Released

PARTS = 4
CELLS = 8
"""Of the third column, at most."""
MOST = 24
"""Third columns of a target: what is measured of one must be kept from relating it to all others (sundog.generate.pooled.spread)."""
NOISE = 0.25
ENOUGH = 0.02
"""Less noise than this part of a mean count is of no use: chance alone moves counts as much."""

Triple = tuple[str, str, Axis]


def price(workload: Sequence[Query], released: Released, *, rho: float, generator: Generator[Any]) -> float:
    """What they take of a budget of at most rho: nothing where counts would be lost in noise, and no more than is of use."""
    found = _found(workload, released)
    if not (rho > 0 and found and generator.supports(_example(workload))):
        return 0.0
    mean = released.rows / (PARTS * CELLS)
    noise = gaussian_stddev(workload[0], rho / len(found), unit=released.guarantee.unit) / mean
    return rho * min((noise / ENOUGH) ** 2, 1.0) if noise <= NOISE else 0.0


def _found(workload: Sequence[Query], released: Released) -> list[Triple]:
    """A target, the number that it follows, and another column's axis."""
    leaves = leaves_of(released)
    axes = {axis.column: axis for query in workload if isinstance(query, Marginal) for axis in query.axes}
    wide = {name: axis for name, axis in axes.items() if axis.size > 1}
    return [
        (target, by, coarsened(wide[name], leaves[name].shares(wide[name]), column=leaves[name].column, most=CELLS))
        for target, (by, alike) in followed_numbers(released, leaves).items()
        for name in _closest(released, target, wide.keys() - {target, by, *alike})
    ]


def _closest(released: Released, target: str, names: Set[str]) -> list[str]:
    """The columns with the highest scores beside a target, at most MOST."""
    scores: dict[str, float] = dict.fromkeys(names, -math.inf)
    for query, value in zip(released.scores[0].candidates, released.scores[0].values, strict=True):
        if target in query.columns and len(query.columns) == 2:
            for name in names & set(query.columns):
                scores[name] = max(scores[name], float(value))
    order = sorted(names, key=lambda name: (-scores[name], released.schema.names.index(name)))
    return sorted(order[:MOST], key=released.schema.names.index)


def tables(workload: Sequence[Query], released: Released) -> list[Joined]:
    """What to measure: those whose table of the target and the number was measured."""
    pairs = {query.columns: (query, counts) for query, counts, _ in pool(released, leaves_of(released)).tables}
    made = []
    for target, by, third in _found(workload, released):
        for columns in ((target, by), (by, target)):
            if columns in pairs:
                query, counts = pairs[columns]
                made.append(_joined(query.axes, _parts(query, counts, target, released.schema), third))
    return made


def _example(workload: Sequence[Query]) -> Joined:
    """A query of this class over two columns, to ask whether a generator takes such."""
    pair = next(query for query in workload if isinstance(query, Marginal))
    return Joined(pair, (0,) * pair.size)


def _parts(query: Marginal, counts: Float[np.ndarray, " cells"], target: str, schema: Schema) -> Int[np.ndarray, "a b"]:
    missing = schema.column(target).missing is not None
    return strip(counts.reshape(query.shape), along=query.columns.index(target), missing=missing)


def strip(table: Float[np.ndarray, "a b"], *, along: int, missing: bool) -> Int[np.ndarray, "a b"]:
    """For every cell its part: where the target (the axis `along`) lies among the rows of the other column's cell.

    The last cell of a target that may be missing is a part of its own.
    """
    lines = table.T if along == 0 else table
    told = lines[:, :-1] if missing else lines
    shares = told / np.maximum(told.sum(axis=1, keepdims=True), 1e-9)
    middle = np.cumsum(shares, axis=1) - shares / 2
    parts = np.full(lines.shape, PARTS)
    parts[:, : told.shape[1]] = np.minimum(middle * PARTS, PARTS - 1)
    return parts.T if along == 0 else parts


def _joined(axes: tuple[Axis, ...], parts: Int[np.ndarray, "a b"], third: Axis) -> Joined:
    groups = parts[:, :, None] * third.size + np.arange(third.size)
    _, groups = np.unique(groups, return_inverse=True)
    return Joined(Marginal((*axes, third)), tuple(groups.ravel().tolist()))
