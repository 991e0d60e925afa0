"""Options are declared once: Python's front doors take exactly the fields that the command line builds its options from."""

import inspect
from dataclasses import MISSING, fields

import pytest

import sundog
from example_tables import SCHEMA, table
from sundog.api.options import Charged, Consent, Generation, Privacy, Purpose

DOORS = {
    sundog.Synthesizer: (Privacy, Charged, Generation, Consent, Purpose),
    sundog.adjust: (Privacy, Charged, Consent, Purpose),
}


@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.__name__)
def test_a_front_door_takes_the_declared_fields_with_their_defaults(door):
    taken = inspect.signature(door).parameters
    for field in (field for group in DOORS[door] for field in fields(group)):
        assert field.default is not MISSING
        assert taken[field.name].default == field.default, field.name
        assert f"\n        {field.name}: " in door.__doc__


def test_the_synthesizer_takes_nothing_else():
    declared = {field.name for group in DOORS[sundog.Synthesizer] for field in fields(group)}
    assert set(inspect.signature(sundog.Synthesizer).parameters) - {"schema"} == declared


WRONG = [
    {"seed": "abc"},
    {"seed": 1.5},
    {"rho": "x"},
    {"rho": True},
    {"rho": float("nan")},
    {"delta": "x"},
    {"neighbours": "neither"},
    {"unit": 5},
    {"rows_per_unit": 2.5},
    {"dataset": 7},
    {"ledger": 5},
    {"confirmed": "yes"},
]


@pytest.mark.parametrize(
    "wrong",
    [*WRONG, {"method": 5}, {"settings": [1]}, {"adjust": 5}, {"workload": 5}, {"adjust_share": 0.0}],
    ids=str,
)
def test_options_of_the_wrong_kind_are_refused_before_anything_is_spent(wrong, own_ledger):
    with pytest.raises(sundog.UserError, match=next(iter(wrong))):
        sundog.Synthesizer(SCHEMA, **({"rho": 1.0, "dataset": "d"} | wrong))
    assert not own_ledger.exists()


@pytest.mark.parametrize("wrong", [*WRONG, {"noise": "uniform"}], ids=str)
def test_adjusting_refuses_them_too(wrong, own_ledger):
    with pytest.raises(sundog.UserError, match=next(iter(wrong))):
        sundog.adjust(table(20), "columns", schema=SCHEMA, real=table(20), **({"rho": 1.0, "dataset": "d"} | wrong))
    assert not own_ledger.exists()
