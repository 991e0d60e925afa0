"""Single columns among the measures: pooled with what is known, as fine as it pays, and matched by the rows."""

import numpy as np
import pytest

from postprocess.tiny_supports import SCHEMA, table
from sundog.domain import Categorical, Schema
from sundog.domain.axis import Axis
from sundog.domain.rows import Rows
from sundog.estimate.hierarchy import hierarchical
from sundog.postprocess.columns import IN_ALL, LEAST, MOST_NUMBERS, column_estimates, held_columns
from sundog.postprocess.match import match
from sundog.postprocess.matching import Matching
from sundog.queries import Marginal, Moments, answer
from sundog.random.keys import key_of
from sundog.released import Measurement
from sundog.sources import open_table

REAL = open_table(table(3000, seed=5, slope=0.8)).read(SCHEMA)
LONG = Schema.from_json(
    {
        "fields": [
            {"name": f"n{k}", "type": "integer", "constraints": {"minimum": 0, "maximum": 99_999, "required": True}}
            for k in range(3)
        ]
        + [{"name": "few", "type": "boolean", "constraints": {"required": True}}]
    }
)


def measured(query, rows, *, stddev, seed):
    noise = np.round(np.random.default_rng(seed).normal(0, stddev, query.size)).astype(np.int64)
    return Measurement(query, answer(query, rows) + noise, stddev, "r")


def test_other_queries_stay_as_they_are():
    moments = measured(Moments(("x", "y")), REAL, stddev=5.0, seed=0)
    pair = measured(Marginal.of(SCHEMA, "g", "t"), REAL, stddev=5.0, seed=1)
    made = column_estimates([moments, pair], SCHEMA, rows=3000.0)
    assert made == [moments, pair]


def test_what_is_known_of_a_column_counts_by_its_precision():
    query = Marginal.of(SCHEMA, "g")
    truth = answer(query, REAL)
    asked, known = (measured(query, REAL, stddev=sd, seed=3) for sd in (90.0, 3.0))
    (alone,) = column_estimates([asked], SCHEMA, rows=3000.0)
    (pooled,) = column_estimates([asked], SCHEMA, known=[known, asked], rows=3000.0)
    assert pooled.stddev == pytest.approx((90.0**-2 + 3.0**-2) ** -0.5)
    assert np.abs(pooled.values - truth).sum() < np.abs(alone.values - truth).sum()


def test_what_known_tables_say_of_a_column_counts_as_well():
    query = Marginal.of(SCHEMA, "g")
    truth = answer(query, REAL)
    asked = measured(query, REAL, stddev=90.0, seed=3)
    pair = measured(Marginal.of(SCHEMA, "g", "t"), REAL, stddev=3.0, seed=4)
    (alone,) = column_estimates([asked], SCHEMA, rows=3000.0)
    (pooled,) = column_estimates([asked], SCHEMA, known=[pair, asked], rows=3000.0)
    assert pooled.query == alone.query
    assert pooled.stddev < 10
    assert np.abs(pooled.values - truth).max() < 20 < np.abs(alone.values - truth).max()


def test_tables_cut_otherwise_than_the_bins_count_too():
    random = np.random.default_rng(0)
    numbers = {f"n{k}": random.integers(0, 100_000, 5000).tolist() for k in range(3)}
    rows = open_table(numbers | {"few": [True] * 5000}).read(LONG)
    own = [measured(q, rows, stddev=60.0, seed=4) for q in hierarchical(LONG) if q.columns == ("n0",)]
    cut = Axis.cut(LONG.column("n0"), range(0, 100_000, 3331))
    pair = measured(Marginal((cut, Axis.whole(LONG.column("few")))), rows, stddev=2.0, seed=5)

    def error(known):
        (made,) = column_estimates(own, LONG, known=known, rows=5000.0)
        return np.abs(np.cumsum(made.values - answer(made.query, rows))).mean()

    assert error([pair, *own]) < 0.5 * error(own)


def test_a_known_column_that_was_not_asked_for_is_not_matched():
    asked = measured(Marginal.of(SCHEMA, "g"), REAL, stddev=3.0, seed=0)
    known = measured(Marginal.of(SCHEMA, "t"), REAL, stddev=3.0, seed=1)
    assert [m.query.columns for m in column_estimates([asked], SCHEMA, known=[known], rows=3000.0)] == [("g",)]


def test_long_columns_are_binned_to_what_can_be_solved():
    random = np.random.default_rng(0)
    numbers = {f"n{k}": random.integers(0, 100_000, 500).tolist() for k in range(3)}
    rows = open_table(numbers | {"few": [True] * 500}).read(LONG)
    made = column_estimates([measured(q, rows, stddev=2.0, seed=4) for q in hierarchical(LONG)], LONG, rows=500.0)
    assert [m.query.columns for m in made] == [("n0",), ("n1",), ("n2",), ("few",)]
    assert sum(m.query.size for m in made) <= 1.3 * IN_ALL
    assert made[-1].query.axes[0] == Axis.whole(LONG.column("few"))
    assert all(m.values.sum() == pytest.approx(500, abs=0.6 * m.query.size) for m in made)


def test_rows_get_the_columns_right():
    wrong = open_table(table(2000, seed=6)).read(SCHEMA)
    kept = wrong.codes[2] != 1  # two thirds of one label's rows are gone
    kept |= np.arange(2000) % 3 == 0
    thinned = type(wrong)(SCHEMA, tuple(codes[kept] for codes in wrong.codes))
    queries = [Marginal((Axis.whole(column),)) for column in SCHEMA.columns]
    done = match(
        key_of(0),
        thinned,
        measurements=[measured(query, REAL, stddev=2.0, seed=7) for query in queries],
        total=3000.0,
        matching=Matching(resample="weights"),
    )
    weights = done.rows.weights / done.rows.weights.sum()
    for query in queries:
        wanted = answer(query, REAL) / 3000
        assert np.abs(weights @ query.vectors(done.rows) - wanted).max() < 0.01


def test_a_coarser_axis_that_is_known_does_not_displace_what_was_asked():
    column = LONG.column("n0")
    rows = open_table({f"n{k}": [j * 97 for j in range(1000)] for k in range(3)} | {"few": [True] * 1000}).read(LONG)
    asked = measured(Marginal((Axis.cut(column, range(0, 100_000, 5000)),)), rows, stddev=1.0, seed=0)
    other = measured(Marginal((Axis.cut(column, range(0, 100_000, 300)),)), rows, stddev=300.0, seed=1)
    (made,) = column_estimates([asked], LONG, known=[other], rows=1000.0)
    assert (made.query, made.stddev) == (asked.query, pytest.approx(1.0))


def test_joined_labels_have_the_noise_of_all_of_them():
    schema = Schema((Categorical("job", labels=tuple(range(5000))),))
    rows = Rows(schema, (np.random.default_rng(0).integers(0, 5000, 20_000),))
    (made,) = column_estimates([measured(Marginal.of(schema, "job"), rows, stddev=8.0, seed=2)], schema, rows=20_000.0)
    assert made.query.size <= IN_ALL
    errors = made.values - answer(made.query, rows)
    assert np.sqrt((errors**2).mean()) < 3 * made.stddev


@pytest.mark.parametrize(("columns", "labels"), [(1, 900), (100, 20), (60, 20)])
def test_there_are_never_many_more_cells_than_can_be_solved(columns, labels):
    schema = Schema(tuple(Categorical(f"c{k}", labels=tuple(range(labels))) for k in range(columns)))
    rows = Rows(schema, tuple(np.arange(2000) % labels for _ in range(columns)))
    asked = [measured(Marginal.of(schema, name), rows, stddev=0.5, seed=3) for name in schema.names]
    assert sum(m.query.size for m in column_estimates(asked, schema, rows=2000.0)) <= IN_ALL


def test_more_synthetic_rows_hold_columns_more_coarsely_and_too_many_hold_none():
    rng = np.random.default_rng(0)
    rows = Rows(LONG, (*(rng.integers(0, 100_000, 2000) for _ in range(3)), rng.integers(0, 2, 2000)))
    known = [measured(query, rows, stddev=5.0, seed=k) for k, query in enumerate(hierarchical(LONG))]

    def cells(synthetic):
        held = held_columns([], LONG, known=known, rows=2000.0, synthetic=synthetic)
        return sum(m.query.size for m in held)

    few = LEAST * len(LONG.columns)
    assert cells(2000) > 100
    assert cells(2000) <= IN_ALL
    assert few / 2 < cells(MOST_NUMBERS // 40) <= 40
    assert cells(MOST_NUMBERS // few) <= few
    assert cells(MOST_NUMBERS // few + MOST_NUMBERS) == 0
