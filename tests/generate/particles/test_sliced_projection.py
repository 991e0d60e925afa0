"""The projection onto probability measures in sliced W1, and quantisation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from sundog.generate.particles.sliced_projection import largest_remainder, project, sliced_w1


def test_a_probability_measure_is_its_own_projection():
    p = np.array([0.1, 0.4, 0.2, 0.3])
    line = np.arange(4.0)[None, :]
    assert sliced_w1(project(p, line, iterations=2000), p, line) < 1e-3


def test_a_small_dent_is_filled_from_next_door():
    found = project(np.array([0.5, 0.1, -0.05, 0.45]), np.arange(4.0)[None, :], iterations=2000)
    assert found.min() >= 0
    assert found.sum() == pytest.approx(1)
    assert found[0] == pytest.approx(0.5, abs=0.01)  # far from the dent nothing moves


def test_the_projection_reaches_the_optimum_of_the_linear_programme():
    random = np.random.default_rng(0)
    x, y = np.meshgrid(np.arange(3.0), np.arange(3.0))
    angles = np.pi * (np.arange(6) + 0.5) / 6
    along = np.cos(angles)[:, None] * x.ravel() + np.sin(angles)[:, None] * y.ravel()
    signed = random.normal(0, 0.15, 9) + 1 / 9
    signed += (1 - signed.sum()) / 9
    best = _linear_programme(signed, along)
    assert sliced_w1(project(signed, along, iterations=4000), signed, along) <= best * 1.03 + 1e-6


def _linear_programme(signed, along):
    """min mean_d sum_s gap |P - V| over probabilities, with one slack a cumulative difference."""
    cells, directions = len(signed), len(along)
    upper, bounds, cost = [], [], np.zeros(cells + directions * (cells - 1))
    for d, values in enumerate(along):
        order = np.argsort(values, kind="stable")
        gaps = np.diff(values[order])
        for s in range(cells - 1):
            slack = cells + d * (cells - 1) + s
            cost[slack] = gaps[s] / directions
            for sign in (1, -1):
                row = np.zeros(len(cost))
                row[order[: s + 1]], row[slack] = sign, -1
                upper.append(row)
                bounds.append(sign * signed[order[: s + 1]].sum())
    equal = np.concatenate([np.ones(cells), np.zeros(len(cost) - cells)])[None, :]
    return linprog(cost, A_ub=np.array(upper), b_ub=bounds, A_eq=equal, b_eq=[1.0]).fun


def test_sliced_w1_on_a_line_is_the_distance_moved():
    assert sliced_w1(np.array([1.0, 0, 0]), np.array([0, 0, 1.0]), np.array([[0.0, 0.3, 1.0]])) == pytest.approx(1.0)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30).filter(lambda p: sum(p) > 1e-3), st.integers(1, 1000))
def test_largest_remainder_sums_up_and_is_never_off_by_one(proportions, total):
    p = np.array(proportions)
    counts = largest_remainder(p, total)
    assert counts.sum() == total
    assert np.all(np.abs(counts - p / p.sum() * total) < 1 + 1e-9)
