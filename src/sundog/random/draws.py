"""Systematic draws within groups: each group's rows fall on its items in proportion to their weights, give or take one.

The rows of a group are put in random order first. Without that, two columns drawn from the same parent would come out
perfectly correlated (the sampling fault of mbi 1.1).
"""

import numpy as np
from jaxtyping import Float, Int

from sundog.random.keys import Key, permutation, split, uniforms, words

TINY = 1e-12


def draw_within(
    key: Key,
    groups: Int[np.ndarray, " rows"],
    *,
    weights: Float[np.ndarray, " items"],
    sizes: Int[np.ndarray, " groups"],
) -> Int[np.ndarray, " rows"]:
    """For every row an item of its group; `weights` lists the items group after group, `sizes` how many each has."""
    order_key, offset_key = split(key, 2)
    ranks, counts = ranks_in_groups(order_key, groups, len(sizes))
    positions = (ranks + uniforms(offset_key, len(sizes))[groups]) / counts
    return at_positions(groups, positions, weights=weights, sizes=sizes)[0]


def ranks_in_groups(
    key: Key, groups: Int[np.ndarray, " rows"], number: int
) -> tuple[Int[np.ndarray, " rows"], Int[np.ndarray, " rows"]]:
    """Every row's rank in its group, from 0 on, in a random order, and how many rows the group has."""
    order = _grouped(permutation(key, len(groups)), groups, number)
    ordered, counts = groups[order], np.bincount(groups, minlength=number)
    ranks = np.empty(len(groups), dtype=np.int64)
    ranks[order] = np.arange(len(groups)) - (np.cumsum(counts) - counts)[ordered]
    return ranks, counts[groups]


def evenly(key: Key, held: int, *, rows: int) -> Int[np.ndarray, " rows"]:
    """Which of the rows held to take for this many rows: each as often as the others, give or take one, in random order."""
    choose, order = split(key, 2)
    return permutation(choose, held)[np.arange(rows) * held // rows][permutation(order, rows)]


def ranks_within(
    key: Key, groups: Int[np.ndarray, " rows"], *, by: Float[np.ndarray, " rows"], number: int
) -> Float[np.ndarray, " rows"]:
    """Every row's rank in its group by some numbers, above 0 and below 1; ties in random order."""
    order = np.lexsort((words(key, len(groups)), by, groups))
    counts = np.bincount(groups, minlength=number)
    ordered = groups[order]
    ranks = np.empty(len(groups))
    ranks[order] = (np.arange(len(groups)) - (np.cumsum(counts) - counts)[ordered] + 0.5) / counts[ordered]
    return ranks


def _grouped(
    order: Int[np.ndarray, " rows"], groups: Int[np.ndarray, " rows"], number: int
) -> Int[np.ndarray, " rows"]:
    """An order of the rows, group after group; NumPy sorts numbers of 16 bits in linear time."""
    within = groups.astype(np.uint16 if number <= 1 << 16 else np.int64)
    return order[np.argsort(within[order], kind="stable")]


def at_positions(
    groups: Int[np.ndarray, " rows"],
    positions: Float[np.ndarray, " rows"],
    *,
    weights: Float[np.ndarray, " items"],
    sizes: Int[np.ndarray, " groups"],
) -> tuple[Int[np.ndarray, " rows"], Float[np.ndarray, " rows"]]:
    """The item at each relative position in [0, 1) of its group's weight, and how far inside it; no weight: uniform."""
    ends = np.cumsum(sizes)
    starts = ends - sizes
    totals = np.add.reduceat(weights, starts)
    empty = totals <= 0
    filled = np.where(np.repeat(empty, sizes), 1.0, weights)
    masses = np.where(empty, sizes, totals)
    shares = np.cumsum(filled / np.repeat(masses, sizes))  # each group adds 1
    items = np.clip(np.searchsorted(shares, groups + positions, side="right"), starts[groups], ends[groups] - 1)
    own = np.maximum(filled[items] / masses[groups], TINY)
    return items, np.clip((groups + positions - shares[items]) / own + 1, 0.0, 1 - TINY)
