"""Every selection rule with every generator that supports its queries: it runs, spends its budget, and can be refitted."""

import numpy as np
import pytest

from example_tables import SCHEMA, table
from sundog import Synthesizer, load
from sundog.errors import UserError
from sundog.estimate.bins import Bins
from sundog.generate import GENERATORS, AnnealedProjection, Genetic
from sundog.generate.projection.adam import Descent
from sundog.methods import recipes as registry
from sundog.methods.recipe import First, Recipe
from sundog.methods.recipes import METHODS, recipe_of
from sundog.methods.workloads import one_way, two_way
from sundog.select import RULES

CASES = [(rule, generator, way) for rule in RULES for generator in GENERATORS for way in (one_way, two_way)]


FEW_STEPS = Descent(steps=25)
PROJECTION = AnnealedProjection(rows=40, descent=FEW_STEPS)
SMALL = {
    "genetic": {"rows": 100, "generations": 50},
    "particles": {"particles": 500, "epochs": 2, "steps": 4},
    "pooled-search": {"rows": 100, "passes": 1},
    "relaxed-projection": {"rows": 40, "descent": FEW_STEPS},
    "annealed-projection": {"rows": 40, "descent": FEW_STEPS},
    "network": {"rows": 40, "descent": FEW_STEPS},
    "polished": {"rows": 40, "projection": PROJECTION, "genetic": Genetic(generations=5)},
}
"""How well a generator fits is no matter here; a new one is tested as it is."""
SHORT = {"aim": {"rounds": 1.0}, "worst-error": {"rounds": 3}, "adaptive": {"rounds": 2, "per_round": 2}}


def recipe(rule, generator, workload) -> Recipe:
    chosen, made = RULES[rule](**SHORT.get(rule, {})), GENERATORS[generator](**SMALL.get(generator, {}))
    return Recipe("law", "", workload, chosen, made, first=First(one_way, 0.3), bins=Bins(8))


def fits(rule, generator, workload) -> bool:
    return all(GENERATORS[generator]().supports(query) for query in recipe(rule, generator, workload).queries(SCHEMA))


@pytest.fixture
def as_method(monkeypatch):
    def register(made: Recipe) -> str:
        monkeypatch.setitem(registry.METHODS, made.name, made)
        return made.name

    return register


def synthesizer(tmp_path, method, **options):
    budget = {"rho": 0.5, "dataset": "law", "seed": 7, "ledger": tmp_path / "ledger.db"}
    return Synthesizer(SCHEMA, method=method, **(budget | options))


COMPILES = {"relaxed-projection", "annealed-projection", "network", "polished"}
"""Generators that compile again for other shapes of measurements: some CPU seconds each time."""


def marked(rule, generator, workload):
    """With every change: the compiling generators with one rule and one workload, polishing with none, all others with all."""
    slow = generator in COMPILES and (rule != "everything" or generator == "polished")
    long = generator in COMPILES and workload is two_way
    marks = [pytest.mark.slow] if slow else [pytest.mark.long] if long else []
    return pytest.param(rule, generator, workload, marks=marks)


@pytest.mark.parametrize(("rule", "generator", "workload"), [marked(*case) for case in CASES if fits(*case)])
def test_the_budget_is_spent_exactly_and_rows_come_out(tmp_path, as_method, rule, generator, workload):
    method = as_method(recipe(rule, generator, workload))
    made = synthesizer(tmp_path, method).fit(table(600))
    spent = sum(payment.rho for payment in made.released.payments)
    assert spent <= 0.5
    assert spent == pytest.approx(0.5, rel=1e-8)
    assert made.sample(50).num_rows == 50


@pytest.mark.parametrize(("rule", "generator", "workload"), [case for case in CASES if not fits(*case)])
def test_what_does_not_fit_together_is_refused_before_anything_is_spent(tmp_path, as_method, rule, generator, workload):
    method = as_method(recipe(rule, generator, workload))
    with pytest.raises(UserError, match=r"methods that can: .*mst"):
        synthesizer(tmp_path, method)
    assert not (tmp_path / "ledger.db").exists()


MARKS = dict.fromkeys(("gem", "rap++", "rap++-polished"), pytest.mark.slow) | {"rap": pytest.mark.long}
SAVED = [pytest.param(name, "add-remove", marks=MARKS.get(name, [])) for name in METHODS]


@pytest.mark.parametrize(("method", "neighbours"), [*SAVED, ("mst", "replace"), ("private-gsd", "replace")])
def test_a_saved_model_gives_the_same_rows(tmp_path, method, neighbours):
    made = synthesizer(tmp_path, method, neighbours=neighbours).fit(table(200))
    again = load(made.save(tmp_path / "model"))
    pairs = zip(made.model.rows().codes, again.rows().codes, strict=True)
    assert all(np.array_equal(*columns) for columns in pairs)


def test_a_table_of_one_column_works_and_spends_all(tmp_path):
    schema = {"fields": [{"name": "warm", "type": "boolean"}]}
    made = Synthesizer(schema, rho=0.5, method="mst", dataset="one", ledger=tmp_path / "ledger.db").fit(
        {"warm": [True, False] * 50}
    )
    assert sum(payment.rho for payment in made.released.payments) == pytest.approx(0.5, rel=1e-8)


def test_two_methods_can_be_joined_and_unknown_ones_are_named():
    joined = recipe_of("aim/mst")
    assert (joined.rule, joined.generator) == (METHODS["aim"].rule, METHODS["mst"].generator)
    with pytest.raises(UserError, match="method 'ami' is unknown; methods are auto, independent, mst"):
        recipe_of("ami")


@pytest.mark.parametrize("method", METHODS)
def test_every_named_method_measures_its_columns_first(method):
    """A plan says what to expect of them, and values inside cells come from them."""
    assert METHODS[method].first is not None
