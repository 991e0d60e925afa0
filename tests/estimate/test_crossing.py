"""Quantiles inside wide pieces: intervals narrower than the piece that still hold the value."""

import numpy as np

from sundog.estimate.crossing import Rising

ENDS = np.array([99, 199, 299])


def rising(counts, probability, *, stddev):
    """Of rows in three pieces of 100 codes."""
    total = counts.sum()
    return Rising.of((np.cumsum(counts) - probability * total)[None], np.full((1, 3), stddev**2), ends=ENDS)


def test_a_crossing_lies_evenly_within_its_piece():
    found = rising(np.array([1000.0, 2000.0, 1000.0]), 0.5, stddev=1.0)
    assert found.crossing() == 149
    low, high = found.interval(1.96)
    assert 100 < low < 149 < high < 199


def test_noise_widens_the_interval_and_single_codes_are_not_cut():
    counts = np.array([1000.0, 2000.0, 1000.0])
    widths = [np.ptp(rising(counts, 0.5, stddev=stddev).interval(1.96)) for stddev in (1.0, 100.0, 400.0)]
    assert widths == sorted(widths)
    assert widths[2] > widths[0]
    single = Rising.of(np.array([[-5.0, 10.0]]), np.array([[1.0, 1.0]]), ends=np.array([0, 1]))
    assert [end.tolist() for end in single.interval(1.96)] == [[1.0], [1.0]]


def test_intervals_hold_the_median_of_rows_that_lie_in_a_piece_by_chance():
    random, held = np.random.default_rng(7), 0
    for _ in range(300):
        codes = random.integers(0, 300, 2000)
        counts = np.bincount(codes // 100, minlength=3) + random.normal(0, 10.0, 3)
        low, high = rising(counts, 0.5, stddev=10.0).interval(1.96)
        held += low[0] <= np.sort(codes)[999] <= high[0]
    assert held >= 0.93 * 300


def test_without_the_variance_inside_a_piece_they_would_not(monkeypatch):
    """The same rows, taken to lie evenly: the mutant that the check above must see."""
    random, held = np.random.default_rng(7), 0
    monkeypatch.setattr("sundog.estimate.crossing.POINTS", 100)
    for _ in range(300):
        codes = random.integers(0, 300, 2000)
        counts = np.bincount(codes // 100, minlength=3).astype(float)
        found = rising(counts, 0.5, stddev=1e-3)
        held += found.crossing()[0] == np.sort(codes)[999]
    assert held < 0.5 * 300
