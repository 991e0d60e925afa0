"""The loop: a model is fitted before the rule is asked only where the rule looks at it."""

import pytest

from example_tables import SCHEMA, table
from sundog import Synthesizer
from sundog.generate import Genetic
from sundog.methods.recipes import METHODS
from sundog.select import RULES


@pytest.mark.parametrize(("method", "fits"), [("private-gsd", 1), ("mst/private-gsd", 2)])
def test_a_rule_that_does_not_read_the_model_costs_one_fit(monkeypatch, tmp_path, method, fits):
    fitted, fit = [], Genetic.fit
    monkeypatch.setattr(Genetic, "fit", lambda *given, **options: fitted.append(1) or fit(*given, **options))
    settings = {"rows": 50, "generations": 5}
    made = Synthesizer(SCHEMA, rho=0.5, dataset="d", method=method, settings=settings, ledger=tmp_path / "ledger.db")
    made.fit(table(100))
    assert len(fitted) == fits


def test_rules_that_refit_look_at_the_model():
    assert all(rule.reads_model for rule in RULES.values() if rule.refits)
    assert not METHODS["auto"].rule.reads_model
