"""Differences between siblings are measured where siblings depend on each other, with what explains them; else pairs are."""

import numpy as np
import pytest

from linked_tables import below, key, label, number
from privacy.stand_ins import MemoryLedger
from sundog.domain.linked.views import LinkedSchema
from sundog.domain.unit import PrivacyUnit
from sundog.methods.linked import run_views
from sundog.private.accountant import Budget
from sundog.private.curator import Curator
from sundog.private.spending import Spending
from sundog.private.table import PrivateTables
from sundog.random.keys import key_of

UNIT = PrivacyUnit("add-remove", "homes.id", 1, below=True)


def released(persons, *, labels=("state", "coin"), rho=2.0):
    fields = [key("parent"), number("age", 0, 99), *(label(name, "x", "y") for name in labels)]
    document = {
        "name": "couples",
        "resources": [
            {"name": "homes", "schema": {"primaryKey": ["id"], "fields": [key("id")]}},
            {"name": "persons", "maximumPerParent": 2, "schema": {"foreignKeys": below("homes"), "fields": fields}},
        ],
    }
    schema = LinkedSchema.from_document(document)
    spending = Spending(Budget(rho=rho), "homes", unit=UNIT, accounting="gaussian", ledger=MemoryLedger())
    curator = Curator(PrivateTables(schema.package, {"persons": persons}), schema, spending=spending)
    return run_views(key_of(1), curator, report=lambda _: None)


def people(count, *, dependent):
    draw = np.random.default_rng(1)
    wed = draw.random(count) < 0.5
    first = draw.integers(20, 70, count)
    apart = np.where(wed, draw.integers(-2, 3, count), draw.integers(20, 30, count))
    second = first + apart if dependent else draw.permutation(first)
    state = np.where(wed, "x", "y")
    return {
        "parent": np.repeat(np.arange(count), 2),
        "age": np.stack([first, second], axis=1).ravel(),
        "state": np.repeat(state, 2),
        "coin": draw.choice(["x", "y"], 2 * count),
    }


def of_differences(found):
    return [m.query.marginal.columns for m in found.measurements if any("@-" in name for name in m.query.columns)]


def test_what_explains_a_difference_is_measured_with_it():
    asked = of_differences(released(people(3000, dependent=True)))
    assert ("persons.age@-",) in asked
    assert [columns for columns in asked if len(columns) > 1] == [("persons.age@-", "persons.state", "persons.state@2")]


def test_independent_siblings_have_their_pairs_measured_once_more():
    found = released(people(3000, dependent=False))
    assert of_differences(found) == []
    pairs = [m.query.marginal.columns for m in found.measurements if m.query.shares == "persons@#"]
    assert max(pairs.count(columns) for columns in pairs if len(columns) == 2) == 2


@pytest.mark.parametrize("dependent", [True, False])
def test_the_whole_budget_is_spent(dependent):
    assert released(people(500, dependent=dependent)).guarantee.rho == pytest.approx(2.0, rel=0.01)


def test_a_number_alone_has_nothing_that_could_explain_it():
    persons = people(500, dependent=True)
    alone = released({name: persons[name] for name in ("parent", "age")}, labels=())
    assert of_differences(alone) == []
    assert alone.guarantee.rho == pytest.approx(2.0, rel=0.01)


def long(count, rho):
    """A release of accounts with up to 12 rows each."""
    draw = np.random.default_rng(4)
    parent = np.repeat(np.arange(count), 10)
    fields = [key("parent"), number("balance", 0, 99), label("kind", "x", "y")]
    rows = {"maximumPerParent": 12, "minimumPerParent": 1, "schema": {"foreignKeys": below("homes"), "fields": fields}}
    document = {
        "name": "bank",
        "resources": [
            {"name": "homes", "schema": {"primaryKey": ["id"], "fields": [key("id"), label("type", "x", "y")]}},
            {"name": "rows", **rows},
        ],
    }
    schema = LinkedSchema.from_document(document)
    level = draw.integers(0, 60, count)[parent]
    tables = {
        "homes": {"id": np.arange(count), "type": draw.choice(["x", "y"], count)},
        "rows": {
            "parent": parent,
            "balance": level + draw.integers(0, 40, len(parent)),
            "kind": draw.choice(["x", "y"], len(parent)),
        },
    }
    spending = Spending(Budget(rho=rho), "homes", unit=UNIT, accounting="gaussian", ledger=MemoryLedger())
    curator = Curator(PrivateTables(schema.package, tables), schema, spending=spending)
    found = run_views(key_of(1), curator, report=lambda _: None)
    return [m.query.marginal.columns for m in found.measurements if any("#mean" in name for name in m.query.columns)]


def test_means_of_children_are_measured_with_their_rows_where_noise_allows():
    mean = "homes.#rows.#mean.balance"
    assert ("rows.balance", mean) in long(2000, rho=1.0)
    assert long(200, rho=0.01) == []  # noise would hide them
