"""Drawing rows by weights: never a new row, the right number, the right shares, and an error below the noise."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from postprocess.tiny_supports import SCHEMA, rows
from sundog.postprocess.resample import GROUPS, LEAST_GROUP, _ends, drawn, row_weights, taken
from sundog.postprocess.support import support_of
from sundog.queries import Moments
from sundog.random.keys import key_of

CODES = st.tuples(st.integers(0, 10), st.integers(0, 11), st.integers(0, 3), st.integers(0, 1))


def draw(made, weights, *, count, seed=0, multinomial=False):
    support = support_of(made, [Moments.of(SCHEMA, "x", "y")])
    return drawn(
        key_of(seed),
        made,
        support,
        weights=weights,
        order=weights,
        scale=np.full(support.vectors.shape[1], 1e-3),
        count=count,
        multinomial=multinomial,
    )


@settings(max_examples=20)
@given(st.lists(CODES, min_size=1, max_size=30), st.integers(1, 60), st.integers(0, 5), st.booleans())
def test_rows_are_copied_or_left_out_never_altered(codes, count, seed, multinomial):
    made = rows(*codes)
    weights = np.random.default_rng(seed).random(len(codes)) ** 3 + 1e-9
    copies = draw(made, weights, count=count, seed=seed, multinomial=multinomial)
    assert copies.sum() == count
    assert (copies >= 0).all()
    out = taken(key_of(seed), made, copies)
    assert set(zip(*(c.tolist() for c in out.codes), strict=True)) <= set(codes)
    if not multinomial:
        assert (np.abs(copies - count * weights / weights.sum()) < 1 + 1e-9).all()


def many(count=4000, seed=3):
    random = np.random.default_rng(seed)
    made = rows(*zip(*(random.integers(0, top, count).tolist() for top in (11, 12, 4, 2)), strict=True))
    return made, random.uniform(0.2, 2.0, count)


def test_rare_values_keep_their_number_as_well_as_common_ones():
    """In standard deviations of chance, which is what distances of distributions are sensitive to."""
    random = np.random.default_rng(4)
    rare = [np.minimum(random.geometric(0.5, 4000) - 1, top - 1).tolist() for top in (11, 12, 4, 2)]
    made, weights = rows(*zip(*rare, strict=True)), random.uniform(0.6, 1.4, 4000)
    for seed in range(5):
        copies = draw(made, weights, count=4000, seed=seed)
        for codes in made.codes:
            expected = np.bincount(codes, weights=4000 * weights / weights.sum())
            off = np.abs(np.bincount(codes, weights=copies) - expected) / np.sqrt(np.maximum(expected, 1.0))
            assert off.max() < 0.6


def test_long_columns_are_balanced_in_groups_that_become_small_towards_the_ends():
    ends = _ends(40_000)
    assert ends[0] == LEAST_GROUP
    assert ends[-1] == 40_000 - LEAST_GROUP
    assert np.diff(ends).max() == 40_000 // GROUPS
    assert len(_ends(33)) <= 33


def test_expected_numbers_of_copies():
    """Over many draws rows come as often as their weights say (balancing prefers some of a very small table a little)."""
    made, weights = many(200)
    share = weights / weights.sum()
    systematic = np.mean([draw(made, weights, count=300, seed=k) for k in range(200)], axis=0)
    assert np.abs(systematic - 300 * share).mean() < 0.1
    independent = np.mean([draw(made, weights, count=300, seed=k, multinomial=True) for k in range(200)], axis=0)
    assert np.abs(independent - 300 * share).max() < 0.5


def test_balanced_draws_hit_the_measures_and_all_columns_counts():
    made, weights = many()
    share, count = weights / weights.sum(), 4000
    support = support_of(made, [Moments.of(SCHEMA, "x", "y")])
    wanted = share @ support.vectors[support.point]
    errors = {}
    for multinomial in (False, True):
        copies = draw(made, weights, count=count, multinomial=multinomial)
        errors[multinomial] = np.abs(copies / count @ support.vectors[support.point] - wanted).max()
        if not multinomial:
            for codes in made.codes:
                off = np.bincount(codes, weights=copies - count * share)
                assert np.abs(off).max() < 5
    assert errors[False] * count < 1
    assert errors[True] > 5 * errors[False]


def test_weights_of_rows_follow_the_rows_own_weights():
    made = rows((1, 1, 0, 0), (1, 1, 2, 1), (9, 9, 0, 0), weights=[1.0, 3.0, 4.0])
    support = support_of(made, [Moments.of(SCHEMA, "x", "y")])
    assert len(support.base) == 2
    assert np.exp(support.base) == pytest.approx([0.5, 0.5])
    assert row_weights(support, np.array([0.8, 0.2]), made) == pytest.approx([0.2, 0.6, 0.2])


def test_rows_of_weight_zero_stay_out():
    made = rows((1, 1, 0, 0), (5, 5, 0, 0), (9, 9, 0, 0), weights=[1.0, 0.0, 1.0])
    support = support_of(made, [Moments.of(SCHEMA, "x")])
    assert support.vectors[:, 0] == pytest.approx([-0.4, 0.4], abs=1e-3)
    assert row_weights(support, np.array([0.3, 0.7]), made) == pytest.approx([0.3, 0.0, 0.7])
