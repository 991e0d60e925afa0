"""The tilting against an independent convex solver on tiny supports, and its optimality conditions on larger ones."""

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, minimize

from postprocess.tiny_supports import inside, support
from sundog.postprocess.support import Support
from sundog.postprocess.tilt import tilt


def brute_force(made, target, *, gamma, slack=None):
    """The primal problem itself, over the simplex, by a general solver: the weights are the variables."""
    base = np.exp(made.base)

    def divergence(p):
        return float(np.sum(p * np.log(np.maximum(p, 1e-300) / base)))

    def missed(p):
        off = made.vectors.T @ p - target
        return np.sign(off) * np.maximum(np.abs(off) - gamma, 0.0)

    def misfit(p):
        return 0.0 if slack is None else float(np.sum(missed(p) ** 2 / (2 * slack)))

    def gradient(p):
        slope = np.log(np.maximum(p, 1e-300) / base) + 1
        return slope if slack is None else slope + made.vectors @ (missed(p) / slack)

    limits = [LinearConstraint(np.ones(len(base)), 1.0, 1.0)]
    if slack is None:
        limits.append(LinearConstraint(made.vectors.T, target - gamma, target + gamma))
    found = minimize(
        lambda p: divergence(p) + misfit(p),
        base,
        jac=gradient,
        method="SLSQP",
        bounds=[(1e-12, 1)] * len(base),
        constraints=limits,
        options={"maxiter": 1000, "ftol": 1e-14},
    )
    assert found.success, found.message
    return found.x


@pytest.mark.parametrize("gamma", [0.0, 1e-5, 0.02, 0.5])
@pytest.mark.parametrize("seed", range(4))
def test_the_weights_are_those_of_a_general_solver(seed, gamma):
    made = support(seed, points=9, measures=3)
    target = inside(made, seed)
    solved = tilt(made, target, gamma=gamma)
    assert solved.shares == pytest.approx(brute_force(made, target, gamma=gamma), abs=2e-6)
    assert solved.residual < 1e-8
    assert solved.violation <= gamma + 1e-8
    assert np.abs(made.mean(solved.shares) - target).max() == pytest.approx(solved.violation, abs=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_measures_with_a_gamma_and_cells_without_one_are_solved_together(seed):
    made = support(seed, points=9, measures=4)
    target, slack, gamma = inside(made, seed) + 0.2, np.array([0.02, 0.1, 0.05, 0.01]), np.array([0.05, 0.01, 0.0, 0.0])
    solved = tilt(made, target, gamma=gamma, slack=slack)
    assert solved.shares == pytest.approx(brute_force(made, target, gamma=gamma, slack=slack), abs=2e-6)
    assert solved.residual < 1e-8


def test_hundreds_of_cells_that_add_up_do_not_slow_a_few_measures_down():
    random = np.random.default_rng(1)
    columns = [np.eye(30)[random.integers(0, 30, 2000)] for _ in range(10)]
    numbers = random.uniform(-0.5, 0.5, (2000, 20))
    made = Support(np.column_stack([numbers, *columns]), np.full(2000, -np.log(2000)), np.arange(2000))
    target = made.mean(random.dirichlet(np.full(2000, 10.0)))
    gamma = np.where(np.arange(320) < 20, 1e-5, 0.0)
    solved = tilt(made, target, gamma=gamma, slack=1e-5)
    assert solved.residual < 1e-9
    assert solved.steps <= 8


@pytest.mark.parametrize("seed", range(4))
def test_with_slack_the_weights_are_those_of_the_weighed_problem(seed):
    made = support(seed, points=8, measures=3)
    target, slack = inside(made, seed) + 0.3, np.array([0.02, 0.1, 0.5])
    solved = tilt(made, target, gamma=0.0, slack=slack)
    assert solved.shares == pytest.approx(brute_force(made, target, gamma=0.0, slack=slack), abs=2e-6)


def test_the_weighed_solution_is_the_closest_to_its_own_target():
    """What docs/how-to/adjust.md says: the optimum is the KL projection onto gamma around a + tau lambda."""
    made = support(3, points=9, measures=3)
    target, slack, gamma = inside(made, 3) + 0.2, np.full(3, 0.05), 0.01
    solved = tilt(made, target, gamma=gamma, slack=slack)
    final = target + slack * solved.multipliers
    assert np.abs(made.mean(solved.shares) - final).max() <= gamma + 1e-9
    assert solved.shares == pytest.approx(brute_force(made, final, gamma=gamma), abs=5e-6)


def test_on_a_dense_grid_nothing_is_closer():
    """Two measures, three points: the simplex as a grid."""
    made = support(11, points=3, measures=1)
    target, gamma = inside(made, 11), 0.01
    solved = tilt(made, target, gamma=gamma)
    steps = np.linspace(0, 1, 401)
    first, second = (part.ravel() for part in np.meshgrid(steps, steps))
    grid = np.stack([first, second, 1 - first - second], axis=1)
    grid = grid[(grid >= 0).all(axis=1)]
    grid = grid[np.abs(grid @ made.vectors[:, 0] - target[0]) <= gamma]
    logs = np.log(np.maximum(grid, 1e-300)) - made.base
    assert solved.divergence <= np.where(grid > 0, grid * logs, 0.0).sum(axis=1).min() + 1e-9


def test_figures():
    made = support(5, points=30, measures=4)
    solved = tilt(made, inside(made, 5), gamma=0.0)
    base = np.exp(made.base)
    assert solved.shares.sum() == pytest.approx(1)
    assert solved.divergence == pytest.approx(np.sum(solved.shares * np.log(solved.shares / base)))
    assert solved.effective == pytest.approx(1 / np.sum(solved.shares**2 / base))
    assert 0 < solved.effective < 1


def test_a_table_that_matches_already_is_left_alone():
    made = support(2, points=10, measures=3)
    solved = tilt(made, made.mean(np.exp(made.base)), gamma=0.0)
    assert solved.shares == pytest.approx(np.exp(made.base), abs=1e-9)
    assert (solved.steps, solved.effective) == (0, pytest.approx(1.0))


def test_a_start_near_the_solution_saves_steps_and_changes_nothing():
    made = support(7, points=50, measures=6)
    target = inside(made, 7)
    first = tilt(made, target, gamma=1e-5)
    again = tilt(made, target, gamma=1e-5, start=first.multipliers)
    assert again.steps < first.steps
    assert again.shares == pytest.approx(first.shares, abs=1e-8)


def test_far_targets_do_not_overflow():
    made = support(1, points=40, measures=3)
    corner = made.vectors[np.argmax(made.vectors @ np.ones(3))]
    solved = tilt(made, 0.999 * corner + 0.001 * made.mean(np.exp(made.base)), gamma=1e-6)
    assert np.isfinite(solved.shares).all()
    assert solved.violation < 1e-5
