"""Screen: of very many pairs, those that are worth a score, by one private choice.

A score has noise that grows with the square root of the number of pairs: with a thousand columns, half a million of them, it would
be many times the rows. The exponential mechanism pays for what it chooses, and only the logarithm of the number of candidates
enters. So where there are more than MANY pairs, k of them are chosen first. All that follows (scores, prices) is about these.

Every column is cut into two halves of about equal mass, s = 1 and s = -1. A pair is scored by how often its halves agree,

    | sum over rows of s_1 s_2 - n m_1 m_2 |,    m the mean of s by the released one-way counts,

which one row moves by 1. The error of m, with a standard deviation e, enters as n (m_1 e_2 + m_2 e_1 + e_1 e_2): little, where halves
are equal. (In the distance of a whole table from independence it would be the larger part.) Z times that is taken off. The two
signs of the sum are two candidates, each an L1 distance as the curator takes it: that of the table of halves from LARGE where
they agree and -LARGE where they do not is 4 LARGE - sum s_1 s_2.

k is as many coarse tables of c cells as can be measured such that the noise that survives in each is FLOOR of the rows:

    kappa D c sqrt(k / 2 rho) = FLOOR n.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from sundog.domain import Categorical
from sundog.domain.axis import Axis
from sundog.estimate.bins import Leaves, leaves_of
from sundog.estimate.pairs.determined import LARGE
from sundog.queries import Marginal, Query
from sundog.queries.sensitivity import gaussian_stddev
from sundog.released import Proposal, Released, Selection

MANY = 10_000
"""Of more pairs (142 columns and more) some are chosen first; of fewer, scores cost less than choosing would."""
SHARE = 0.1
"""The part of the budget left that choosing takes."""
FLOOR = 0.1
Z = 3.0
LEVELS = 8
"""The error of half a tree of counts is at most that of this many of its leaves."""
AGREE = np.array([LARGE, -LARGE, -LARGE, LARGE])


@dataclass(frozen=True)
class Halves:
    """A column cut in two, the mean of the sign of its halves, and the error of that mean."""

    axis: Axis
    mean: float
    error: float

    @staticmethod
    def of(leaves: Leaves) -> "Halves | None":
        """By the mass that was measured; None where all of it lies in one leaf."""
        share = leaves.proportions
        if len(share) < 2:
            return None
        upper = _upper(leaves)
        numbers = len(share) - int(upper.sum()), int(upper.sum())
        error = 2 * leaves.stddev * math.sqrt(min(numbers[0] * numbers[1] / len(share), LEVELS))
        return Halves(_cut(leaves, upper), 1 - 2 * float(share[upper].sum()), error)


def screening(workload: Sequence[Query], released: Released, *, rho: float, kappa: float, cells: int) -> Proposal:
    """Choose pairs; one with a target may agree less than others, by FLOOR of the rows."""
    halves = {name: Halves.of(leaves) for name, leaves in leaves_of(released).items()}
    tables, penalties = [], []
    targets, rows = set(released.schema.targets), released.rows
    for first, second in (query.columns for query in workload if len(query.columns) == 2):
        one, other = halves[first], halves[second]
        if one is None or other is None:
            continue
        tables.append(Marginal((one.axis, other.axis)))
        favour = FLOOR if first in targets or second in targets else 0.0
        penalties.append((rows * one.mean * other.mean, rows * (Z * _error(one, other) - favour)))
    both = [round(off + sign * mean) + 4 * LARGE for sign in (1, -1) for mean, off in penalties]
    signs = (-AGREE,) * len(tables) + (AGREE,) * len(tables)
    k = number(workload, released, rho=rho, kappa=kappa, cells=cells)
    return Proposal(selection=Selection((*tables, *tables), signs, k=k, penalties=both), rho_select=SHARE * rho)


def number(workload: Sequence[Query], released: Released, *, rho: float, kappa: float, cells: int) -> int:
    """How many are chosen: at least one, at most MANY; the two signs of a pair count as two."""
    change = gaussian_stddev(workload[0], 0.5, unit=released.guarantee.unit)
    affordable = 2 * rho * (FLOOR * released.rows / (kappa * change * cells**2)) ** 2
    return int(min(max(affordable, 1), MANY, len(workload)))


def _error(one: Halves, other: Halves) -> float:
    """The error of the product of two means."""
    return math.hypot(one.mean * other.error, other.mean * one.error, one.error * other.error)


def _upper(leaves: Leaves) -> Float[np.ndarray, " leaves"]:
    """Which leaves are in the upper half: labels in turn, heaviest first, into the lighter half; others in their order."""
    share = leaves.proportions
    upper = np.zeros(len(share), dtype=bool)
    if isinstance(leaves.column, Categorical) and not leaves.column.ordered:
        masses = [0.0, 0.0]
        for place in np.argsort(-share, kind="stable"):
            half = int(masses[1] < masses[0])
            upper[place] = half
            masses[half] += float(share[place])
        return upper
    below = np.cumsum(share)[:-1]
    upper[int(np.argmin(np.abs(below - 0.5))) + 1 :] = True
    return upper


def _cut(leaves: Leaves, upper: Float[np.ndarray, " leaves"]) -> Axis:
    """The axis of the two halves."""
    axis = leaves.axis
    if isinstance(leaves.column, Categorical) and not leaves.column.ordered:
        return Axis.grouped(leaves.column, upper[axis.cells(np.arange(axis.codes))].astype(int).tolist())
    first = int(axis.firsts[int(np.argmax(upper))])
    return Axis(axis.column, size=2, codes=axis.codes, starts=None if axis.codes == 2 else (0, first))
