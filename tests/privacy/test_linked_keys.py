"""Keys of linked tables cannot break the guarantee: they are checked before anything is spent, and rows join their own unit alone.

The three attacks that a repeated, a missing and an equal key once allowed stand first; wrong versions of each rule must fail.
"""

import itertools
from unittest import mock

import numpy as np
import pytest

from keyed_tables import CARRIED, keyed_schema, keyed_tables
from privacy.stand_ins import MemoryLedger
from sundog.domain.unit import PrivacyUnit
from sundog.errors import UserError
from sundog.private.accountant import Budget
from sundog.private.curator import Curator
from sundog.private.spending import Spending
from sundog.private.table import PrivateTables
from sundog.queries import Marginal, add_all, sensitivity
from sundog.released.per_view import shared
from sundog.sources import linked, linked_keys, open_table

UNIT = PrivacyUnit("add-remove", "homes.id", 1, below=True)
NAN = float("nan")


def queries(schema):
    """Every column and every pair of columns of every view."""
    made = []
    for view in schema.views:
        flat = schema.of_view(view)
        for width in (1, 2):
            made += [shared(Marginal.of(flat, *names), view) for names in itertools.combinations(flat.names, width)]
    return made


def source(schema, tables):
    return linked.LinkedSource(schema.package, {name: open_table(table) for name, table in tables.items()})


def totals(schema, tables, *, check=True):
    """The exact answers; refused where keys do not name one record each."""
    held, asked = source(schema, tables), queries(schema)
    if check:
        held.check_keys()
    size = sum(query.size for query in asked)
    return held.add_up(schema, UNIT, add=lambda rows, out: add_all(asked, rows, out), size=size)


def within_bounds(schema, one, other, *, check=True):
    """Whether no query moves by more than is stated between two databases."""
    change = totals(schema, one, check=check) - totals(schema, other, check=check)
    asked = queries(schema)
    parts = np.split(change, np.cumsum([query.size for query in asked])[:-1])
    return all(
        int((part.astype(object) ** 2).sum()) <= sensitivity.squared(query, UNIT)
        for query, part in zip(asked, parts, strict=True)
    )


def repeated(homes, *, extra, carried):
    """Homes that number their persons from 1; with one home more (`extra` is its name), whose person 1 has two red cards."""
    one = range(1, homes + 1)
    more = [extra] if extra else []
    return keyed_tables(
        [(home, "flat") for home in [*one, *more]],
        [(home, 1, "f") for home in [*one, *more]],
        [(home, 1, "gold") for home in one for _ in range(2)] + [(home, 1, "red") for home in more for _ in range(2)],
        carried=carried,
    )


def nameless(missing, homes=10):
    """Homes whose persons all have an unknown number, and one card of nobody."""
    return keyed_tables(
        [(home, "flat") for home in range(homes)],
        [(home, missing, "f") for home in range(homes)],
        [(0, missing, "red")] * 2,
    )


@pytest.mark.parametrize("carried", ["composite", "unit key"])
def test_keys_that_repeat_in_other_units_change_nothing_where_rows_carry_the_unit(carried):
    schema = keyed_schema(carried)
    assert schema.package.named_by_key == ("homes",)
    without = repeated(3, extra=None, carried=carried)
    for extra in range(11, 31):  # the smallest hash is that of another row each time
        assert within_bounds(schema, repeated(3, extra=extra, carried=carried), without)


def test_keys_that_repeat_are_refused_where_only_they_say_whose_row_it_is():
    schema, tables = keyed_schema("alone"), repeated(10, extra=11, carried="alone")
    assert schema.package.named_by_key == ("homes", "persons")
    with pytest.raises(
        UserError, match="table 'persons': its primaryKey 'number' is missing in some row, or occurs"
    ) as refused:
        totals(schema, tables)
    assert "11" not in str(refused.value)
    assert not within_bounds(schema, tables, repeated(10, extra=None, carried="alone"), check=False)  # why it must be


@pytest.mark.parametrize("missing", [None, NAN, np.datetime64("NaT"), -1, -1.0, "NA", "", np.float32("nan")], ids=repr)
def test_a_missing_key_in_any_form_names_nobody(missing):
    schema = keyed_schema("alone", missingValues=["", "NA", "-1"], kind="string")
    tables = nameless(missing)
    with pytest.raises(UserError, match="primaryKey 'number' is missing in some row"):
        totals(schema, tables)
    held = source(schema, tables)
    assert len(held.parents_of("cards")[0]) == 0


def test_records_of_equal_root_keys_are_one_unit():
    schema = keyed_schema("alone")
    one = keyed_tables([(1, "flat"), (2, "flat")], [(2, 7, "f")], [])
    twice = keyed_tables([(1, "flat"), (2, "flat"), (1, "house"), (1, "flat")], [(2, 7, "f"), (1, 8, "m")], [])
    without = keyed_tables([(2, "flat")], [(2, 7, "f")], [])
    with pytest.raises(UserError, match="table 'homes'"):
        totals(schema, twice)
    assert within_bounds(schema, one, without)
    assert within_bounds(schema, twice, without, check=False)  # the unit is the value with every row that carries it


def test_a_row_that_names_two_units_belongs_to_neither():
    schema = keyed_schema("unit key")
    homes, persons = [(1, "flat"), (2, "house")], [(1, 10, "f"), (2, 20, "m")]
    true = keyed_tables(homes, persons, [(1, 10, "red"), (2, 20, "gold")], carried="unit key")
    false = keyed_tables(
        homes, persons, [(1, 10, "red"), (2, 20, "gold"), (2, 10, "gold"), (None, 10, "red")], carried="unit key"
    )
    np.testing.assert_array_equal(totals(schema, true), totals(schema, false))


def curator(tables, schema, ledger, *, ensured=()):
    spending = Spending(Budget(rho=1.0), "homes", unit=UNIT, ledger=ledger)
    private = PrivateTables(schema.package, tables)
    if ensured:
        private._PrivateTable__source.ensured = ensured
    return Curator(private, schema, spending=spending)


GOOD = keyed_tables([(1, "flat"), (2, "house")], [(1, 1, "f"), (2, 2, "m")], [(1, 1, "red")])


def test_the_check_is_recorded_before_the_rows_are_read_and_costs_nothing():
    ledger, schema = MemoryLedger(), keyed_schema("alone")
    made = curator(GOOD, schema, ledger)
    assert ledger.disclosures == [
        "whether the keys of homes and persons are present and unique: one bit each, checked before measuring"
    ]
    assert not ledger.charges
    made.measure(queries(schema)[:1], 0.5)
    assert made.released().guarantee.keys == {"homes": "checked", "persons": "checked"}
    refused = MemoryLedger()
    with pytest.raises(UserError, match="Nothing was charged"):
        curator(repeated(3, extra=None, carried="alone"), schema, refused)
    assert (len(refused.disclosures), refused.charges) == (1, [])


def test_what_the_database_ensures_is_no_disclosure_unless_it_fails():
    ledger, schema = MemoryLedger(), keyed_schema("alone")
    made = curator(GOOD, schema, ledger, ensured=("homes", "persons"))
    assert ledger.disclosures == []
    made.measure(queries(schema)[:1], 0.5)
    assert set(made.released().guarantee.keys.values()) == {"ensured"}
    with pytest.raises(UserError, match="'persons'"):
        curator(repeated(3, extra=None, carried="alone"), schema, ledger, ensured=("homes", "persons"))
    assert len(ledger.disclosures) == 1


def test_a_refusal_is_recorded_for_every_key_that_it_may_be_about():
    """Where the database ensures one key and another is checked, a refusal may be about either."""
    ledger, twice = MemoryLedger(), GOOD | {"homes": {"id": [1, 1], "type": ["flat", "flat"]}}
    with pytest.raises(UserError, match="'homes'"):
        curator(twice, keyed_schema("alone"), ledger, ensured=("homes",))
    assert [said.split(" are ")[0] for said in ledger.disclosures] == [
        "whether the keys of persons",
        "whether the keys of homes",
    ]


@pytest.mark.parametrize("carried", CARRIED)
def test_only_the_tables_that_are_joined_by_their_key_alone_are_checked(carried):
    """A key that repeats below another home is refused only where it says whose a card is."""
    schema = keyed_schema(carried)
    tables = keyed_tables([(1, "flat"), (2, "flat")], [(1, 1, "f"), (2, 1, "m")], [(1, 1, "red")], carried=carried)
    if carried == "alone":
        with pytest.raises(UserError, match="'persons'"):
            totals(schema, tables)
    else:
        totals(schema, tables)


MUTANTS = {
    "uniqueness is not checked": (linked, "refuse_repeated", lambda table, keys: None),
    "a missing key is a key": (linked_keys, "names_one_each", lambda keys: True),
    "rows are joined without their unit": (
        linked,
        "joint_numbers",
        lambda wanted, keys: linked_keys.joint_numbers(wanted[:1], keys[:1]),
    ),
    "each record of a key is a unit": (
        linked,
        "numbers_of",
        lambda keys: np.where(linked_keys.numbers_of(keys) < 0, -1, np.arange(len(keys))),
    ),
}


def attacked():
    test_keys_that_repeat_are_refused_where_only_they_say_whose_row_it_is()
    test_keys_that_repeat_in_other_units_change_nothing_where_rows_carry_the_unit("unit key")
    test_records_of_equal_root_keys_are_one_unit()


@pytest.mark.parametrize("name", MUTANTS)
def test_wrong_versions_fail(name):
    place, attribute, wrong = MUTANTS[name]
    with mock.patch.object(place, attribute, wrong), pytest.raises((AssertionError, pytest.fail.Exception)):
        attacked()
