"""Pictures of an evaluation: every column and the worst pairs, real beside synthetic. CONFIDENTIAL: drawn from real rows.

Cells are those of the metrics. Beside the distance of a column stands what chance alone would give two samples of these
sizes, sum over cells of sqrt(2/pi p(1-p) (1/n + 1/m)) / 2; deviations of a pair are in standard deviations of that chance.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from sundog.evaluate.base import Comparison, column_sets
from sundog.evaluate.total_variation import place
from sundog.report.bars import bar_groups, pair_groups
from sundog.report.charts import column_chart, pair_chart
from sundog.report.facts import ColumnFacts, PairFacts

PAIRS_SHOWN = 6
MOST_PAIRS = 300

Shares = Float[np.ndarray, " cells"]


@dataclass(frozen=True)
class Picture:
    """One picture: what it shows, how far apart the tables are there, what chance would give, and the SVG."""

    title: str
    distance: float
    chance: float
    svg: str

    def to_json(self) -> dict[str, Any]:
        """What it says, without the drawing."""
        return {"of": self.title, "distance": self.distance, "chance": self.chance}


def column_pictures(subject: Comparison) -> list[Picture]:
    """Every column, the furthest apart first."""
    made = [_column(subject, k) for k in range(len(subject.sizes))]
    return sorted(made, key=lambda picture: picture.chance - picture.distance)


def pair_pictures(subject: Comparison) -> list[Picture]:
    """The pairs that are furthest apart beyond chance."""
    if len(subject.sizes) < 2:
        return []
    pairs = column_sets(subject.key, len(subject.sizes), ways=2, most=MOST_PAIRS)
    gaps = {pair: _distance(*_shares(subject, pair), subject) for pair in pairs}
    worst = sorted(pairs, key=lambda pair: gaps[pair][1] - gaps[pair][0])[:PAIRS_SHOWN]
    return [_pair(subject, pair, *gaps[pair]) for pair in worst]


def _shares(subject: Comparison, columns: tuple[int, ...]) -> tuple[Shares, Shares]:
    sizes = [subject.sizes[column] for column in columns]
    cells = int(np.prod(sizes))
    both = ((subject.real_cells, len(subject.real)), (subject.synthetic_cells, len(subject.synthetic)))
    real, synthetic = (np.bincount(place(each, columns, sizes=sizes), minlength=cells) / rows for each, rows in both)
    return real, synthetic


def _variance(real: Shares, subject: Comparison) -> Shares:
    return real * (1 - real) * (1 / len(subject.real) + 1 / len(subject.synthetic))


def _distance(real: Shares, synthetic: Shares, subject: Comparison) -> tuple[float, float]:
    chance = np.sqrt(_variance(real, subject) * 2 / np.pi).sum() / 2
    return float(np.abs(real - synthetic).sum() / 2), min(float(chance), 1.0)


def _column(subject: Comparison, number: int) -> Picture:
    real, synthetic = _shares(subject, (number,))
    column = subject.schema.columns[number]
    groups, labels = bar_groups(subject.axes[number], column, weight=real)
    shown, made, spread = (
        np.bincount(groups, weights=each, minlength=len(labels)) for each in (real, synthetic, _variance(real, subject))
    )
    distance, chance = _distance(real, synthetic, subject)
    facts = ColumnFacts(column, labels, made, shown, 2 * np.sqrt(spread), distance, chance)
    return Picture(column.name, distance, chance, column_chart(facts))


def _pair(subject: Comparison, pair: tuple[int, ...], distance: float, chance: float) -> Picture:
    shape = tuple(subject.sizes[column] for column in pair)
    real, synthetic = (each.reshape(shape) for each in _shares(subject, pair))
    names = [subject.schema.columns[column] for column in pair]
    sides = [
        pair_groups(subject.axes[column], subject.schema.columns[column], real.sum(axis=1 - k))
        for k, column in enumerate(pair)
    ]
    (first, rows_named), (second, columns_named) = sides
    where = (first[:, None] * len(columns_named) + second[None, :]).ravel()
    cells = len(rows_named) * len(columns_named)
    gap = np.bincount(where, weights=(synthetic - real).ravel(), minlength=cells)
    shown = np.bincount(where, weights=real.ravel(), minlength=cells)
    least = 1 / len(subject.real)  # a cell without a real row is no more certain than one with a single row
    spread = np.sqrt(_variance(np.clip(shown, least, 1 - least), subject)) if least < 0.5 else np.ones(cells)
    facts = PairFacts(
        (names[0].name, names[1].name),
        distance,
        chance,
        (gap / spread).reshape(len(rows_named), len(columns_named)),
        (rows_named, columns_named),
    )
    return Picture(" by ".join(facts.columns), distance, chance, pair_chart(facts))
