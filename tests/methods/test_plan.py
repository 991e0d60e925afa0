"""Plans of linked tables: pairs count as a run weighs them."""

from dataclasses import replace

from linked_tables import schema
from sundog.domain.unit import PrivacyUnit
from sundog.methods.linked import expected_of_views, view_recipe
from sundog.methods.plan import expected

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
