"""Linked tables of one package and very different rows: what a run lets out must not depend on which of them it read.

Homes with persons, who have cards, and with visits in order. Rows know their home by their parent alone, by composite keys or by a
unit key. Every world but the first holds a secret token wherever a row may hold text.
"""

import csv

from keyed_tables import keyed_package
from linked_tables import below, key, number
from nasty_keys import CONFUSABLE, LONG

SECRET = "Zq7SECRET"
TABLES = {
    "homes": ("id", "type"),
    "persons": ("home", "number", "sex"),
    "cards": ("home", "person", "colour"),
    "visits": ("home", "day", "kind"),
}
FILES = tuple(f"{name}.csv" for name in TABLES)


def package(carried):
    """The package in one of three ways in which cards know their home."""
    made = keyed_package(carried, kind="string", missingValues=["", "NA"])
    visits = {
        "name": "visits",
        "maximumPerParent": 3,
        "orderBy": ["day"],
        "schema": {
            "foreignKeys": below("homes", own="home"),
            "fields": [key("home", "string"), number("day", 0, 9), {"name": "kind", "categories": ["a", "b"]}],
        },
    }
    return made | {"resources": [*made["resources"], visits]}


def _homes(names, *, number_of=str, rows=1, type_="flat", colour="gold", day="5"):
    """Homes with one person, who has a card, and with visits."""
    return {
        "homes": [(name, type_) for name in names],
        "persons": [(name, f"{number_of(name)}", "f") for name in names],
        "cards": [(name, f"{number_of(name)}", colour) for name in names for _ in range(rows)],
        "visits": [(name, day, "a") for name in names for _ in range(rows)],
    }


def _more(held, **rows):
    return {name: [*cells, *rows.get(name, ())] for name, cells in held.items()}


def worlds(carried):
    """By name, what writes the tables of each world into a folder."""
    plain = _homes([str(k) for k in range(30)])
    texts = list(dict.fromkeys(text for name, group in CONFUSABLE.items() if name != "missing" for text in group))
    nobody = [("absent", "nobody"), ("NA", "NA"), ("", ""), (SECRET, SECRET), (LONG, LONG)]
    secrets = _homes([f"{SECRET} {k}" for k in range(50)], rows=2, type_=SECRET, colour=SECRET, day=SECRET)
    crowd = {
        "persons": [("0", f"more {k}", SECRET) for k in range(400)],
        "cards": [("0", f"more {k % 3}", "red") for k in range(400)],
        "visits": [("0", str(k % 11), SECRET) for k in range(400)],
    }
    orphans = {
        "persons": [(home, f"lost {k}", SECRET) for k, (home, _) in enumerate(nobody)],
        "cards": [(home, person, SECRET) for home, person in nobody],
        "visits": [(home, "9", SECRET) for home, _ in nobody],
    }
    every = {
        "ordinary": plain,
        "orphans": _more(plain, **orphans),
        "a crowd": _more(plain, **crowd),
        "secrets": secrets,
        "keys that look alike": _homes(texts, type_="house", colour="red"),
        "no rows": {name: [] for name in TABLES},
    }
    return {name: lambda place, held=held: write(place, held, carried) for name, held in every.items()}


def refused(carried):
    """Two worlds whose keys do not name one record each, for different reasons and at different places."""
    plain = _homes([str(k) for k in range(30)])
    every = {
        "a home twice": _more(plain, homes=[("7", "house")]),
        "homes without a key": _more(_homes([SECRET]), homes=[("NA", SECRET), ("", "flat")]),
    }
    return {name: lambda place, held=held: write(place, held, carried) for name, held in every.items()}


def write(place, held, carried):
    """The tables as files; cards have a home where they carry it."""
    for name, columns in TABLES.items():
        kept = [k for k, column in enumerate(columns) if (name, column, carried) != ("cards", "home", "alone")]
        with (place / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
            lines = csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_ALL)
            lines.writerow([columns[k] for k in kept])
            lines.writerows([row[k] for k in kept] for row in held[name])
