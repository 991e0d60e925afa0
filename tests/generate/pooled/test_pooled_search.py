"""Pooled search: margins and tables come out as measured, numbers keep their grid, anything may be missing."""

import numpy as np
import pytest

from sundog import Synthesizer
from sundog.domain import Categorical, Schema
from sundog.domain.unit import PrivacyUnit
from sundog.estimate.bins import leaves_of
from sundog.estimate.pairs.pool import pool
from sundog.generate import PooledSearch
from sundog.methods.recipes import METHODS
from sundog.queries import Joined, Marginal, answer
from sundog.random.keys import key_of
from sundog.released import Guarantee, Measurement, Released

DOCUMENT = {
    "fields": [
        {"name": "group", "type": "string", "categories": ["a", "b", "c"], "constraints": {"required": True}},
        {"name": "score", "type": "integer", "constraints": {"minimum": 0, "maximum": 400}},
        {"name": "flag", "type": "boolean", "constraints": {"required": True}},
        {"name": "same", "type": "string", "categories": ["only"], "constraints": {"required": True}},
    ]
}


def private(rows, *, seed=0):
    import pyarrow as pa

    rng = np.random.default_rng(seed)
    group = rng.integers(0, 3, rows)
    score = np.clip(rng.normal(100 + 60 * group, 25), 0, 400).astype(int)
    return pa.table(
        {
            "group": np.array(["a", "b", "c"])[group],
            "score": pa.array(score, mask=rng.random(rows) < 0.1),
            "flag": (group == 2) ^ (rng.random(rows) < 0.1),
            "same": ["only"] * rows,
        }
    )


@pytest.fixture
def fitted(tmp_path):
    places = {"dataset": "pooled", "ledger": tmp_path / "l"}
    return Synthesizer(DOCUMENT, rho=2.0, seed=1, confirmed=True, **places).fit(private(4000))


def test_rows_have_the_pooled_margins_and_tables(fitted):
    released = fitted.released
    pooled = pool(released, leaves_of(released))
    rows = fitted.model.rows(released.rows)
    assert pooled.tables
    for table, values, _ in pooled.tables:
        gap = 0.5 * np.abs(answer(table, rows) / len(rows) - values / values.sum()).sum()
        assert gap < 0.02
    for name, margin in pooled.margins.items():
        counts = answer(Marginal((pooled.axes[name],)), rows)
        assert 0.5 * np.abs(counts / len(rows) - margin / margin.sum()).sum() < 0.01


def test_the_relation_between_columns_is_there(fitted):
    frame = fitted.sample(4000).to_pandas()
    means = frame.groupby("group")["score"].mean()
    assert means["c"] - means["a"] == pytest.approx(120, abs=20)
    assert frame["flag"][frame["group"] == "c"].mean() > 0.8
    assert frame["score"].isna().mean() == pytest.approx(0.1, abs=0.03)


def test_any_number_of_rows_comes_from_the_same_rows(fitted):
    for rows in (1, 7, 4000, 9000):
        assert fitted.sample(rows).num_rows == rows


def test_same_seed_and_measurements_give_the_same_rows(fitted):
    generator, schema = METHODS["auto"].generator, fitted.released.schema
    states = [generator.fit(key_of(5), generator.init(key_of(k), schema), released=fitted.released) for k in (4, 9)]
    first, second = (generator.sample(key_of(6), state, rows=500).to_arrow() for state in states)
    assert first == second


def test_a_setting_limits_the_rows_that_are_searched(tmp_path):
    places = {"dataset": "d", "ledger": tmp_path / "l"}
    made = Synthesizer(DOCUMENT, rho=2.0, seed=1, settings={"rows": 300}, confirmed=True, **places)
    assert len(made.fit(private(4000)).model.state.cells[0]) == 300


def test_marginals_are_supported_and_joined_cells_of_up_to_four_columns():
    schema = Schema(tuple(Categorical(name, labels=(0, 1)) for name in "abcde"))
    four, five = Marginal.of(schema, *"abcd"), Marginal.of(schema, *"abcde")
    assert PooledSearch().supports(five)
    assert PooledSearch().supports(Joined(four, (0,) * four.size))
    assert not PooledSearch().supports(Joined(five, (0,) * five.size))


def test_rows_have_a_table_of_four_columns_that_no_pair_shows():
    schema = Schema(tuple(Categorical(name, labels=(0, 1)) for name in "abcd"))
    parity = np.where(np.indices((2, 2, 2, 2)).sum(axis=0) % 2 == 0, 250, 0).ravel()
    tables = [(Marginal.of(schema, name), np.array([1000, 1000])) for name in "abcd"]
    tables += [(Marginal.of(schema, *"abcd"), parity)]
    measured = tuple(Measurement(query, values, 5.0, "r") for query, values in tables)
    released = Released(schema, measured, Guarantee(PrivacyUnit(), "gaussian", 1.0), public_rows=2000)
    generator = PooledSearch()
    state = generator.fit(key_of(1), generator.init(key_of(0), schema), released=released)
    rows = generator.sample(key_of(2), state, rows=2000)
    odd = np.sum(rows.codes, axis=0) % 2 == 1
    assert odd.mean() < 0.02
    for column in rows.codes:
        assert column.mean() == pytest.approx(0.5, abs=0.02)


def test_ctrl_c_gives_the_best_rows_so_far_and_says_so(fitted, monkeypatch):
    from sundog.generate.genetic import search

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(search, "every_improvement", interrupted)
    generator, released = METHODS["auto"].generator, fitted.released
    state = generator.fit(key_of(5), generator.init(key_of(4), released.schema), released=released)
    assert "ended by Ctrl-C; the best rows so far are used" in state.ending.note
    assert len(generator.sample(key_of(6), state, rows=50)) == 50
    assert fitted.model.note == ""
