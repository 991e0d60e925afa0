"""A public table of the same schema: what it says of pairs, and how far that is believed. Free: released values only.

Columns. Where the public counts of a column are off by no more than the noise, on every level on which it was measured, the measured
counts are drawn towards them by empirical Bayes (sundog.estimate.shrinkage). Where they are not, the column stays as measured.

Pairs.

1. What it says. Its counts of a pair, with PSEUDO rows of independent columns added, are scaled to the released columns; E is what
   they then are beyond independence, centred along both axes, so that errors of the columns cancel.
2. How far it is believed. Every measured table says how far the public one is off: with Y the same of its noisy counts, of standard
   deviation s and f degrees of freedom,

       missed = sum |Y - E|^2 / s^2 - f,    there = sum |Y|^2 / s^2 - f,    said = sum |E|^2 / s^2,

   without bias. `missed` is taken one standard error higher and `there` one lower. Where `missed` is WORTH of `there` or more, the public table is not
   used at all: a wrong one, or one whose worth the noise hides, changes nothing.
3. What it is worth. Every pair's table is taken as measured, with a variance of missed / said of the mean square of its E (of its own
   and of all pairs', in equal parts). Such tables compete with measured ones by their precision when they are pooled.

Where no pair was measured, `missed` is taken as UNKNOWN of `said`.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from jaxtyping import Float

from sundog.domain.axis import Axis
from sundog.domain.rows import Rows
from sundog.estimate.bins import Bins, leaves_of
from sundog.estimate.pairs.table_fit import raked
from sundog.estimate.repeats import without_repeats
from sundog.estimate.shrinkage import shrunk_towards
from sundog.queries import Marginal, answer
from sundog.queries.marginal import one_way_axis
from sundog.released import Measurement, Released

PSEUDO = 5.0
LEAST = 0.05
"""The least part of the variance of a column's counts that is taken to be left."""
WORTH = 0.7
UNKNOWN = 0.01
MOST_PAIRS = 10_000
"""Of more pairs, only those that were scored or measured."""
RECEIPT = "public"
"""The receipt of what was not paid for."""

Table = Float[np.ndarray, "a b"]


@dataclass(frozen=True, eq=False)
class Said:
    """What a public table says of a pair, in rows, and what that is beyond independence."""

    query: Marginal
    counts: Table
    independent: Table

    @property
    def beyond(self) -> Table:
        """E of the module."""
        return _centred(self.counts - self.independent)

    @property
    def freedom(self) -> int:
        """The number of cells that the sums of rows and columns leave free."""
        return (self.query.shape[0] - 1) * (self.query.shape[1] - 1)


def with_columns(released: Released, public: Rows | None) -> Released:
    """The release in which the counts of columns are drawn towards those of the public table, where they agree with it."""
    if public is None:
        return released
    guesses = {
        id(m): _guess(m, public, float(released.rows))
        for m in released.measurements
        if one_way_axis(m.query) is not None
    }
    wrong = {m.query.columns for m in released.measurements if id(m) in guesses and not _agrees(m, guesses[id(m)])}
    found = (
        drawn(m, guesses[id(m)]) if id(m) in guesses and m.query.columns not in wrong else m
        for m in released.measurements
    )
    return released.with_measurements(tuple(found))


def _guess(measurement: Measurement, public: Rows, rows: float) -> Float[np.ndarray, " cells"]:
    """A column's counts by the public table."""
    size = measurement.query.size
    return (answer(measurement.query, public) + PSEUDO / size) * (rows / (len(public) + PSEUDO))


def _agrees(measurement: Measurement, guess: Float[np.ndarray, " cells"]) -> bool:
    """Whether the public counts are off by no more than the noise of the measured ones."""
    off = float(((measurement.values - guess) ** 2).sum())
    return off <= 2 * measurement.query.size * measurement.stddev**2


def drawn(measurement: Measurement, guess: Float[np.ndarray, " cells"]) -> Measurement:
    """Counts as far from a guess as their noise allows to say, and what noise that leaves."""
    noise, values = np.full(len(guess), measurement.stddev), measurement.values.astype(float)
    found = shrunk_towards(guess, values, stddev=noise, scale=np.maximum(guess, float(guess.mean())))
    kept = float(np.abs(found - guess).sum()) / max(float(np.abs(values - guess).sum()), 1e-9)
    stddev = measurement.stddev * math.sqrt(min(max(kept, LEAST), 1.0))
    return replace(measurement, values=np.rint(found).astype(np.int64), stddev=stddev)


def public_pairs(released: Released, public: Rows | None) -> tuple[Measurement, ...]:
    """What the public table says of every pair, as measurements of the precision that it is worth; none if it is worth nothing."""
    if public is None:
        return ()
    pairs = [m for m in without_repeats(released.measurements) if len(m.query.columns) == 2]
    queries = {m.query: m for m in pairs if isinstance(m.query, Marginal)}
    part = missed([(queries[each.query], each) for each in said(public, list(queries), released)])
    if part is None:
        return ()
    held = [each for each in said(public, _pairs(list(queries), released), released) if each.freedom]
    own = np.array([float((each.beyond**2).sum()) / each.freedom for each in held])
    variances = part * (own + own.mean()) / 2 if held else own
    return tuple(
        Measurement(each.query, np.rint(each.counts).astype(np.int64).ravel(), math.sqrt(max(variance, 1e-6)), RECEIPT)
        for each, variance in zip(held, variances, strict=True)
    )


def missed(judged: Sequence[tuple[Measurement, Said]]) -> float | None:
    """The part of what the public table says (as a sum of squares) by which it is wrong; None where it is not used."""
    if not judged:
        return UNKNOWN
    wrong = there = stated = 0.0
    errors = [0.0, 0.0]
    for measurement, each in judged:
        noisy = _centred(measurement.values.reshape(each.query.shape) - each.independent)
        variance = measurement.stddev**2
        off, own = (float((table**2).sum()) / variance - each.freedom for table in (noisy - each.beyond, noisy))
        wrong, there, stated = wrong + off, there + own, stated + float((each.beyond**2).sum()) / variance
        errors = [e + 4 * max(x, 0.0) + 2 * each.freedom for e, x in zip(errors, (off, own), strict=True)]
    wrong, there = max(wrong, 0.0) + math.sqrt(errors[0]), there - math.sqrt(errors[1])
    return wrong / max(stated, 1e-9) if wrong < WORTH * there else None


def said(public: Rows, queries: Sequence[Marginal], released: Released) -> Iterator[Said]:
    """What the public table says of pairs."""
    leaves, rows = leaves_of(released), float(released.rows)
    sides: dict[Axis, Float[np.ndarray, " cells"]] = {}
    for query in queries:
        for axis in query.axes:
            if axis not in sides:
                share = np.maximum(leaves[axis.column].shares(axis), 1e-9)
                sides[axis] = rows * share / share.sum()
        first, second = (sides[axis] for axis in query.axes)
        independent = np.outer(first, second) / rows
        counts = answer(query, public).reshape(query.shape) + PSEUDO * independent / rows
        yield Said(query, raked(counts, first, second), independent)


def _pairs(measured: Sequence[Marginal], released: Released) -> list[Marginal]:
    """Every pair as it was measured, else as finely as it was scored, else on bins."""
    found: dict[frozenset[str], Marginal] = {}
    scored = [query for scores in released.scores[:1] for query in scores.candidates]
    for query in (*measured, *scored):
        if isinstance(query, Marginal) and len(query.axes) == 2:
            found.setdefault(frozenset(query.columns), query)
    names = released.schema.names
    if math.comb(len(names), 2) <= MOST_PAIRS:
        bins = Bins().axes(released)
        axes = {c.name: bins.get(c.name, Axis.of(c, Bins().most)) for c in released.schema.columns}
        for pair in combinations(names, 2):
            found.setdefault(frozenset(pair), Marginal(tuple(axes[name] for name in pair)))
    return list(found.values())


def _centred(table: Table) -> Table:
    table = table - table.mean(axis=1, keepdims=True)
    return table - table.mean(axis=0)
