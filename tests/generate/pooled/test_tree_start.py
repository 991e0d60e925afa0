"""The start along the strongest tree: tables of the tree are met, at mixed resolutions, and columns in no table are kept."""

import numpy as np

from sundog.domain import Categorical, Schema
from sundog.domain.axis import Axis
from sundog.estimate.pairs.pool import Pooled
from sundog.generate.pooled.tree_start import along_tree
from sundog.queries import Marginal
from sundog.random.keys import key_of, permutation

ROWS = 6000
SCHEMA = Schema(tuple(Categorical(name, labels=tuple(range(8))) for name in "abcd"))


def chain(strength):
    """Counts of two columns of which the second mostly equals the first."""
    table = np.full((8, 8), (1 - strength) / 64)
    table[np.arange(8), np.arange(8)] += strength / 8
    return table * ROWS


def pooled(tables):
    axes = {name: Axis.whole(SCHEMA.column(name)) for name in "abcd"}
    return Pooled(axes, {name: np.full(8, ROWS / 8) for name in "abcd"}, tuple(tables))


def start():
    """Independent columns with the margins."""
    return {name: permutation(key_of(k), ROWS) % 8 for k, name in enumerate("abcd")}


def whole(first, second):
    return Marginal(tuple(Axis.whole(SCHEMA.column(name)) for name in (first, second)))


def counted(first, second):
    return np.bincount(first * 8 + second, minlength=64).reshape(8, 8)


def test_the_strongest_tables_are_met_and_the_weakest_of_a_cycle_is_not_drawn():
    strong, weak = chain(0.9), chain(0.1)
    tables = [(whole("a", "b"), strong.ravel(), 1.0), (whole("c", "b"), strong.ravel(), 1.0)]
    given = start()
    a, b, c, d = along_tree(key_of(9), pooled([*tables, (whole("a", "c"), weak.ravel(), 1.0)]), start=given)
    assert np.abs(counted(a, b) - strong).max() < 2
    assert np.abs(counted(c, b) - strong).max() < 10
    assert np.mean(a == c) > 0.7
    assert np.array_equal(a, given["a"])
    assert np.array_equal(d, given["d"])


def test_margins_stay():
    a, b, _, _ = along_tree(key_of(2), pooled([(whole("a", "b"), chain(0.5).ravel(), 1.0)]), start=start())
    for column in (a, b):
        assert np.abs(np.bincount(column, minlength=8) - ROWS / 8).max() <= 8


def test_a_coarse_table_leaves_the_rest_to_the_margin():
    column = SCHEMA.column("b")
    coarse = Axis.grouped(column, [0, 0, 0, 0, 1, 1, 1, 1])
    table = np.zeros((8, 2))
    table[:4, 0] = table[4:, 1] = ROWS / 8
    query = Marginal((Axis.whole(SCHEMA.column("a")), coarse))
    a, b, _, _ = along_tree(key_of(4), pooled([(query, table.ravel(), 1.0)]), start=start())
    assert np.array_equal(a < 4, b < 4)
    assert np.abs(counted(a, b)[:4, :4] - ROWS / 32).max() < 60


def test_columns_drawn_from_one_parent_are_independent_given_it():
    strong = chain(0.6)
    tables = [(whole("a", "b"), strong.ravel(), 1.0), (whole("a", "c"), strong.ravel(), 1.0)]
    a, b, c, _ = along_tree(key_of(5), pooled(tables), start=start())
    off = (b != a).mean() * (c != a).mean()
    assert abs(((b != a) & (c != a)).mean() - off) < 0.03
