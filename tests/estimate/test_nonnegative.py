"""Noisy counts made non-negative."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sundog.estimate.nonnegative import nonnegative

COUNTS = arrays(float, st.integers(1, 30), elements=st.floats(-1e6, 1e6))


@given(COUNTS, st.floats(1e-3, 1e7))
def test_the_sum_is_kept_and_nothing_is_negative(values, total):
    made = nonnegative(values, total)
    assert (made >= 0).all()
    assert np.isclose(made.sum(), total, rtol=1e-9)


@given(COUNTS, st.floats(1.0, 1e6), st.integers(0, 2**32 - 1))
def test_no_other_such_point_is_closer(values, total, seed):
    made = nonnegative(values, total)
    other = np.random.default_rng(seed).dirichlet(np.ones(len(values))) * total
    for step in (1.0, 1e-2):
        near = made + step * (other - made)
        slack = 1e-9 * (1 + np.abs(values).max() ** 2 + total**2)
        assert ((made - values) ** 2).sum() <= ((near - values) ** 2).sum() + slack


@given(st.integers(1, 20), st.floats(1.0, 1e6))
def test_what_is_right_already_stays(cells, total):
    values = np.full(cells, total / cells)
    assert np.allclose(nonnegative(values, total), values)
