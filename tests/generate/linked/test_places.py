"""A column by place and number of siblings together has both tables, the rows' weights, and no dependence that neither of them says."""

import numpy as np

from sundog.generate.linked.kinds import GIVEN
from sundog.generate.linked.places import together
from sundog.generate.linked.tables import Table

SIZES = np.repeat([1, 2, 3], [300, 400, 300])
FAMILY = np.repeat(np.arange(1000), SIZES)
SIZE = np.repeat(SIZES, SIZES) - 1
PLACE = np.arange(len(FAMILY)) - np.repeat(np.cumsum(SIZES) - SIZES, SIZES)
WEIGHT = 1.0 / (SIZE + 1)
FINE = 6


def truth():
    """Counts of a column by size and place: each moves its odds, and no two of them together."""
    odds = np.random.default_rng(0).normal(size=(2, 3, FINE))
    shares = np.exp(odds[0][:, None] + odds[1][None, :])
    shares /= shares.sum(axis=2, keepdims=True)
    held = np.bincount(SIZE * 3 + PLACE, weights=WEIGHT, minlength=9).reshape(3, 3)
    return shares * held[:, :, None]


def tables(counts):
    """Its tables with sizes, in pairs of cells, and with places."""
    halves = np.arange(FINE) // 2
    by_size = np.add.reduceat(counts.sum(axis=1).T, [0, 2, 4], axis=0)
    return [
        Table(GIVEN, 4, 0, halves, SIZE, by_size, 1.0),
        Table(GIVEN, 4, 0, np.arange(FINE), PLACE, counts.sum(axis=0).T, 3.0),
    ]


def test_both_tables_and_the_weights_of_rows_are_kept():
    counts = truth()
    made = together(tables(counts), margin=counts.sum(axis=(0, 1)), row_weight=WEIGHT)
    assert (made.kind, made.first, made.precision) == (GIVEN, 4, 2.0)
    groups = np.bincount(made.second_map, weights=WEIGHT)
    assert len(groups) == 6  # no row is third of two
    np.testing.assert_allclose(made.target.sum(axis=0), groups)
    for table in tables(counts):
        for cell, line in enumerate(table.target):
            held = made.target[made.first_map[table.first_map == cell]].sum(axis=0)
            places = table.second_map[np.unique(made.second_map, return_index=True)[1]]
            np.testing.assert_allclose(np.bincount(places, weights=held), line, rtol=1e-3)


def test_what_both_tables_say_is_told_of_every_size_and_place():
    counts = truth()
    _, by_place = tables(counts)
    finely = Table(GIVEN, 4, 0, np.arange(FINE), SIZE, counts.sum(axis=1).T, 1.0)
    made = together([finely, by_place], margin=counts.sum(axis=(0, 1)), row_weight=WEIGHT)
    rows = np.unique(made.second_map, return_index=True)[1]
    np.testing.assert_allclose(made.target, counts[SIZE[rows], PLACE[rows]].T, rtol=0.02, atol=0.1)
