"""Sensitivities of marginals, from raw values on: all rows and all pairs of rows of a tiny schema, boundaries included.

Every registered class of queries is held to the same law by tests/laws, on codes; here the values themselves are
enumerated, with values outside the domain, on boundaries, and missing.
"""

import pytest

from privacy import checks
from privacy.stand_ins import TINY, TWO_WAY
from sundog.domain.axis import Axis
from sundog.domain.unit import PrivacyUnit
from sundog.queries import AtLeast, Marginal, SigmoidSum

MARGINALS = [
    Marginal.of(TINY, "c"),
    Marginal.of(TINY, "n"),
    TWO_WAY,
    Marginal.of(TINY, "n", bins=1),
    Marginal.of(TINY, "n", bins=4),
    Marginal((Axis.cut(TINY.column("n"), (1, 3)), Axis.grouped(TINY.column("c"), [1, 0, 1]))),
]

AT_LEAST = AtLeast(TWO_WAY, 1)
SIGMOID = SigmoidSum(("n",), (1.0,), 0.5)
"""Adding a row changes this one more than replacing one does."""
STEEP = SigmoidSum(("n",), (1.0,), 0.5, 100.0)


@pytest.mark.parametrize("query", MARGINALS, ids=lambda query: query.describe())
def test_marginals(query):
    checks.check_sensitivity(query)


@pytest.mark.parametrize("unit", checks.UNITS.values(), ids=checks.UNITS)
@pytest.mark.parametrize("query", [TWO_WAY, AT_LEAST, SIGMOID, STEEP], ids=["marginal", "at least", "sigmoid", "steep"])
def test_units(query, unit):
    checks.check_unit_sensitivity(query, unit)


@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
def test_scores_of_wider_tables_move_by_no_more_than_is_paid_for(neighbours):
    checks.check_wider_scores(PrivacyUnit(neighbours))
