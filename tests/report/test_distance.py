"""Distances lie between 0 and 1, whatever the noise, and what noise alone gives is what it gives."""

import numpy as np
import pytest

from sundog.estimate.answers import Pooled
from sundog.report.distance import distance


def pooled(counts, stddev, seed=0):
    noise = np.random.default_rng(seed).normal(0, stddev, len(counts))
    return Pooled(counts + noise, np.full(len(counts), stddev**2), ("m",))


def test_a_table_of_mostly_noise_is_at_most_all_of_its_rows_apart():
    counts = np.full(10_000, 0.05)
    apart, noise, _ = distance(pooled(counts, 30.0), counts, 500)
    assert 0.5 < apart <= 1
    assert 0.5 < noise <= 1
    assert apart == pytest.approx(noise, abs=0.05)


def test_noise_alone_explains_noise_and_not_a_shift():
    counts = np.random.default_rng(1).multinomial(20_000, np.full(100, 0.01)).astype(float)
    apart, noise, _ = distance(pooled(counts, 5.0), counts, 20_000)
    assert apart == pytest.approx(noise, rel=0.25)
    shifted = np.roll(counts, 1) + np.where(np.arange(100) < 50, 40.0, -40.0)
    assert distance(pooled(counts, 5.0), shifted, 20_000)[0] > 4 * noise


def test_an_exact_table_is_nothing_apart():
    counts = np.array([300.0, 200.0, 100.0])
    assert distance(pooled(counts, 0.0), counts, 600) == pytest.approx((0.0, 0.0, 0.0), abs=1e-12)


def test_noise_in_a_table_of_few_cells_is_within_its_reach():
    """There it often is more than half as far again as on average."""
    counts = np.full(4, 500.0)
    found = [distance(pooled(counts, 40.0, seed), counts, 2000) for seed in range(400)]
    assert sum(apart > 1.5 * noise + 0.005 for apart, noise, _ in found) > 10
    assert sum(apart > reach for apart, _, reach in found) <= 1
