"""Denoising against general solvers: least squares (QP) and least absolute deviations (LP), with and without a noisy mass."""

import numpy as np
import pytest
from scipy.optimize import linprog, nnls

from postprocess.tiny_supports import inside, support
from sundog.postprocess.denoise import MANY, Noisy, denoised, least_absolute, least_squares


def system(made, noisy):
    """Points with their mass in standard deviations, and what they should add up to."""
    scale = noisy.scale
    return np.column_stack([made.vectors, np.ones(len(made.base))]).T / scale[:, None], np.append(
        noisy.answers, 1
    ) / scale


def example(seed, *, mass_stddev):
    made = support(seed, points=12, measures=4)
    random = np.random.default_rng(seed)
    stddev = random.uniform(0.01, 0.1, 4)
    return made, Noisy(inside(made, seed) + 3 * stddev * random.normal(size=4), stddev, mass_stddev)


@pytest.mark.parametrize("mass_stddev", [0.0, 0.2])
@pytest.mark.parametrize("seed", range(5))
def test_least_squares_is_the_quadratic_programmes_optimum(seed, mass_stddev):
    made, noisy = example(seed, mass_stddev=mass_stddev)
    left, wanted = system(made, noisy)
    _, best = nnls(left, wanted)
    found = least_squares(made, noisy)
    reached = np.linalg.norm(np.append(found.mass * found.mean, found.mass) / noisy.scale - wanted)
    assert reached**2 == pytest.approx(best**2, abs=2e-3)


@pytest.mark.parametrize("mass_stddev", [0.0, 0.2])
@pytest.mark.parametrize("seed", range(5))
def test_least_absolute_is_the_linear_programmes_optimum(seed, mass_stddev):
    made, noisy = example(seed, mass_stddev=mass_stddev)
    left, wanted = system(made, noisy)
    size = len(wanted)
    costs = np.concatenate([np.zeros(len(made.base)), np.ones(2 * size)])
    best = linprog(costs, A_eq=np.hstack([left, -np.eye(size), np.eye(size)]), b_eq=wanted).fun
    found = least_absolute(made, noisy)
    reached = np.abs(np.append(found.mass * found.mean, found.mass) / noisy.scale - wanted).sum()
    assert reached == pytest.approx(best, abs=1e-3)


def test_a_public_number_of_rows_is_kept():
    made, noisy = example(1, mass_stddev=0.0)
    assert least_squares(made, noisy).mass == pytest.approx(1, abs=1e-3)
    assert least_absolute(made, noisy).mass == pytest.approx(1, abs=1e-3)


def test_a_wrong_number_of_rows_is_found_out():
    """All sums 5 % too high, as if there were 5 % more rows than estimated: the means come out right all the same."""
    made = support(4, points=30, measures=6)
    made.vectors[:, 0] = 0.25  # such as the square of a column of two labels: the same in all rows
    truth = inside(made, 4)
    found = least_squares(made, Noisy(1.05 * truth, np.full(6, 1e-4), 0.05))
    assert found.mass == pytest.approx(1.05, abs=1e-3)
    assert found.mean == pytest.approx(truth, abs=1e-3)


def test_what_can_be_met_is_not_moved():
    made = support(8, points=20, measures=3)
    target = inside(made, 8)
    for laplace in (False, True):
        assert denoised(made, Noisy(target, np.full(3, 0.01)), laplace=laplace).mean == pytest.approx(target, abs=1e-4)


def test_many_measures_are_brought_into_their_ranges():
    made = support(9, points=5, measures=MANY + 1)
    found = denoised(made, Noisy(np.linspace(-2, 2, MANY + 1), np.full(MANY + 1, 0.01)), laplace=False).mean
    assert (found >= made.vectors.min(axis=0)).all()
    assert (found <= made.vectors.max(axis=0)).all()
