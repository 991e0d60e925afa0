"""Pool what overlapping tables say of one column, and clean each table with it. Free: released values only.

1. Margins. A column's cells are known from its own measurement and from the row or column sums of every table that
   holds it, by least squares (sundog.estimate.pairs.margins).
2. Tables. What a table says beyond independence of its pooled margins is centred along both axes (margins carry no
   dependence). What all tables together support of it (sundog.estimate.pairs.factors) is kept; of the rest the singular values are shrunk
   by the optimal law for noise of known size (Gavish and Donoho 2017). What single cells still say beyond that is kept
   where it stands out (sundog.estimate.shrinkage). Both times the closest table with the pooled margins, no negative cell, and the
   trend of the two columns is taken (sundog.estimate.pairs.table_fit).
   In tables of targets that are numbers half of what that takes off is put back (less where there is much noise). How clarity goes
   with a price, beyond how it goes with the weight that the price follows, is little in the table of both and would be taken
   for noise. A predicted mean is linear in the tables: their noise averages out in it, but what was taken off is lost. (A predicted
   label is the largest of several counts, and is the surer the less noise they have.)
   (Wider tables, of three and more columns: sundog.estimate.pairs.wider.)
3. Empty cells. Noise above zero survives all that, and blurs a table most cells of which are empty. So every cell is
   weighted by the probability that it is not (sundog.estimate.shrinkage), and the table scaled back to its margins.
4. Labels that all but fix a target (sundog.estimate.pairs.determined). Their table is measured with little noise, and most of its
   lines lie in one cell: it is estimated by the law of its lines' shares alone (sundog.estimate.shrinkage).
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from sundog.domain import Numeric, Schema
from sundog.domain.axis import Axis, cells_in_order
from sundog.estimate.bins import Leaves
from sundog.estimate.pairs.determined import near_targets
from sundog.estimate.pairs.factors import Excess, common_dependence
from sundog.estimate.pairs.margins import pooled_margins
from sundog.estimate.pairs.table_fit import Trend, fitted, raked, trends
from sundog.estimate.pairs.wider import Known
from sundog.estimate.repeats import without_repeats
from sundog.estimate.shrinkage import emptiness, shares_of_lines, shrunk_towards
from sundog.queries import Joined, Marginal
from sundog.released import Measurement, Released

KEPT = 0.5
"""How much of what cleaning takes off a table of a target that is a number is put back, where there is little noise."""
NOISY = 0.3
"""Half of that where the noise moves this share of the rows."""
LEAST = 1e-9
"""No cell of a column is taken to have a smaller share."""
MEAN_ABSOLUTE = math.sqrt(2 / math.pi)
"""Of a standard normal variable."""


@dataclass(frozen=True, eq=False)
class Pooled:
    """Every column's axis and pooled counts, and every table's cleaned counts with the noise it was measured with.

    `tables` are those of pairs, `wider` those of more columns, `joined` those of joined cells, as measured; `near` are pairs of labels of which one all but fixes a target;
    `excesses` is what the tables of pairs say beyond independence, as measured.
    """

    axes: dict[str, Axis]
    margins: dict[str, Float[np.ndarray, " cells"]]
    tables: tuple[tuple[Marginal, Float[np.ndarray, " cells"], float], ...]
    wider: tuple[tuple[Marginal, Float[np.ndarray, " cells"], float], ...] = ()
    near: frozenset[tuple[str, ...]] = frozenset()
    joined: tuple[tuple[Joined, Float[np.ndarray, " cells"], float], ...] = ()
    excesses: tuple[Excess, ...] = ()

    @property
    def known(self) -> Known:
        """What it says of wider tables."""
        return Known(self.axes, self.margins, [(query, counts) for query, counts, _ in self.tables])


def pool(
    released: Released,
    leaves: Mapping[str, Leaves],
    *,
    public: Sequence[Measurement] = (),
    related: Sequence[Excess] = (),
) -> Pooled:
    """Pooled margins and cleaned tables of all that was measured of several columns.

    `public` are tables of pairs by a public table (sundog.estimate.pairs.public), of the margins that are known without them.
    `related` is what tables of other views say beyond independence: they are not cleaned, but take part in what all tables say together.
    """
    tables = [m for m in without_repeats(released.measurements) if isinstance(m.query, Marginal)]
    tables = [m for m in tables if len(m.query.columns) > 1]
    joined = [m for m in without_repeats(released.measurements) if isinstance(m.query, Joined)]
    axes = _finest(released, [*tables, *public, *joined])
    as_measured = tuple((m.query, m.values.astype(float), m.stddev) for m in joined)
    margins = Pooled(axes, pooled_margins(released, tables, axes=axes, leaves=leaves), (), joined=as_measured)  # type: ignore[arg-type]
    paired = without_repeats([*(m for m in tables if len(m.query.columns) == 2), *public])
    means = [name for name in released.schema.targets if isinstance(released.schema.column(name), Numeric)]
    near = {columns: by for columns, by in near_targets(released, leaves).items() if not set(means) & set(columns)}
    excesses = tuple(_excess(m, _independent(_sides(m, margins))) for m in paired)
    margins = replace(margins, near=frozenset(near), excesses=excesses)
    common = _common(margins, related, leaves, schema=released.schema)
    pairs = replace(margins, tables=_tables(paired, margins, common=common, means=means, near=near))
    wider = [m for m in tables if len(m.query.columns) > 2]
    return replace(pairs, wider=tuple(_wider(measurement, pairs.known) for measurement in wider))


def _wider(measurement: Measurement, known: Known) -> tuple[Marginal, Float[np.ndarray, " cells"], float]:
    query: Marginal = measurement.query  # type: ignore[assignment]
    counts = known.cleaned(query, measurement.values.astype(float), stddev=measurement.stddev)
    return query, counts, measurement.stddev


def _finest(released: Released, tables: list[Measurement]) -> dict[str, Axis]:
    """For every column the coarsest axis on which all its tables can be distinguished; columns in no table keep a bin each."""
    seen: dict[str, list[Axis]] = {}
    for measurement in tables:
        for axis in measurement.query.axes:  # type: ignore[attr-defined]
            seen.setdefault(axis.column, []).append(axis)
    return {
        column.name: seen[column.name][0].refine(*seen[column.name][1:])
        if column.name in seen
        else Axis.cut(column, [0])
        for column in released.schema.columns
    }


def _common(
    pooled: Pooled, related: Sequence[Excess], leaves: Mapping[str, Leaves], *, schema: Schema
) -> list[Float[np.ndarray, "a b"]]:
    """For every table of pairs the part of its dependence that all tables support, related ones too."""
    if not pooled.excesses:
        return []
    axes = dict(pooled.axes)
    for axis in (axis for table in related for axis in table.axes):
        axes[axis.column] = axes.get(axis.column, axis).refine(axis)
    shares = {name: margin / margin.sum() for name, margin in pooled.margins.items()}
    finer = [name for name, axis in axes.items() if axis != pooled.axes.get(name)]
    shares |= {name: np.maximum(leaves[name].shares(axes[name]), LEAST) for name in finer}
    in_order = {name: cells_in_order(axis, schema.column(name)) for name, axis in axes.items() if name in schema.names}
    found = common_dependence([*pooled.excesses, *related], axes=axes, shares=shares, in_order=in_order)
    return found[: len(pooled.excesses)]


def _tables(
    pairs: list[Measurement],
    pooled: Pooled,
    *,
    common: list[Float[np.ndarray, "a b"]],
    means: Collection[str],
    near: Mapping[tuple[str, ...], str],
) -> tuple[tuple[Marginal, Float[np.ndarray, " cells"], float], ...]:
    """The tables, cleaned of noise."""
    if not pairs:
        return ()
    sides = [_sides(measurement, pooled) for measurement in pairs]
    raw = [_put_back(m, means=means, rows=float(side[0].sum())) for m, side in zip(pairs, sides, strict=True)]
    views = [_View(*each) for each in zip(sides, pooled.excesses, common, raw, strict=True)]
    cleaned = [view.cleaned() for view in views]
    wide = [k for k, view in enumerate(views) if min(view.common.shape) > 1]
    held = trends(
        [cleaned[k] for k in wide],
        [views[k].observed for k in wide],
        sides=[sides[k] for k in wide],
        stddevs=[pairs[k].stddev for k in wide],
    )
    for k, trend in zip(wide, held, strict=True):
        by = near.get(pairs[k].query.columns)
        cleaned[k] = views[k].emptied(views[k].cleaned(trend)) if by is None else views[k].sharp(by)
    return tuple((m.query, table.ravel(), m.stddev) for m, table in zip(pairs, cleaned, strict=True))  # type: ignore[misc]


def _put_back(measurement: Measurement, *, means: Collection[str], rows: float) -> float:
    """How much of what cleaning takes off a table is put back: of targets that are numbers, the more the smaller the noise."""
    if not any(name in means for name in measurement.query.columns):
        return 0.0
    moved = MEAN_ABSOLUTE / 2 * measurement.stddev * measurement.query.size / rows
    return KEPT / (1 + (moved / NOISY) ** 2)


@dataclass(frozen=True, eq=False)
class _View:
    """All that is known of one table: its margins, what it says beyond independence, and what all tables say of that."""

    sides: tuple[Float[np.ndarray, " a"], Float[np.ndarray, " b"]]
    excess: Excess
    common: Float[np.ndarray, "a b"]
    raw: float
    """How much is put back of what cleaning takes off."""

    @property
    def observed(self) -> Float[np.ndarray, "a b"]:
        """What was measured, with the pooled margins."""
        return _independent(self.sides) + self.excess.counts

    def cleaned(self, trend: Trend | None = None) -> Float[np.ndarray, "a b"]:
        """The table without most of its noise."""
        own = shrunk(self.excess.counts - self.common, self.excess.stddev)
        guess = fitted(_independent(self.sides) + self.common + own, *self.sides, trend=trend)
        found = fitted(_towards(guess, self.observed, self.excess.stddev), *self.sides, trend=trend)
        if not self.raw:
            return found
        return fitted(found + self.raw * (self.observed - found), *self.sides, trend=trend)

    def emptied(self, table: Float[np.ndarray, "a b"]) -> Float[np.ndarray, "a b"]:
        """A cleaned table without what is left of the noise in cells that are empty."""
        expected = _independent(self.sides).ravel()
        empty = emptiness(self.observed.ravel(), expected=expected, stddev=self.excess.stddev)
        return raked(table * (1 - empty.reshape(table.shape)), *self.sides)

    def sharp(self, by: str) -> Float[np.ndarray, "a b"]:
        """The table of a target that the column `by` all but fixes."""
        first = self.excess.axes[0].column == by
        lines, values = (self.sides[0], self.observed) if first else (self.sides[1], self.observed.T)
        found = shares_of_lines(values, lines=lines, stddev=self.excess.stddev) * lines[:, None]
        return raked(found if first else found.T, *self.sides)


def _independent(sides: tuple[Float[np.ndarray, " a"], Float[np.ndarray, " b"]]) -> Float[np.ndarray, "a b"]:
    return np.outer(*sides) / sides[0].sum()


def _towards(
    guess: Float[np.ndarray, "a b"], values: Float[np.ndarray, "a b"], stddev: float
) -> Float[np.ndarray, "a b"]:
    """Cells as far from their guess as the noise allows to say."""
    known = np.maximum(guess, 0.0).ravel()
    noise, scale = np.full(known.size, stddev), np.maximum(known, 1.0)
    return shrunk_towards(known, values.ravel(), stddev=noise, scale=scale).reshape(guess.shape)


def _sides(measurement: Measurement, pooled: Pooled) -> tuple[Float[np.ndarray, " a"], Float[np.ndarray, " b"]]:
    """The pooled margins of a table's two columns, on the table's axes."""
    first, second = (
        np.bincount(pooled.axes[a.column].parents(a), weights=pooled.margins[a.column], minlength=a.size)
        for a in measurement.query.axes  # type: ignore[attr-defined]
    )
    return first, second


def _excess(measurement: Measurement, independent: Float[np.ndarray, "a b"]) -> Excess:
    """What a table says beyond independence, centred along both axes."""
    counts = measurement.values.reshape(independent.shape) - independent
    counts = counts - counts.mean(axis=1, keepdims=True)
    counts = counts - counts.mean(axis=0, keepdims=True)
    return Excess(measurement.query.axes, counts, measurement.stddev)  # type: ignore[attr-defined]


def shrunk(table: Float[np.ndarray, "a b"], stddev: float) -> Float[np.ndarray, "a b"]:
    """Singular values shrunk by the law that is optimal in squared error for white noise of this size."""
    small, large = sorted((table.shape[0] - 1, table.shape[1] - 1))
    if small < 1 or stddev <= 0:
        return table
    left, values, right = np.linalg.svd(table, full_matrices=False)
    ratio, scaled = small / large, values / (stddev * math.sqrt(large))
    inside = np.maximum((scaled**2 - ratio - 1) ** 2 - 4 * ratio, 0.0)
    kept = np.where(scaled > 1 + math.sqrt(ratio), np.sqrt(inside) / np.maximum(scaled, 1e-12), 0.0)
    return (left * (kept * stddev * math.sqrt(large))) @ right
