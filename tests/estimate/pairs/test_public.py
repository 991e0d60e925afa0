"""A public table: believed where measured tables agree with it, worth nothing where they do not."""

import numpy as np
import pytest

from sundog.domain import Categorical, Numeric, Schema
from sundog.domain.rows import Rows
from sundog.domain.unit import PrivacyUnit
from sundog.estimate.pairs.public import RECEIPT, missed, public_pairs, said, with_columns
from sundog.queries import Marginal, answer
from sundog.queries.marginal import marginals
from sundog.released import Guarantee, Measurement, Released

ROWS = 5000
SCHEMA = Schema(
    (
        Categorical("a", tuple("uvwxy")),
        Categorical("b", tuple("uvwxy")),
        Categorical("c", tuple("uvw")),
        Numeric("d", "integer", 0, 9),
    )
)


def people(seed: int, rows: int = ROWS, *, turned: bool = False) -> Rows:
    """Columns a, b and d follow each other; `turned`: in the opposite way."""
    random = np.random.default_rng(seed)
    a = random.integers(0, 5, rows)
    b = np.where(random.random(rows) < 0.5, 4 - a if turned else a, random.integers(0, 5, rows))
    d = np.clip(2 * (4 - b if turned else b) + random.integers(-1, 2, rows), 0, 9)
    return Rows(SCHEMA, (a, b, random.integers(0, 3, rows), d))


def release(rows: Rows, *, stddev: float, pairs=(("a", "b"), ("a", "c")), seed: int = 0) -> Released:
    random = np.random.default_rng(seed)
    queries = [*(Marginal.of(SCHEMA, name) for name in SCHEMA.names), *(Marginal.of(SCHEMA, *pair) for pair in pairs)]
    measured = (
        Measurement(q, answer(q, rows) + np.rint(random.normal(0, stddev, q.size)).astype(int), stddev, "1")
        for q in queries
    )
    return Released(SCHEMA, tuple(measured), Guarantee(PrivacyUnit(), "gaussian", 1.0), public_rows=len(rows))


def judged(known: Released, public: Rows) -> float | None:
    pairs = [m for m in known.measurements if len(m.query.columns) == 2]
    return missed(list(zip(pairs, said(public, [m.query for m in pairs], known), strict=True)))


def shuffled(rows: Rows, seed: int = 5) -> Rows:
    random = np.random.default_rng(seed)
    return Rows(SCHEMA, tuple(random.permutation(codes) for codes in rows.codes))


@pytest.mark.parametrize("seed", range(5))
def test_a_table_of_the_same_population_is_believed_and_others_are_not(seed):
    known = release(people(seed), stddev=30.0, seed=seed)
    good = judged(known, people(seed + 100))
    assert good is not None
    assert good < 0.3
    assert judged(known, shuffled(people(seed + 100))) is None
    assert judged(known, people(seed + 100, turned=True)) is None


def test_what_the_noise_hides_is_not_believed():
    assert judged(release(people(0), stddev=3000.0), people(100)) is None


def test_a_pair_that_was_not_measured_is_as_in_the_public_table_with_the_released_columns():
    real = people(0)
    known = release(real, stddev=10.0)
    told = {m.query.columns: m for m in public_pairs(known, people(100))}
    assert set(told) == {query.columns for query in marginals(SCHEMA, k=2)}
    assert {m.receipt for m in told.values()} == {RECEIPT}
    pair = told["b", "d"]
    assert np.abs(pair.values - answer(pair.query, real)).sum() < 0.1 * ROWS
    np.testing.assert_allclose(pair.values.reshape(5, 10).sum(axis=1), known.measurements[1].values, atol=200)


def test_a_better_public_table_is_worth_more():
    known = release(people(0), stddev=10.0)
    large, small = (public_pairs(known, people(100, rows))[0].stddev for rows in (20_000, 300))
    assert large < small


def test_without_any_pair_it_is_believed():
    assert len(public_pairs(release(people(0), stddev=10.0, pairs=()), people(100))) == 6


def test_columns_are_drawn_towards_those_that_agree_and_stay_where_they_do_not():
    fine = Schema((Numeric("x", "integer", 0, 39),))
    random = np.random.default_rng(3)
    real, same = (Rows(fine, (np.minimum(random.geometric(0.1, 4000), 40) - 1,)) for _ in range(2))
    other = Rows(fine, (39 - same.codes[0],))
    query = Marginal.of(fine, "x")
    exact, values = answer(query, real), answer(query, real) + np.rint(random.normal(0, 40, 40)).astype(int)
    known = Released(
        fine, (Measurement(query, values, 40.0, "1"),), Guarantee(PrivacyUnit(), "gaussian", 1.0), public_rows=4000
    )
    near, far = (with_columns(known, public).measurements[0] for public in (same, other))
    error = np.abs(values - exact).sum()
    assert np.abs(near.values - exact).sum() < 0.6 * error
    assert near.stddev < 0.8 * 40
    assert far is known.measurements[0]


def test_a_column_that_is_wrong_on_a_coarse_level_is_not_drawn_on_the_fine_one_either():
    long = Schema((Numeric("x", "integer", 0, 999),))
    real = Rows(long, (np.arange(4000) % 300,))
    other = Rows(long, (999 - real.codes[0],))
    fine, coarse = (Marginal.of(long, "x", bins=bins) for bins in (500, 5))
    random = np.random.default_rng(4)
    measured = tuple(
        Measurement(q, answer(q, real) + np.rint(random.normal(0, 60, q.size)).astype(int), 60.0, "1")
        for q in (fine, coarse)
    )
    known = Released(long, measured, Guarantee(PrivacyUnit(), "gaussian", 1.0), public_rows=4000)
    assert with_columns(known, other).measurements == measured
    assert with_columns(known, real).measurements != measured


def test_nothing_changes_without_a_public_table():
    known = release(people(0), stddev=10.0)
    assert with_columns(known, None) is known
    assert public_pairs(known, None) == ()
