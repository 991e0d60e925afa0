"""Single columns among the measures: all that was ever measured of a column, as one estimate to match.

A column is counted at several resolutions, and the table's own making has often counted it before. Raw counts of rare labels
and thin cells are mostly noise, and rows bent to them would be worse than they were. So what is matched is the best
estimate from all of it (sundog.hierarchy): as fine as it is where it is short, else in bins (sundog.bins). Free: released
values only.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from sundog.axis import Axis
from sundog.bins import Bins, Leaves, leaves_from
from sundog.queries import Marginal
from sundog.released import Measurement
from sundog.schema import Schema

IN_ALL = 400
"""So many cells in all columns, about: what the denoising still solves exactly (adjust/denoise.py)."""
LEAST = 8
"""Every column may have so many."""
RARE = 0.001
"""Labels that are rarer may be matched as one, in a long column."""


def settled(
    measurements: Sequence[Measurement], schema: Schema, *, known: Sequence[Measurement] = (), rows: float
) -> list[Measurement]:
    """The measurements, those of single columns replaced by one estimate a column, to which `known` ones add."""
    asked = _by_column(measurements)
    others = _by_column(m for m in known if not any(m is each for each in measurements))
    leaves = {
        name: leaves_from(schema.column(name), [*levels, *others.get(name, [])], rows=rows)
        for name, levels in asked.items()
    }
    most = _most(leaves)
    made = [m for m in measurements if _column_of(m) is None]
    for name, levels in asked.items():
        axis = _axis(leaves[name], most)
        counts = np.rint(leaves[name].shares(axis) * rows).astype(np.int64)
        made.append(replace(levels[0], query=Marginal((axis,)), values=counts, stddev=leaves[name].stddev * rows))
    return made


def _most(leaves: Mapping[str, Leaves]) -> int:
    """How many cells a column may have, so that all have about `IN_ALL`: short columns leave their rest to long ones."""
    left, most = IN_ALL, LEAST
    for place, size in enumerate(sorted(each.axis.size for each in leaves.values())):
        most = max(LEAST, left // (len(leaves) - place))
        left -= min(size, most)
    return most


def _axis(leaves: Leaves, most: int) -> Axis:
    """The leaves themselves, or bins that cut tails more finely than by mass."""
    return leaves.axis if leaves.axis.size <= most else Bins(most=most, rare=RARE, taper=0.5).axis(leaves)


def _by_column(measurements: Iterable[Measurement]) -> dict[str, list[Measurement]]:
    found: dict[str, list[Measurement]] = {}
    for measurement in measurements:
        name = _column_of(measurement)
        if name is not None:
            found.setdefault(name, []).append(measurement)
    return found


def _column_of(measurement: Measurement) -> str | None:
    """The column of a table of one column; None for all other queries."""
    query = measurement.query
    return query.columns[0] if isinstance(query, Marginal) and len(query.axes) == 1 else None
