"""What of the measurements a junction tree of limited size can hold: nothing that was paid for may end in a refusal.

Rules keep their choices small, and what measures everything is checked before it spends; but which bins and labels are merged is
known only afterwards, and releases may come from elsewhere. Tables are taken in, the smallest first, as long as the tree stays
within its limit. One that is left out still says what its columns are like, each by itself.
"""

from collections.abc import Collection, Iterable, Sequence

import numpy as np

from sundog.generate.graphical.calibrated import Clique
from sundog.generate.graphical.elimination import elimination_order, neighbours
from sundog.generate.graphical.mirror_descent import MeasuredTable


def cliques_within(
    sizes: Sequence[int], cliques: Iterable[Clique], *, cells: float, first: Collection[Clique] = ()
) -> set[Clique]:
    """The cliques that a junction tree of this many cells holds together, those in `first` (which it does hold) for certain."""
    wanted = set(cliques)
    near = neighbours(len(sizes), wanted)
    if elimination_order(near, sizes)[1] <= cells:
        return wanted
    kept = set(first)
    for clique in sorted(wanted - kept, key=lambda clique: (np.prod([float(sizes[k]) for k in clique]), clique)):
        if len(clique) == 1 or elimination_order(neighbours(len(sizes), kept | {clique}), sizes)[1] <= cells:
            kept.add(clique)
    return kept


def single_columns(target: MeasuredTable) -> list[MeasuredTable]:
    """What a measured table says of each of its columns: sums of cells, whose variances add up."""
    made = []
    for axis, column in enumerate(target.clique):
        others = tuple(k for k in range(len(target.clique)) if k != axis)
        precisions = 1 / (1 / target.precisions).sum(axis=others)
        made.append(MeasuredTable((column,), target.values.sum(axis=others), precisions, (target.maps[axis],)))
    return made
