"""How far a column may reach under a linear constraint, against trying every code."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sundog.domain import Numeric, Schema
from sundog.domain.constraints.kinds import Linear
from sundog.domain.row_checks import holds, reach
from sundog.domain.rows import Rows

COLUMNS = (Numeric("x", "integer", -3, 6), Numeric("y", "integer", 2, 9, nullable=True))


@settings(max_examples=80, deadline=None)
@given(
    st.integers(-4, 4).filter(bool), st.integers(-4, 4), st.integers(-30, 30), st.booleans(), st.lists(st.integers(0, 8))
)  # fmt: skip
def test_every_code_within_reach_satisfies_the_constraint_and_no_other(first, second, limit, equal, others):
    rule = Linear("r", ("x", "y"), (first, second), limit, equal)
    own = np.array(others, dtype=np.int64)
    low, high = reach(rule, Rows(Schema(COLUMNS), (np.zeros(len(own), dtype=np.int64), own)), "x")
    for code in range(COLUMNS[0].size):
        inside = (low <= code) & (code <= high)
        np.testing.assert_array_equal(inside, holds(rule, Rows(Schema(COLUMNS), (np.full(len(own), code), own))))


def test_a_column_that_is_no_part_has_no_reach():
    rows = Rows(Schema(COLUMNS), (np.zeros(1, dtype=np.int64),) * 2)
    with pytest.raises(TypeError):
        reach(Linear("r", ("x", "y"), (0, 1), 3, equal=False), rows, "x")
