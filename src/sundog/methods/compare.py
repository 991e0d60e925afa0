"""Which method suits a release? Fit several and rank them, by released values only: no private data, no cost.

Measurements of several columns are held out in turn (cross-fitting): a method is fitted to the others and answers the
held-out ones. Their noise is known, so a model that were true would be off by one standard deviation:

    error^2 = mean over cells of ((rows * answer - value) / stddev)^2,        1 = the noise level.

Each held-out measurement counts alike. `fit` is the same for what the method was fitted to. Where too few tables of
several columns were measured to hold some out, only `fit` is there to rank by, and the comparison says so.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sundog.domain.linked.views import LinkedSchema
from sundog.errors import UserError
from sundog.estimate.repeats import without_repeats
from sundog.generate import Generator, can_use
from sundog.methods.recipes import METHODS, recipe_of
from sundog.random.keys import Key, key_of, permutation, split
from sundog.released import Measurement, Released
from sundog.sizes import whole_number

FEWEST_TABLES = 2


@dataclass(frozen=True)
class Standing:
    """How one method did, in standard deviations of the noise (1 is the noise level); or why it could not take part."""

    method: str
    held_out: float | None = None
    fit: float | None = None
    refused: str | None = None


def compare(
    released: Released,
    *,
    methods: Sequence[str] = (),
    folds: int = 3,
    seed: int = 0,
    report: Callable[[str], None] = lambda _: None,
) -> list[Standing]:
    """The methods, best first; those that cannot use the release come last. Methods with one generator share a result."""
    folds = whole_number("folds", folds, least=2)
    if not released.measurements:
        raise UserError("compare: this release holds no measurement; write one with: sundog measure.")
    if isinstance(released.schema, LinkedSchema):
        raise UserError(
            "compare: these are measurements of linked tables, which 'auto' alone can use, so there is nothing to rank. To "
            "compare methods on one of the tables, measure it by itself, with its own schema."
        )
    released = released.with_measurements(
        tuple(without_repeats(released.measurements))
    )  # else a repeat stays in a fold
    done: dict[Any, Standing] = {}
    standings = []
    for name in methods or METHODS:
        generator = recipe_of(name).generator
        if generator not in done:
            report(f"fitting {name}")
            done[generator] = _standing(name, generator, released, folds=folds, seed=seed)
        standings.append(Standing(name, done[generator].held_out, done[generator].fit, done[generator].refused))
    return sorted(standings, key=_rank)


def _rank(standing: Standing) -> tuple[bool, float]:
    error = standing.held_out if standing.held_out is not None else standing.fit
    return standing.refused is not None, error if error is not None else np.inf


def _standing(name: str, generator: Generator[Any], released: Released, *, folds: int, seed: int) -> Standing:
    unable = [m.query.describe() for m in released.measurements if not can_use(generator, m.query, released.schema)]
    if unable:
        return Standing(name, refused=f"cannot use {unable[0]}")
    key = key_of(seed)
    try:
        fit = _error(key, generator, released, on=released.measurements)
        held_out = _cross_fitted(key, generator, released, folds=folds)
    except UserError as error:
        return Standing(name, refused=str(error))
    return Standing(name, held_out, fit)


def _cross_fitted(key: Key, generator: Generator[Any], released: Released, *, folds: int) -> float | None:
    """The error on held-out tables of several columns; None where there are too few."""
    tables = [m for m in released.measurements if len(m.query.columns) > 1]
    if len(tables) < FEWEST_TABLES:
        return None
    order = permutation(key, len(tables))
    squares = []
    for fold in range(min(folds, len(tables))):
        held = [tables[k] for k in order[fold::folds]]
        kept = tuple(m for m in released.measurements if not any(m is out for out in held))
        error = _error(key, generator, released.with_measurements(kept), on=held, rows=released.rows)
        squares.append((error**2, len(held)))
    return float(np.sqrt(np.average([s for s, _ in squares], weights=[count for _, count in squares])))


def _error(
    key: Key, generator: Generator[Any], released: Released, *, on: Sequence[Measurement], rows: int | None = None
) -> float:
    """The root mean squared error of a generator fitted to a release, in standard deviations of the noise."""
    first, second = split(key, 2)
    state = generator.fit(second, generator.init(first, released.schema), released=released)
    count = released.rows if rows is None else rows
    squares = [np.mean(((generator.answer(state, m.query) * count - m.values) / m.stddev) ** 2) for m in on]
    return float(np.sqrt(np.mean(squares)))
