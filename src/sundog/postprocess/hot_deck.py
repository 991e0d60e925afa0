"""Hot-deck repair: a row that breaks a constraint takes the constraint's columns from a row that satisfies it.

The donor agrees with it on one of those columns where such a donor exists (which column is drawn at random), so that as
little as possible changes.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Int

from sundog.random.keys import Key, split, uniforms


def hot_deck(
    key: Key,
    codes: list[Int[np.ndarray, " rows"]],
    places: Sequence[int],
    *,
    broken: Int[np.ndarray, " broken"],
    donors: Int[np.ndarray, " donors"],
) -> None:
    """Repair the broken rows' columns at `places`, in place; nothing happens where there is no donor."""
    if not len(broken) or not len(donors):
        return
    anchor_key, pick_key = split(key, 2)
    anchors = np.floor(uniforms(anchor_key, len(broken)) * len(places)).astype(np.int64)
    draws = uniforms(pick_key, len(broken))
    chosen = np.empty(len(broken), dtype=np.int64)
    for k, place in enumerate(places):
        turn = anchors == k
        chosen[turn] = _donors(codes[place], broken[turn], donors, draws[turn])
    for place in places:
        codes[place] = codes[place].copy()
        codes[place][broken] = codes[place][chosen]


def _donors(
    column: Int[np.ndarray, " rows"],
    broken: Int[np.ndarray, " some"],
    donors: Int[np.ndarray, " donors"],
    draws: Int[np.ndarray, " some"],
) -> Int[np.ndarray, " some"]:
    """A random donor with the same code; a random donor of all where none has it."""
    order = donors[np.argsort(column[donors], kind="stable")]
    first = np.searchsorted(column[order], column[broken], side="left")
    last = np.searchsorted(column[order], column[broken], side="right")
    alone = first == last
    first, last = np.where(alone, 0, first), np.where(alone, len(order), last)
    return order[first + np.floor(draws * (last - first)).astype(np.int64)]
