"""Hard constraints hold in every synthetic row of every method, and repairs change as little as they can."""

from dataclasses import fields, replace

import numpy as np
import pytest

import sundog
from sundog.domain import Schema
from sundog.domain.rows import Rows
from sundog.errors import UserError
from sundog.generate.projection.adam import Descent
from sundog.methods.recipes import METHODS
from sundog.postprocess import constraints
from sundog.postprocess.constraints import enforce, repaired, violations
from sundog.random.keys import key_of, split, uniforms

DOCUMENT = {
    "name": "wards",
    "fields": [
        {"name": "admitted", "type": "date", "constraints": {"minimum": "2024-01-01", "maximum": "2024-03-31", "required": True}},
        {"name": "left", "type": "date", "constraints": {"minimum": "2024-01-01", "maximum": "2024-04-30"}},
        {"name": "fee", "type": "integer", "constraints": {"minimum": 0, "maximum": 60, "required": True}},
        {"name": "extra", "type": "integer", "constraints": {"minimum": 0, "maximum": 60, "required": True}},
        {"name": "total", "type": "integer", "constraints": {"minimum": 0, "maximum": 100, "required": True}},
        {"name": "sex", "type": "string", "categories": ["f", "m"], "constraints": {"required": True}},
        {"name": "pregnant", "type": "boolean"},
        {"name": "ward", "type": "string", "categories": list("abcdef"), "constraints": {"required": True}},
        {"name": "floor", "type": "integer", "constraints": {"minimum": 0, "maximum": 4, "required": True}},
    ],
    "constraints": [
        {"name": "order", "kind": "compare", "left": "admitted", "operator": "<=", "right": "left"},
        {"name": "bill", "kind": "sum", "columns": ["fee", "extra"], "equals": "total"},
        {"name": "share", "kind": "ratio", "numerator": "extra", "denominator": "fee", "maximum": 0.8},
        {"name": "biology", "kind": "impossible", "where": {"sex": "m", "pregnant": True}},
        {"name": "building", "kind": "determines", "columns": ["ward"], "column": "floor", "map": {"a": 3}},
    ],
}  # fmt: skip
SCHEMA = Schema.from_json(DOCUMENT)


def arbitrary(key, rows):
    """Rows with nothing right: every column uniform."""
    keys = split(key, len(SCHEMA.columns))
    codes = [
        np.floor(uniforms(k, rows) * column.size).astype(np.int64)
        for k, column in zip(keys, SCHEMA.columns, strict=True)
    ]
    return Rows(SCHEMA, tuple(codes))


def real_table(rows=600):
    random = np.random.default_rng(0)
    start = random.integers(0, 91, rows)
    fee = random.integers(10, 55, rows)
    extra = (fee * random.uniform(0, 0.8, rows)).astype(int)
    ward = random.integers(0, 6, rows)
    day = np.datetime64("2024-01-01")
    sex = random.integers(0, 2, rows)
    return {
        "admitted": (day + start).tolist(),
        "left": (day + np.minimum(start + random.integers(0, 30, rows), 120)).tolist(),
        "fee": fee.tolist(),
        "extra": extra.tolist(),
        "total": np.minimum(fee + extra, 100).tolist(),
        "sex": [("f", "m")[s] for s in sex],
        "pregnant": ((sex == 0) & (random.random(rows) < 0.3)).tolist(),
        "ward": [("abcdef")[w] for w in ward],
        "floor": [(3, 0, 1, 1, 2, 4)[w] for w in ward],
    }


MARKS = dict.fromkeys(("rap", "gem", "rap++"), pytest.mark.long) | {"rap++-polished": pytest.mark.slow}
"""These compile for long, and draw rows as others do."""


def _quick(recipe):
    """The same recipe with less patience: constraints must hold however well a model fits."""
    few = {"particles": 2000, "epochs": 10, "steps": 50, "iterations": 50, "refit_iterations": 10}
    few |= {"widths": (16,), "descent": Descent(steps=20)}
    known = {field.name for field in fields(recipe.generator)}
    return replace(recipe, generator=replace(recipe.generator, **{k: v for k, v in few.items() if k in known}))


@pytest.mark.parametrize("method", [pytest.param(name, marks=MARKS.get(name, [])) for name in METHODS])
def test_constraints_hold_in_every_row_of_every_method(method, tmp_path, monkeypatch):
    monkeypatch.setitem(METHODS, method, _quick(METHODS[method]))
    model = sundog.Synthesizer(
        SCHEMA, epsilon=2.0, delta=1e-6, method=method, ledger=tmp_path / "ledger.sqlite", seed=3
    ).fit(real_table())
    for rows in (1, 500):
        made = model.model.rows(rows)
        assert len(made) == rows
        assert violations(made) == {"order": 0, "bill": 0, "share": 0, "biology": 0, "building": 0}
    values = made.to_arrow().to_pydict()
    assert all(
        fee + extra == total for fee, extra, total in zip(values["fee"], values["extra"], values["total"], strict=True)
    )
    assert all(floor == 3 for ward, floor in zip(values["ward"], values["floor"], strict=True) if ward == "a")
    assert not any(pregnant for sex, pregnant in zip(values["sex"], values["pregnant"], strict=True) if sex == "m")


def test_even_rows_with_nothing_right_are_mended():
    assert all(violations(arbitrary(key_of(1), 2000)).values())
    made = enforce(key_of(1), SCHEMA, draw=arbitrary, rows=2000)
    assert not any(violations(made).values())
    assert len({tuple(row) for row in np.stack(made.codes).T.tolist()}) > 1500  # mended, not copied


def test_rows_that_satisfy_everything_stay_as_they_are():
    once = enforce(key_of(1), SCHEMA, draw=arbitrary, rows=500)
    again = enforce(key_of(2), SCHEMA, draw=lambda key, rows: once, rows=500)
    for before, after in zip(once.codes, again.codes, strict=True):
        np.testing.assert_array_equal(before, after)


def test_a_repair_touches_only_the_columns_of_broken_constraints():
    document = DOCUMENT | {"constraints": DOCUMENT["constraints"][3:4]}
    schema = Schema.from_json(document)
    drawn = Rows(schema, arbitrary(key_of(4), 1000).codes)
    made = enforce(key_of(4), schema, draw=lambda key, rows: drawn, rows=1000)
    for column, before, after in zip(schema.columns, drawn.codes, made.codes, strict=True):
        if column.name not in ("sex", "pregnant"):
            np.testing.assert_array_equal(before, after)
    kept = (drawn.column("sex") == made.column("sex")) | (drawn.column("pregnant") == made.column("pregnant"))
    assert kept.all()  # one of the two values stays


def test_without_a_single_good_row_an_inequality_lands_on_its_limit():
    schema = Schema.from_json(DOCUMENT | {"constraints": [{"kind": "sum", "columns": ["fee", "extra"], "maximum": 7}]})
    codes = list(arbitrary(key_of(4), 50).codes)
    codes[2], codes[3] = np.full(50, 30), np.arange(50) + 8
    made = enforce(key_of(4), schema, draw=lambda key, rows: Rows(schema, tuple(codes)), rows=50)
    assert not any(violations(made).values())


def test_contradictions_end_with_a_message_that_names_the_constraints():
    both = [
        {"name": "up", "kind": "compare", "left": "fee", "operator": "<", "right": "extra"},
        {"name": "down", "kind": "compare", "left": "fee", "operator": ">", "right": "extra"},
    ]
    schema = Schema.from_json(DOCUMENT | {"constraints": both})
    with pytest.raises(UserError, match="'up', 'down'"):
        enforce(key_of(0), schema, draw=lambda key, rows: Rows(schema, arbitrary(key, rows).codes), rows=10)


def test_without_a_single_row_that_can_be_repaired_one_is_found(monkeypatch):
    """Four numbers in a circle with one solution on a wide grid, which neither draws nor repairs come upon."""
    fields = [
        {"name": name, "type": "integer", "constraints": {"minimum": 0, "maximum": 10**12, "required": True}}
        for name in "abcd"
    ]
    fields += [
        {"name": name, "categories": ["x", "y", "z"], "constraints": {"required": True}}
        for name in ("free", "given", "result")
    ]
    rules = [
        {"name": "one", "kind": "sum", "weights": {"a": 1, "b": 1, "c": -1}, "equals": 5},
        {"name": "two", "kind": "sum", "weights": {"b": 1, "c": 1, "d": -1}, "equals": 7},
        {"name": "three", "kind": "sum", "weights": {"a": 3, "d": 1}, "equals": 10**11},
        {"name": "four", "kind": "sum", "weights": {"a": 1, "b": 5, "d": -2}, "equals": 11},
        {"name": "known", "kind": "determines", "columns": ["given"], "column": "result"},
    ]
    schema = Schema.from_json({"name": "t", "fields": fields, "constraints": rules})
    drawn = Rows(schema, tuple(np.floor(uniforms(each, 200) * column.size).astype(np.int64) for each, column in zip(split(key_of(2), 7), schema.columns, strict=True)))  # fmt: skip
    made = enforce(key_of(1), schema, draw=lambda key, rows: drawn.take(np.arange(rows) % 200), rows=200)
    assert len(made) == 200
    assert not any(violations(made).values())
    np.testing.assert_array_equal(made.column("free"), drawn.column("free"))
    np.testing.assert_array_equal(made.column("given"), drawn.column("given"))
    monkeypatch.setattr(constraints, "_from_search", lambda *given, **more: frozenset())
    with pytest.raises(UserError, match="What was measured is not lost"):
        enforce(key_of(1), schema, draw=lambda key, rows: drawn.take(np.arange(rows) % 200), rows=200)


def test_rows_beside_fixed_columns_get_what_fits_them(monkeypatch):
    """Two equations with a fixed number have one solution for each of its values, which no other row has."""
    fields = [
        {"name": name, "type": "integer", "constraints": {"minimum": 0, "maximum": 10**9, "required": True}}
        for name in "abc"
    ]
    rules = [
        {"kind": "sum", "weights": {"b": 2, "c": 3, "a": -1}, "equals": 1},
        {"kind": "sum", "weights": {"b": 3, "c": -5}, "equals": 11},
    ]
    schema = Schema.from_json({"name": "t", "fields": fields, "constraints": rules})
    b = 7 + 5 * np.arange(40)
    a = 2 * b + 3 * ((3 * b - 11) // 5) - 1
    rows = Rows(schema, (a, np.zeros_like(a), np.zeros_like(a)))
    made = repaired(key_of(1), rows, fixed=frozenset("a"))
    np.testing.assert_array_equal(made.column("a"), a)
    np.testing.assert_array_equal(made.column("b"), b)
    monkeypatch.setattr(constraints, "_from_search", lambda *given, **more: frozenset())
    with pytest.raises(UserError, match="What was measured is not lost"):
        repaired(key_of(1), rows, fixed=frozenset("a"))


def test_dependencies_take_the_most_common_value():
    schema = Schema.from_json(DOCUMENT | {"constraints": DOCUMENT["constraints"][4:]})
    codes = list(arbitrary(key_of(4), 3000).codes)
    likely = uniforms(key_of(8), 3000) < 0.6
    codes[8] = np.where(likely, np.array([1, 0, 4, 2, 2, 3])[codes[7]], codes[8])
    made = enforce(key_of(4), schema, draw=lambda key, rows: Rows(schema, tuple(codes)), rows=3000)
    for ward, floor in ((0, 3), (1, 0), (2, 4), (3, 2), (4, 2), (5, 3)):  # ward a follows the public map
        assert set(made.column("floor")[made.column("ward") == ward]) == {floor}


def test_violations_counts_what_breaks():
    rows = arbitrary(key_of(1), 400)
    assert violations(rows)["biology"] == int(((rows.column("sex") == 1) & (rows.column("pregnant") == 1)).sum())
