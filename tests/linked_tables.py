"""Small linked tables for tests: households with persons (a set), visits (a sequence) and cards of persons."""

import numpy as np

from sundog.domain.linked.views import LinkedSchema


def number(name, low, high, **more):
    return {"name": name, "type": "integer", "constraints": {"minimum": low, "maximum": high, "required": True}, **more}


def label(name, *labels):
    return {"name": name, "type": "string", "categories": list(labels), "constraints": {"required": True}}


def key(name, kind="integer"):
    return {"name": name, "type": kind, "identifier": True}


def below(parent, own="parent", reference="id"):
    return [{"fields": [own], "reference": {"resource": parent, "fields": [reference]}}]


def package(*, persons=2, visits=3, cards=2, least=0, kind="integer"):
    """A tree of four tables."""
    return {
        "name": "homes",
        "resources": [
            {
                "name": "homes",
                "schema": {"primaryKey": ["id"], "fields": [key("id", kind), label("type", "flat", "house")]},
            },
            {
                "name": "persons",
                "maximumPerParent": persons,
                "minimumPerParent": least,
                "schema": {
                    "primaryKey": ["id"],
                    "foreignKeys": below("homes"),
                    "fields": [key("id", kind), key("parent", kind), number("age", 0, 2), label("sex", "f", "m")],
                },
            },
            {
                "name": "visits",
                "maximumPerParent": visits,
                "orderBy": ["day"],
                "schema": {
                    "foreignKeys": below("homes"),
                    "fields": [key("parent", kind), number("day", 0, 9), label("kind", "a", "b")],
                },
            },
            {
                "name": "cards",
                "maximumPerParent": cards,
                "schema": {
                    "foreignKeys": below("persons"),
                    "fields": [key("parent", kind), label("colour", "gold", "red")],
                },
            },
        ],
    }


def schema(**bounds):
    return LinkedSchema.from_document(package(**bounds))


def tables_of(units):
    """Units (type, persons with their cards, visits) as tables with keys; persons are numbered over all units."""
    made = {"homes": {"id": [], "type": []}, "persons": {"id": [], "parent": [], "age": [], "sex": []}}
    made |= {"visits": {"parent": [], "day": [], "kind": []}, "cards": {"parent": [], "colour": []}}

    def add(table, **cells):
        for name, cell in cells.items():
            made[table][name].append(cell)

    for name, (type_, persons, visits) in units.items():
        add("homes", id=name, type=type_)
        for place, (age, sex, cards) in enumerate(persons):
            person = 1000 * name + place
            add("persons", id=person, parent=name, age=age, sex=sex)
            for colour in cards:
                add("cards", parent=person, colour=colour)
        for day, kind in visits:
            add("visits", parent=name, day=day, kind=kind)
    types = {"id": np.int64, "parent": np.int64, "age": np.int64, "day": np.int64}
    return {
        table: {name: np.array(cells, dtype=types.get(name, object)) for name, cells in columns.items()}
        for table, columns in made.items()
    }


def random_homes(count, *, seed=0):
    """Homes in which persons are alike, ages follow the type, and visits come in order."""
    draw = np.random.default_rng(seed)
    units = {}
    for name in range(1, count + 1):
        house = draw.random() < 0.5
        age = int(draw.choice(3, p=[0.1, 0.2, 0.7] if house else [0.6, 0.3, 0.1]))
        persons = [
            (
                age if draw.random() < 0.8 else int(draw.integers(3)),
                str(draw.choice(["f", "m"])),
                ["gold"] * int(draw.random() < 0.3),
            )
            for _ in range(int(draw.integers(0, 3)))
        ]
        days = sorted(int(day) for day in draw.integers(0, 10, size=int(draw.integers(0, 4))))
        units[name] = ("house" if house else "flat", persons, [(day, str(draw.choice(["a", "b"]))) for day in days])
    return units
