"""Private-GSD does what its paper shows, stops when it should, and says why."""

import signal

import numpy as np
import pytest

from example_tables import SCHEMA as EXAMPLE
from example_tables import table
from generate.genetic.genetic_cases import SCHEMA, effort, exact, fitted, queries_of
from sundog import Synthesizer, load
from sundog.domain import Schema
from sundog.domain.rows import Rows
from sundog.generate import Genetic
from sundog.generate.genetic.search import Search
from sundog.generate.genetic.start import uniform_start
from sundog.progress import listening
from sundog.queries import Marginal, Ranges, answer
from sundog.queries.workload import Workload
from sundog.random.keys import key_of, uniforms


def one_number(maximum=1.0):
    bounds = {"minimum": 0, "maximum": maximum, "required": True}
    return Schema.from_json({"fields": [{"name": "x", "type": "number", "constraints": bounds}]})


@pytest.mark.parametrize("operator", ["every improvement", pytest.param("best of population", marks=pytest.mark.long)])
def test_figure_1_thresholds_around_one_value_are_matched_exactly(operator):
    schema = one_number()
    steps = schema.column("x").steps - 1
    codes = np.array([0.49, 0.50, 0.51]) * steps + 1
    prefixes = Ranges(("x",), np.zeros((3, 1), int), np.zeros((3, 1), int), codes.astype(int)[:, None])
    data = Rows(schema, (np.full(1000, steps // 2),))
    generator, state = fitted([prefixes], data, schema=schema, rows=1000, operator=operator)
    assert state.outcome.loss == 0
    assert generator.answer(state, prefixes).tolist() == [0, 1, 1]
    found = state.rows.unit_interval("x")
    assert ((found > 0.49) & (found <= 0.50)).all()


def sparse_schema(columns=5, size=1000):
    labels = [f"v{k}" for k in range(size)]
    fields = [
        {"name": f"c{k}", "type": "string", "categories": labels, "constraints": {"required": True}}
        for k in range(columns)
    ]
    return Schema.from_json({"fields": fields})


def sparse_rows(schema, rows=2000, values=20):
    draws = [
        np.floor(uniforms(key_of(k), rows) ** 2 * values).astype(int) * 37 % 1000 for k in range(len(schema.names))
    ]
    return Rows(schema, tuple(draws))


def test_figure_2_crossover_speeds_up_sparse_columns_of_a_thousand_labels():
    schema = sparse_schema()
    queries = Workload.marginals(schema, k=1).queries
    data = sparse_rows(schema)
    losses = {}
    for mutations, crossovers in ((200, 0), (100, 100)):
        start = uniform_start(key_of(1), schema, rows=500)  # the paper starts from uniform rows
        search = Search(start, queries, targets=exact(queries, data) / 4, weights=[1.0] * len(queries))
        settings = {"operator": "best of population", "window": 10**9, "generations": 2500}
        run = effort(mutations=mutations, crossovers=crossovers, **settings)
        losses[crossovers] = search.run(3, run).loss
    assert losses[100] < losses[0] / 10


def test_a_thousand_labels_are_matched_from_their_measurement():
    schema = sparse_schema(columns=2)
    data = sparse_rows(schema)
    queries = [*Workload.marginals(schema, k=1).queries, Marginal.of(schema, "c0", "c1")]
    generator, state = fitted(queries, data, schema=schema, rows=2000)
    errors = [np.abs(generator.answer(state, q) - answer(q, data) / 2000).sum() for q in queries]
    assert errors[0] < 0.01
    assert errors[2] < 0.3  # of a million cells; independent columns give 0.6


def test_table_4_one_change_a_candidate_beats_many():
    rows = uniform_start(key_of(9), SCHEMA, rows=3000)
    skewed = Rows(SCHEMA, tuple((codes // 3 + rows.codes[1] % 2) for codes in rows.codes))
    queries = Workload.trees(SCHEMA, levels=4).queries
    settings = {"rows": 200, "operator": "best of population", "generations": 1500, "window": 1e9}
    losses = {k: fitted(queries, skewed, stddev=5.0, changes=k, **settings)[1].outcome.loss for k in (1, 5, 25)}
    assert 1.1 * losses[1] < losses[5] < losses[25] / 1.1


def test_the_search_stops_early_and_says_why():
    rows = uniform_start(key_of(3), SCHEMA, rows=400)
    queries = queries_of("marginal")
    _, state = fitted(queries, rows, rows=100)
    assert state.outcome.stop == "early stop"
    assert state.outcome.generations % 100 == 0
    assert Genetic().ending(state).note == ""
    _, capped = fitted(queries, rows, rows=100, generations=3)
    assert capped.outcome.generations == 3
    assert "generations" in Genetic().ending(capped).note


def test_it_stops_at_the_noise_floor_when_asked():
    rows = uniform_start(key_of(3), SCHEMA, rows=4000)
    queries = queries_of("marginal")
    _, state = fitted(queries, rows, stddev=30.0, rows=500, stop_at_noise=True)
    assert state.outcome.stop == "noise floor"
    assert state.outcome.loss <= state.outcome.noise_floor == sum(query.size for query in queries)


def test_the_time_cap_returns_the_best_so_far_and_says_so():
    rows = uniform_start(key_of(3), SCHEMA, rows=400)
    _, state = fitted(queries_of("marginal"), rows, seconds=0.0, window=1e9)
    assert state.outcome.stop == "time cap"
    assert "time cap" in Genetic().ending(state).note
    assert len(state.rows) == 400


def test_ctrl_c_returns_the_best_so_far_and_says_so():
    rows, queries, told = uniform_start(key_of(3), SCHEMA, rows=400), queries_of("marginal"), []

    def press(message):
        told.append(message)
        signal.raise_signal(signal.SIGINT)

    with listening(press):
        _, state = fitted(queries, rows, window=1e9, generations=10**9)
    assert len(told) == 1
    assert "noise floor" in told[0]
    assert "generations/s" in told[0]
    assert Genetic().ending(state).interrupted
    assert "Ctrl-C" in Genetic().ending(state).note
    search = Search(state.rows, queries, targets=exact(queries, rows), weights=[12.0] * len(queries))
    assert search.loss == pytest.approx(state.outcome.loss)


@pytest.mark.parametrize("operator", ["every improvement", "best of population"])
def test_the_same_seed_gives_the_same_rows_and_another_one_others(operator):
    rows = uniform_start(key_of(3), SCHEMA, rows=300)
    first, again, other = (
        fitted(queries_of("all"), rows, seed=seed, rows=60, operator=operator, generations=300, stddev=3.0)[1]
        for seed in (1, 1, 2)
    )
    assert all(np.array_equal(a, b) for a, b in zip(first.rows.codes, again.rows.codes, strict=True))
    assert not all(np.array_equal(a, b) for a, b in zip(first.rows.codes, other.rows.codes, strict=True))


def test_missing_values_follow_their_measured_share():
    rows = uniform_start(key_of(3), SCHEMA, rows=1000)
    cost = np.where(np.arange(1000) < 400, SCHEMA.column("cost").missing, rows.column("cost"))
    data = Rows(SCHEMA, tuple(cost if name == "cost" else rows.column(name) for name in SCHEMA.names))
    pair = Marginal.of(SCHEMA, "cost", "region")
    _, state = fitted([pair], data, rows=1000)
    assert (state.rows.column("cost") == SCHEMA.column("cost").missing).sum() == pytest.approx(400, abs=3)
    assert state.rows.to_arrow().column("cost").null_count == pytest.approx(400, abs=3)


def test_a_column_with_one_value_and_a_table_of_one_row():
    schema = Schema.from_json(
        {
            "fields": [
                {"name": "only", "type": "string", "categories": ["a"], "constraints": {"required": True}},
                {"name": "flag", "type": "boolean", "constraints": {"required": True}},
            ]
        }
    )
    data = Rows(schema, (np.zeros(1, int), np.ones(1, int)))
    generator, state = fitted([Marginal.of(schema, "only", "flag")], data, schema=schema)
    assert [codes.tolist() for codes in state.rows.codes] == [[0], [1]]
    assert [codes.tolist() for codes in generator.sample(key_of(0), state, rows=3).codes] == [[0] * 3, [1] * 3]
    _, constant = fitted([Marginal.of(schema, "only")], data, schema=schema)
    assert constant.outcome.stop == "nothing to fit"


def user_run(tmp_path, method, *, report=None, **settings):
    """A whole run of a method on a small table."""
    options = {"rho": 0.5, "dataset": "shown", "seed": 7, "ledger": tmp_path / "ledger.db", "settings": settings}
    return Synthesizer(EXAMPLE, method=method, **options).fit(table(600), report=report).model


def test_the_user_is_told_of_a_time_cap(tmp_path):
    model = user_run(tmp_path, "private-gsd", seconds=0.0, window=1e9)
    assert "time cap" in model.note
    assert model.sample(50).num_rows == 50


def test_ctrl_c_ends_adaptive_rounds_and_says_so(tmp_path):
    told = []

    def press_once(message):
        told.append(message)
        if "generations/s" in message and sum("generations/s" in each for each in told) == 1:
            signal.raise_signal(signal.SIGINT)

    endless = {"window": 1e9, "generations": 10**9, "seconds": 2.0}  # so that every fit lasts until it tells of itself
    model = user_run(tmp_path, "private-gsd-adaptive", report=press_once, **endless)
    assert "Ctrl-C ended the rounds; what was measured so far is used" in told
    assert len(model.released.measurements) < 4 + 6
    assert model.sample(50).num_rows == 50


@pytest.mark.parametrize("method", ["private-gsd", "private-gsd-adaptive"])
def test_the_same_measurements_and_seed_give_the_same_table(tmp_path, method):
    model = user_run(tmp_path, method, rows=200)
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.sample(200).equals(model.sample(200))
