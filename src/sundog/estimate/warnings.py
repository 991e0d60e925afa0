"""What released counts say about the reading of the table: columns that are nearly all missing, or pile up at a bound; and a table that noise hides.

Whatever was measured was paid for, so it may be said aloud. A share p with standard deviation s (pooled over the
measurements of the column with the fewest columns beside it) is called large where p - 3 s exceeds a limit, so that noise
alone seldom warns. What the table looks like in truth is not known here: a sentence names the likely cause, for the case
that the table is not like that.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from sundog.domain import Categorical, Column, Numeric
from sundog.domain.axis import Axis
from sundog.domain.columns import SPELLED
from sundog.domain.linked.views import is_count
from sundog.estimate.answers import pool, table_parts
from sundog.estimate.bins import leaves_of
from sundog.queries import Marginal
from sundog.queries.marginal import one_way_axis
from sundog.released import Released

CLEAR = 3.0
STANDS_OUT = 6.0
"""Noise alone does not reach so many standard deviations, not even in the largest of a million cells."""
MOSTLY = 0.9
"""This share of missing cells is called nearly all."""
AT_BOUND = 0.5
AT_ZERO = 0.99
"""Amounts are so often exactly zero that a lower bound of zero warns later."""
FEW_STEPS = 10
"""Short scales (grades, counts of children) may well pile up at an end."""
NARROW = 0.1
"""A measured bin wider than this part of the range says little about its end."""
AT_LABEL = 0.95
UNSURE = 0.5
"""A mean number of children is unsure where noise may change its lower limit by this part, and by as many rows."""


@dataclass(frozen=True)
class ReleaseWarning:
    """One finding: the column (None: the whole release) and a sentence with the likely cause."""

    column: str | None
    sentence: str


@dataclass(frozen=True)
class Own:
    """The measurements that say most of one column, and the number of rows as the whole release knows it, with its noise.

    The total of one column's many noisy cells would be far less exact.
    """

    released: Released
    rows: float
    stddev: float


def warnings_of(released: Released) -> tuple[ReleaseWarning, ...]:
    """All findings, column by column."""
    found, labels = [_delta(released), _few(released)], dict[str, str]()
    for column in released.schema.columns:
        own = _own(released, column)
        found.append(_missing(own, column))
        label = _label(own, column)
        labels |= {} if label is None else {column.name: label}
        if isinstance(column, Numeric) and is_count(column.name):
            found.append(_children(own.released, column))
        elif isinstance(column, Numeric) and column.steps > FEW_STEPS:
            found += [_lower(own, column), _upper(own, column)]
    return tuple(warning for warning in (*found, _labels(labels)) if warning is not None)


def _own(released: Released, column: Column) -> Own:
    """The measurements that hold the fewest others beside the column."""
    holding = [m for m in released.measurements if column.name in m.query.columns]
    fewest = min((len(m.query.columns) for m in holding), default=0)
    own = released.with_measurements(tuple(m for m in holding if len(m.query.columns) == fewest))
    known = (float(released.rows), released.rows_stddev) if released.tells_rows else (1.0, 0.0)
    return Own(own, *known)


def _delta(released: Released) -> ReleaseWarning | None:
    """A delta above one by the number of rows, as far as that was released."""
    delta = released.guarantee.delta
    if delta is None or not released.tells_rows or not delta * (released.rows - CLEAR * released.rows_stddev) > 1:
        return None
    count = "number of rows" if released.public_rows is not None else "released estimate of the number of rows"
    return ReleaseWarning(None, f"delta {delta:g} is above one by the {count}: it would allow publishing a whole row.")


def _few(released: Released) -> ReleaseWarning | None:
    """A table that noise hides: neither its rows nor any cell can be told from none."""
    seen = any((m.values > STANDS_OUT * m.stddev).any() for m in released.measurements)
    if seen or not released.tells_rows or released.rows > CLEAR * released.rows_stddev:
        return None
    return ReleaseWarning(
        None,
        f"The released number of rows is {released.rows:,} ± {2 * released.rows_stddev:,.0f}: noise hides the table, and the synthetic rows "
        "say next to nothing about it. It has too few rows for this budget (or none were read): spend more, or release nothing of it.",
    )


def _missing(own: Own, column: Column) -> ReleaseWarning | None:
    share = _share(own, column, run=(column.missing, column.size), limit=MOSTLY) if column.missing is not None else None
    if share is None:
        return None
    cause = _unread(column) if isinstance(column, Numeric) else _unlisted(column)
    return ReleaseWarning(column.name, f"{column.name}: {share:.0%} of the rows are missing. If that is wrong, {cause}")


def _labels(labels: Mapping[str, str]) -> ReleaseWarning | None:
    """Columns with nearly all rows in the place of unknown labels, in one sentence: rare labels are common, too."""
    if not labels:
        return None
    listed = ", ".join(f"{name} ({label})" for name, label in labels.items())
    return ReleaseWarning(
        next(iter(labels)) if len(labels) == 1 else None,
        f"Nearly all rows have one label, which also takes every label that is not in the list: {listed}. If that is wrong, "
        "the labels are probably spelled otherwise than in categories, or the file has another encoding than was declared; "
        "sundog check (CONFIDENTIAL) shows how.",
    )


def _label(own: Own, column: Column) -> str | None:
    """The label in the place of unknown ones, where nearly all rows have it."""
    if not isinstance(column, Categorical) or column.fallback >= len(column.labels) or len(column.labels) < 3:
        return None
    place = column.fallback
    share = _share(own, column, run=(place, place + 1), limit=AT_LABEL)
    return None if share is None else column.describe(place)


def _lower(own: Own, column: Numeric) -> ReleaseWarning | None:
    zero = column.lower == 0 and column.kind in ("integer", "number")
    run = min((axis.bounds(0) for axis in _axes(own.released, column)), key=_width, default=None)
    share = _share(own, column, run=run, limit=AT_ZERO if zero else AT_BOUND)
    if share is None:
        return None
    unread = "" if column.nullable else f" Cells that cannot be read count as that bound too: {_unread(column)}"
    return ReleaseWarning(
        column.name,
        f"{column.name}: {share:.0%} of the rows lie {_place(column, run, 'lower')}. If that is wrong, values "
        f"probably lie below it: lower constraints.minimum.{unread}",
    )


def _upper(own: Own, column: Numeric) -> ReleaseWarning | None:
    last = column.nullable + 1
    run = min((axis.bounds(axis.size - last) for axis in _axes(own.released, column)), key=_width, default=None)
    share = _share(own, column, run=run, limit=AT_BOUND)
    if share is None:
        return None
    return ReleaseWarning(
        column.name,
        f"{column.name}: {share:.0%} of the rows lie {_place(column, run, 'upper')}. If that is "
        "wrong, values probably lie above it (raise constraints.maximum), or are in another unit.",
    )


def _children(own: Released, column: Numeric) -> ReleaseWarning | None:
    """A number of children whose mean noise alone could move by half: its bound is far above what most parents have."""
    if not own.measurements or not own.tells_rows:
        return None
    counted = {axis: m.stddev for m in own.measurements if (axis := one_way_axis(m.query)) is not None}
    places = {axis: axis.firsts + (axis.widths - 1) / 2 + column.lower for axis in counted}
    leaves = leaves_of(own)[column.name]
    mean = float(leaves.proportions @ (leaves.axis.firsts + (leaves.axis.widths - 1) / 2 + column.lower))
    rows = max(float(own.rows), 1.0)
    noise = min((sd * float(np.linalg.norm(places[axis] - mean)) / rows for axis, sd in counted.items()), default=0.0)
    if noise <= UNSURE * max(mean - 2 * noise, 1.0):  # noise inflates the mean, too
        return None
    return ReleaseWarning(
        column.name,
        f"{column.name}: with up to {column.upper:,} rows per parent, noise alone may move their mean number by about {noise:,.1f} (released "
        f"estimate: {mean:,.1f}), and with it the number of synthetic rows. Lower maximumPerParent to what few parents exceed, "
        "or spend more.",
    )


def _place(column: Numeric, run: tuple[int, int] | None, end: Literal["lower", "upper"]) -> str:
    """A run of codes at one end, in words: the bound alone, or the bin in which it was measured."""
    first, last = (0, 0) if run is None else (run[0], min(run[1], column.steps) - 1)
    bound = f"its {end} bound {column.describe(0 if end == 'lower' else column.steps - 1)}"
    return (
        f"at {bound}"
        if first == last
        else f"at or near {bound} (in {column.describe(first)} to {column.describe(last)})"
    )


def _axes(own: Released, column: Column) -> Iterator[Axis]:
    for measurement in own.measurements:
        for table, _ in table_parts(measurement):
            yield from (axis for axis in table.axes if axis.column == column.name and axis.groups is None)


def _width(run: tuple[int, int]) -> int:
    return run[1] - run[0]


def _share(own: Own, column: Column, *, run: tuple[int, int] | None, limit: float) -> float | None:
    """The released share of a run of codes, where it exceeds the limit beyond the noise; None where it is unknown."""
    if (
        run is None
        or not own.released.tells_rows
        or (isinstance(column, Numeric) and _width(run) > max(1, NARROW * column.steps))
    ):
        return None
    axis = Axis.cut(column, [code for code in run if code < column.size])
    pooled = pool(own.released, Marginal((axis,)))
    if pooled is None:
        return None
    cell = int(axis.cells(np.array([run[0]]))[0])
    share = float(pooled.counts[cell]) / own.rows
    spread = float(np.hypot(pooled.variances[cell] ** 0.5, share * own.stddev)) / own.rows
    return min(share, 1.0) if share - CLEAR * spread > limit else None


def _unread(column: Numeric) -> str:
    if column.kind in SPELLED:
        read = f"the format {column.format}" if column.format else f"ISO 8601 ({SPELLED[column.kind]})"
        return f"the cells are probably written in another way than {read}: declare the field's format."
    return (
        "the cells probably hold decimal commas, thousands marks, currency or unit signs: declare decimalChar, groupChar or "
        "bareNumber."
    )


def _unlisted(column: Categorical) -> str:
    what = "trueValues and falseValues" if column.boolean else "categories"
    return (
        f"the labels are probably spelled otherwise than in {what}, or the file has another encoding than was declared; "
        "sundog check (CONFIDENTIAL) shows how."
    )
