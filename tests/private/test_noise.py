"""The noise follows its exact law, its checks have power, and its costs are rounded the safe way."""

import math
from fractions import Fraction

import numpy as np
import opendp.prelude as dp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from private import checks_noise
from sundog.errors import UserError
from sundog.private import noise

calm = settings(deadline=None, max_examples=200, derandomize=True)
SCORES = [0, 1, 2, 4]
REAL_GAUSSIAN, REAL_SCALE = noise.add_gaussian, noise.gaussian_scale
REAL_TOP_K, REAL_TOP_K_SCALE = noise.top_k, noise.top_k_scale


@pytest.mark.parametrize("draws", [50_000, pytest.param(200_000, marks=pytest.mark.long)])
@pytest.mark.parametrize("stddev", [0.6, 3.0, 40.0])
def test_gaussian_noise_follows_its_law(stddev, draws):
    checks_noise.check_gaussian(stddev, draws)


def halved(counts, scale):
    return REAL_GAUSSIAN(counts, scale / 2)


def divided_by_root_two(counts, scale):
    return REAL_GAUSSIAN(counts, scale / math.sqrt(2))


def none(counts, scale):
    return counts.copy()


def reused():
    kept = {}

    def add(counts, scale):
        if len(counts) not in kept:
            kept[len(counts)] = REAL_GAUSSIAN(np.zeros_like(counts), scale)
        return counts + kept[len(counts)]

    return add


def one_for_all_cells(counts, scale):
    return counts + REAL_GAUSSIAN(np.zeros(1, dtype=np.int64), scale)


def repeated_by_two(counts, scale):
    return counts + np.repeat(REAL_GAUSSIAN(np.zeros(len(counts) // 2, dtype=np.int64), scale), 2)


def biased_by_a_half(counts, scale):
    return counts + np.floor(np.random.default_rng().normal(0, scale, len(counts))).astype(np.int64)


MUTANTS = [halved, divided_by_root_two, none, reused(), one_for_all_cells, repeated_by_two]


@pytest.mark.parametrize("stddev", [0.6, 3.0, 40.0])
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.__qualname__)
def test_wrong_gaussian_noise_is_seen(monkeypatch, mutant, stddev):
    monkeypatch.setattr(noise, "add_gaussian", mutant)
    with pytest.raises(AssertionError, match="does not follow"):
        checks_noise.check_gaussian(stddev, draws=10_000)


@pytest.mark.parametrize("stddev", [0.6, 3.0])
def test_rounding_down_is_seen(monkeypatch, stddev):
    monkeypatch.setattr(noise, "add_gaussian", biased_by_a_half)
    with pytest.raises(AssertionError, match="does not follow"):
        checks_noise.check_gaussian(stddev)


def test_a_wrong_scale_is_seen(monkeypatch):
    monkeypatch.setattr(noise, "gaussian_scale", lambda square, rho: REAL_SCALE(square, 2 * rho))
    with pytest.raises(AssertionError, match="does not follow"):
        checks_noise.check_gaussian(3.0, draws=10_000)


def test_two_calls_differ():
    zeros = np.zeros(50, dtype=np.int64)
    assert (noise.add_gaussian(zeros, 100.0) != noise.add_gaussian(zeros, 100.0)).any()
    chosen = [tuple(noise.top_k(np.zeros(50, dtype=np.int64), 5, scale=1.0)) for _ in range(3)]
    assert len(set(chosen)) > 1


def test_add_gaussian_keeps_shape_type_and_input():
    counts = np.array([5, -7, 2**40], dtype=np.int64)
    noisy = noise.add_gaussian(counts, 2.0**-18)
    assert noisy.dtype == np.int64
    assert noisy.tolist() == counts.tolist() == [5, -7, 2**40]
    assert noise.add_gaussian(np.zeros(0, dtype=np.int64), 3.0).shape == (0,)


@pytest.mark.parametrize("scale", [noise.LEAST_SCALE, 0.7, 1e6, 2.0**45, noise.MOST_SCALE])
def test_no_count_overflows(scale):
    extreme = np.array([np.iinfo(np.int64).min, np.iinfo(np.int64).max], dtype=np.int64)
    for _ in range(20):
        low, high = noise.add_gaussian(extreme, scale).tolist()
        assert -(2**62) < low < 2**62
        assert -(2**62) < high < 2**62
        assert scale > 2.0**50 or low < -(2**60) < 2**60 < high


@calm
@given(st.integers(-(2**63), 2**63 - 1), st.integers(-(2**66), 2**66))
def test_clamping_the_noise_is_seen_by_no_one(count, drawn):
    """What comes out is the clamped sum of the clamped count and the noise as it would be without any clamping."""
    most = 2**61 - 1
    exact = max(-most, min(most, count)) + drawn
    sent = np.array([max(-(2**63), min(2**63 - 1, drawn))], dtype=np.int64)  # what the library's numbers hold
    made = noise._added(np.array([count], dtype=np.int64), sent)
    assert made.tolist() == [max(-2 * most, min(2 * most, exact))]


@pytest.mark.parametrize("scale", [0.0, -1.0, math.nan, math.inf, 2.0**-21, 2.0**201])
def test_a_scale_out_of_range_is_refused(scale):
    with pytest.raises(UserError, match="scale"):
        noise.add_gaussian(np.zeros(1, dtype=np.int64), scale)
    with pytest.raises(UserError, match="scale"):
        noise.top_k(np.zeros(2, dtype=np.int64), 1, scale=scale)


@calm
@given(st.integers(-(2**63), 2**63 - 1), st.integers(0, 60))
def test_rounding_by_shifts_is_exact(value, shift):
    rounded = noise._round_shift(np.array([value], dtype=np.int64), shift)[0]
    assert int(rounded) == math.floor(Fraction(value, 2**shift) + Fraction(1, 2))


@calm
@given(st.floats(2.0**-20, 2.0**56))
def test_the_lattice_is_fine_enough(scale):
    drawn = []

    def record(*_, scale):
        drawn.append(scale)
        return lambda zeros: zeros

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(noise, "make_gaussian", record)
        noise.add_gaussian(np.zeros(1, dtype=np.int64), scale)
    shift = math.log2(drawn[0] / scale)
    assert shift == int(shift) >= 0
    assert drawn[0] >= 2.0**40
    assert shift == 0 or drawn[0] < 2.0**41


positive = st.floats(1e-9, 1e6)
squares = st.one_of(st.integers(1, 10**6), st.fractions(min_value=Fraction(1, 1000), max_value=1000))


@calm
@given(squares, positive)
def test_scales_are_the_least_that_the_rho_pays_for(square, rho):
    scale = noise.gaussian_scale(square, rho)
    assert Fraction(square) <= 2 * Fraction(rho) * Fraction(scale) ** 2
    assert Fraction(square) > 2 * Fraction(rho) * Fraction(math.nextafter(scale, 0)) ** 2
    assert noise.gaussian_cost(square, scale) <= rho


@calm
@given(squares, positive)
def test_costs_are_rounded_up(square, scale):
    cost, exact = noise.gaussian_cost(square, scale), Fraction(square) / (2 * Fraction(scale) ** 2)
    assert Fraction(math.nextafter(cost, 0)) < exact <= Fraction(cost)


@pytest.mark.parametrize(("square", "scale"), [(1, 0.6), (2, 3.0), (50, 40.0)])
def test_gaussian_cost_equals_opendp(square, scale):
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T="f64")
    oracle = dp.m.make_gaussian(*space, scale=scale * 2.0**40).map(math.sqrt(square) * 2.0**40)
    assert noise.gaussian_cost(square, scale) == pytest.approx(oracle, rel=1e-12)


@pytest.mark.parametrize(("sensitivity", "k", "scale"), [(1, 1, 3.0), (2, 1, 0.7), (1, 2, 5.0), (3, 7, 11.0)])
def test_top_k_cost_equals_opendp(sensitivity, k, scale):
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.linf_distance(T="i64", monotonic=False)
    oracle = dp.m.make_noisy_top_k(*space, dp.zero_concentrated_divergence(), k=k, scale=scale).map(sensitivity)
    assert noise.top_k_cost(sensitivity, k, scale=scale) == pytest.approx(oracle, rel=1e-12)
    assert noise.top_k_cost(sensitivity, k, scale=noise.top_k_scale(sensitivity, k, rho=0.3)) <= 0.3


@pytest.mark.parametrize("k", [1, 2])
def test_selection_follows_its_law(k):
    checks_noise.check_selection(SCORES, k, scale=2.0)


def noiseless(scores, k, *, scale):
    return [int(index) for index in np.argsort(-scores)[:k]]


def half_scale(scores, k, *, scale):
    return REAL_TOP_K(scores, k, scale=scale / 2)


def permute_and_flip(scores, k, *, scale):
    noisy = scores + np.random.default_rng().exponential(scale, len(scores))
    return [int(index) for index in np.argsort(-noisy)[:k]]


def same_winner_again(scores, k, *, scale):
    """Chooses the first by the law, the rest in order of the scores."""
    first = REAL_TOP_K(scores, 1, scale=scale)[0]
    return [first, *(int(i) for i in np.argsort(-scores) if i != first)][:k]


@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("mutant", [noiseless, half_scale, permute_and_flip])
def test_wrong_selection_is_seen(monkeypatch, mutant, k):
    monkeypatch.setattr(noise, "top_k", mutant)
    with pytest.raises(AssertionError, match="does not follow"):
        checks_noise.check_selection(SCORES, k, scale=2.0, draws=3_000)


def test_selection_noisy_only_once_is_seen(monkeypatch):
    monkeypatch.setattr(noise, "top_k", same_winner_again)
    with pytest.raises(AssertionError, match="does not follow"):
        checks_noise.check_selection(SCORES, 2, scale=2.0, draws=3_000)


def test_top_k_without_root_k_is_seen(monkeypatch):
    monkeypatch.setattr(noise, "top_k_scale", lambda sensitivity, k, *, rho: REAL_TOP_K_SCALE(sensitivity, 1, rho=rho))
    with pytest.raises(AssertionError, match="does not follow"):
        checks_noise.check_selection(SCORES, 2, scale=2.0, draws=3_000)


def test_asking_for_all_returns_all_in_order():
    scores = np.array([3, 900, -5], dtype=np.int64)
    assert noise.top_k(scores, 3, scale=1.0) == noise.top_k(scores, 7, scale=1.0) == [0, 1, 2]
    assert noise.top_k(np.zeros(0, dtype=np.int64), 1, scale=1.0) == []
    with pytest.raises(UserError, match="k = 0"):
        noise.top_k(scores, 0, scale=1.0)


@pytest.mark.parametrize("scale", [0.6, 10.0, 1000.0])
@pytest.mark.parametrize("delta", [1e-12, 1e-9, 1e-3])
@pytest.mark.parametrize("rows", [1, 5])
def test_threshold_is_the_least_that_delta_allows(scale, delta, rows):
    def shown(least):
        return rows * stats.norm.sf((least - 0.5 - rows) / scale)

    least = noise.threshold(scale, delta, rows=rows)
    assert isinstance(least, int)
    assert shown(least) <= delta
    assert shown(least - 1) > delta * (1 - 1e-3)


def test_threshold_holds_in_draws():
    least = noise.threshold(4.0, 0.05, rows=1)
    shown = (noise.add_gaussian(np.ones(20_000, dtype=np.int64), 4.0) >= least).sum()
    assert stats.binom.sf(shown - 1, 20_000, 0.05) > 1e-9  # a false alarm once in 1e9, or less often
    assert shown > 0


@pytest.mark.parametrize(("delta", "rows"), [(0.0, 1), (1.0, 1), (math.nan, 1), (1e-9, 0)])
def test_a_wrong_threshold_is_refused(delta, rows):
    with pytest.raises(UserError, match="threshold"):
        noise.threshold(1.0, delta, rows=rows)


@pytest.mark.parametrize(("square", "rho"), [(0, 1.0), (1, 0.0), (1, math.inf), (1, math.nan), (-1, 1.0)])
def test_wrong_calibration_is_refused(square, rho):
    with pytest.raises(UserError, match="noise: found"):
        noise.gaussian_scale(square, rho)


def test_there_is_no_seed():
    import inspect

    for function in (noise.add_gaussian, noise.top_k):
        assert not {"seed", "key", "rng", "generator"} & set(inspect.signature(function).parameters)


@pytest.mark.parametrize("scale", [2.0**-20, 0.3, 1.0, 2.5, 1e6])
def test_the_lattice_is_as_fine_as_the_accounting_assumes(monkeypatch, scale):
    """Conversions as a continuous Gaussian hold for noise of at least 2^40 lattice steps."""
    seen = []

    def recorded(*space, scale):
        seen.append(scale)
        return lambda zeros: zeros

    monkeypatch.setattr(noise, "make_gaussian", recorded)
    noise.add_gaussian(np.zeros(2, dtype=np.int64), scale)
    assert 2.0**noise.LATTICE_BITS <= seen[0] < 2.0 ** (noise.LATTICE_BITS + 1)
