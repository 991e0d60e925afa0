"""Pooling: a table of two columns that follow each other comes out as sharp as it was measured."""

from dataclasses import replace

import numpy as np
import pytest

from sundog.domain import Categorical, Numeric, Schema
from sundog.domain.axis import Axis
from sundog.domain.unit import PrivacyUnit
from sundog.estimate.bins import leaves_of
from sundog.estimate.pairs import pool as pooling
from sundog.queries import Marginal
from sundog.released import Guarantee, Measurement, Released, Scores

SIZE, ROWS, STDDEV = 12, 24_000, 40.0
COLUMNS = tuple(Categorical(name, labels=tuple(range(SIZE))) for name in "ab")
NUMBER = COLUMNS[0], Numeric("b", "integer", 0, SIZE - 1)


def released(table, *, seed=0, columns=COLUMNS, targets=(), stddev=STDDEV):
    """Both columns alone and the pair, with noise."""
    axes = tuple(Axis.whole(column) for column in columns)
    random = np.random.default_rng(seed)
    exact = [(axes[:1], table.sum(axis=1)), (axes[1:], table.sum(axis=0)), (axes, table.ravel())]
    measured = [
        Measurement(Marginal(sides), np.rint(counts + random.normal(0, stddev, counts.size)).astype(int), stddev, "r")
        for sides, counts in exact
    ]
    schema, guarantee = Schema(columns, targets=targets), Guarantee(PrivacyUnit(), "gaussian", 1.0)
    return Released(schema, tuple(measured), guarantee, public_rows=ROWS)


def gap(table, *, seed):
    shown = released(table, seed=seed)
    ((_, values, _),) = pooling.pool(shown, leaves_of(shown)).tables
    return 0.5 * np.abs(values / values.sum() - table.ravel() / table.sum()).sum()


def test_a_table_with_empty_cells_comes_out_sharp(monkeypatch):
    table = np.diag(np.full(SIZE, 0.9)) + np.diag(np.full(SIZE - 1, 0.1), 1)
    table *= ROWS / table.sum()
    sharp = [gap(table, seed=seed) for seed in range(5)]
    monkeypatch.setattr(pooling, "emptiness", lambda values, *, expected, stddev: 0.0 * values)
    blurred = [gap(table, seed=seed) for seed in range(5)]
    assert np.mean(sharp) < 0.75 * np.mean(blurred)


def test_a_table_without_empty_cells_stays_as_it_is(monkeypatch):
    table = np.outer(np.arange(1, SIZE + 1), np.ones(SIZE)) + 3 * np.eye(SIZE)
    table *= ROWS / table.sum()
    kept = [gap(table, seed=seed) for seed in range(5)]
    monkeypatch.setattr(pooling, "emptiness", lambda values, *, expected, stddev: 0.0 * values)
    before = [gap(table, seed=seed) for seed in range(5)]
    assert np.mean(kept) < 1.02 * np.mean(before)


def taken_off(table, *, columns=NUMBER, targets, stddev):
    """How far the cleaned table is from what was measured, with the pooled margins."""
    shown = released(table, columns=columns, targets=targets, stddev=stddev)
    pooled = pooling.pool(shown, leaves_of(shown))
    ((_, values, _),) = pooled.tables
    sides = pooled.margins["a"], pooled.margins["b"]
    observed = pooling._independent(sides) + pooling._excess(shown.measurements[-1], pooling._independent(sides)).counts
    return np.abs(values.reshape(observed.shape) - observed).sum()


def even():
    """No cell is empty, so that cleaning alone takes anything off."""
    table = np.full((SIZE, SIZE), 4.0) + np.eye(SIZE)
    return table * ROWS / table.sum()


@pytest.mark.parametrize(("stddev", "least", "most"), [(STDDEV, 0.4, 0.65), (20 * STDDEV, 0.9, 1.0)])
def test_of_what_cleaning_takes_off_a_table_of_a_number_to_predict_half_is_put_back_where_noise_is_small(
    stddev, least, most
):
    before = taken_off(even(), targets=(), stddev=stddev)
    assert least * before < taken_off(even(), targets=("b",), stddev=stddev) < most * before


def test_nothing_is_put_back_where_labels_are_predicted():
    before, after = (taken_off(even(), columns=COLUMNS, targets=names, stddev=STDDEV) for names in ((), ("b",)))
    assert after == before


def fixing(*, seed, turned=False):
    """Labels of which all but one fix a target, and how far their cleaned table is off where no rows are."""
    table = np.zeros((SIZE, 2))
    table[np.arange(SIZE), np.arange(SIZE) % 2] = np.linspace(200, 2000, SIZE)
    table[-1] = 400, 600
    table *= ROWS / table.sum()
    columns = COLUMNS[0], Categorical("b", labels=("u", "v"))
    table, columns = (table.T, columns[::-1]) if turned else (table, columns)
    shown = released(table, seed=seed, columns=columns, targets=("b",))
    query, score = shown.measurements[-1].query, np.abs(table - np.outer(table.sum(1), table.sum(0)) / ROWS).sum()
    shown = replace(shown, scores=(Scores((query,), np.array([round(score)]), 100.0, "r"),))
    pooled = pooling.pool(shown, leaves_of(shown))
    ((_, values, _),) = pooled.tables
    return values[table.ravel() == 0].sum(), pooled.near == {query.columns}


@pytest.mark.parametrize("turned", [False, True])
def test_labels_that_all_but_fix_a_target_leave_few_rows_where_none_are(monkeypatch, turned):
    found = [fixing(seed=seed, turned=turned) for seed in range(10)]
    assert all(near for _, near in found)
    monkeypatch.setattr(pooling, "near_targets", lambda released, leaves: {})
    before = [fixing(seed=seed, turned=turned)[0] for seed in range(10)]
    assert np.mean([rows for rows, _ in found]) < 0.75 * np.mean(before)
