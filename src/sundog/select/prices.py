"""Prices: how to treat every table so that the expected error is least, at one common price of rho.

A table left out costs what it would show (its dependence); measured with c cells at price r of rho it costs what the resolution
misses plus the noise, kappa D c / sqrt(2 r). At a price lambda of rho the best r is (kappa D c / (2 sqrt 2 lambda))^(2/3), and the
option costs its bias plus 3 lambda r. Every table takes its cheapest option; lambda is found by bisection so that the budget is
used up. What was spent on a table before counts: it needs only the rest of its best r.

kappa is the share of the noise that survives in the synthetic rows: they average over many overlapping tables.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from sundog.domain.unit import PrivacyUnit
from sundog.queries import Query
from sundog.queries.sensitivity import gaussian_stddev

SAMPLING = 0.8
"""The mean absolute deviation of a count of mean m is about 0.8 sqrt(m)."""


@dataclass(frozen=True)
class Option:
    """A way to treat a table: what it misses (in rows), the query to measure, if any, and the rho spent on it before.

    `noise`: how many times kappa of its noise survives.
    """

    bias: float
    query: Query | None = None
    spent: float = 0.0
    noise: float = 1.0


def dependence(score: float, expected: Float[np.ndarray, " cells"]) -> float:
    """The L1 distance from independence that a noisy score shows, beyond what sampling alone would give."""
    sampling = SAMPLING * float(np.sqrt(np.maximum(expected, 0.0)).sum())
    return math.sqrt(max(score * abs(score) - sampling**2, 0.0))


def missed(fine: float, coarse: float, *, hidden: float) -> float:
    """What a coarse table misses, in rows: of the dependence that the fine one shows, and of a trend inside its own cells.

    Dependence that keeps its sign inside a coarse cell changes neither distance from independence. So at least the part of a steady trend that is `hidden`
    (of its square) is taken to be missed.
    """
    return math.sqrt(max(fine**2 - coarse**2, hidden * max(fine, coarse) ** 2))


def allocate(
    options: list[list[Option]], *, weights: Sequence[float], unit: PrivacyUnit, rho: float, kappa: float
) -> tuple[list[Query], list[float]]:
    """The queries to measure and the parts of rho for each, by the price at which the budget is used up."""
    ways = _laid_out(options, weights, unit=unit, kappa=kappa)
    low, high = 1e-12, 1e18
    for _ in range(200):
        price = math.sqrt(low * high)
        _, spent = _choices(ways, price)
        low, high = (price, high) if spent.sum() > rho else (low, price)
    chosen, spent = _choices(ways, high)
    if not spent.any():  # even the strongest pair is not worth its noise: measure it alone, so that rho is used
        best = int(np.argmax(ways.biases[:, 0]))
        return [_cheapest_table(options[best])], [1.0]
    measured = [(options[k][chosen[k]].query, float(spent[k])) for k in np.flatnonzero(spent)]
    return [query for query, _ in measured if query is not None], [part for _, part in measured]


@dataclass(frozen=True, eq=False)
class _Ways:
    """Every option's bias, the noise that it would bring at rho = 1/2, and the rho spent on it before."""

    biases: Float[np.ndarray, "tables ways"]
    strengths: Float[np.ndarray, "tables ways"]
    spent: Float[np.ndarray, "tables ways"]


def _laid_out(options: list[list[Option]], weights: Sequence[float], *, unit: PrivacyUnit, kappa: float) -> _Ways:
    """All options as arrays; ways that a table lacks are infinitely bad."""
    shape = len(options), max(len(ways) for ways in options)
    laid = _Ways(np.full(shape, np.inf), np.zeros(shape), np.zeros(shape))
    for k, (ways, weight) in enumerate(zip(options, weights, strict=True)):
        for place, way in enumerate(ways):
            laid.biases[k, place], laid.spent[k, place] = weight * way.bias, way.spent
            if way.query is not None:
                stddev = way.noise * gaussian_stddev(way.query, 0.5, unit=unit)
                laid.strengths[k, place] = weight * kappa * stddev * way.query.size
    return laid


def _choices(ways: _Ways, price: float) -> tuple[Int[np.ndarray, " tables"], Float[np.ndarray, " tables"]]:
    """At a price of rho: the cheapest option of every table, and what it would spend now."""
    parts = (ways.strengths / (2 * math.sqrt(2) * price)) ** (2 / 3)
    chosen = np.argmin(ways.biases + 3 * price * parts, axis=1)
    more = np.maximum(parts - ways.spent, 0.0)
    return chosen, np.take_along_axis(more, chosen[:, None], axis=1)[:, 0]


def _cheapest_table(ways: list[Option]) -> Query:
    return min((way.query for way in ways if way.query is not None), key=lambda query: query.size)
