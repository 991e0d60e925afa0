"""Faults that a suite once did not notice, each with the test that now does; tests/mutation puts them in and looks."""

import ast
from fractions import Fraction
from pathlib import Path
from unittest import mock

import numpy as np
import pytest

import sundog
from laws.query_examples import EXAMPLES
from privacy.stand_ins import curator
from sundog import Synthesizer
from sundog.api.adjust import composed
from sundog.domain.unit import PrivacyUnit
from sundog.private import noise
from sundog.private.accountant import gaussian_epsilon, round_up, zcdp_epsilon
from sundog.queries import sensitivity
from sundog.released import Guarantee, Released

ROWS = [("a", 0)] * 30 + [("b", 3)] * 20
UNIT = PrivacyUnit("replace", "u", 3)
ALL = [case.query for cases in EXAMPLES.values() for case in cases]


@pytest.mark.parametrize(("noisy", "named"), [(-(10**6), ()), (10**6, ("a", "b"))])
def test_categories_are_named_by_their_noisy_counts_alone(noisy, named):
    """Whatever the exact counts are: the noise decides."""
    made = curator(ROWS, unit=PrivacyUnit(), delta=1e-6, thresholds=5e-7)
    with mock.patch.object(noise, "add_gaussian", lambda counts, scale: np.full(len(counts), noisy)):
        assert made.categories("c", 0.5, delta=1e-7) == named


@pytest.mark.parametrize("query", ALL, ids=lambda query: query.describe()[:40])
def test_a_replaced_unit_may_change_its_number_of_rows_so_the_larger_sensitivity_holds(query):
    for norm, of_unit, power in (
        (query.sensitivity_squared, sensitivity.squared, 2),
        (query.sensitivity_l1, sensitivity.l1, 1),
        (query.sensitivity_linf, sensitivity.linf, 1),
        (query.block_l1, sensitivity.block_l1, 1),
    ):
        larger = max(norm("replace"), norm("add-remove"))
        assert of_unit(query, UNIT) == larger * 3**power


def test_for_some_queries_adding_a_row_changes_more_than_replacing_one():
    """Else the test above could not fail."""
    assert any(query.sensitivity_squared("add-remove") > query.sensitivity_squared("replace") for query in ALL)


def test_a_partition_of_a_replaced_unit():
    assert sensitivity.partition_squared(UNIT) == 2 * 9
    assert sensitivity.partition_squared(PrivacyUnit("add-remove", "u", 3)) == 9


FIELDS = [{"name": name, "type": "boolean", "constraints": {"required": True}} for name in "abc"]
TABLE = {name: [True, False, False, True] * 50 for name in "abc"}


@pytest.mark.parametrize(
    ("method", "accounting", "convert"),
    [("independent", "gaussian", gaussian_epsilon), ("mwem-pgm", "zcdp", zcdp_epsilon), ("aim", "zcdp", zcdp_epsilon)],
)
def test_runs_that_select_are_converted_as_zcdp(method, accounting, convert):
    schema = {"name": "s", "fields": FIELDS}
    made = Synthesizer(schema, epsilon=1.0, delta=1e-6, method=method, seed=1).fit(TABLE).released.guarantee
    assert made.accounting == accounting
    assert made.epsilon == convert(made.rho, 1e-6)
    assert made.epsilon <= 1.0


def release(accounting, rho, *, spent=0.0, delta=1e-6):
    schema = sundog.Schema.from_json({"name": "s", "fields": FIELDS})
    guarantee = Guarantee(PrivacyUnit(), accounting, rho, spent, epsilon=1.0, delta=delta)
    return Released(schema, (), guarantee, dataset="s")


@pytest.mark.parametrize("first", ["gaussian", "zcdp"])
@pytest.mark.parametrize("second", ["gaussian", "zcdp"])
@pytest.mark.parametrize("spent", [(0.0, 0.0), (3e-7, 0.0), (0.0, 2e-7), (3e-7, 2e-7)])
def test_what_is_composed_is_as_weak_as_its_weaker_part_and_costs_both(first, second, spent):
    made = composed(release(first, 0.01, spent=spent[0]), release(second, 0.02, spent=spent[1])).guarantee
    both = first == second == "gaussian"
    assert made.accounting == ("gaussian" if both else "zcdp")
    assert made.rho == round_up(Fraction(0.01) + Fraction(0.02))
    assert made.delta_spent == round_up(Fraction(spent[0]) + Fraction(spent[1]))
    convert = gaussian_epsilon if both else zcdp_epsilon
    assert made.epsilon == convert(made.rho, 1e-6 - made.delta_spent)
    assert made.delta == 1e-6


def test_thresholds_that_took_all_of_delta_leave_no_epsilon_to_state():
    made = composed(release("gaussian", 0.01, spent=8e-7), release("gaussian", 0.02, spent=3e-7)).guarantee
    assert (made.epsilon, made.delta) == (None, None)


def test_noise_is_what_opendp_draws():
    """Draws of another generator, however alike, would not be these."""
    for maker, add in (("make_gaussian", noise.add_gaussian), ("make_laplace", noise.add_laplace)):
        drawn = mock.Mock(return_value=lambda zeros: [5] * len(zeros))
        with mock.patch.object(noise, maker, drawn):
            assert add(np.array([10, 20]), 2.0**45).tolist() == [15, 25]
        assert drawn.call_args.kwargs["scale"] == 2.0**45
    with mock.patch.object(noise, "make_noisy_top_k", mock.Mock(return_value=lambda scores: [2])) as choose:
        assert noise.top_k(np.array([9, 5, 1]), 1, scale=1.0) == [2]
    assert choose.call_args.kwargs == {"k": 1, "scale": 1.0}


def test_the_private_zone_has_no_other_randomness():
    folder = Path(noise.__file__).parent
    for path in folder.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [node.module] if isinstance(node, ast.ImportFrom) else []
            names += [each.name for each in node.names] if isinstance(node, ast.Import) else []
            assert not any(str(name).split(".")[0] in ("random", "secrets") for name in names), path.name
            assert not (isinstance(node, ast.Attribute) and node.attr in ("random", "default_rng")), path.name
