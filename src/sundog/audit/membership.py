"""Was this person's row in the table? Three attacks that score targets: a high score says yes.

Distance: minus the distance to the closest synthetic row (Chen et al. 2020). Density ratio (DOMIAS, van Breugel et al. 2023): the
log density of synthetic rows around the target less that of the population, both by a kernel exp(-distance / WIDTH).
Shadow models (Shokri et al. 2017; Stadler et al. 2022) on released marginals: a member lifts the counts of its own cells. A cell tells
(count - n p) / (variance of noise and of sampling), with p from the population; these are summed over tables of one, two and more
columns, and how much each sum counts is learnt on shadow tables, which the attacker draws from the population and gives the
same noise. Where no release is given, they are tables of three columns of the synthetic rows, without noise.

Each attack is also read as a test: it says yes above the score that FALSE_ALARMS of the outsiders exceed.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from sundog.audit.discriminant import direction
from sundog.audit.game import Attack, Game, Won, auc_of, rates
from sundog.audit.nearness import distances
from sundog.domain.rows import Rows
from sundog.evaluate.base import cells_of, column_sets
from sundog.queries import Marginal
from sundog.queries.marginal import tables_of
from sundog.random.keys import Key, fold_in, normals, permutation
from sundog.released import Released

FALSE_ALARMS = 0.05
WIDTH = 0.1
SHADOWS = 6
WAYS, MOST_TABLES, MOST_CELLS = 3, 300, 1 << 22
KIND = "Membership"

Scores = Float[np.ndarray, " targets"]


@dataclass(frozen=True, eq=False)
class Counts:
    """A table of counts that the attacker knows, with the standard deviation of its noise."""

    marginal: Marginal
    values: Float[np.ndarray, " cells"]
    stddev: float


def membership_attacks(game: Game, released: Released | None) -> list[Attack]:
    """All three; none where there are no outsiders to tell members from."""
    if game.outsiders is None or game.reference is None:
        return []
    every = range(len(game.synthetic.codes))
    close, dense = zip(*(_closest(rows, game.synthetic, every) for rows in game.targets), strict=True)
    usual = [_closest(rows, game.reference, every)[1] for rows in game.targets]
    tables = known_counts(game.key, game.synthetic, released)
    shadow = shadow_scores(game, tables)
    said = "released marginals" if released is not None else "tables of three columns of the synthetic rows"
    return [
        _attack("closest synthetic row", "How close the closest synthetic row is.", close),
        _attack(
            "density ratio",
            "Whether synthetic rows are denser around the person than the population is (DOMIAS).",
            [ours - theirs for ours, theirs in zip(dense, usual, strict=True)],
        ),
        _attack(
            "shadow models",
            f"Whether {len(tables)} {said} are lifted where the person is, as learnt on shadow tables.",
            shadow,
        ),
    ]


def _attack(name: str, about: str, scores: Sequence[Scores]) -> Attack:
    members, outsiders = scores
    won = _tested(members, outsiders)
    return Attack(KIND, name, about, baseline=float(won[1].mean()), auc=auc_of(members, outsiders), **rates(won))


def _tested(members: Scores, outsiders: Scores) -> list[Won]:
    """Who is said to be a member: above the score that a few outsiders exceed."""
    threshold = np.sort(outsiders)[::-1][int(FALSE_ALARMS * len(outsiders))]
    return [members > threshold, outsiders > threshold]


def _closest(targets: Rows, rows: Rows, columns: Sequence[int]) -> tuple[Scores, Scores]:
    """Minus the distance to the closest row, and the log density of rows, of every target."""
    near, dense = [], []
    for each in distances(targets, rows, columns):
        least = each.min(axis=1)
        near.append(-least)
        dense.append(np.log(np.exp((least[:, None] - each) / WIDTH).mean(axis=1)) - least / WIDTH)
    return np.concatenate(near).astype(np.float64), np.concatenate(dense).astype(np.float64)


def known_counts(key: Key, synthetic: Rows, released: Released | None) -> list[Counts]:
    """The marginals of a release with their noise, or tables of three columns of the synthetic rows."""
    if released is None:
        axes = cells_of(synthetic.schema)
        sets = column_sets(fold_in(key, SHADOWS), len(axes), ways=min(WAYS, len(axes)), most=MOST_TABLES)
        chosen = [tuple(axes[column] for column in columns) for columns in sets]
        small = [axes for axes in chosen if math.prod(axis.size for axis in axes) <= MOST_CELLS]
        tables = [Marginal(axes) for axes in small or [(axis,) for axis in axes]]
        return [Counts(table, _counted(table, synthetic), 0.0) for table in tables]
    found = []
    for measured in released.measurements:
        start = 0
        for marginal in tables_of(measured.query):
            values = measured.values[start : start + marginal.size].astype(np.float64)
            found.append(Counts(marginal, values, measured.stddev))
            start += marginal.size
    return found[:MOST_TABLES]


def shadow_scores(game: Game, tables: Sequence[Counts]) -> list[Scores]:
    """The scores of all targets, by a rule that shadow tables have taught."""
    assert game.reference is not None  # noqa: S101 - the caller has looked
    first, second = zip(*(_shadow(fold_in(game.key, k), game.reference, tables) for k in range(SHADOWS)), strict=True)
    along = direction(np.concatenate(first), np.concatenate(second))
    usual = [_counted(table.marginal, game.reference) for table in tables]
    return [_lifts(rows, tables, usual) @ along for rows in game.targets]


def _shadow(key: Key, reference: Rows, tables: Sequence[Counts]) -> tuple[Float[np.ndarray, "rows sums"], ...]:
    """One shadow table: what its tables of counts, with the same noise, say of rows outside and inside it."""
    order = permutation(key, len(reference))
    third = len(order) // 3
    inside, outside, known = (
        reference.take(part) for part in (order[:third], order[third : 2 * third], order[third * 2 :])
    )
    noisy = [
        Counts(
            table.marginal,
            _counted(table.marginal, inside) + table.stddev * normals(fold_in(key, number), table.marginal.size),
            table.stddev,
        )
        for number, table in enumerate(tables)
    ]
    usual = [_counted(table.marginal, known) for table in tables]
    return _lifts(outside, noisy, usual), _lifts(inside, noisy, usual)


def _lifts(
    rows: Rows, tables: Sequence[Counts], usual: Sequence[Float[np.ndarray, " cells"]]
) -> Float[np.ndarray, "rows 3"]:
    """By how much the counts of every row's own cells are lifted: sums over tables of one, two and more columns."""
    sums = np.zeros((len(rows), 3))
    for table, counts in zip(tables, usual, strict=True):
        share = (counts + 0.5) / (counts.sum() + 0.5 * len(counts))
        total = max(table.values.sum(), 1.0)
        spread = table.stddev**2 + total * share * (1 - share) * (1 + total / max(counts.sum(), 1.0)) + 0.5
        lifted = (table.values - total * share) / spread
        sums[:, min(len(table.marginal.axes), 3) - 1] += lifted[_places(table.marginal, rows)]
    return sums


def _counted(marginal: Marginal, rows: Rows) -> Float[np.ndarray, " cells"]:
    totals = np.zeros(marginal.size, dtype=np.int64)
    marginal.add(rows, totals)
    return totals.astype(np.float64)


def _places(marginal: Marginal, rows: Rows) -> Int[np.ndarray, " rows"]:
    return np.ravel_multi_index(tuple(rows.cells(axis) for axis in marginal.axes), marginal.shape)
