"""Columns of siblings, drawn towards those of all rows. Free: released values only.

A column is counted twice: in the rows of a table, and in the pairs of siblings, where families with one row are absent and each row
counts by its pairs. Both differ, but mostly not by much, and rows are counted with less noise. So what pairs say of a column is
as far from what rows say of it as the noise allows to say, by empirical Bayes (sundog.estimate.shrinkage). This takes a fifth to a third
off the error of siblings' columns. It is for siblings that have no order: in a sequence, the first of two differs from the second, and rows
do not tell by how much (in households, which are sequences, it took the first person's age away from the head of the family).
"""

from collections.abc import Mapping
from dataclasses import replace

from sundog.domain.linked.views import SECOND
from sundog.estimate.bins import Leaves
from sundog.estimate.pairs.public import drawn
from sundog.queries.marginal import one_way_axis
from sundog.released import Measurement, Released

LEAST = 0.5
"""No cell is guessed to be emptier than half a root."""


def drawn_to_rows(siblings: Released, rows: Mapping[str, Leaves]) -> Released:
    """What was released of pairs of siblings, their columns drawn towards what is known of all rows."""
    total = float(siblings.rows)
    return siblings.with_measurements(tuple(_drawn(each, rows, total) for each in siblings.measurements))


def _drawn(measurement: Measurement, rows: Mapping[str, Leaves], total: float) -> Measurement:
    axis = one_way_axis(measurement.query)
    name = "" if axis is None else axis.column.removesuffix(SECOND)
    if axis is None or name not in rows or rows[name].stddev <= 0:
        return measurement
    guess = rows[name].shares(replace(axis, column=name)) * total
    return drawn(measurement, guess.clip(min=LEAST))
