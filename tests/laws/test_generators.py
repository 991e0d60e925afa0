"""Every generator with every class of queries: it fits what it supports, and refuses the rest before anything is spent."""

from dataclasses import dataclass

import pytest

from laws.generator_laws import ROUGHLY, SMALL, measured, supported, what_is_supported_is_fitted
from laws.query_examples import EXAMPLES, SCHEMA
from sundog import Synthesizer
from sundog.errors import UserError
from sundog.generate import GENERATORS, Genetic, Graphical
from sundog.generate.genetic.forms import FORMS
from sundog.methods.recipes import METHODS
from sundog.queries import CLASSES, Marginal, Ranges
from sundog.queries.workload import Workload
from sundog.random.keys import key_of

COVERED = [("annealed", name) for name in ("marginal", "tree", "conditional", "ranges", "cells")]
PAIRS = [(generator, name) for generator in GENERATORS for name in CLASSES]
SLOW = [(g, n) for g, n in PAIRS if g in ("network", "polished") or (g[:8], n) in COVERED]
"""These compile for many CPU seconds, and what they do is in other cases, too."""
SHORT = {"relaxed-projection": ("marginal", "ranges"), "annealed-projection": ("halfspaces",)}
"""Of generators that compile anew for each class: the classes in the tests of every change."""


def made(generator):
    return GENERATORS[generator](**SMALL.get(generator, {}))


def marks(generator, name):
    if (generator, name) in SLOW:
        return [pytest.mark.slow]
    return [pytest.mark.long] if generator in SHORT and name not in SHORT[generator] else []


CASES = [
    pytest.param(generator, name, marks=marks(generator, name))
    for generator, name in PAIRS
    if supported(made(generator), name)
]


@pytest.mark.parametrize(("generator", "name"), CASES)
def test_what_is_supported_is_fitted(generator, name):
    rough = {"close": ROUGHLY[generator], "columns": True} if generator in ROUGHLY else {}
    what_is_supported_is_fitted(made(generator), supported(made(generator), name), **rough)


def test_every_class_can_be_fitted_by_some_generator():
    for name in set(CLASSES) - {"shared"}:  # of linked tables: tests/generate/linked
        assert any(len(supported(made(generator), name)) == len(EXAMPLES[name]) for generator in GENERATORS), name


@pytest.mark.parametrize(("generator", "name"), PAIRS)
def test_what_is_not_supported_is_refused_and_not_ignored(generator, name):
    refused = [case.query for case in EXAMPLES[name] if not made(generator).supports(case.query)]
    for query in refused:
        with pytest.raises(UserError, match="it cannot fit"):
            made(generator).fit(key_of(0), made(generator).init(key_of(0), SCHEMA), released=measured([query]))


@dataclass(frozen=True)
class Deaf(Genetic):
    """Says that it supports ranges, and does not listen to them."""

    def fit(self, key, state, *, released):
        heard = tuple(m for m in released.measurements if not isinstance(m.query, Ranges))
        return super().fit(key, state, released=released.with_measurements(heard)) if heard else state


@dataclass(frozen=True)
class Boastful(Graphical):
    """Says that it supports everything."""

    def supports(self, query):
        return True


@pytest.mark.parametrize(
    ("generator", "name"), [(Deaf(rows=200), "ranges"), (Boastful(), "tree"), (Boastful(), "moments")]
)
def test_the_law_catches_a_generator_that_claims_support_and_ignores_the_query(generator, name):
    with pytest.raises(AssertionError, match="of the rows off after fitting"):
        what_is_supported_is_fitted(generator, supported(generator, name))


def test_a_class_without_a_form_is_refused_before_anything_is_spent(tmp_path, monkeypatch):
    monkeypatch.delitem(FORMS, Ranges)
    workload = Workload(SCHEMA, (Marginal.of(SCHEMA, "colour"), EXAMPLES["ranges"][0].query), (1.0, 1.0))
    for method in METHODS:
        if method.startswith(("private-gsd", "auto")):
            with pytest.raises(UserError, match=f"method '{'private-gsd' if method == 'auto' else method}' cannot use"):
                Synthesizer(
                    SCHEMA, method=method, rho=0.5, dataset="law", ledger=tmp_path / "ledger.db", workload=workload
                )
    assert not (tmp_path / "ledger.db").exists()
