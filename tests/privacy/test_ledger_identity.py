"""What was charged is what the noise is worth: recomputed from every intercepted noise call and from all neighbours."""

import checks
import pytest

UNITS = [pytest.param(unit, id=name) for name, unit in checks.UNITS.items()]
ACTIONS = [pytest.param(action, id=name) for name, action in checks.ACTIONS.items()]


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("action", ACTIONS)
def test_charges_cover_the_noise(action, unit):
    checks.check_charges_cover_the_noise(action, unit)


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("action", ACTIONS)
def test_charges_are_on_disk_before_the_noise_is_drawn(own_ledger, action, unit):
    checks.check_charged_before_noise(own_ledger, action, unit)
