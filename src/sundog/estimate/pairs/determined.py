"""Pairs of which one column determines the other: suspected, mapped and checked by released values alone.

1. Suspected. Of all tables with given margins q, the L1 distance from independence is greatest where the second column is a
   function of the first, and is then 2 n (1 - sum q_j^2): p_ij - p_i q_j <= p_ij (1 - q_j), with equality if and only if
   p(j | i) = 1. A noisy score near that bound raises a suspicion.
2. Mapped. The cell that most likely holds all rows of cell i is the largest one of its line in the noisy table. Rare cells, whose
   line is noise, go where the other column's margin still lacks rows; where each column determines the other, the likeliest
   one-to-one map is taken (the assignment problem).
3. Checked. How many rows break the map is one more score, with noise and a charge of its own: the L1 distance of the table from
   +LARGE on the map and -LARGE off it is LARGE * cells + (rows off the map) - (rows on it). The map is kept if

       rows off it + Z * stddev <= TOLERANCE * n,

   so that a map which at least 1 % of the rows break is kept with a probability of at most 1/1000 (Z = 3.09).
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from scipy.optimize import linear_sum_assignment

from sundog.domain import Categorical, Numeric
from sundog.domain.axis import Axis
from sundog.estimate.bins import Leaves, leaves_of
from sundog.estimate.repeats import without_repeats
from sundog.queries import Marginal, Query
from sundog.queries.sensitivity import block_l1
from sundog.released import Measurement, Released, Selection

Z = 3.09
"""One-sided: a normal variable is above it once in a thousand times."""
POWER = 2.0
"""A check is made only if noise this many standard deviations above zero still lets a true map pass."""
TOLERANCE = 0.01
SLACK = 0.01
"""A score this far below the bound, beyond its noise, still raises a suspicion: rare labels may share a cell."""
UNSURE = 0.03
"""Scores with more noise than this, in parts of the bound, raise none."""
NEAR = 0.8
"""A column all but fixes a target where the pair's score is at least this part of the bound."""
FOLLOWED = 0.3
"""A target that is a number follows another one where the pair's score is at least this part of the bound."""
ALIKE = 0.5
"""A number says much the same as another one where their score is at least this part of the bound."""
VAGUE = 0.15
"""Scores with more noise than this, in parts of the bound, do not tell that."""
CLEAR = 4.0
"""A line's largest cell is clear of its noise from this many standard deviations on."""
LARGE = 1 << 34

Table = Float[np.ndarray, "a b"]
Counts = Float[np.ndarray, " cells"]
Cells = Int[np.ndarray, " cells"]


@dataclass(frozen=True, eq=False)
class Dependency:
    """For every cell of the axis `by` the cell of the axis `column` that goes with it."""

    by: Axis
    column: Axis
    cells: Cells


@dataclass(frozen=True)
class Suspicion:
    """In which directions a pair of columns may be determined."""

    forwards: bool
    backwards: bool

    @property
    def one_to_one(self) -> bool:
        """Whether each column may determine the other."""
        return self.forwards and self.backwards


def suspicion(score: float, sides: tuple[Counts, Counts], *, stddev: float) -> Suspicion:
    """What a pair's noisy score says; `sides` are the counts of its two columns."""

    def near(counts: Counts) -> bool:
        bound = _bound(counts)
        return stddev <= UNSURE * bound and score + 3 * stddev >= (1 - SLACK) * bound

    return Suspicion(near(sides[1]), near(sides[0]))


def suspicions(released: Released, leaves: Mapping[str, Leaves]) -> dict[tuple[str, ...], Suspicion]:
    """The suspected pairs, by the first scores of all pairs; a pair's first candidate is its finest."""
    found: dict[tuple[str, ...], Suspicion] = {}
    scores = released.scores[0]
    for query, value in zip(scores.candidates, scores.values, strict=True):
        if isinstance(query, Marginal) and len(query.axes) == 2 and query.columns not in found:
            found[query.columns] = suspicion(float(value), _sides(query, released, leaves), stddev=scores.stddev)
    return {columns: found_ for columns, found_ in found.items() if found_.forwards or found_.backwards}


def near_targets(released: Released, leaves: Mapping[str, Leaves]) -> dict[tuple[str, ...], str]:
    """The pairs of which one column's labels all but fix a target, by the first scores of all pairs, and that column.

    A number's bins cut across what it fixes, which less noise would not mend.
    """
    return {
        columns: by
        for columns, name, by, part in _parts(released, leaves)
        if name in released.schema.targets and isinstance(leaves[by].column, Categorical) and part >= NEAR
    }


def followed_numbers(released: Released, leaves: Mapping[str, Leaves]) -> dict[str, tuple[str, set[str]]]:
    """Every target that is a number and follows another one, by the first scores: that one, and others that are much like it."""
    numbers = {name for name, own in leaves.items() if isinstance(own.column, Numeric)}
    parts = {(name, by): part for _, name, by, part in _parts(released, leaves) if {name, by} <= numbers}
    found = {}
    for target in released.schema.targets:
        part, by = max(((part, by) for (name, by), part in parts.items() if name == target), default=(0.0, ""))
        if part >= FOLLOWED:
            found[target] = by, {name for name in numbers if parts.get((name, by), 0.0) >= ALIKE}
    return found


def _parts(released: Released, leaves: Mapping[str, Leaves]) -> Iterator[tuple[tuple[str, ...], str, str, float]]:
    """For every pair's first, finest candidate: its columns, each of them, the other one, and the score's part of the bound.

    Scores that are too noisy to tell are left out.
    """
    seen = set()
    for scores in released.scores[:1]:
        for query, value in zip(scores.candidates, scores.values, strict=True):
            if not isinstance(query, Marginal) or len(query.axes) != 2 or query.columns in seen:
                continue
            seen.add(query.columns)
            for name, by, counts in zip(
                query.columns, query.columns[::-1], _sides(query, released, leaves), strict=True
            ):
                if scores.stddev <= VAGUE * _bound(counts):
                    yield query.columns, name, by, float(value) / _bound(counts)


def _bound(counts: Counts) -> float:
    """The largest distance from independence of a table, given the counts of the column that the other one may fix."""
    rows = float(counts.sum())
    return 2 * rows * (1 - float(((counts / rows) ** 2).sum()))


def _sides(query: Marginal, released: Released, leaves: Mapping[str, Leaves]) -> tuple[Counts, Counts]:
    first, second = (leaves[axis.column].shares(axis) * released.rows for axis in query.axes)
    return first, second


def mapped(measurement: Measurement, suspected: Suspicion, *, sides: tuple[Counts, Counts]) -> Dependency:
    """The likeliest map of a suspected pair, from its table and its columns' counts."""
    first, second = measurement.query.axes  # type: ignore[attr-defined]
    table = measurement.values.reshape(first.size, second.size).astype(float)
    if suspected.one_to_one and first.size == second.size:
        return Dependency(first, second, one_to_one(table, sides, stddev=measurement.stddev))
    if suspected.forwards and (not suspected.backwards or first.size >= second.size):
        return Dependency(first, second, likeliest(table, sides, stddev=measurement.stddev))
    return Dependency(second, first, likeliest(table.T, sides[::-1], stddev=measurement.stddev))


def one_to_one(table: Table, sides: tuple[Counts, Counts], *, stddev: float) -> Cells:
    """The likeliest one-to-one map: every pair of cells holds all rows of both, and nothing else does."""
    rows = (sides[0][:, None] + sides[1]) / 2
    gain = table * rows - rows**2 / 2 - np.subtract.outer(*sides) ** 2 / 4
    return np.asarray(linear_sum_assignment(gain / stddev**2, maximize=True)[1])


def likeliest(table: Table, sides: tuple[Counts, Counts], *, stddev: float) -> Cells:
    """For every line its largest cell; lines lost in noise, heaviest first, also by what the columns' sums still lack."""
    largest = table.argmax(axis=1)
    top = np.sort(table, axis=1)
    clear = top[:, -1] - (top[:, -2] if table.shape[1] > 1 else 0.0) > CLEAR * stddev
    lacking = sides[1] - np.bincount(largest[clear], weights=sides[0][clear], minlength=table.shape[1])
    for line in np.flatnonzero(~clear)[np.argsort(-sides[0][~clear], kind="stable")]:
        rows = max(float(sides[0][line]), 1.0)
        largest[line] = int((table[line] * rows - (lacking - rows) ** 2 / 2 + lacking**2 / 2).argmax())
        lacking[largest[line]] -= rows
    return largest


def checks(found: Sequence[Dependency]) -> Selection:
    """The scores that tell how many rows break each map."""
    queries = [Marginal((each.by, each.column)) for each in found]
    signs = [np.where(_on(each), LARGE, -LARGE).ravel().astype(np.int64) for each in found]
    return Selection(tuple(queries), tuple(signs))


def _on(found: Dependency) -> np.ndarray:
    return found.cells[:, None] == np.arange(found.column.size)


def most_checked(released: Released, *, rho: float) -> int:
    """How many maps can be checked at this price so that true ones pass."""
    allowed = (2 * TOLERANCE * released.rows / (Z + POWER)) ** 2 - released.rows_stddev**2
    change = block_l1(released.scores[0].candidates[0], released.guarantee.unit)
    return max(math.floor(2 * rho * allowed / float(change) ** 2), 0)


def proposed(released: Released) -> list[Dependency]:
    """The maps of all suspected pairs that were measured as finely as they can be told, the surest first."""
    leaves = leaves_of(released)
    suspected = suspicions(released, leaves) if released.scores else {}
    found = [
        (m.query.size * m.stddev, mapped(m, suspected[m.query.columns], sides=_sides(m.query, released, leaves)))
        for m in without_repeats(released.measurements)
        if isinstance(m.query, Marginal) and m.query.columns in suspected and m.query.size >= _scored(released, m)
    ]
    return [each for _, each in sorted(found, key=lambda pair: pair[0])]


def _scored(released: Released, measurement: Measurement) -> int:
    """How many cells a pair's finest candidate has."""
    columns = measurement.query.columns
    return max(query.size for query in released.scores[0].candidates if query.columns == columns)


def dependencies(released: Released) -> list[Dependency]:
    """The maps that were checked and are kept: one per column at most, and none that leads back to itself."""
    checked = next((scores for scores in released.scores[1:] if len(scores.candidates[0].columns) == 2), None)
    if checked is None:
        return []
    off = {q: _broken(q, int(value), released) for q, value in zip(checked.candidates, checked.values, strict=True)}
    noise = math.hypot(checked.stddev, released.rows_stddev) / 2
    kept: list[Dependency] = []
    for each in proposed(released):
        breaking = off.get(Marginal((each.by, each.column)))
        if breaking is not None and breaking + Z * noise <= TOLERANCE * released.rows:
            _add(kept, each)
    return kept


def _broken(query: Query, score: int, released: Released) -> float:
    """How many rows break a map, from its noisy score."""
    return (score - LARGE * query.size + released.rows) / 2


def _add(kept: list[Dependency], new: Dependency) -> None:
    """Add a map unless its column is determined already, by another or, through others, by itself."""
    by = {each.column.column: each.by.column for each in kept}
    root = new.by.column
    while root in by:
        root = by[root]
    if new.column.column not in by and root != new.column.column:
        kept.append(new)
