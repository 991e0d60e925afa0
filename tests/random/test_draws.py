import numpy as np
import pytest

from sundog.random.draws import at_positions, draw_within, ranks_within
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


def test_positions_rise_through_the_items_of_a_group():
    groups, positions = np.repeat([0, 1], 100), np.tile((np.arange(100) + 0.5) / 100, 2)
    weights, sizes = np.array([1.0, 3.0, 1.0, 1.0]), np.array([2, 2])
    items, inside = at_positions(groups, positions, weights=weights, sizes=sizes)
    assert np.bincount(items).tolist() == [25, 75, 50, 50]
    assert (np.diff(items + inside) > 0).all()
    assert 0 <= inside.min() <= inside.max() < 1


def test_ranks_are_even_within_groups_and_ties_are_broken_at_random():
    cells = np.array([0, 0, 0, 0, 1, 1])
    by = np.array([3.0, 1.0, 2.0, 0.0, 7.0, 7.0])
    ranks = ranks_within(key_of(6), cells, by=by, number=2)
    assert ranks[:4].tolist() == pytest.approx([0.875, 0.375, 0.625, 0.125])
    assert sorted(ranks[4:].tolist()) == [0.25, 0.75]
    assert len({tuple(ranks_within(key_of(k), cells, by=by, number=2)[4:]) for k in range(20)}) == 2
