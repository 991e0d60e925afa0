"""Options are declared once: Python's front doors take exactly the fields that the command line builds its options from."""

import inspect
from dataclasses import MISSING, fields

import pytest

import sundog
from sundog.api.options import Charged, Consent, Generation, Privacy

DOORS = {sundog.Synthesizer: (Privacy, Charged, Generation, Consent), sundog.adjust: (Privacy, Charged, Consent)}


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
