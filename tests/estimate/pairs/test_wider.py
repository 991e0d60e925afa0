"""Wider tables: expected from pairs without an interaction of three; cleaned without losing one, and without touching pairs."""

import numpy as np
import pytest

from sundog.domain import Categorical
from sundog.domain.axis import Axis
from sundog.estimate.pairs.wider import Known
from sundog.queries import Marginal

SIZE, ROWS = 4, 20_000.0
COLUMNS = {name: Categorical(name, labels=tuple(range(SIZE))) for name in "abc"}
FINE = {name: Axis.whole(column) for name, column in COLUMNS.items()}
COARSE = {name: Axis.grouped(column, [0, 0, 1, 1]) for name, column in COLUMNS.items()}


def log_linear(*, three: float, seed: int = 0) -> np.ndarray:
    """A table of three columns whose pairs interact, and all three by this much."""
    random = np.random.default_rng(seed)
    logs = sum(np.expand_dims(random.normal(0, 0.7, (SIZE, SIZE)), place) for place in range(3))
    table = np.exp(logs + three * random.normal(0, 1, (SIZE,) * 3))
    return table * ROWS / table.sum()


def known(table: np.ndarray, *, pairs: tuple[str, ...] = ("ab", "ac", "bc"), axes: dict[str, Axis] = FINE) -> Known:
    """What exact margins and pairs, the latter on these axes, say."""
    held = []
    for pair in pairs:
        (other,) = (place for place, name in enumerate("abc") if name not in pair)
        counts = table.sum(axis=other)
        if axes is COARSE:
            counts = np.add.reduceat(np.add.reduceat(counts, [0, 2], 0), [0, 2], 1)
        held.append((Marginal(tuple(axes[name] for name in pair)), counts.ravel()))
    margins = {name: table.sum(axis=tuple({0, 1, 2} - {place})) for place, name in enumerate("abc")}
    return Known(FINE, margins, held)


TABLE = Marginal(tuple(FINE.values()))


def test_pairs_alone_give_back_a_table_without_an_interaction_of_three():
    table = log_linear(three=0.0)
    assert np.abs(known(table).expected(TABLE) - table.ravel()).max() < 1.0


def test_the_order_of_a_pair_s_columns_does_not_matter():
    table = log_linear(three=0.0)
    held = known(table)
    turned = [(Marginal(query.axes[::-1]), counts.reshape(SIZE, SIZE).T.ravel()) for query, counts in held.pairs]
    assert Known(held.axes, held.margins, turned).expected(TABLE) == pytest.approx(held.expected(TABLE))


def test_without_a_pair_its_columns_are_independent_given_the_third():
    table = known(log_linear(three=0.0), pairs=("ab", "bc")).expected(TABLE).reshape(TABLE.shape)
    for b in range(SIZE):
        part = table[:, b]
        assert part * part.sum() == pytest.approx(np.outer(part.sum(axis=1), part.sum(axis=0)), rel=1e-6)


def test_pairs_on_coarser_cells_hold_on_these_cells():
    table = log_linear(three=0.0)
    found = known(table, axes=COARSE).expected(TABLE).reshape(TABLE.shape)
    for axis in range(3):
        shown, real = (
            np.add.reduceat(np.add.reduceat(each.sum(axis=axis), [0, 2], 0), [0, 2], 1) for each in (found, table)
        )
        assert shown == pytest.approx(real, abs=5.0)


def test_a_table_on_coarser_cells_than_its_pairs_has_their_sums():
    table = log_linear(three=0.0)
    query = Marginal(tuple(COARSE.values()))
    found = known(table).expected(query).reshape(query.shape)
    assert found.sum(axis=2) == pytest.approx(
        np.add.reduceat(np.add.reduceat(table.sum(axis=2), [0, 2], 0), [0, 2], 1), rel=1e-3
    )


def test_cleaning_keeps_an_interaction_that_noise_does_not_hide_and_drops_one_that_is_noise():
    random = np.random.default_rng(1)
    for three in (0.0, 1.0):
        table, stddev = log_linear(three=three).ravel(), 30.0
        noisy = table + random.normal(0, stddev, table.size)
        held = known(table.reshape(TABLE.shape))
        cleaned, guess = held.cleaned(TABLE, noisy, stddev=stddev), held.expected(TABLE)
        error = {name: np.abs(each - table).sum() for name, each in (("c", cleaned), ("n", noisy), ("g", guess))}
        assert error["c"] < 0.75 * error["n"]
        assert error["c"] < (0.5 * error["g"] if three else 0.4 * error["n"])


def test_noise_that_pairs_know_better_is_told_and_taken_off():
    table = log_linear(three=0.0)
    held = known(table)
    assert held.noise(TABLE) == pytest.approx((3 / 4) ** 1.5)  # (1 - 1/4)^3 of the variance
    assert known(table, pairs=()).noise(TABLE) == pytest.approx((1 - (1 + 3 * 3) / 64) ** 0.5)
    noise = np.random.default_rng(3).normal(0, 1.0, (2000, *TABLE.shape))
    for each in held._sums(TABLE):
        noise = np.stack([each.freed(one) for one in noise])
    assert noise.std() == pytest.approx(held.noise(TABLE), rel=0.02)


def test_cleaning_says_nothing_new_of_pairs():
    table = log_linear(three=1.0)
    noisy = table.ravel() + np.random.default_rng(2).normal(0, 100.0, table.size)
    cleaned = known(table).cleaned(TABLE, noisy, stddev=100.0).reshape(TABLE.shape)
    for axis in range(3):
        assert cleaned.sum(axis=axis) == pytest.approx(table.sum(axis=axis), rel=0.02)
