"""Rows on demand: they satisfy the condition, follow the model given it, and keep constraints; no support is said."""

from dataclasses import replace
from datetime import date

import numpy as np
import pytest

from noisy_releases import QUERIES, STDDEVS, release
from related_tables import DOCUMENT
from sundog.api.model import Model
from sundog.domain import Schema
from sundog.domain.axis import Axis
from sundog.domain.conditions import Inside, parse_condition, satisfied
from sundog.domain.where import condition_of
from sundog.errors import UserError
from sundog.estimate.hierarchy import hierarchical
from sundog.generate import Narrowing
from sundog.generate.narrowing import touched
from sundog.methods import where as where_module
from sundog.methods.recipes import recipe_of
from sundog.methods.where import sample_where
from sundog.queries import Marginal, answer
from sundog.random.keys import key_of

FEW = [(query, stddev) for query, stddev in zip(QUERIES, STDDEVS, strict=True) if len(query.columns) < 3]
RELEASED = release(3, queries=[query for query, _ in FEW], stddevs=[stddev for _, stddev in FEW])
SINGLE = release(3, queries=tuple(hierarchical(RELEASED.schema)), stddevs=STDDEVS[: len(hierarchical(RELEASED.schema))])
METHODS = ["auto", "mst", "independent", "private-gsd"]
CONDITIONS = [
    "x >= 37 and b = v",
    "a = q and y = true and x < 61",
    "a = p or x > 70",
    "not (a = r or z is missing) and x in (20, 21, 22, 47)",
]


@pytest.fixture(scope="module")
def models():
    return {
        name: Model.from_released(SINGLE if name == "independent" else RELEASED, method=name, seed=1)
        for name in METHODS
    }


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("text", CONDITIONS)
def test_rows_follow_the_model_given_the_condition(models, method, text):
    """As many rows drawn without it and then filtered are the oracle; sampling errors are about 0.01."""
    model = models[method]
    condition = parse_condition(text, model.released.schema)
    made = model.rows(20_000, where=text)
    assert len(made) == 20_000
    assert satisfied(condition, made).all()
    whole = model.rows(400_000, seed=9)
    kept = whole.take(np.flatnonzero(satisfied(condition, whole)))
    for column in made.schema.columns:
        query = Marginal((Axis.of(column),))
        shares = [answer(query, rows) / len(rows) for rows in (made, kept)]
        assert np.abs(shares[0] - shares[1]).sum() / 2 < 0.04, column.name
    x, z = made.schema.column("x"), made.schema.column("z")
    pair = Marginal((Axis.of(x, 6), Axis.of(z, 6)))
    shares = [answer(pair, rows) / len(rows) for rows in (made, kept)]
    assert np.abs(shares[0] - shares[1]).sum() / 2 < 0.05


def test_a_condition_that_filtering_would_hardly_meet_is_met_at_once(models, monkeypatch):
    """One value of a number inside a bin, with a rare label: far fewer draws than the table would need."""
    monkeypatch.setattr(where_module, "MOST_DRAWN", 60_000)
    for method in ("mst", "independent"):
        rows = models[method].rows(500, where="x = 83 and a = r and b = v")
        assert (rows.column("x") == 83).all()


def test_mappings_mean_what_texts_mean():
    schema = Schema.from_json(
        {
            "fields": [
                *DOCUMENT["fields"],
                {"name": "day", "type": "date", "constraints": {"minimum": "2023-01-01", "maximum": "2023-12-31"}},
            ]
        }
    )
    pairs = [
        ({"a": "p", "x": (60, 80)}, "a = p and x >= 60 and x <= 80"),
        ({"a": ["p", "r"]}, "a in (p, r)"),
        ({"x": (None, 10)}, "x <= 10"),
        ({"a": None}, "a is missing"),
        ({"y": True, "z": (0.25, None)}, "y = true and z >= 0.25"),
        ({"day": (date(2023, 3, 1), "2023-04-01")}, "day >= 2023-03-01 and day <= 2023-04-01"),
        ({"x": np.int64(7)}, "x = 7"),
    ]
    random = np.random.default_rng(0)
    codes = tuple(random.integers(0, column.size, 3000) for column in schema.columns)
    for mapping, text in pairs:
        found = [satisfied(condition_of(given, schema), _rows(schema, codes)) for given in (mapping, text)]
        assert np.array_equal(*found), text
        assert found[0].any(), text
    for wrong in ({}, {"x": (1, 2, 3)}, {"nobody": 1}, {"a": (1, 2)}, {"x": "many"}, 7):
        with pytest.raises(UserError):
            condition_of(wrong, schema)


def _rows(schema, codes):
    from sundog.domain.rows import Rows

    return Rows(schema, codes)


def test_no_support_is_said_and_so_is_a_condition_that_is_met_too_rarely(models, monkeypatch):
    with pytest.raises(UserError, match="no row of the model satisfies the condition"):
        models["private-gsd"].rows(10, where="x = 3 and x = 4")
    with pytest.raises(UserError, match="no row of the model satisfies the condition"):
        models["mst"].rows(10, where="x < 0")
    monkeypatch.setattr(where_module, "MOST_DRAWN", 100)
    monkeypatch.setattr(where_module, "ROUNDS", 1)
    monkeypatch.setattr(where_module, "LARGEST", 100)
    with pytest.raises(UserError, match=r"of \d+ rows that the model drew, \d+ satisfy the condition"):
        models["mst"].rows(400, where="x = 40 and z = 0.4 or x = 41 and z = 0.41")


def test_by_default_as_many_rows_as_the_table_has_of_them(models):
    made = models["mst"].rows(where="b = v")
    share = satisfied(parse_condition("b = v", made.schema), models["mst"].rows()).mean()
    assert len(made) == pytest.approx(share * RELEASED.rows, rel=0.01)
    assert models["mst"].sample(50, where={"b": "v"}).column("b").to_pylist() == ["v"] * 50


def test_constraints_hold_in_rows_given_a_condition():
    schema = Schema.from_json(
        {
            **DOCUMENT,
            "constraints": [
                {"name": "odd", "kind": "impossible", "where": {"a": "p", "y": True}},
                {"name": "high", "kind": "impossible", "where": {"b": "u", "x": {"minimum": 50}}},
            ],
        }
    )
    model = Model.from_released(replace(RELEASED, schema=schema), method="mst", seed=1)
    rows = model.sample(800, where="x >= 40 and a != r").to_pylist()
    assert len(rows) == 800
    assert not any((row["a"] == "p" and row["y"]) or (row["b"] == "u" and row["x"] >= 50) for row in rows)
    assert all(row["x"] >= 40 and row["a"] in ("p", "q") for row in rows)
    with pytest.raises(UserError, match=r"constraints|no row of the model"):
        model.rows(20, where="a = p and y = true")


def test_every_row_holding_and_graphical_generator_narrows(models):
    assert all(isinstance(model.recipe.generator, Narrowing) for model in models.values())
    assert all(model.drawing_note == "" for model in models.values())
    assert "cannot condition its model" in replace(models["mst"], recipe=recipe_of("rap")).drawing_note


def test_a_generator_that_cannot_narrow_draws_and_keeps(models):
    class Plain:
        def sample(self, key, state, *, rows):
            return models["mst"].recipe.generator.sample(key, state, rows=rows)

    condition = parse_condition("b = v", RELEASED.schema)
    given = {"schema": RELEASED.schema, "state": models["mst"].state, "condition": condition}
    assert not isinstance(Plain(), Narrowing)
    assert satisfied(condition, sample_where(key_of(1), Plain(), rows=300, **given)).all()


def test_touched_cells_hold_a_code_of_the_runs():
    column = RELEASED.schema.column("x")
    random = np.random.default_rng(1)
    for _ in range(50):
        starts = sorted(random.choice(np.arange(1, 99), 6, replace=False).tolist())
        low, high = sorted(random.choice(101, 2, replace=False).tolist())
        for axis in (Axis.cut(column, starts), Axis.grouped(column, (np.arange(100) % 7).tolist()), Axis.whole(column)):
            expected = np.zeros(axis.size, dtype=bool)
            expected[axis.cells(np.arange(low, high))] = True
            assert np.array_equal(touched(Inside("x", ((low, high),)), axis), expected)
