"""Sequences that begin where their parents say, and end in time: the gaps of a parent's rows must add up to no more than the room after its first row.

Gaps are fitted row by row, so their sums vary more than real ones do, and half of the sequences would run beyond the last day.
Cut off there, all that follows would lie on that day. So rows of sequences that are too long exchange gaps with rows of others that
have room, as long as both gain; the gaps as a whole stay what they were. What is still too long has its longest gaps
cut: they are what noise adds most.
"""

import numpy as np
from jaxtyping import Bool, Int

from sundog.domain.linked.table import LinkedTable
from sundog.domain.linked.views import first_name
from sundog.generate.linked.rows import TableRows
from sundog.random.keys import Key, permutation, split, uniforms

ROUNDS = 400
"""So often every sequence that is too long may exchange a gap."""

Codes = Int[np.ndarray, " rows"]


Limits = tuple[Codes, Codes]


def begun(key: Key, table: LinkedTable, firsts: Codes, *, parent: Codes, limits: Limits | None) -> Codes:
    """Where the sequence of every parent that has rows begins: as it says, and within limits that its rows share.

    What is missing or beyond them is drawn from the values of others within them, or is the nearest that is allowed.
    """
    steps = table.schema.column(table.order or "").steps  # type: ignore[union-attr]  # a sequence is ordered by numbers
    begins = np.diff(parent, prepend=-1) != 0
    who = parent[begins]
    found = np.full(len(firsts), steps, dtype=np.int64)
    found[who] = firsts[who]
    low, high = np.zeros(len(firsts), dtype=np.int64), np.full(len(firsts), steps - 1)
    if limits is not None:
        low[who], high[who] = limits[0][begins], limits[1][begins]
    wrong = who[(found[who] < low[who]) | (found[who] > high[who])]
    known = np.sort(found[found < steps])
    start, end = np.searchsorted(known, low[wrong]), np.searchsorted(known, high[wrong], side="right")
    drawn = start + np.floor(uniforms(key, len(wrong)) * np.maximum(end - start, 1)).astype(np.int64)
    values = known[np.minimum(drawn, len(known) - 1)] if len(known) else low[wrong]
    found[wrong] = np.clip(values, low[wrong], high[wrong])
    return found


def paced(key: Key, table: LinkedTable, made: TableRows, *, above: TableRows, limits: Limits | None) -> TableRows:
    """A table's sequences from where their parents say they begin, within the bounds of their order column and within limits."""
    if table.order is None or not len(made):
        return made
    order, gap = f"{table.name}.{table.order}", f"{table.name}.#gap"
    steps = table.schema.column(table.order).steps  # type: ignore[union-attr]  # a sequence is ordered by numbers
    high = np.full(len(made), steps - 1) if limits is None else limits[1]
    begins = np.diff(made.parent, prepend=-1) != 0
    place = np.cumsum(begins) - 1
    firsts = above.columns[first_name(table.parent or "", table.name)].astype(np.int64)[made.parent]
    room = (high - firsts)[begins]
    gaps = np.where(begins, 0, made.columns[gap].astype(np.int64))
    gaps[gaps >= steps] = 0  # none
    gaps = _shortened(_exchanged(key, gaps, place, room=room, movable=~begins), place, room)
    columns = {order: np.where(begins, firsts, steps), gap: np.where(begins, made.columns[gap], gaps)}
    return TableRows(made.columns | columns, made.parent)


def _exchanged(key: Key, gaps: Codes, place: Codes, *, room: Codes, movable: Bool[np.ndarray, " rows"]) -> Codes:
    """The gaps after exchanges between rows of sequences that are too long and rows of those that are not."""
    made, left = gaps.copy(), room - np.bincount(place, weights=gaps, minlength=len(room)).astype(np.int64)
    sizes = np.bincount(place, minlength=len(room))
    starts = np.cumsum(sizes) - sizes
    for each in split(key, ROUNDS):
        long, short = np.flatnonzero((left < 0) & (sizes > 1)), np.flatnonzero((left > 0) & (sizes > 1))
        pairs = min(len(long), len(short))
        if not pairs:
            break
        order_long, order_short, pick_long, pick_short = split(each, 4)
        one = long[permutation(order_long, len(long))][:pairs]
        other = short[permutation(order_short, len(short))][:pairs]
        mine, theirs = _row(pick_long, one, starts, sizes), _row(pick_short, other, starts, sizes)
        less = made[mine] - made[theirs]
        good = movable[mine] & movable[theirs] & (less > 0) & (less <= left[other])
        mine, theirs = mine[good], theirs[good]
        made[mine], made[theirs] = made[theirs], made[mine]
        left[one[good]] += less[good]
        left[other[good]] -= less[good]
    return made


def _row(key: Key, parents: Codes, starts: Codes, sizes: Codes) -> Codes:
    """A random row of each of some sequences, not its first."""
    return starts[parents] + 1 + np.floor(uniforms(key, len(parents)) * (sizes[parents] - 1)).astype(np.int64)


def _shortened(gaps: Codes, place: Codes, room: Codes) -> Codes:
    """Gaps of which none leads beyond the room: in sequences that are too long, those above a limit are cut down to it."""
    low, high = np.zeros(len(room), dtype=np.int64), np.full(len(room), int(gaps.max(initial=0)))
    while (low < high).any():
        middle = (low + high + 1) // 2
        fits = np.bincount(place, weights=np.minimum(gaps, middle[place]), minlength=len(room)) <= room
        low, high = np.where(fits, middle, low), np.where(fits, high, middle - 1)
    return np.minimum(gaps, low[place])
