"""Spread: labels beside joined cells are held on all labels, as they were measured or independent."""

import numpy as np

from sundog.domain import Categorical, Numeric, Schema
from sundog.domain.axis import Axis
from sundog.estimate.pairs.pool import Pooled
from sundog.generate.pooled.spread import spread
from sundog.queries import Joined, Marginal

COLUMNS = (
    *(Categorical(name, labels=tuple(range(3))) for name in "abc"),
    *(Numeric(name, "integer", 0, 1) for name in "xy"),
)
SCHEMA = Schema(COLUMNS)
AXES = {column.name: Axis.whole(column) for column in COLUMNS}
MARGINS = {name: np.array([50.0, 30.0, 20.0]) for name in "abc"} | {name: np.array([60.0, 40.0]) for name in "xy"}
COARSE = Axis.grouped(COLUMNS[1], [0, 1, 1])


def pooled(*, thirds):
    merged = Marginal((COARSE, AXES["a"]))
    strip = Marginal((AXES["x"], AXES["y"]))
    joined = tuple(
        (Joined(Marginal((*strip.axes, AXES[third])), tuple(range(12))), np.ones(12), 5.0) for third in thirds
    )
    tables = (merged, np.array([30.0, 10, 10, 20, 20, 10]), 2.0), (strip, np.array([50.0, 10, 10, 30]), 3.0)
    return Pooled(AXES, MARGINS, tables, joined=joined)


def test_merged_labels_are_divided_by_their_counts_and_unmeasured_pairs_are_independent():
    made = {query.columns: (query, counts, sd) for query, counts, sd in spread(pooled(thirds="abc"), SCHEMA).tables}
    assert set(made) == {("x", "y"), ("a", "b"), ("a", "c"), ("b", "c")}
    query, counts, stddev = made["a", "b"]
    assert query.axes == (AXES["a"], AXES["b"])
    assert stddev == 2.0
    np.testing.assert_allclose(counts.reshape(3, 3), [[30, 12, 8], [10, 12, 8], [10, 6, 4]])
    _, counts, stddev = made["b", "c"]
    assert stddev == 5.0
    np.testing.assert_allclose(counts.reshape(3, 3), np.outer(MARGINS["b"], MARGINS["c"]) / 100)


def test_without_joined_cells_tables_stay_as_they_are():
    given = pooled(thirds="")
    assert [query for query, _, _ in spread(given, SCHEMA).tables] == [query for query, _, _ in given.tables]
