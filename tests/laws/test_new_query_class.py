"""A class of queries that is added to the registry is under every law; one that breaks a law is caught by it."""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np
import pytest

from laws.query_examples import EXAMPLES, Case, cases
from laws.query_laws import LAWS
from sundog.queries import CLASSES
from sundog.queries.base import whole_key


@dataclass(frozen=True)
class Parity:
    """How many rows have an even and how many an odd code in a column: a toy with everything a class needs."""

    column: str
    partition: ClassVar[bool] = True
    size: ClassVar[int] = 2
    block: ClassVar[int] = 2
    claimed: int = 1

    @property
    def columns(self):
        return (self.column,)

    def sensitivity_squared(self, neighbours):
        return Fraction(self.claimed if neighbours == "add-remove" else 2 * self.claimed)

    sensitivity_l1 = block_l1 = sensitivity_squared

    def sensitivity_linf(self, neighbours):
        return Fraction(1)

    def add(self, rows, totals):
        totals += np.bincount(rows.column(self.column) % 2, minlength=2)

    def vectors(self, rows):
        return np.eye(2, dtype=np.int64)[rows.column(self.column) % 2]

    def block_keys(self):
        return whole_key(self)

    def subset(self, blocks):
        return self

    def describe(self):
        return f"even and odd codes of {self.column}"

    def to_json(self):
        return {"query": "parity", "column": self.column}

    @classmethod
    def from_json(cls, document, schema):
        schema.position(document["column"])
        return cls(document["column"])


class Forgetful(Parity):
    """Adds to the totals of an earlier batch only once."""

    def add(self, rows, totals):
        totals[:] = np.bincount(rows.column(self.column) % 2, minlength=2)


class Uneven(Parity):
    """Its answer depends on how the rows are batched."""

    def add(self, rows, totals):
        totals += np.bincount(rows.column(self.column) % 2, minlength=2) * (1 if len(rows) < 20 else 2)


class Doubled(Parity):
    """A row counts twice."""

    def add(self, rows, totals):
        totals += 2 * np.bincount(rows.column(self.column) % 2, minlength=2)


class Nameless(Parity):
    """Two names for one block."""

    def block_keys(self):
        return [b"even", b"odd"]


class Amnesiac(Parity):
    """It forgets its column when saved."""

    @classmethod
    def from_json(cls, document, schema):
        return cls("hours")


class Cryptic(Parity):
    """It does not say what it is."""

    def describe(self):
        return repr(np.arange(3))


@pytest.fixture
def registered(monkeypatch):
    def register(query):
        monkeypatch.setitem(CLASSES, "parity", type(query))
        monkeypatch.setitem(EXAMPLES, "parity", [Case(query)])
        return cases()["parity-0"]

    return register


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
@pytest.mark.parametrize("column", ["colour", "age"])
def test_a_new_class_is_under_every_law(registered, law, column):
    law(registered(Parity(column)))


def test_a_new_class_without_an_example_fails(monkeypatch):
    monkeypatch.setitem(CLASSES, "parity", Parity)
    with pytest.raises(AssertionError, match="no example"):
        cases()


BROKEN = {
    "sensitivities_are_those_of_enumeration": [replace(Parity("age"), claimed=0), replace(Parity("age"), claimed=2)],
    "answers_add_up": [Forgetful("age")],
    "vectors_are_what_single_rows_add": [Doubled("age")],
    "batches_do_not_matter": [Uneven("age")],
    "answers_stay_within_bounds": [Doubled("age")],
    "blocks_are_coherent": [Nameless("age")],
    "saving_and_loading_changes_nothing": [Amnesiac("age")],
    "descriptions_are_readable": [Cryptic("age")],
}


@pytest.mark.parametrize("name", LAWS)
def test_every_law_catches_a_class_that_breaks_it(registered, name):
    for query in BROKEN[name]:
        case = registered(query)
        with pytest.raises(AssertionError):
            LAWS[name](case)
