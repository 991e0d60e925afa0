"""A private table is a closed box: nothing of its rows comes out of it, whatever is tried."""

import copy
import pickle

import pytest

from sundog.private.table import PrivateTable, open_private

TOKEN = "Zq7xSECRETx0451"
CLOSED = {
    "length": len,
    "iterate": iter,
    "truth by length": lambda table: table[0],
    "pickle": pickle.dumps,
    "copy": copy.copy,
    "deep copy": copy.deepcopy,
    "attributes": vars,
    "format": lambda table: format(table, "x"),
    "add": lambda table: table + table,
}


def private():
    return PrivateTable({"name": [TOKEN, "b"], "age": [1, 2]})


@pytest.mark.parametrize("way", CLOSED)
def test_it_does_not_open(way):
    with pytest.raises((TypeError, AttributeError)) as refused:
        CLOSED[way](private())
    assert TOKEN not in str(refused.value)


def test_it_shows_the_names_of_its_columns_and_nothing_else():
    table = private()
    assert repr(table) == str(table) == f"{table}" == "PrivateTable(closed)"
    assert table.columns == ("name", "age")
    assert [name for name in dir(table) if not name.startswith("_")] == ["check", "columns"]
    with pytest.raises(AttributeError):
        table.more = 1


def test_the_door_of_the_private_zone_opens_it():
    assert open_private(private()).columns == ("name", "age")
