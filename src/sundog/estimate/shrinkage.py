"""Empirical Bayes for noisy counts: the noise is known, the law of the true counts is learnt from all cells together.

Four laws, all mixtures whose weights are found by expectation maximisation and smoothed a little:

- `posterior_counts`: labels. Counts clear of the noise stay; the others are non-negative with a law on a grid (Kiefer and
  Wolfowitz 1956), so that a long tail of rare labels keeps its mass without a few of them taking it all.
- `shrunk_towards`: cells for which there is a guess. What they differ by is a mixture of normals of several widths (Stephens
  2017): most differences vanish, large ones stay.
- `emptiness`: cells of a table. How many times as many rows as under independence a cell holds follows a law on a grid (as for
  labels), of which 0 is one point: where columns nearly determine each other, most cells are empty.
- `shares_of_lines`: cells of a table whose lines all but fix the cell. The share of its line that a cell holds follows a law on a
  grid that starts with most of its weight on nothing and all.
"""

import numpy as np
from jaxtyping import Float

from sundog.estimate.nonnegative import nonnegative

CLEAR = 4.0
"""Counts from this many standard deviations on are distinguished from noise."""
FEWEST = 8
"""A law is not learnt from fewer cells."""
GRID = 50
WIDTHS = (0.0, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2)
"""How far cells differ from their guess, in units of the scale that is given."""
RATIOS = (0, 0.03, 0.1, 0.2, 0.35, 0.5, 0.7, 0.85, 1, 1.2, 1.5, 2, 2.8, 4, 5.6, 8, 11, 16, 23, 32, 64)
"""Of a cell's count to that under independence."""
SHARES = np.linspace(0, 1, 101)
"""Of a line's rows in one cell."""
PURE = 0.9
"""The first guess of how many cells hold nothing or all of their line."""
PRIOR = 5.0
"""The law starts as this many cells of its first guess."""
ITERATIONS = 100


def posterior_counts(values: Float[np.ndarray, " cells"], stddev: float, total: float) -> Float[np.ndarray, " cells"]:
    """Non-negative counts with the given sum."""
    faint = values < CLEAR * stddev
    if faint.sum() < FEWEST:
        return nonnegative(values, total)
    estimate = values.astype(float)
    left = max(total - float(values[~faint].sum()), 0.0)
    grid = np.linspace(0.0, (CLEAR + 1) * stddev, GRID)
    guess = np.exp(-grid / max(left / faint.sum(), stddev / GRID))
    weights = _mixed(-0.5 * ((values[faint, None] - grid) / stddev) ** 2, guess / guess.sum())
    means = np.maximum(weights @ grid, 1e-9)
    estimate[faint] = means * max(left / means.sum(), 0.05)
    return estimate * (total / estimate.sum())


def shrunk_towards(
    guess: Float[np.ndarray, " cells"],
    values: Float[np.ndarray, " cells"],
    *,
    stddev: Float[np.ndarray, " cells"],
    scale: Float[np.ndarray, " cells"],
) -> Float[np.ndarray, " cells"]:
    """The posterior means of cells that differ from their guess by some multiple of their scale."""
    if not len(values):
        return values
    noise = (stddev**2)[:, None]
    spread = (np.array(WIDTHS) * scale[:, None]) ** 2
    law = -0.5 * ((values - guess)[:, None] ** 2 / (noise + spread) + np.log(noise + spread))
    weights = _mixed(law, np.full(len(WIDTHS), 1 / len(WIDTHS)))
    return guess + (weights * spread / (noise + spread)).sum(axis=1) * (values - guess)


def emptiness(
    values: Float[np.ndarray, " cells"], *, expected: Float[np.ndarray, " cells"], stddev: float
) -> Float[np.ndarray, " cells"]:
    """For every cell of a noisy table the probability that it is empty; `expected` are the counts under independence."""
    means = expected[:, None] * np.array(RATIOS)
    weights = _mixed(-0.5 * ((values[:, None] - means) / stddev) ** 2, np.full(len(RATIOS), 1 / len(RATIOS)))
    return weights[:, 0]


def shares_of_lines(
    values: Float[np.ndarray, "lines cells"], *, lines: Float[np.ndarray, " lines"], stddev: float
) -> Float[np.ndarray, "lines cells"]:
    """The share of its line that every cell of a noisy table holds: as measured, unless it is likely to be nothing or all.

    `lines` are the lines' counts.
    """
    seen = values / lines[:, None]
    logs = -0.5 * ((seen[:, :, None] - SHARES) * (lines / stddev)[:, None, None]) ** 2
    guess = np.full(len(SHARES), (1 - PURE) / (len(SHARES) - 2))
    guess[[0, -1]] = PURE / 2
    weights = _mixed(logs.reshape(-1, len(SHARES)), guess).reshape(*values.shape, -1)
    nothing, everything = weights[..., 0], weights[..., -1]
    return everything + (1 - nothing - everything) * seen.clip(0, 1)


def _mixed(
    logs: Float[np.ndarray, "cells parts"], guess: Float[np.ndarray, " parts"]
) -> Float[np.ndarray, "cells parts"]:
    """For every cell the probabilities of the parts of the mixture, given the logarithms of its likelihoods."""
    likelihood = np.exp(logs - logs.max(axis=1, keepdims=True))
    law = guess
    for _ in range(ITERATIONS):
        joint = likelihood * law
        law = ((joint / joint.sum(axis=1, keepdims=True)).sum(axis=0) + PRIOR * guess) / (len(logs) + PRIOR)
    joint = likelihood * law
    return joint / joint.sum(axis=1, keepdims=True)
