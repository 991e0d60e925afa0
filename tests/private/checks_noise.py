"""Statistical checks of the noise, with known power: importable, so that a suite of mutants can call them.

Each check calls `noise.<function>` through the module, so that a monkeypatched function is the one under test. A check
fails (AssertionError) if some p-value is below 1e-8 in two independent runs: a false alarm once in 1e16.
"""

from collections import Counter
from itertools import permutations

import numpy as np
from scipy import stats

from sundog.private import noise

SIGNIFICANCE = 1e-8


def check_gaussian(stddev, draws=200_000):
    """Noise calibrated to stddev (by rho, through gaussian_scale) has the exact law of a rounded Gaussian."""
    _fails_twice(lambda: gaussian_p_values(stddev, draws))


def check_selection(scores, k, *, scale, draws=10_000):
    """Selection calibrated to the scale (by rho, through top_k_scale) follows the sequential exponential law."""
    _fails_twice(lambda: selection_p_values(scores, k, scale=scale, draws=draws))


def gaussian_p_values(stddev, draws):
    scale = noise.gaussian_scale(1, 1 / (2 * stddev**2))
    counts = np.arange(draws // 2, dtype=np.int64) % 101 - 20
    first, second = (noise.add_gaussian(counts, scale) - counts for _ in range(2))
    sample = np.concatenate([first, second])
    values, law = rounded_gaussian(stddev)
    return {
        "law": _chi_square(np.array([(sample == value).sum() for value in values]), law, len(sample)),
        "mean": _z(sample.mean() * np.sqrt(len(sample) / _moment(values, law, 2))),
        "variance": _variance(sample, values, law),
        "neighbouring cells": _correlation(first[:-1], first[1:]),
        "distant cells": _correlation(first[: len(first) // 2], first[-(len(first) // 2) :]),
        "neighbouring stretches": _correlation(
            first[: -noise.STRETCH], first[noise.STRETCH :]
        ),  # drawn by other threads
        "successive calls": _correlation(first, second),
    }


def rounded_gaussian(stddev):
    """The integers that matter and their probabilities Phi((y+.5)/s) - Phi((y-.5)/s)."""
    values = np.arange(-int(10 * stddev) - 3, int(10 * stddev) + 4)
    near = np.abs(values)
    return values, stats.norm.sf((near - 0.5) / stddev) - stats.norm.sf((near + 0.5) / stddev)


def selection_p_values(scores, k, *, scale, draws):
    rho = k / (2 * scale**2)
    scores = np.asarray(scores, dtype=np.int64)
    used = noise.top_k_scale(1, k, rho=rho)
    seen = Counter(tuple(noise.top_k(scores, k, scale=used)) for _ in range(draws))
    outcomes = list(permutations(range(len(scores)), k))
    law = np.array([sequential_law(scores / scale, outcome) for outcome in outcomes])
    return {"law": _chi_square(np.array([seen[outcome] for outcome in outcomes]), law, draws)}


def sequential_law(logits, outcome):
    """The probability of choosing `outcome` in this order, each by the exponential mechanism among those left."""
    weights = np.exp(logits - logits.max())
    probability, left = 1.0, weights.sum()
    for index in outcome:
        probability *= weights[index] / left
        left -= weights[index]
    return probability


def _fails_twice(p_values):
    for _ in range(2):
        found = p_values()
        failed = {name: p for name, p in found.items() if not p >= SIGNIFICANCE}
        if not failed:
            return
    raise AssertionError(f"the noise does not follow its law: p-values {failed}")


def _chi_square(observed, law, draws):
    """Pearson's test, with the outcomes expected fewer than 20 times (and those not listed) as one."""
    common = law * draws >= 20
    rest = draws - observed[common].sum()
    expected_rest = draws * (1 - law[common].sum())
    statistic = ((observed[common] - law[common] * draws) ** 2 / (law[common] * draws)).sum()
    if expected_rest < 5:
        return min(stats.chi2.sf(statistic, common.sum() - 1), stats.poisson.sf(rest - 1, max(expected_rest, 1e-12)))
    return stats.chi2.sf(statistic + (rest - expected_rest) ** 2 / expected_rest, common.sum())


def _variance(sample, values, law):
    second, fourth = _moment(values, law, 2), _moment(values, law, 4)
    return _z((np.mean(sample.astype(float) ** 2) - second) * np.sqrt(len(sample) / (fourth - second**2)))


def _moment(values, law, power):
    return float((law * values.astype(float) ** power).sum())


def _correlation(left, right):
    if not len(left):
        return 1.0
    if left.std() == 0 or right.std() == 0:
        return 0.0
    return _z(np.corrcoef(left, right)[0, 1] * np.sqrt(len(left)))


def _z(score):
    return 2 * stats.norm.sf(abs(score))
