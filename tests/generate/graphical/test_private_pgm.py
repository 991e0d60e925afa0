import jax.numpy as jnp
import numpy as np
import pytest

from example_tables import SCHEMA, table
from sundog.domain.unit import PrivacyUnit
from sundog.estimate.bins import Bins, leaves_of
from sundog.generate import Graphical
from sundog.generate.graphical.targets import model_axes, targets_of
from sundog.queries import Marginal, answer
from sundog.random.keys import key_of
from sundog.released import Guarantee, Measurement, Released
from sundog.sources import open_table

REAL = open_table(table()).read(SCHEMA)
PAIRS = (("colour", "warm"), ("colour", "grade"), ("size", "grade"))


def release(queries, *, stddev=0.5, factor=1) -> Released:
    """Measurements whose values are exact, for a table of this many copies of the rows."""
    measured = tuple(Measurement(query, answer(query, REAL) * factor, stddev, "1") for query in queries)
    return Released(SCHEMA, measured, Guarantee(PrivacyUnit("replace"), "zcdp", 0.1), public_rows=len(REAL) * factor)


def one_way():
    return [Marginal.of(SCHEMA, name) for name in SCHEMA.names]


def binned(pairs=PAIRS):
    return Bins(most=8).rebin(tuple(Marginal.of(SCHEMA, *pair) for pair in pairs), release(one_way()))


def fitted(released, generator=None, start=None):
    generator = generator or Graphical()
    return generator.fit(key_of(0), start or generator.init(key_of(1), SCHEMA), released=released)


@pytest.fixture(scope="module")
def state():
    return fitted(release([*one_way(), *binned()]))


def distance(answered, query):
    return float(np.abs(answered - answer(query, REAL) / len(REAL)).sum())


def test_what_was_measured_without_noise_is_reproduced(state):
    for query in (*one_way(), *binned()):
        assert distance(Graphical().answer(state, query), query) < 0.02


def test_what_was_not_measured_follows_by_conditional_independence(state):
    table_of = {
        pair: Graphical().answer(state, Marginal.of(SCHEMA, *pair))
        for pair in (("colour", "warm"), ("colour", "grade"))
    }
    warm, grade = (table_of[pair].reshape(5, -1) for pair in table_of)
    expected = np.einsum("cw,cg->wg", warm, grade / warm.sum(axis=1, keepdims=True))
    assert np.allclose(
        Graphical().answer(state, Marginal.of(SCHEMA, "warm", "grade")).reshape(2, 5), expected, atol=1e-9
    )


def test_rows_agree_with_answers(state):
    rows = Graphical().sample(key_of(3), state, rows=40_000)
    for query in (*one_way(), *binned(), Marginal.of(SCHEMA, "size", "colour")):
        counted = answer(query, rows) / len(rows)
        assert np.abs(counted - Graphical().answer(state, query)).sum() < 0.03


def test_the_same_key_gives_the_same_rows(state):
    made = [Graphical().sample(key_of(3), state, rows=100) for _ in range(2)]
    assert all(np.array_equal(*columns) for columns in zip(made[0].codes, made[1].codes, strict=True))


def test_different_bins_for_the_same_column_fit_together():
    coarse = Marginal.of(SCHEMA, "size", "warm", bins=3)
    state = fitted(release([*one_way(), *binned(), coarse]))
    for query in (*binned(), coarse):
        assert distance(Graphical().answer(state, query), query) < 0.02


def test_a_thousand_million_rows_fit_as_well_as_a_few_and_precision_is_set_only_here(state):
    large = fitted(release([*one_way(), *binned()], factor=250_000))
    for query in binned():
        assert np.allclose(Graphical().answer(large, query), Graphical().answer(state, query), atol=1e-5)
    assert large.tree.tables[0].dtype == np.float64
    assert jnp.zeros(1).dtype == jnp.float32


def test_few_steps_fit_as_well_as_many():
    """Momentum must build up: a descent that restarts at every other step would need thousands."""
    queries = [*one_way(), *binned(), Marginal.of(SCHEMA, "warm", "grade")]
    few, many = (fitted(release(queries), Graphical(iterations=n, tolerance=0.0)) for n in (300, 3000))
    for query in queries:
        assert distance(Graphical().answer(few, query), query) < distance(Graphical().answer(many, query), query) + 0.01


def test_a_fitted_model_takes_in_another_measurement_and_keeps_its_tree_where_it_can(state):
    again = fitted(release([*one_way(), *binned(), *binned()]), start=state)
    assert again.tree.cliques == state.tree.cliques
    extra = Marginal.of(SCHEMA, "warm", "grade")
    more = fitted(release([*one_way(), *binned(), extra]), start=state)
    assert distance(Graphical().answer(more, extra), extra) < 0.02


def test_what_was_measured_twice_counts_as_one_more_precise_measurement():
    query = Marginal.of(SCHEMA, "colour")
    values = answer(query, REAL)
    twice = release([query]).with_measurements(
        (Measurement(query, values + 30, 1.0, "1"), Measurement(query, values - 10, 0.5, "2"))
    )
    (target,) = targets_of(twice, model_axes(twice, [leaves_of(twice)[name] for name in SCHEMA.names]))
    assert np.allclose(target.values, (values - 2) / len(REAL))
    assert np.allclose(target.precisions, 5 * len(REAL) ** 2)


def test_a_model_beyond_the_limit_keeps_what_it_can_hold_and_says_so(monkeypatch):
    released = release([*one_way(), *binned()])
    whole = fitted(released)
    assert whole.left_out == 0
    assert Graphical().ending(whole).note == ""
    monkeypatch.setattr("sundog.generate.graphical.private_pgm.CELL_MEGABYTES", 1.0)
    small = Graphical(megabytes=sum(table.size for table in whole.tree.tables) - 1)
    state = fitted(released, small)
    assert 0 < state.left_out < len(binned())
    assert sum(len(clique) > 1 for clique in state.tree.cliques) >= 1
    assert f"cannot hold: {state.left_out}" in small.ending(state).note
    tiny = fitted(release(binned()), Graphical(megabytes=1))
    assert tiny.left_out == len(binned())
    assert all(len(clique) == 1 for clique in tiny.tree.cliques)
    for axis in {axis for query in binned() for axis in query.axes}:
        assert distance(Graphical().answer(tiny, Marginal((axis,))), Marginal((axis,))) < 0.02


def test_the_size_with_a_query_is_the_size_after_it(state):
    extra = Marginal.of(SCHEMA, "warm", "grade")
    held, foretold = Graphical().megabytes_with(state, [binned()[0], extra])
    after = fitted(release([*one_way(), *binned(), extra]))
    assert foretold == pytest.approx(sum(t.size for t in after.tree.tables) * 8 / 2**20)
    assert foretold > held == pytest.approx(sum(t.size for t in state.tree.tables) * 8 / 2**20)


def test_a_public_table_supplies_the_relations_that_were_not_measured():
    generator = Graphical()
    with_public = fitted(release(one_way()), start=generator.init_public(key_of(0), SCHEMA, public=REAL))
    without = fitted(release(one_way()))
    query = Marginal.of(SCHEMA, "colour", "warm")
    assert distance(generator.answer(with_public, query), query) < 0.02
    assert distance(generator.answer(without, query), query) > 0.5


def test_a_measurement_outweighs_the_public_table():
    generator = Graphical()
    shuffled = type(REAL)(SCHEMA, (np.roll(REAL.codes[0], 7), *REAL.codes[1:]))
    start = generator.init_public(key_of(0), SCHEMA, public=shuffled)
    state = fitted(release([*one_way(), *binned()]), start=start)
    for query in binned():
        assert distance(generator.answer(state, query), query) < 0.02
