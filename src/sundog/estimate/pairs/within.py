"""Inside cells: how closely a column follows another one within its own cells, from their table. Free: released values only.

A table tells in which cells two columns meet, and nothing of where inside them. If both were placed there independently, an
income in a cell that two deciles share would not go with its decile. But neighbouring cells show it: of rows from two cells
next to each other, how often do both columns agree in their order (Goodman and Kruskal's gamma, ties left out)? For a column
that is even in two cells of mean distance m, and another that follows it with normal noise of width w,

    gamma = E[2 Phi(d / (w sqrt 2)) - 1],  d triangular on (0, 2m),

which gives w; and inside a cell of width h the correlation of the two is 1 / sqrt(1 + 12 w^2 / h^2). Noise that cleaning left in a
table shows as disagreement. The raw counts tell the sum of all disagreement without bias, because two cells' noises are
independent: what cleaning left beyond that is taken off.

Cells of labels have no order of their own: they stand in that of the mean of the column that follows them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from scipy.special import ndtr, ndtri

from sundog.domain import Categorical, Column
from sundog.domain.axis import Axis
from sundog.estimate.bins import Leaves
from sundog.estimate.pairs.pool import Pooled
from sundog.estimate.repeats import without_repeats
from sundog.random.draws import ranks_within
from sundog.random.keys import Key, normals, split
from sundog.released import Released

NEAR = 0.7
"""Pairs are followed into their cells where their distance from independence is at least this part of the largest possible."""
ALONE = 0.95
"""Labels that determine a column's cell to this part lie in one cell each: the table then does not tell their order in it."""
LEAST = 0.4
"""And where the correlation inside cells comes out at least so high, on the whole."""
UNTIED = 0.1
"""Neighbouring cells tell nothing where fewer of their pairs of rows than this differ in the other column."""
WIDTHS = np.geomspace(0.01, 5.0, 80)
_DISTANCES = np.linspace(0.0, 2.0, 401)
_TRIANGLE = np.minimum(_DISTANCES, 2.0 - _DISTANCES) / np.minimum(_DISTANCES, 2.0 - _DISTANCES).sum()
GAMMAS = np.array([_TRIANGLE @ (2 * ndtr(_DISTANCES / (width * 2**0.5)) - 1) for width in WIDTHS])
"""The gamma of every width, for cells of mean distance 1."""

Table = Float[np.ndarray, "a b"]
Cells = Float[np.ndarray, " a"]


@dataclass(frozen=True, eq=False)
class Follows:
    """A column that follows another one inside its cells: how closely, cell by cell, and the order of the other's cells.

    `ranks` are those of the cells of `axis`; None where the other column has an order of its own.
    """

    column: str
    axis: Axis
    strengths: Cells
    ranks: Int[np.ndarray, " b"] | None

    def order(
        self, key: Key, cells: Int[np.ndarray, " rows"], other: Float[np.ndarray, " rows"]
    ) -> Float[np.ndarray, " rows"]:
        """Numbers in whose order the rows of every cell take its values, given where the other column lies on its axis."""
        ties, noise = split(key, 2)
        middle = ndtri(ranks_within(ties, cells, by=other, number=len(self.strengths)))
        strength = self.strengths[cells]
        return strength * middle + np.sqrt(1 - strength**2) * normals(noise, len(cells))


def positions(
    key: Key, following: Sequence[Follows], *, axes: Mapping[str, Axis], cells: Mapping[str, Int[np.ndarray, " rows"]]
) -> dict[str, Float[np.ndarray, " rows"]]:
    """Where inside its cell, from 0 to 1, each row lies: for columns that follow others, and those they follow."""
    later = {each.column for each in following}
    roots = dict.fromkeys(each.axis.column for each in following if each.axis.column not in later)
    keys = iter(split(key, len(roots) + 2 * len(following)))
    found = {
        name: ranks_within(next(keys), cells[name], by=np.zeros(len(cells[name])), number=axes[name].size)
        for name in roots
    }
    for each in following:
        name, other = each.column, each.axis.column
        lies = cells[other] + found[other]
        if each.ranks is not None:
            lies = each.ranks[axes[other].parents(each.axis)[cells[other]]].astype(float)
        order = each.order(next(keys), cells[name], lies)
        found[name] = ranks_within(next(keys), cells[name], by=order, number=axes[name].size)
    return {name: lies for name, lies in found.items() if name in later or _told(name, following)}


def _told(name: str, following: Sequence[Follows]) -> bool:
    """Whether a column's place in its cells decides where others lie in theirs: not that of labels."""
    return any(each.axis.column == name and each.ranks is None for each in following)


def followers(released: Released, pooled: Pooled, leaves: Mapping[str, Leaves]) -> tuple[Follows, ...]:
    """Which columns follow which: each the one it follows most closely, in an order in which they can be drawn."""
    links = [link for _, link in sorted(_links(released, pooled, leaves), key=lambda found: -found[0])]
    following: list[Follows] = []
    waiting = {link.column for link in links}
    while waiting:
        ready = next((link for link in links if link.column in waiting and link.axis.column not in waiting), None)
        if ready is not None:
            following.append(ready)
            waiting.remove(ready.column)
        else:  # all wait for each other: what the strongest link follows is drawn by itself
            waiting.remove(next(link.axis.column for link in links if link.column in waiting))
    return tuple(following)


def _links(released: Released, pooled: Pooled, leaves: Mapping[str, Leaves]) -> Iterator[tuple[float, Follows]]:
    """Every column with every other one that it follows closely, and how closely on the whole."""
    raw = {measurement.query: measurement.values for measurement in without_repeats(released.measurements)}
    for query, values, _ in pooled.tables:
        table, noisy = (counts.reshape(query.shape).astype(float) for counts in (values, raw[query]))
        if max(determination(table), determination(table.T)) < NEAR:
            continue
        for (own, other), counts, shown in ((query.axes, table, noisy), (query.axes[::-1], table.T, noisy.T)):
            column, leader = (released.schema.column(axis.column) for axis in (own, other))
            told = _ordered(leader) or determination(counts.T) < ALONE
            if told and _ordered(column) and own == pooled.axes[own.column] and own.size < column.size:
                link = _link(leader, (own, other), leaves[own.column], (counts, shown))
                strength = float(np.sqrt(np.average(link.strengths**2, weights=counts.sum(axis=1))))
                if strength >= LEAST:
                    yield strength, link


def determination(table: Table) -> float:
    """How far the second column follows from the first: the distance from independence by the largest for its margin."""
    shares = table / table.sum()
    row, column = shares.sum(axis=1), shares.sum(axis=0)
    return 0.5 * float(np.abs(shares - np.outer(row, column)).sum()) / max(1 - float(column @ column), 1e-12)


def _ordered(column: Column) -> bool:
    return not isinstance(column, Categorical) or column.ordered


def _link(other: Column, axes: tuple[Axis, Axis], leaves: Leaves, tables: tuple[Table, Table]) -> Follows:
    """How one column follows another, from their cleaned and their raw table; missing is in no order."""
    own, counts, shown = axes[0], tables[0].copy(), tables[1].copy()
    last = own.size - (leaves.column.missing is not None)
    ranks = None
    if not _ordered(other):
        means = np.arange(last) @ counts[:last] / np.maximum(counts[:last].sum(axis=0), 1e-9)
        ranks = np.argsort(np.argsort(means, kind="stable"), kind="stable")
        counts, shown = counts[:, np.argsort(ranks)], shown[:, np.argsort(ranks)]
    elif other.missing is not None:
        counts[:, -1] = shown[:, -1] = 0.0
    means, widths = _moments(leaves, own)
    found = np.zeros(own.size)
    found[:last] = strengths(counts[:last], shown[:last], gaps=np.diff(means[:last]), widths=widths[:last])
    return Follows(own.column, axes[1], found, ranks)


def _moments(leaves: Leaves, axis: Axis) -> tuple[Cells, Cells]:
    """For every cell the mean of its codes, and the width of an even column with their variance."""
    fine = leaves.within(axis)
    place, middle = fine.cells(axis), fine.axis.firsts + (fine.axis.widths - 1) / 2
    weights = np.maximum(fine.proportions, 1e-12)
    mass = np.bincount(place, weights=weights, minlength=axis.size)
    means = np.bincount(place, weights=weights * middle, minlength=axis.size) / mass
    squares = (middle - means[place]) ** 2 + (fine.axis.widths**2 - 1) / 12
    return means, np.sqrt(12 * np.bincount(place, weights=weights * squares, minlength=axis.size) / mass)


def strengths(table: Table, raw: Table, *, gaps: Float[np.ndarray, " borders"], widths: Cells) -> Cells:
    """The correlation inside every cell of the first column; `gaps` are the distances of its cells' means."""
    agree, differ = _concordance(table)
    sign = 1.0 if agree.sum() >= differ.sum() else -1.0
    if sign < 0:
        table, raw = table[:, ::-1], raw[:, ::-1]
        agree, differ = _concordance(table)
    differ = differ * np.clip(_concordance(raw)[1].sum() / max(float(differ.sum()), 1e-9), 0.0, 1.0)
    pairs = table.sum(axis=1)[:-1] * table.sum(axis=1)[1:]
    told = np.maximum(_both_sides(agree + differ), 1e-9)
    gamma = _both_sides(agree - differ) / told
    width = np.interp(gamma, GAMMAS[::-1], WIDTHS[::-1]) * _both_sides((agree + differ) * gaps) / told
    clear = (gamma > 0) & (widths > 0) & (told >= UNTIED * np.maximum(_both_sides(pairs), 1e-9))
    return np.where(clear, sign / np.sqrt(1 + 12 * (width / np.maximum(widths, 1e-12)) ** 2), 0.0)


def _concordance(table: Table) -> tuple[Cells, Cells]:
    """For every two neighbouring cells how many pairs of their rows agree in the other column's order, and how many differ."""
    upto = np.cumsum(table, axis=1)
    agree = ((upto - table)[:-1] * table[1:]).sum(axis=1)
    differ = ((upto[:, -1:] - upto)[:-1] * table[1:]).sum(axis=1)
    return agree, differ


def _both_sides(borders: Float[np.ndarray, " borders"]) -> Cells:
    """For every cell the sum over its two borders."""
    return np.append(borders, 0.0) + np.append(0.0, borders)
