"""audit_release: disclosed before anything is read, CONFIDENTIAL, and held against the right claim."""

import pytest

import sundog
from audit.people import SCHEMA, population
from sundog.api.audit_mechanism import points_of
from sundog.api.audit_release import _claimed
from sundog.audit.bounds import most_true
from sundog.domain.unit import PrivacyUnit
from sundog.errors import UserError
from sundog.private.accountant import Budget
from sundog.private.ledger import Ledger
from sundog.released import Guarantee, Released


def test_a_copy_breaks_its_claim_and_the_ledger_knows(tmp_path):
    ledger = Ledger(tmp_path / "ledger.sqlite")
    real, test = (population(400, seed=seed).to_arrow() for seed in (1, 2))
    found = sundog.audit_release(
        real,
        real,
        schema=SCHEMA,
        test=test,
        claim=(Budget(0.5, 1e-6), PrivacyUnit("replace")),
        ledger=ledger,
        targets=100,
    )
    document = found.to_json()
    assert document["confidential"]
    assert document["brand"].startswith("CONFIDENTIAL")
    assert {each["kind"] for each in document["attacks"]} == {"Membership", "Singling out", "Linkability", "Inference"}
    assert any(each["beyondLimit"] for each in document["attacks"])
    assert "Do not release this table." in found.verdict[0]
    page = found.to_html()
    assert page.index("CONFIDENTIAL") < page.index("can someone be found?")
    assert "What this does not prove" in page
    assert "CONFIDENTIAL" in repr(found)
    entries = ledger.account("people").entries
    assert [entry.label for entry in entries] == [
        "CONFIDENTIAL: real rows handed out for an audit, without noise",
        "CONFIDENTIAL: real rows handed out for an audit (held-out rows), without noise",
    ]


def test_without_held_out_rows_it_says_what_that_means(tmp_path):
    real = population(100, seed=1).to_arrow()
    found = sundog.audit_release(real, real, schema=SCHEMA, ledger=tmp_path / "l", targets=50)
    assert found.verdict == ("Little can be concluded: no rows were given that the synthesizer never saw.",)
    assert "membership could not be tried" in found.notes[0]
    assert "What differential privacy allows is not shown" in found.notes[1]
    assert "Membership" not in found.to_html()


def test_mistakes_are_named_before_anything_is_disclosed(tmp_path):
    ledger, real = Ledger(tmp_path / "l"), population(50, seed=1).to_arrow()
    for options in ({"secrets": ["nosuch"]}, {"targets": 2}):
        with pytest.raises(UserError):
            sundog.audit_release(real, real, schema=SCHEMA, ledger=ledger, **options)
    with pytest.raises(UserError, match="lacks the column"):
        sundog.audit_release(real, real.drop_columns(["c1"]), schema=SCHEMA, ledger=ledger)
    assert not ledger.export()["accounts"]


def test_claims_are_read_for_a_row_that_is_replaced():
    """Members and outsiders change places, which is two steps where a record is added or removed."""
    told = Guarantee(PrivacyUnit("add-remove"), "gaussian", 0.5, epsilon=1.0, delta=1e-6)
    said, points = _claimed(Released(SCHEMA, (), told), None)
    assert said.startswith("rho 0.5, epsilon 1 at delta 1e-06, one row added or removed")
    assert points == points_of(2.0, "gaussian")
    assert _claimed(Released(SCHEMA, (), Guarantee(PrivacyUnit("replace"), "zcdp", 0.5)), None)[1] == points_of(
        0.5, "zcdp"
    )
    units = Guarantee(PrivacyUnit("replace", "c1", 3), "zcdp", 0.5)
    assert _claimed(Released(SCHEMA, (), units), None)[1] == points_of(2.0, "zcdp")
    (point,) = _claimed(None, (Budget(1.0, 1e-6), PrivacyUnit("add-remove")))[1]
    assert point == pytest.approx((2.0, (1 + 2.718281828) * 1e-6))
    assert _claimed(None, (Budget(rho=0.5), PrivacyUnit("add-remove")))[1] == points_of(2.0, "zcdp")
    assert float(most_true(0.0, points)) < 0.01
    assert _claimed(None, None) == (None, None)
