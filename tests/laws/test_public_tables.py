"""Every generator that can start from a public table keeps its relations where nothing else is known, or says it cannot."""

import numpy as np
import pytest

from example_tables import SCHEMA, table
from sundog import Synthesizer, load
from sundog.domain.rows import Rows
from sundog.domain.unit import PrivacyUnit
from sundog.errors import UserError
from sundog.generate import GENERATORS, UsesPublic
from sundog.generate.projection.adam import Descent
from sundog.methods.recipes import METHODS
from sundog.queries import Marginal, answer
from sundog.random.keys import key_of
from sundog.released import Guarantee, Measurement, Released
from sundog.sources import open_table

REAL = open_table(table(1000)).read(SCHEMA)
PUBLIC = [name for name, generator in GENERATORS.items() if issubclass(generator, UsesPublic)]
SMALL = {"network": {"rows": 100, "widths": (64,), "descent": Descent(rate=0.01, steps=300)}}
"""Less effort than by default, for the tests of every change."""
SLOW_TO_COMPILE = {"annealed-projection"}
CASES = [pytest.param(name, SMALL.get(name, {}), id=name) for name in PUBLIC]
IN_FULL = [pytest.param(name, {}, id=f"{name}-in-full", marks=pytest.mark.long) for name in SMALL]
PAIR = Marginal.of(SCHEMA, "colour", "warm")
OTHER = Marginal.of(SCHEMA, "colour", "grade")


def release(*queries) -> Released:
    """Measurements with hardly any noise."""
    measured = tuple(Measurement(query, answer(query, REAL), 2.0, "1") for query in queries)
    return Released(SCHEMA, measured, Guarantee(PrivacyUnit("replace"), "zcdp", 0.1), public_rows=len(REAL))


def distance(generator, state, query) -> float:
    return float(np.abs(generator.answer(state, query) - answer(query, REAL) / len(REAL)).sum())


def fitted(name, released, public, **settings):
    generator = GENERATORS[name](**settings)
    start = generator.init_public(key_of(1), SCHEMA, public=public)
    return generator, generator.fit(key_of(2), start, released=released)


def test_the_generators_that_should_can():
    assert {"pooled-search", "graphical", "genetic", "relaxed-projection", "annealed-projection", "network"} <= {
        *PUBLIC
    }


def test_independent_columns_are_far_from_the_relation():
    """What a generator without the public table has; otherwise the next test would say nothing."""
    colour, warm = (answer(Marginal.of(SCHEMA, name), REAL) / len(REAL) for name in ("colour", "warm"))
    assert np.abs(np.outer(colour, warm).ravel() - answer(PAIR, REAL) / len(REAL)).sum() > 0.5


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        *(
            pytest.param(*case.values, id=case.id, marks=[pytest.mark.long] * (case.id in SLOW_TO_COMPILE))
            for case in CASES
        ),
        *IN_FULL,
    ],
)
def test_what_was_not_measured_keeps_the_public_relation(name, settings):
    """The public table has the relation of two columns; only another pair is measured."""
    generator, state = fitted(name, release(*(Marginal.of(SCHEMA, n) for n in SCHEMA.names), OTHER), REAL, **settings)
    assert distance(generator, state, PAIR) < 0.05


@pytest.mark.parametrize(("name", "settings"), [*CASES, *IN_FULL])
def test_a_measurement_outweighs_the_public_table(name, settings):
    shuffled = Rows(SCHEMA, (np.roll(REAL.codes[0], 7), *REAL.codes[1:]))
    released = release(*(Marginal.of(SCHEMA, n) for n in SCHEMA.names), PAIR)
    generator, state = fitted(name, released, shuffled, **settings)
    assert distance(generator, state, PAIR) < 0.05


@pytest.mark.parametrize("name", ["relaxed-projection", pytest.param("network", marks=pytest.mark.long)])
def test_a_public_table_that_agrees_is_not_replaced_by_noise(name):
    """Measurements with much noise: rows that start from the right table end at the noise, others are fitted to it."""
    generator, released = GENERATORS[name](), noisy(60.0)
    right = generator.fit(key_of(2), generator.init_public(key_of(1), SCHEMA, public=REAL), released=released)
    plain = generator.fit(key_of(2), generator.init(key_of(1), SCHEMA), released=released)
    assert max(distance(generator, right, query) for query in (PAIR, OTHER)) < 0.1
    assert min(distance(generator, plain, query) for query in (PAIR, OTHER)) > 0.1


def noisy(stddev) -> Released:
    """All columns and some pairs."""
    random = np.random.default_rng(5)
    queries = [*(Marginal.of(SCHEMA, n, bins=8) for n in SCHEMA.names), PAIR, OTHER]
    measured = tuple(
        Measurement(q, answer(q, REAL) + np.rint(random.normal(0, stddev, q.size)).astype(int), stddev, "1")
        for q in queries
    )
    return Released(SCHEMA, measured, Guarantee(PrivacyUnit("replace"), "zcdp", 0.1), public_rows=len(REAL))


@pytest.mark.parametrize("method", ["auto", "mst", "private-gsd"])
def test_a_model_with_a_public_table_is_saved_with_it(tmp_path, method):
    made = Synthesizer(
        SCHEMA, rho=0.5, method=method, dataset="law", seed=7, ledger=tmp_path / "l.db", public=table(300)
    ).fit(table(600))
    again = load(made.save(tmp_path / "model"))
    pairs = zip(made.model.rows(80).codes, again.rows(80).codes, strict=True)
    assert all(np.array_equal(*columns) for columns in pairs)


@pytest.mark.parametrize("method", [name for name, recipe in METHODS.items() if not recipe.public])
def test_a_public_table_is_refused_where_it_cannot_be_used(tmp_path, method):
    with pytest.raises(
        UserError, match=r"cannot start from a public table; methods that can: auto, mst, aim, .*private-gsd"
    ):
        Synthesizer(SCHEMA, rho=0.5, method=method, dataset="law", ledger=tmp_path / "l.db", public=table(10))
    assert not (tmp_path / "l.db").exists()
