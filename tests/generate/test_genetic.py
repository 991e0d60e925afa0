"""Private-GSD: the change of loss is exact for every class of queries, and the search does what the paper shows."""

import signal

import numpy as np
import pytest

import tables
from sundog.axis import Axis
from sundog.errors import UserError
from sundog.generate.genetic import SUPPORTED, Genetic
from sundog.generate.genetic_atoms import Atoms
from sundog.generate.genetic_search import Effort, Search
from sundog.generate.genetic_start import margins, uniform_start
from sundog.keys import key_of, uniforms
from sundog.progress import listening
from sundog.queries import (
    CLASSES,
    AtLeast,
    BinaryTree,
    Conditional,
    GroupSums,
    Marginal,
    Moments,
    Ranges,
    SigmoidSum,
    answer,
)
from sundog.released import Guarantee, Measurement, Released
from sundog.rows import Rows
from sundog.schema import Schema
from sundog.unit import PrivacyUnit
from sundog.workload import Workload

SCHEMA = tables.schema()
NAMES = ["marginal", "tree", "ranges", "halfspaces", "conditional", "at_least", "moments", "sigmoid", "group_sums"]


def own_ranges(**columns):
    """One range query a keyword: name=(low, high), several conditions on one column allowed as a list."""
    names = tuple(columns)
    pairs = [(k, low, high) for k, name in enumerate(names) for low, high in np.atleast_2d(columns[name])]
    which, low, high = (np.array([column]) for column in zip(*pairs, strict=True))
    return Ranges(names, which, low, high)


def queries_of(name):
    grouped = Axis.grouped(SCHEMA.column("region"), [0, 1, 0, 2, 1, 1])
    made = {
        "marginal": [
            *Workload.marginals(SCHEMA, k=2, sample=9).queries,
            Marginal.of(SCHEMA, "age", "cost", "region"),
            Marginal((Axis.of(SCHEMA.column("age"), 7), grouped)),
        ],
        "tree": [BinaryTree.of(SCHEMA, "region", "cost", levels=4), BinaryTree.of(SCHEMA, "age", "seen", levels=2)],
        "ranges": [
            *Workload.prefixes(SCHEMA, count=30).queries,
            *Workload.ranges(SCHEMA, count=30, labels=2).queries,
            own_ranges(age=[(5, 70), (30, 111)], region=(1, 3)),
            own_ranges(cost=(7, 8)),  # hardly ever holds
            own_ranges(smoker=(0, 3), day=(0, 10**6)),  # always holds
        ],
        "halfspaces": [
            *Workload.halfspaces(SCHEMA, directions=7, thresholds=5).queries,
            Workload.halfspaces(SCHEMA, directions=7, thresholds=5).queries[0].subset([3, 4, 20]),
        ],
        "conditional": [
            *Workload.conditional_ranges(SCHEMA, targets=["smoker", "age"], count=9, numbers=2).queries,
            *Workload.conditional_thresholds(SCHEMA, targets=["region"], directions=4, thresholds=3).queries,
            Conditional(grouped, own_ranges(age=(5, 70))),
        ],
        "at_least": [
            AtLeast.of(SCHEMA, "region", "smoker", "grade", least=2),
            AtLeast.of(SCHEMA, "region", "age", least=1, bins=6),
            AtLeast.of(SCHEMA, "grade", "parity", least=2),
        ],
        "moments": [Moments(("age", "cost")), Moments(("cost", "seen", "day", "age"))],
        "sigmoid": [
            SigmoidSum(("age", "cost"), (0.7, -1.3), 0.1),
            SigmoidSum(("region", "seen", "cost"), (1.0, -0.5, 2.0), 0.9),
            SigmoidSum(("cost",), (-1.0,), -0.5),
        ],
        "group_sums": [
            GroupSums(grouped, "cost"),
            GroupSums(Axis.of(SCHEMA.column("age"), 7), "seen"),
            GroupSums(Axis.of(SCHEMA.column("smoker")), "age"),
        ],
    }
    return [query for queries in made.values() for query in queries] if name == "all" else made[name]


def exact(queries, rows):
    return np.concatenate([answer(query, rows) for query in queries]).astype(float)


def a_search(queries, *, rows=80, seed=0):
    start = uniform_start(key_of(seed), SCHEMA, rows=rows)
    other = uniform_start(key_of(seed + 100), SCHEMA, rows=rows)
    unit = {Moments: 1e-9, SigmoidSum: 1e-5, GroupSums: 1e-5}
    weights = [(0.5 + k % 3) * unit.get(type(query), 1.0) for k, query in enumerate(queries)]
    return Search(start, queries, targets=exact(queries, other) + 0.25, weights=weights)


def effort(**changed):
    settings = {
        "operator": "every improvement",
        "mutations": 5,
        "crossovers": 5,
        "elite_size": 2,
        "changes": 1,
        "generations": 60,
        "window": 1000,
        "tolerance": 1e-4,
        "seconds": None,
        "stop_at_noise": False,
    }
    return Effort(**(settings | changed))


def released(queries, rows, *, stddev=0.0, schema=SCHEMA, n=None):
    parts = (Measurement(query, answer(query, rows), stddev, "test") for query in queries)
    return Released(
        schema, tuple(parts), Guarantee(PrivacyUnit("replace"), "gaussian", 1.0), public_rows=n or len(rows)
    )


def fitted(queries, data, /, *, seed=0, schema=SCHEMA, n=None, stddev=0.0, **settings):
    generator = Genetic(**settings)
    known = released(queries, data, schema=schema, n=n, stddev=stddev)
    return generator, generator.fit(key_of(seed), generator.init(key_of(seed), schema), released=known)


def test_there_is_a_case_for_every_class_of_queries():
    assert {type(query) for query in queries_of("all")} == set(SUPPORTED)
    assert set(CLASSES) == set(NAMES)
    assert all(Genetic().supports(query) for query in queries_of("all"))


@pytest.mark.parametrize("name", [*NAMES, "all"])
@pytest.mark.parametrize(
    "operator", [{}, {"operator": "best of population"}, {"operator": "best of population", "changes": 3}]
)
def test_changes_add_up_to_what_recounting_gives(name, operator):
    queries = queries_of(name)
    search = a_search(queries)
    target = exact(queries, search.rows()) - search.residuals
    before = search.loss
    advance = search._advancer(5, effort(**operator))
    _, change, accepted = advance(60)
    residuals = exact(queries, search.rows()) - target
    assert accepted > 20
    assert np.allclose(search.residuals, residuals, atol=1e-6)
    assert before + change == pytest.approx(float(np.sum(search.weights * residuals**2)), rel=1e-9, abs=1e-9 * before)
    assert change < 0


def test_atoms_are_what_queries_tell_apart():
    atoms = Atoms.of_queries(SCHEMA, [own_ranges(age=(20, 30)), BinaryTree.of(SCHEMA, "region", "cost", levels=1)])
    starts = dict(zip(SCHEMA.names, atoms.starts, strict=True))
    assert starts["age"].tolist() == [0, 20, 30]
    assert starts["cost"].tolist() == [0, 252501, 505001]  # the middle of the grid, and missing
    assert starts["day"].tolist() == [0, 1461]
    assert starts["region"].tolist() == [0, 1, 2, 3, 4, 5]


def one_number(maximum=1.0):
    bounds = {"minimum": 0, "maximum": maximum, "required": True}
    return Schema.from_json({"fields": [{"name": "x", "type": "number", "constraints": bounds}]})


@pytest.mark.parametrize("operator", ["every improvement", "best of population"])
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


@pytest.mark.slow
def test_table_4_one_change_a_candidate_beats_many():
    rows = uniform_start(key_of(9), SCHEMA, rows=3000)
    skewed = Rows(SCHEMA, tuple((codes // 3 + rows.codes[1] % 2) for codes in rows.codes))
    queries = Workload.trees(SCHEMA, levels=4).queries
    settings = {"rows": 300, "operator": "best of population", "generations": 4000, "window": 1e9}
    losses = {k: fitted(queries, skewed, stddev=20.0, changes=k, **settings)[1].outcome.loss for k in (1, 5, 25)}
    assert losses[1] < losses[5] < losses[25]


def test_the_search_stops_early_and_says_why():
    rows = uniform_start(key_of(3), SCHEMA, rows=400)
    queries = queries_of("marginal")
    _, state = fitted(queries, rows, rows=100)
    assert state.outcome.stop == "early stop"
    assert state.outcome.generations % 100 == 0
    assert state.note == ""
    _, capped = fitted(queries, rows, rows=100, generations=3)
    assert capped.outcome.generations == 3
    assert "generations" in capped.note


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
    assert "time cap" in state.note
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
    assert state.interrupted
    assert "Ctrl-C" in state.note
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


def test_numbers_keep_their_grid_where_queries_do_not_look():
    rows = uniform_start(key_of(3), SCHEMA, rows=2000)
    _, state = fitted([BinaryTree.of(SCHEMA, "region", "cost", levels=3)], rows, rows=2000)
    assert len(np.unique(state.rows.column("cost"))) > 1500


def test_more_or_fewer_rows_repeat_or_leave_out_evenly():
    rows = uniform_start(key_of(3), SCHEMA, rows=50)
    generator, state = fitted(queries_of("marginal"), rows, rows=50, generations=10)
    assert generator.sample(key_of(0), state, rows=50) is state.rows
    seen = Rows(SCHEMA, tuple(np.arange(50) for _ in SCHEMA.names))
    for wanted in (20, 50, 120, 1):
        drawn = generator.sample(key_of(0), type(state)(seen), rows=wanted).codes[0]
        counts = np.bincount(drawn, minlength=50)
        assert len(drawn) == wanted
        assert counts.max() - counts.min() <= 1


def test_the_start_follows_one_way_measurements_or_else_margins_of_tables():
    rows = uniform_start(key_of(3), SCHEMA, rows=500)
    pair, tree = Marginal.of(SCHEMA, "grade", "region"), BinaryTree.of(SCHEMA, "region", "cost", levels=3)
    found = {
        m.query.columns[0]: m for m in margins(released([pair, tree, Marginal.of(SCHEMA, "grade")], rows, stddev=2.0))
    }
    assert found["grade"].values.tolist() == answer(Marginal.of(SCHEMA, "grade"), rows).tolist()
    assert found["region"].values.tolist() == answer(Marginal.of(SCHEMA, "region"), rows).tolist()
    assert found["region"].stddev < 2.0 * 3**0.5  # pooled over four tables
    assert found["cost"].query.axes[0].size == 9


def test_a_fitted_state_goes_on_from_its_rows():
    rows = uniform_start(key_of(3), SCHEMA, rows=500)
    queries = queries_of("marginal")
    generator, state = fitted(queries, rows, rows=100)
    again = generator.fit(key_of(5), state, released=released(queries, rows))
    assert again.outcome.loss <= state.outcome.loss
    changed = sum((a != b).sum() for a, b in zip(state.rows.codes, again.rows.codes, strict=True))
    assert changed < 100  # of 900 cells


@pytest.mark.parametrize(
    ("settings", "word"),
    [({"rows": 0}, "rows is 0"), ({"mutations": 0, "crossovers": 0}, "candidate"), ({"changes": 2}, "operator")],
)
def test_settings_that_make_no_search_are_refused(settings, word):
    with pytest.raises(UserError, match=word):
        Genetic(**settings)
