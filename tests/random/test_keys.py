"""Keys are JAX's own: the same words for the same seeds, whoever works them out."""

import jax
import numpy as np
import pytest

from sundog.random.keys import fold_in, integer_seed, key_of, normals, permutation, split, uniforms, words

SEEDS = [0, 1, 12345, 2**31 - 1, 2**31, 2**40 + 7, 2**62 + 3]


def jax_key(seed):
    return jax.random.fold_in(jax.random.key(seed & 0x7FFFFFFF), (seed >> 31) & 0xFFFFFFFF)


@pytest.mark.parametrize("seed", SEEDS)
def test_keys_and_their_parts_are_those_of_jax(seed):
    key, theirs = key_of(seed), jax_key(seed)
    assert np.array_equal(key, jax.random.key_data(theirs))
    assert np.array_equal(split(key, 5), jax.random.key_data(jax.random.split(theirs, 5)))
    assert np.array_equal(fold_in(key, 77), jax.random.key_data(jax.random.fold_in(theirs, 77)))
    assert np.array_equal(jax.random.normal(key, (3, 4)), jax.random.normal(theirs, (3, 4)))


@pytest.mark.parametrize("count", [1, 2, 3, 1000])
def test_words_are_the_bits_of_jax(count):
    padded = 1 << max(count - 1, 1).bit_length()
    halves = np.asarray(jax.random.bits(jax_key(9), (2, padded), dtype=np.uint32)).astype(np.uint64)
    assert np.array_equal(words(key_of(9), count), (halves[0] << np.uint64(32) | halves[1])[:count])


def test_uniforms_permutations_and_seeds_stay_in_their_ranges():
    drawn = uniforms(key_of(3), 20_000)
    assert 0 <= drawn.min() < 0.001
    assert 0.999 < drawn.max() < 1
    assert drawn.mean() == pytest.approx(0.5, abs=0.01)
    assert sorted(permutation(key_of(3), 50)) == list(range(50))
    assert 0 <= integer_seed(key_of(3)) < 2**31


def test_normals_have_the_moments_of_a_normal_law():
    drawn = normals(key_of(4), 50_000)
    assert np.isfinite(drawn).all()
    assert [np.mean(drawn**k) for k in (1, 2, 3, 4)] == pytest.approx([0, 1, 0, 3], abs=0.08)
