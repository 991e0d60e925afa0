"""Columns of siblings without an order are drawn towards those of all rows, as far as their noise allows; tables of rows support those of siblings."""

from dataclasses import replace

import numpy as np

from sundog.domain import Categorical, Schema
from sundog.domain.axis import Axis
from sundog.domain.unit import PrivacyUnit
from sundog.estimate.bins import Leaves, leaves_of
from sundog.estimate.pairs.factors import Excess
from sundog.estimate.pairs.pool import Pooled, pool
from sundog.estimate.siblings import drawn_to_rows, of_both_siblings, with_own_alone
from sundog.queries import Marginal
from sundog.released import Guarantee, Measurement, Released

KIND = Categorical("p.kind", tuple("abcdefghijklmnopqrst"))
OTHER = replace(KIND, name="p.kind@2")
ROOTS, NOISE = 10_000, 100.0
SHARES = 0.8 ** np.arange(20) / sum(0.8 ** np.arange(20))


def released(shares, *columns):
    """What pairs say of columns that have these shares, with noise."""
    draw = np.random.default_rng(1)
    measured = []
    for column in columns:
        values = np.rint(ROOTS * shares + draw.normal(0, NOISE, len(shares))).astype(np.int64)
        measured.append(Measurement(Marginal((Axis.whole(column),)), values, NOISE, "r"))
    return Released(Schema((KIND, OTHER)), tuple(measured), Guarantee(PrivacyUnit("replace"), "zcdp", 1.0))


def rows(*, stddev=0.001):
    return {KIND.name: Leaves(KIND, Axis.whole(KIND), SHARES, stddev=stddev)}


def gap(measurement, shares):
    return 0.5 * float(np.abs(measurement.values / measurement.values.sum() - shares).sum())


def test_both_siblings_have_less_noise_where_they_are_like_all_rows():
    before = released(SHARES, KIND, OTHER)
    after = drawn_to_rows(before, rows())
    for old, new in zip(before.measurements, after.measurements, strict=True):
        assert gap(new, SHARES) < 0.5 * gap(old, SHARES)
        assert new.stddev < old.stddev


def test_what_is_clearly_different_stays():
    turned = SHARES[::-1]
    (new,) = drawn_to_rows(released(turned, KIND), rows()).measurements
    assert gap(new, turned) < 0.1
    assert gap(new, SHARES) > 0.6


def test_tables_and_columns_of_which_rows_say_nothing_stay_as_they_are():
    before = released(SHARES, KIND)
    table = Measurement(Marginal((Axis.whole(KIND), Axis.whole(OTHER))), np.zeros(400, np.int64), NOISE, "r")
    both = before.with_measurements((*before.measurements, table))
    assert drawn_to_rows(both, rows()).measurements[1] is table
    assert drawn_to_rows(before, rows(stddev=0.0)).measurements == before.measurements
    assert drawn_to_rows(before, {}).measurements == before.measurements


PARENT, PLACE = Categorical("h.kind", KIND.labels), Categorical("p.#place", tuple("abc"))


def alike(stddev):
    """A table of two columns that agree half of the time, with noise."""
    counts = ROOTS * (0.5 * np.diag(SHARES) + 0.5 * np.outer(SHARES, SHARES))
    return counts + np.random.default_rng(2).normal(0, stddev, counts.shape)


def of_parent(stddev):
    """What a table of a row's kind and its parent's says beyond independence."""
    axes = Axis.whole(KIND), Axis.whole(PARENT)
    return Excess(axes, alike(stddev) - ROOTS * np.outer(SHARES, SHARES), stddev)


def test_tables_of_rows_are_taken_for_both_siblings_and_places_for_none():
    place = Excess((Axis.whole(KIND), Axis.whole(PLACE)), np.zeros((20, 3)), NOISE)
    first, second = of_both_siblings([of_parent(NOISE), place], [KIND.name], scale=0.5)
    assert [axis.column for axis in first.axes] == ["p.kind", "h.kind"]
    assert [axis.column for axis in second.axes] == ["p.kind@2", "h.kind"]
    assert first.stddev == second.stddev == NOISE / 2
    np.testing.assert_allclose(second.counts, of_parent(NOISE).counts / 2)


def test_what_a_parent_tells_of_both_siblings_takes_noise_off_their_table():
    counts = np.rint(alike(NOISE).ravel()).astype(np.int64)
    table = Measurement(Marginal((Axis.whole(KIND), Axis.whole(OTHER))), counts, NOISE, "r")
    before = released(SHARES, KIND, OTHER)
    pairs = before.with_measurements((*before.measurements, table))
    leaves = {**leaves_of(pairs), PARENT.name: Leaves(PARENT, Axis.whole(PARENT), SHARES, stddev=0.001)}
    truth = alike(0.0).ravel() / ROOTS
    related = of_both_siblings([of_parent(NOISE / 4)], [KIND.name], scale=1.0)
    alone, supported = (pool(pairs, leaves, related=each).tables for each in ((), related))
    errors = [0.5 * np.abs(values / values.sum() - truth).sum() for ((_, values, _),) in (alone, supported)]
    assert errors[1] < 0.9 * errors[0]


def test_a_column_with_itself_is_cleaned_by_itself():
    both, mixed = Marginal((Axis.whole(KIND), Axis.whole(OTHER))), Marginal((Axis.whole(PARENT), Axis.whole(OTHER)))
    alone, supported = (
        Pooled({}, {}, tuple((query, np.full(400, value), NOISE) for query in (both, mixed))) for value in (1.0, 2.0)
    )
    assert [values[0] for _, values, _ in with_own_alone(supported, alone).tables] == [1.0, 2.0]
