"""Private-GSD: the change of loss is exact for every class of queries, and rows start and end as they should."""

import numpy as np
import pytest

from generate.genetic.genetic_cases import (
    NAMES,
    SCHEMA,
    a_search,
    effort,
    exact,
    fitted,
    own_ranges,
    queries_of,
    released,
)
from sundog.domain import Schema
from sundog.domain.rows import Rows
from sundog.errors import UserError
from sundog.generate.genetic.candidates import donated
from sundog.generate.genetic.compile import Compiled
from sundog.generate.genetic.forms import FORMS
from sundog.generate.genetic.private_gsd import Genetic
from sundog.generate.genetic.start import margins, uniform_start
from sundog.queries import CLASSES, BinaryTree, Marginal, answer
from sundog.random.keys import key_of


def test_there_is_a_case_for_every_class_of_queries():
    assert {type(query) for query in queries_of("all")} == set(FORMS)
    assert set(CLASSES) - {"shared"} == set(NAMES)  # of linked tables, which have a search of their own
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
    assert accepted > 5
    assert np.allclose(search.residuals, residuals, atol=1e-6)
    assert before + change == pytest.approx(float(np.sum(search.weights * residuals**2)), rel=1e-9, abs=1e-9 * before)
    assert change < 0


def test_atoms_are_what_queries_tell_apart():
    queries = [own_ranges(age=(20, 30)), BinaryTree.of(SCHEMA, "region", "cost", levels=1)]
    compiled = Compiled.of(uniform_start(key_of(0), SCHEMA, rows=1), queries, [1.0, 1.0])
    starts = {axis.column: axis.firsts for axis in compiled.atoms.axes}
    assert starts["age"].tolist() == [0, 20, 30]
    assert starts["cost"].tolist() == [0, 252501, 505001]  # the middle of the grid, and missing
    assert starts["day"].tolist() == [0, 1461]
    assert starts["region"].tolist() == [0, 1, 2, 3, 4, 5]


def test_numbers_keep_their_grid_where_queries_do_not_look():
    rows = uniform_start(key_of(3), SCHEMA, rows=2000)
    _, state = fitted([BinaryTree.of(SCHEMA, "region", "cost", levels=3)], rows, rows=2000)
    assert len(np.unique(state.rows.column("cost"))) > 1500


def test_more_or_fewer_rows_repeat_or_leave_out_evenly():
    rows = uniform_start(key_of(3), SCHEMA, rows=50)
    generator, state = fitted(queries_of("marginal"), rows, rows=50, generations=10)
    assert generator.sample(key_of(0), state, rows=50) is state.rows
    number = {"name": "n", "type": "integer", "constraints": {"minimum": 0, "maximum": 49, "required": True}}
    seen = Rows(Schema.from_json({"fields": [number]}), (np.arange(50),))
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
    [({"rows": 0}, "'rows': found 0"), ({"mutations": 0, "crossovers": 0}, "candidate"), ({"changes": 2}, "operator")],
)
def test_settings_that_make_no_search_are_refused(settings, word):
    with pytest.raises(UserError, match=word):
        Genetic(**settings)


def test_donors_are_the_rows_and_then_those_of_earlier_datasets():
    rows, elites = np.array([[1], [2]]), np.array([[[3], [4]], [[5], [6]]])
    assert [donated(rows, elites, donor, 0) for donor in range(6)] == [1, 2, 3, 4, 5, 6]


def test_earlier_datasets_donate_where_there_are_any():
    queries, rows = queries_of("marginal"), uniform_start(key_of(3), SCHEMA, rows=400)
    alone, again, several = (fitted(queries, rows, rows=60, elite_size=size)[1] for size in (1, 1, 4))
    codes = [np.stack(state.rows.codes) for state in (alone, again, several)]
    assert np.array_equal(codes[0], codes[1])
    assert not np.array_equal(codes[0], codes[2])
