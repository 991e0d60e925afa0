"""Repairing rows of linked tables: a count per parent stays as it was drawn, unless its rows cannot exist."""

import numpy as np
import pytest

from linked_tables import package
from sundog.domain.linked.views import LinkedSchema
from sundog.generate.linked.rows import TableRows
from sundog.postprocess.linked import broken, repair
from sundog.random.keys import key_of

NO_WOMAN = {"kind": "impossible", "where": {"sex": "f"}}


def repaired(*, own=(), least=0):
    """Persons, of whom half are drawn as women, beside a count of women per home."""
    document = package(least=least)
    document["resources"][1]["schema"]["constraints"] = list(own)
    document["constraints"] = [
        {"kind": "count", "name": "women", "table": "persons", "where": {"sex": "f"}, "maximum": 1}
    ]
    schema = LinkedSchema.from_document(document)
    codes = {
        "persons.age": np.array([0, 1, 2, 0]),
        "persons.sex": np.array([0, 1, 0, 1]),
        "persons.#cards": np.zeros(4, int),
    }
    homes = {"homes.type": np.zeros(4, int), "homes.#persons": np.ones(4, int), "homes.#visits": np.zeros(4, int)}
    homes["homes.#visits.#first"] = np.full(4, 10)
    place = np.arange(4)
    tables = {"homes": TableRows(homes, place), "persons": TableRows(codes, place)}
    made = repair(key_of(1), schema, tables, "persons")
    assert broken(schema.package, tables | {"persons": made}) == {"women": 0}
    return made.columns["persons.sex"].tolist()


def test_what_is_counted_stays():
    assert repaired() == [0, 1, 0, 1]


@pytest.mark.parametrize("least", [0, 1])
def test_rows_that_a_rule_of_the_table_forbids_are_changed(least):
    assert repaired(own=[NO_WOMAN], least=least) == [1, 1, 1, 1]
