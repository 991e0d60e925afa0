"""What a unit can change: its rows times the norms of one row, under every relation that holds."""

import math
from fractions import Fraction

import pytest

from sundog.domain import Categorical, Schema
from sundog.domain.axis import Axis
from sundog.domain.unit import PrivacyUnit
from sundog.queries import AtLeast, Marginal, sensitivity

SCHEMA = Schema(tuple(Categorical(name, ("no", "yes")) for name in "abc"))
MARGINAL = Marginal(tuple(Axis.whole(column) for column in SCHEMA.columns))


class OnlyAddRemove:
    """A query of which adding a row changes more than replacing one: both relations must be looked at."""

    @staticmethod
    def sensitivity_squared(neighbours):
        return Fraction(9 if neighbours == "add-remove" else 4)

    @staticmethod
    def sensitivity_l1(neighbours):
        return Fraction(3 if neighbours == "add-remove" else 2)

    sensitivity_linf = block_l1 = sensitivity_l1


@pytest.mark.parametrize(
    ("unit", "squared", "l1"),
    [
        (PrivacyUnit("add-remove"), 9, 3),
        (PrivacyUnit("replace"), 4, 2),
        (PrivacyUnit("add-remove", "u", 5), 9 * 25, 15),
        (PrivacyUnit("replace", "u", 5), 9 * 25, 15),
    ],
)
def test_a_unit_that_may_change_its_number_of_rows_takes_the_larger_relation(unit, squared, l1):
    assert sensitivity.squared(OnlyAddRemove, unit) == squared
    assert {sensitivity.l1(OnlyAddRemove, unit), sensitivity.linf(OnlyAddRemove, unit)} == {Fraction(l1)}
    assert sensitivity.block_l1(OnlyAddRemove, unit) == l1


@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
@pytest.mark.parametrize("column", [None, "u"])
def test_counts_of_a_partition_move_as_a_marginal_does(neighbours, column):
    unit = PrivacyUnit(neighbours, column, 3 if column else 1)
    assert sensitivity.partition_squared(unit) == sensitivity.squared(MARGINAL, unit)


def test_the_noise_that_a_price_buys():
    unit = PrivacyUnit("replace", "u", 2)
    assert sensitivity.gaussian_stddev(MARGINAL, 0.5, unit=unit) == math.sqrt(8)


def test_a_class_in_use_needs_both_relations():
    """At-least queries hold it in practice: replacing a row can change less than adding one."""
    query = AtLeast(MARGINAL, 1)
    both = [query.sensitivity_squared(relation) for relation in ("add-remove", "replace")]
    assert both[0] > both[1]
    assert sensitivity.squared(query, PrivacyUnit("replace", "u", 1)) == both[0]
