"""Homes with persons who have cards, in which rows carry their home's key in one of three ways: not, by composite keys, by a unit key."""

from linked_tables import below, key, label
from sundog.domain.linked.views import LinkedSchema

CARRIED = ("alone", "composite", "unit key")
"""How cards know their home: by their person alone, by a key of several fields, by a field that the schema names."""


def keyed_package(carried="alone", *, persons=2, cards=2, kind="integer", **more):
    """A chain of three tables; `more` is declared of every table's schema."""
    composite = carried == "composite"
    person = ["home", "number"] if composite else ["number"]
    apart = {"unitKey": "home"} if carried == "unit key" else {}
    home_of_card = [key("home", kind)] if carried != "alone" else []
    return {
        "name": "homes",
        "resources": [
            {
                "name": "homes",
                "schema": {"primaryKey": "id", "fields": [key("id", kind), label("type", "flat", "house")], **more},
            },
            {
                "name": "persons",
                "maximumPerParent": persons,
                "schema": {
                    "primaryKey": person,
                    "foreignKeys": below("homes", own="home"),
                    "fields": [key("home", kind), key("number", kind), label("sex", "f", "m")],
                    **more,
                },
            },
            {
                "name": "cards",
                "maximumPerParent": cards,
                **apart,
                "schema": {
                    "foreignKeys": [
                        {
                            "fields": ["home", "person"] if composite else ["person"],
                            "reference": {"resource": "persons", "fields": person},
                        }
                    ],
                    "fields": [*home_of_card, key("person", kind), label("colour", "gold", "red")],
                    **more,
                },
            },
        ],
    }


def keyed_schema(carried="alone", **more):
    return LinkedSchema.from_document(keyed_package(carried, **more))


def keyed_tables(homes, persons, cards, *, carried="alone"):
    """Rows (id, type), (home, number, sex) and (home, person, colour) as tables; cards have a home where they carry it."""
    names = {"homes": ("id", "type"), "persons": ("home", "number", "sex"), "cards": ("home", "person", "colour")}
    rows = {"homes": homes, "persons": persons, "cards": cards}
    made = {
        table: {column: [row[k] for row in rows[table]] for k, column in enumerate(columns)}
        for table, columns in names.items()
    }
    if carried == "alone":
        del made["cards"]["home"]
    return made
