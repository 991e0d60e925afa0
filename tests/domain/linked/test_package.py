"""A Data Package as a tree of tables: what it says, and what is refused with a remedy."""

import copy

import pytest

from linked_tables import below, key, label, package, schema
from sundog.domain.linked.package import Package
from sundog.domain.linked.reading import declared
from sundog.domain.linked.views import LinkedSchema
from sundog.domain.schema import Schema
from sundog.errors import UserError


def test_tables_come_parents_first_with_their_bounds():
    made = Package.from_json(package(persons=3, least=1))
    assert [table.name for table in made.tables] == ["homes", "persons", "visits", "cards"]
    assert (made.table("persons").most, made.table("persons").least, made.table("cards").parent) == (3, 1, "persons")
    assert made.table("visits").order == "day"
    assert made.table("persons").order is None
    assert made.most_per_root("cards") == 6


def test_views_are_rows_with_parents_and_pairs_of_siblings():
    views = {view.name: view for view in schema().views}
    assert set(views) == {"homes", "persons", "persons@", "visits", "visits@", "cards", "cards@"}
    assert views["homes"].own == ("homes.type", "homes.#persons", "homes.#visits", "homes.#visits.#first")
    assert "visits.day" not in views["visits"].own  # its first value is the parent's, and the others follow by gaps
    assert views["persons"].given == views["homes"].own
    assert views["persons@"].siblings == "pairs"
    assert views["visits@"].siblings == "first"
    assert (views["persons"].most, views["persons@"].most, views["visits@"].most, views["cards"].most) == (2, 2, 3, 4)
    assert schema(visits=1).views[-1].name == "cards@"
    assert "visits@" not in {v.name for v in schema(visits=1).views}
    many = schema(persons=30, visits=9)
    assert next(view for view in many.views if view.name == "visits@").siblings == "next"
    assert next(view for view in many.views if view.name == "persons@").siblings == "ring"


def test_only_known_keys_are_kept_and_read_back():
    document = package()
    document["secret"] = document["resources"][1]["secret"] = "x"
    document["resources"][1]["path"] = "private/persons.csv"
    kept = LinkedSchema.from_document(document).to_json()
    assert "secret" not in str(kept)
    assert "private" not in str(kept)
    assert LinkedSchema.from_document(kept) == LinkedSchema.from_document(document)


def test_public_tables_are_left_out():
    document = package()
    document["resources"].append(
        {"name": "towns", "public": True, "schema": {"fields": [{"name": "t", "type": "string"}]}}
    )
    document["resources"][1]["schema"]["foreignKeys"] += below("towns", own="age", reference="t")
    assert [table.name for table in Package.from_json(document).tables] == ["homes", "persons", "visits", "cards"]


def changed(change):
    document = copy.deepcopy(package())
    change(document)
    return document


def resource(document, number):
    return document["resources"][number]


WRONG = {
    "two roots": (lambda d: resource(d, 2)["schema"].pop("foreignKeys"), "2 tables have no parent"),
    "no bound": (lambda d: resource(d, 1).pop("maximumPerParent"), "needs maximumPerParent"),
    "a bound of 0": (lambda d: resource(d, 1).update(maximumPerParent=0), "maximumPerParent"),
    "a bound that is no whole number": (lambda d: resource(d, 1).update(maximumPerParent=1.5), "maximumPerParent"),
    "least above most": (lambda d: resource(d, 1).update(minimumPerParent=3), "minimumPerParent"),
    "a root without a key": (lambda d: resource(d, 0)["schema"].pop("primaryKey"), "needs a primaryKey"),
    "two parents": (
        lambda d: resource(d, 3)["schema"].update(foreignKeys=[*below("persons"), *below("homes")]),
        "2 foreign keys",
    ),
    "a key that is not referred to": (
        lambda d: resource(d, 1)["schema"].update(primaryKey=["id", "parent"]),
        "not that table's primaryKey",
    ),
    "a key with a label": (
        lambda d: resource(d, 1)["schema"].update(primaryKey=["id", "sex"]),
        "declared as values to model",
    ),
    "a key with a field twice": (
        lambda d: resource(d, 1)["schema"].update(primaryKey=["id", "id"]),
        "names 'id' twice",
    ),
    "a key of no name": (lambda d: resource(d, 1)["schema"].update(primaryKey=[7]), "list of names"),
    "a foreign key of too few fields": (
        lambda d: resource(d, 1)["schema"]["foreignKeys"][0].update(fields=["id", "parent"]),
        "found 2 fields that refer to 1",
    ),
    "a unit key of the root": (lambda d: resource(d, 0).update(unitKey="type"), "leave unitKey out"),
    "a unit key of too many fields": (lambda d: resource(d, 3).update(unitKey=["parent", "parent2"]), "is not among"),
    "a unit key of another length": (
        lambda d: (
            resource(d, 0)["schema"]["fields"].append(key("town")),
            resource(d, 0)["schema"].update(primaryKey=["id", "town"]),
        ),
        "which is not that table's primaryKey",
    ),
    "a unit key beside the foreign key": (
        lambda d: resource(d, 1).update(unitKey="age"),
        "which its foreign key does: 'parent'",
    ),
    "a key that is all of the foreign key": (
        lambda d: resource(d, 1)["schema"].update(primaryKey=["parent"]),
        "at most one row",
    ),
    "an unknown key": (lambda d: resource(d, 1)["schema"].update(primaryKey=["nope"]), "'nope' is not among"),
    "a circle": (lambda d: resource(d, 1)["schema"].update(foreignKeys=below("cards")), "circle"),
    "another key of the parent": (
        lambda d: resource(d, 1)["schema"].update(foreignKeys=below("homes", reference="type")),
        "not that table's primaryKey",
    ),
    "a bad name": (lambda d: resource(d, 1).update(name="per/sons"), "needs a name"),
    "equal names": (lambda d: resource(d, 1).update(name="visits"), "two resources"),
    "no schema": (lambda d: resource(d, 1).pop("schema"), "has no schema"),
    "an unknown unit": (lambda d: d.update(privacyUnit="towns"), "no private table"),
    "an unknown order": (lambda d: resource(d, 2).update(orderBy=["when"]), "'when' is not among"),
    "an order by labels": (lambda d: resource(d, 1).update(orderBy=["id", "sex"]), "cannot be ordered by 'sex'"),
    "a parent that is not there": (
        lambda d: resource(d, 1)["schema"].update(foreignKeys=below("houses")),
        "'persons' refers to 'houses', which the package does not have",
    ),
    "a parent that is not there, of a known root": (
        lambda d: (d.update(privacyUnit="homes"), resource(d, 1)["schema"].update(foreignKeys=below("houses"))),
        "'persons' refers to 'houses', which the package does not have",
    ),
    "keys that are no list": (
        lambda d: resource(d, 1)["schema"].update(foreignKeys=5),
        "foreignKeys: it must be a list",
    ),
    "a reference to no name": (
        lambda d: resource(d, 1)["schema"]["foreignKeys"][0]["reference"].update(resource=["homes"]),
        "2 tables have no parent",
    ),
    "a unit that is no name": (lambda d: d.update(privacyUnit=["homes"]), "no private table"),
    "public in words": (lambda d: resource(d, 2).update(public="false"), "public: it must be true or false"),
    "more rows than can be weighed": (
        lambda d: [resource(d, k).update(maximumPerParent=10_000) for k in (1, 3)],
        "'cards': with maximumPerParent of the tables above it",
    ),
    "a wrong field": (lambda d: resource(d, 1)["schema"]["fields"][2].update(type="nope"), "table 'persons'"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_named(name):
    change, words = WRONG[name]
    with pytest.raises(UserError, match=words):
        Package.from_json(changed(change))


@pytest.mark.parametrize("name", ["#persons", "#unit", "x.#y", "age@2", "@2"])
def test_names_that_views_use_are_refused(name):
    for table in range(3):
        document = package()
        resource(document, table)["schema"]["fields"].append(label(name, "a", "b"))
        with pytest.raises(UserError, match="rename it"):
            Package.from_json(document)


def test_only_a_root_of_one_label_is_bare():
    document = package()
    resource(document, 0)["schema"]["fields"] = [key("id")]
    made = Package.from_json(document)
    assert made.root.bare
    assert Package.from_json(made.document).root.bare
    resource(document, 0)["schema"]["fields"] = [key("id"), label("#unit", "a", "b")]
    with pytest.raises(UserError, match="rename it"):
        Package.from_json(document)


def test_a_root_of_keys_alone_needs_a_table_below_it():
    """There would be no rows to count, and no table to say in which kind of frame synthetic ones are given."""
    root = {"name": "homes", "schema": {"primaryKey": "id", "fields": [key("id")]}}
    with pytest.raises(UserError, match=r"table 'homes'.*nothing to count"):
        Package.from_json({"resources": [root]})


def test_keys_are_kept_as_they_were_understood():
    document = package()
    resource(document, 1)["schema"]["foreignKeys"][0]["note"] = "secret"
    resource(document, 1)["title"] = {"note": "secret"}
    assert "secret" not in str(LinkedSchema.from_document(document).to_json())


def test_one_table_and_several_are_told_apart():
    assert isinstance(declared(package()), LinkedSchema)
    with pytest.raises(UserError, match="Data Package of linked tables"):
        Schema.from_json(package())
    with pytest.raises(UserError, match="by flags"):
        schema().with_dialect({"delimiter": ";"})
