"""A key is a seed and a path: its draws depend on nothing else, and different keys have nothing in common."""

import itertools

import numpy as np
import pytest
from scipy import stats

from sundog.random.keys import Key, fold_in, integer_seed, key_of, normals, permutation, split, uniforms, words

SEEDS = [0, 1, 12345, 2**31 - 1, 2**31, 2**40 + 7, 2**62 + 3, 2**200, -1]


def test_a_key_is_a_value():
    key = fold_in(key_of(7), 3)
    assert key == Key(7, (3,))
    assert key == split(key_of(7), 5)[3]
    assert hash(key) == hash(Key(7, (3,)))
    with pytest.raises(AttributeError):
        key.seed = 8


def test_the_words_of_a_key_never_change():
    """Who keeps a seed keeps its rows: these words are the promise."""
    assert words(key_of(0), 2).tolist() == [10977866715287940932, 4528913300787091962]
    assert words(fold_in(key_of(2**40 + 7), 77), 1).tolist() == [10526132176248278874]


def test_different_keys_have_different_words():
    numbers = (0, 1, 2, 12, 2**32)
    paths = [path for length in range(4) for path in itertools.product(numbers, repeat=length)]
    firsts = [int(words(Key(seed, path), 1)[0]) for seed in SEEDS for path in paths]
    assert len(set(firsts)) == len(SEEDS) * len(paths)


@pytest.mark.parametrize("draw", [words, uniforms, normals])
def test_the_first_draws_do_not_depend_on_how_many_follow(draw):
    assert np.array_equal(draw(key_of(5), 7), draw(key_of(5), 1000)[:7])


def test_neighbouring_keys_are_not_correlated():
    """64 streams of neighbouring seeds and parts: the correlations of all pairs are those of independent columns."""
    keys = [part for seed in range(8) for part in split(key_of(seed), 8)]
    count = 4096
    correlations = np.corrcoef([uniforms(key, count) for key in keys])[np.triu_indices(len(keys), 1)]
    assert np.abs(correlations).max() * np.sqrt(count) < 6
    assert np.mean(correlations**2) * count == pytest.approx(1, abs=0.2)


def test_uniforms_are_uniform_and_seeds_stay_in_their_range():
    drawn = uniforms(key_of(3), 20_000)
    assert 0 <= drawn.min() < 0.001
    assert 0.999 < drawn.max() < 1
    assert stats.kstest(drawn, "uniform").pvalue > 1e-6
    assert all(0 <= integer_seed(key_of(seed)) < 2**31 for seed in SEEDS)


def test_every_order_is_as_likely_as_the_others():
    orders = [tuple(permutation(part, 4).tolist()) for part in split(key_of(6), 4800)]
    counts = [orders.count(order) for order in itertools.permutations(range(4))]
    assert sum(counts) == len(orders)
    assert stats.chisquare(counts).pvalue > 1e-6


def test_normals_have_the_moments_of_a_normal_law():
    drawn = normals(key_of(4), 50_000)
    assert [np.mean(drawn**k) for k in (1, 2, 3, 4)] == pytest.approx([0, 1, 0, 3], abs=0.12)


def test_hidden_state_is_neither_read_nor_changed():
    np.random.seed(1)  # noqa: NPY002
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    first = [draw(key_of(1), 5) for draw in (words, uniforms, normals, permutation)]
    assert np.array_equal(np.random.get_state()[1], before)  # noqa: NPY002
    np.random.seed(2)  # noqa: NPY002
    again = [draw(key_of(1), 5) for draw in (words, uniforms, normals, permutation)]
    assert all(map(np.array_equal, first, again))
