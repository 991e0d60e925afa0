"""What coarse tables hide of trends."""

import numpy as np
import pytest

from sundog.domain import Categorical, Numeric
from sundog.domain.axis import Axis
from sundog.estimate.bins import Leaves, coarse_for_tables, coarsened
from sundog.estimate.trends import Hidden, hidden_trend
from sundog.queries import Marginal


def test_six_cells_hide_a_sixth_of_a_trend_and_labels_have_none():
    column = Numeric("age", "integer", 0, 59, nullable=False)
    axis, shares = Axis.whole(column), np.full(60, 1 / 60)
    coarse = coarsened(axis, shares, column=column, most=6)
    assert hidden_trend(axis, coarse, shares=shares, column=column) == pytest.approx(1 / 36, rel=0.02)
    assert hidden_trend(axis, axis, shares=shares, column=column) == 0
    labels = Categorical("kind", tuple(f"{code:03d}" for code in range(60)))
    whole = Axis.whole(labels)
    joined = coarse_for_tables(whole, shares, column=labels, most=6)
    assert hidden_trend(whole, joined, shares=shares, column=labels) == 0


def test_both_columns_of_a_table_count():
    columns = [Numeric(name, "integer", 0, 59, nullable=False) for name in "ab"]
    shares = np.full(60, 1 / 60)
    fine = [Axis.whole(column) for column in columns]
    coarse = [coarsened(axis, shares, column=column, most=6) for axis, column in zip(fine, columns, strict=True)]
    hidden = Hidden({column.name: Leaves(column, axis, shares) for column, axis in zip(columns, fine, strict=True)})
    assert hidden.of(Marginal(tuple(fine)), Marginal(tuple(coarse))) == pytest.approx(2 / 36, rel=0.02)
    assert hidden.of(Marginal(tuple(fine)), Marginal((fine[0], coarse[1]))) == pytest.approx(1 / 36, rel=0.02)
