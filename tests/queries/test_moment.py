"""The sensitivities of centred moments: on a grid of the cube, by search inside it, and for raw moments' comparison."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import minimize

from sundog.domain import Numeric, Schema
from sundog.domain.rows import Rows
from sundog.queries import Moments, answer
from sundog.queries.moment import SCALE


def moments_of(columns):
    return Moments(tuple(f"x{k}" for k in range(columns)))


def vector(points):
    """The centred moments of points of the cube [-1/2, 1/2]^d, one row a point."""
    upper = np.triu_indices(points.shape[-1])
    return np.concatenate([points, (points[..., :, None] * points[..., None, :])[..., *upper]], axis=-1)


def norms(change):
    return {"squared": (change**2).sum(axis=-1), "l1": np.abs(change).sum(axis=-1), "linf": np.abs(change).max(axis=-1)}


def stated(query, relation):
    return {
        "squared": float(query.sensitivity_squared(relation) / SCALE**2),
        "l1": float(query.sensitivity_l1(relation) / SCALE),
        "linf": float(query.sensitivity_linf(relation) / SCALE),
    }


def grid(columns, steps):
    return np.array(list(itertools.product(np.linspace(-0.5, 0.5, steps), repeat=columns)))


@pytest.mark.parametrize(("columns", "steps"), [(1, 21), (2, 13), (3, 7), (4, 4), (5, 3), (6, 2)])
def test_no_pair_of_grid_points_moves_more_than_stated(columns, steps):
    rows = vector(grid(columns, steps))
    query = moments_of(columns)
    for norm, found in norms(rows).items():
        assert found.max() == pytest.approx(stated(query, "add-remove")[norm], abs=1e-12), norm
    most = dict.fromkeys(("squared", "l1", "linf"), 0.0)
    for row in rows:
        for norm, found in norms(rows - row).items():
            most[norm] = max(most[norm], found.max())
    claim = stated(query, "replace")
    assert most["squared"] == pytest.approx(claim["squared"], abs=1e-12)
    assert most["linf"] == pytest.approx(claim["linf"], abs=1e-12)
    assert most["l1"] <= claim["l1"] + 1e-12


@pytest.mark.parametrize("columns", range(1, 7))
@pytest.mark.parametrize("norm", ["squared", "l1"])
def test_no_search_inside_the_cube_finds_more(columns, norm):
    """Many random pairs, and climbing from some of them."""
    random, claim = np.random.default_rng(columns), stated(moments_of(columns), "replace")[norm]
    pairs = random.uniform(-0.5, 0.5, (20_000, 2, columns))
    pairs = np.where(random.random(pairs.shape) < 0.3, np.sign(pairs) / 2, pairs)
    values = norms(vector(pairs[:, 0]) - vector(pairs[:, 1]))[norm]
    assert values.max() <= claim + 1e-12
    best = 0.0
    for start in np.argsort(values)[-6:]:
        found = minimize(
            lambda flat: -norms(vector(flat[:columns]) - vector(flat[columns:]))[norm],
            pairs[start].ravel(),
            bounds=[(-0.5, 0.5)] * (2 * columns),
            method="L-BFGS-B",
        )
        best = max(best, -found.fun)
    assert best <= claim + 1e-9


@pytest.mark.parametrize("columns", range(1, 7))
def test_the_l1_sensitivity_is_reached_between_the_corners(columns):
    a = (columns + 3) / (2 * (columns + 1))
    first, second = np.full(columns, 0.5), np.full(columns, 0.5 - a)
    reached = norms(vector(first) - vector(second))["l1"]
    assert reached == pytest.approx(stated(moments_of(columns), "replace")["l1"], rel=1e-12)


def test_centring_is_worth_two_to_six_times_less_variance_or_more():
    for columns in range(1, 30):
        raw = Fraction(columns * (columns + 3), 2)
        assert raw / (moments_of(columns).sensitivity_squared("replace") / SCALE**2) >= 2
        assert raw / (moments_of(columns).sensitivity_squared("add-remove") / SCALE**2) >= 6


def test_answers_are_the_moments_in_fixed_point():
    schema = Schema((Numeric("x0", "integer", 0, 1000), Numeric("x1", "number", -500, 500, decimals=2, nullable=True)))
    random = np.random.default_rng(1)
    rows = Rows(schema, (random.integers(0, 1001, 400), random.integers(0, 1002, 400)))
    centred = np.stack([rows.unit_interval(name) - 0.5 for name in schema.names], axis=1)
    expected = vector(np.nan_to_num(centred, nan=0.0)).sum(axis=0)
    found = answer(Moments.of(schema, "x0", "x1"), rows) / SCALE
    np.testing.assert_allclose(found, expected, atol=400 * 2.0**-10)
