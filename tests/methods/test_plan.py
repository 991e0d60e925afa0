"""Plans: pairs count as a run weighs them, and pay for all that comes before them."""

from dataclasses import replace

import pytest

from linked_tables import schema
from sundog.domain import Categorical, Schema
from sundog.domain.unit import PrivacyUnit
from sundog.methods.linked import expected_of_views, view_recipe
from sundog.methods.plan import expected
from sundog.methods.recipes import METHODS
from sundog.select.screen import SHARE
from sundog.select.wider import SCORES

UNIT = PrivacyUnit("add-remove", "homes.id", 1, below=True)


def test_what_counts_more_is_planned_with_less_noise():
    facts = schema(persons=4)
    view = next(view for view in facts.views if view.name == "persons@")
    recipe = view_recipe(view, facts)
    even = replace(recipe, rule=replace(recipe.rule, weights=None))
    noise = {}
    for name, each in (("weighted", recipe), ("even", even)):
        found = expected(facts.of_view(view), rows=5000, rho=0.01, unit=UNIT, recipe=each, known=known(facts))
        noise[name] = {pair.columns: pair.noise for pair in found.pairs}
    itself, other = ("persons.age", "persons.age@2"), ("persons.age", "persons.sex@2")
    assert noise["weighted"][itself] / noise["weighted"][other] < 0.8 * noise["even"][itself] / noise["even"][other]


def known(facts):
    """The columns of second siblings as those of the first."""
    plan = expected_of_views(facts, roots=5000, rho=1.0, unit=UNIT)
    return {
        f"{column.name}@2": replace(column, name=f"{column.name}@2")
        for column in plan.columns
        if "persons." in column.name
    }


def test_differences_are_no_columns_of_the_plan():
    plan = expected_of_views(schema(), roots=5000, rho=1.0, unit=UNIT)
    assert not [column.name for column in plan.columns if "@" in column.name]


def test_scores_of_wider_tables_and_the_choice_of_pairs_are_paid_for():
    columns = tuple(Categorical(name, tuple("uvwxy")) for name in "abc")
    auto, noise = METHODS["auto"], {}
    for name, changes, targets in (
        ("plain", {"share_wider": 0.0}, ("c",)),
        ("wider", {}, ("c",)),
        ("no target", {}, ()),
        ("choosing", {"share_wider": 0.0, "screens": True}, ("c",)),
    ):
        recipe = replace(auto, rule=replace(auto.rule, **changes))
        plan = expected(Schema(columns, targets=targets), rows=10**6, rho=0.1, unit=PrivacyUnit(), recipe=recipe)
        noise[name] = plan.pairs[0].noise
    assert noise["no target"] == noise["plain"]
    assert noise["wider"] / noise["plain"] == pytest.approx((1 - auto.rule.share_wider * SCORES) ** -0.5)
    assert noise["choosing"] / noise["plain"] == pytest.approx((1 - SHARE) ** -0.5)
