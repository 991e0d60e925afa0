import numpy as np
import pytest

from sundog.audit.discriminant import direction


def test_it_weighs_features_by_what_they_tell():
    random = np.random.default_rng(0)
    first, second = random.normal(size=(4000, 3)), random.normal([2.0, 1.0, 0.0], size=(4000, 3))
    first[:, 1], second[:, 1] = 5 * first[:, 1], 5 * (second[:, 1] - 1) + 5
    found = direction(first, second)
    assert found[1] / found[0] == pytest.approx((5 / 25) / 2, rel=0.15)
    assert abs(found[2]) < 0.1 * found[0]


def test_features_that_never_vary_or_repeat_do_no_harm():
    first, second = np.zeros((10, 3)), np.zeros((10, 3))
    second[:, 1:] = 1.0  # distinguished without any spread
    along = direction(first, second)
    assert (first @ along).max() < (second @ along).min()
