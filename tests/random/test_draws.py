import numpy as np
import pytest

from sundog.random.draws import draw_within
from sundog.random.keys import key_of


def test_every_group_gets_its_proportions_give_or_take_one():
    weights = np.array([1.0, 2.0, 1.0, 0.0, 3.0])
    sizes = np.array([3, 2])
    groups = np.repeat([0, 1], [400, 101])
    counts = np.bincount(draw_within(key_of(0), groups, weights=weights, sizes=sizes), minlength=5)
    assert np.abs(counts - [100, 200, 100, 0, 101]).max() <= 1


def test_a_group_without_weight_is_uniform():
    drawn = draw_within(key_of(1), np.zeros(400, dtype=int), weights=np.zeros(4), sizes=np.array([4]))
    assert np.bincount(drawn).tolist() == pytest.approx([100] * 4, abs=1)


def test_siblings_drawn_from_one_parent_are_not_correlated():
    """The sampling fault of mbi 1.1: without the shuffle both columns would be equal row by row."""
    groups = np.zeros(10_000, dtype=int)
    one, two = (draw_within(key_of(k), groups, weights=np.ones(2), sizes=np.array([2])) for k in (2, 3))
    assert abs(np.corrcoef(one, two)[0, 1]) < 0.05


def test_the_same_key_draws_the_same():
    groups = np.arange(100) % 3
    made = [draw_within(key_of(4), groups, weights=np.ones(6), sizes=np.full(3, 2)) for _ in range(2)]
    assert np.array_equal(*made)
