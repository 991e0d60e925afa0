"""Whom the guarantee protects."""

import pytest

from sundog.domain.unit import PrivacyUnit
from sundog.errors import BudgetRefused, UserError


@pytest.mark.parametrize(
    ("unit", "words"),
    [
        (PrivacyUnit(), "one row added or removed"),
        (PrivacyUnit("replace"), "one row replaced (the number of rows is public)"),
        (PrivacyUnit("add-remove", "who", 3), "all rows of one value of 'who' (at most 3 are used) added or removed"),
    ],
)
def test_units_in_words(unit, words):
    assert unit.describe() == words


def test_a_replaced_unit_is_not_said_to_make_the_number_of_rows_public():
    """With a unit column the number of rows may change, so it stays private."""
    assert "public" not in PrivacyUnit("replace", "who", 3).describe()


@pytest.mark.parametrize(
    ("given", "match"),
    [
        (("swap",), "neighbours: found 'swap'; allowed are 'add-remove' and 'replace'"),
        (("replace", "who", 0), "rows per unit: found 0; it must be 1 or more"),
        (("replace", "who", 1.01), "rows per unit: found 1.01; it must be a whole number"),
        (("replace", "who", 2.0), "rows per unit: found 2.0; it must be a whole number"),
        (("replace", "who", True), "rows per unit: found True; it must be a whole number"),
        (("replace", "who", "2"), "rows per unit: found '2'; it must be a whole number"),
        (("replace", "who", 10**20), "rows per unit: found 1e\\+20; it must be at most"),
        (("replace", None, 2), "needs a unit column; name it with --unit"),
    ],
)
def test_mistakes_are_named(given, match):
    with pytest.raises(UserError, match=match):
        PrivacyUnit(*given)


def test_the_two_ways_to_say_no():
    assert UserError("x").exit_code == 2
    assert BudgetRefused("x").exit_code == 3
    assert issubclass(BudgetRefused, UserError)
