"""Random rounding: the right chances for every row, totals kept where that is promised, the same key the same rows."""

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import chi2, norm

from sundog.axis import Axis
from sundog.errors import UserError
from sundog.keys import key_of
from sundog.rounding import codes_in_cells, round_independently, round_systematically
from sundog.schema import Categorical, Numeric, Schema
from sundog.soft import Layout, SoftRows

SCHEMA = Schema(
    (
        Categorical("colour", ("red", "green", "blue"), nullable=True),
        Numeric("age", "integer", 0, 9, nullable=True),
        Numeric("hours", "integer", 0, 24),
        Categorical("only", ("one",)),
        Numeric("fixed", "integer", 3, 3),
    )
)
ROUNDINGS = [round_independently, round_systematically]
REPEATS = 500
LEAST_P = 1e-8
both = pytest.mark.parametrize("rounding", ROUNDINGS)


def soft_rows(rows, seed=0):
    random = np.random.default_rng(seed)
    layout = Layout.of(SCHEMA, binned={"hours": Axis.cut(SCHEMA.column("hours"), [0, 6, 12])})
    values = [
        random.dirichlet(np.ones(4), rows),
        random.random(rows),
        random.dirichlet(np.ones(3), rows),
        np.ones((rows, 1)),
        np.zeros(rows),
    ]
    missing = (None, jnp.asarray(random.random(rows)), None, None, None)
    return SoftRows(layout, tuple(jnp.asarray(value) for value in values), missing)


@pytest.fixture(scope="module", params=ROUNDINGS)
def draws(request):
    """Five soft rows and many roundings of them."""
    soft = soft_rows(5)
    return soft, [request.param(key_of(seed), soft) for seed in range(REPEATS)]


def check_frequencies(counts, chances, repeats):
    """Each row of a table of counts is multinomial: every chi-square stands, with a correction for their number."""
    statistics = ((counts - repeats * chances) ** 2 / (repeats * chances)).sum(axis=1)
    assert (chi2.sf(statistics, chances.shape[1] - 1) > LEAST_P / len(counts)).all()


def test_every_row_has_the_chances_of_its_soft_row(draws):
    soft, repeats = draws
    for place in (0, 2):
        axis = soft.layout.axes[place]
        table = np.zeros((5, axis.size))
        for rows in repeats:
            np.add.at(table, (np.arange(5), rows.cells(axis)), 1)
        check_frequencies(table, np.asarray(soft.values[place], dtype=float), REPEATS)


def test_two_columns_are_independent_given_the_soft_row(draws):
    soft, repeats = draws
    table = np.zeros((5, 12))
    for rows in repeats:
        np.add.at(table, (np.arange(5), rows.column("colour") * 3 + rows.cells(soft.layout.axes[2])), 1)
    chances = np.einsum("ra,rb->rab", *(np.asarray(soft.values[place]) for place in (0, 2))).reshape(5, 12)
    check_frequencies(table, chances, REPEATS)


def test_a_number_keeps_its_mean_and_its_chance_to_be_missing(draws):
    soft, repeats = draws
    found, chance = np.stack([rows.column("age") for rows in repeats]), np.asarray(soft.missing[1])
    absent = found == 10
    error = norm.isf(LEAST_P / 2) * np.sqrt(chance * (1 - chance) / REPEATS)
    assert (np.abs(absent.mean(axis=0) - chance) <= error).all()
    exact = np.asarray(soft.values[1], dtype=float) * 9
    for row in range(5):
        there = found[~absent[:, row], row]
        assert set(there) <= {np.floor(exact[row]), np.ceil(exact[row])}
        assert abs(there.mean() - exact[row]) <= norm.isf(LEAST_P / 2) * 0.5 / np.sqrt(len(there))


def test_independent_rows_are_independent_of_each_other():
    soft = soft_rows(1)
    codes = round_independently(key_of(0), soft, oversample=40_000).column("colour").reshape(-1, 2)
    chances = np.multiply.outer(*[np.asarray(soft.values[0][0], dtype=float)] * 2).reshape(1, 16)
    check_frequencies(np.bincount(codes @ [4, 1], minlength=16)[None], chances, len(codes))


@both
@pytest.mark.parametrize("oversample", [1, 3])
def test_each_soft_row_gives_so_many_rows_next_to_each_other(rounding, oversample):
    layout = Layout.of(SCHEMA)
    exact = round_independently(key_of(1), soft_rows(40))
    again = rounding(key_of(2), SoftRows.from_rows(exact, layout), oversample=oversample)
    assert len(again) == 40 * oversample
    for before, after in zip(exact.codes, again.codes, strict=True):
        np.testing.assert_array_equal(np.repeat(before, oversample), after)


@pytest.mark.parametrize("rows", [1, 2, 7, 500])
@pytest.mark.parametrize("oversample", [1, 4])
def test_systematic_rounding_keeps_every_cell_total_within_one(rows, oversample):
    for seed in range(3):
        soft = soft_rows(rows, seed=seed)
        rounded = round_systematically(key_of(seed), soft, oversample=oversample)
        for place in (0, 2, 3):
            axis = soft.layout.axes[place]
            expected = oversample * np.asarray(soft.values[place], dtype=float).sum(axis=0)
            found = np.bincount(rounded.cells(axis), minlength=axis.size)
            assert np.abs(found - expected).max() < 1 + 1e-3
        missing = oversample * float(np.asarray(soft.missing[1], dtype=float).sum())
        assert abs((rounded.column("age") == 10).sum() - missing) < 1 + 1e-3


def test_independent_rounding_does_not_keep_totals():
    soft = soft_rows(500)
    expected = np.asarray(soft.values[0], dtype=float).sum(axis=0)
    rows = round_independently(key_of(0), soft)
    assert np.abs(np.bincount(rows.column("colour"), minlength=4) - expected).max() > 3


def test_systematic_rounding_of_certain_and_impossible_cells():
    chances = np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 0.5, 0.5, 0.0], [0.0, 0.5, 0.5, 0.0]])
    schema = Schema((SCHEMA.columns[0],))
    soft = SoftRows(Layout.of(schema), (jnp.asarray(chances),), (None,))
    seen = set()
    for seed in range(16):
        codes = round_systematically(key_of(seed), soft).column("colour").tolist()
        seen.add(tuple(codes))
    assert seen == {(0, 1, 2), (0, 2, 1)}


@both
def test_the_same_key_gives_the_same_rows_and_another_key_others(rounding):
    soft = soft_rows(200)
    first, same, other = (rounding(key_of(seed), soft) for seed in (5, 5, 6))
    for column in ("colour", "age", "hours"):
        np.testing.assert_array_equal(first.column(column), same.column(column))
        assert (first.column(column) != other.column(column)).any()


@both
def test_codes_fill_their_bins(rounding):
    soft = soft_rows(2000)
    hours = rounding(key_of(3), soft).column("hours")
    assert set(hours.tolist()) == set(range(25))


def test_merged_labels_are_drawn_among_their_own():
    axis = Axis.grouped(SCHEMA.column("colour"), [1, 0, 1, 0])
    positions = np.array([0.0, 0.49, 0.5, 0.99])
    assert codes_in_cells(axis, np.zeros(4, int), positions).tolist() == [1, 1, 3, 3]
    assert codes_in_cells(axis, np.ones(4, int), positions).tolist() == [0, 0, 2, 2]


@both
def test_no_oversampling_below_one(rounding):
    with pytest.raises(UserError, match="oversample = 0"):
        rounding(key_of(0), soft_rows(2), oversample=0)
