"""Budgets that make no sense are questioned before anything is spent."""

import json

import pytest

import sundog
import tables
from privacy.stand_ins import run_command
from sundog import Budget, UserError
from sundog.domain.unit import PrivacyUnit
from sundog.private.accountant import Charge, zcdp_rho
from sundog.private.doubts import doubts, limit_doubts, refuse_doubtful

ODD = [
    (Budget(10.1, 1e-9), None, "epsilon 10.1 is above 10"),
    (Budget(1000, 1e-9), None, r"factor of e\^1000"),
    (Budget(rho=zcdp_rho(10.1, 1e-9)), None, "epsilon 10.1 is above 10"),
    (Budget(delta=1e-5, rho=zcdp_rho(10.1, 1e-5)), None, "epsilon 10.1 is above 10"),
    (Budget(1, 0.002), None, "publishing one unit in 500 outright"),
    (Budget(1, 1e-3), 1001, "above 1/1,001, one by the number of rows"),
]
SOUND = [
    (Budget(10, 1e-9), None),
    (Budget(1, 1e-3), None),
    (Budget(1, 1e-3), 1000),
    (Budget(rho=zcdp_rho(9.9, 1e-9)), None),
    (Budget(rho=0.5), 10**9),
]


@pytest.mark.parametrize(("budget", "rows", "words"), ODD)
def test_odd_budgets(budget, rows, words):
    with pytest.raises(UserError, match=f"{words}.*Nothing was spent.*--yes"):
        refuse_doubtful(doubts(budget, rows=rows), confirmed=False)
    refuse_doubtful(doubts(budget, rows=rows), confirmed=True)


@pytest.mark.parametrize(("budget", "rows"), SOUND)
def test_sound_budgets(budget, rows):
    assert doubts(budget, rows=rows) == []


@pytest.fixture
def place(tmp_path):
    tables.write_csv(tmp_path / "data.csv", tables.table(300))
    (tmp_path / "schema.json").write_text(json.dumps(tables.DOCUMENT))
    return tmp_path


def measured(place, *options):
    return run_command(
        place, "measure", "data.csv", "--schema", "schema.json", "--method", "independent", "-o", "r.json", *options
    )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--epsilon", "11", "--delta", "1e-9"), "epsilon 11 is above 10"),
        (("--epsilon", "11", "--neighbours", "replace"), "epsilon 11 is above 10"),
        (("--epsilon", "1", "--delta", "0.01"), "delta 0.01 is above 0.001"),
        (("--epsilon", "1", "--delta", "1e-4", "--rows-about", "20000"), "above 1/20,000"),
    ],
)
def test_commands_need_yes(place, options, words):
    outcome = measured(place, *options)
    assert outcome.code == 2
    assert words in outcome.stderr
    assert outcome.ledger == []
    assert measured(place, *options, "--yes").code == 0


def test_under_replace_the_number_of_rows_is_counted(place):
    options = ("--epsilon", "1", "--delta", "9e-4", "--neighbours", "replace")
    assert measured(place, *options).code == 0
    tables.write_csv(place / "data.csv", tables.table(1200))
    outcome = measured(place, *options, "--force")
    assert outcome.code == 2
    assert "above 1/1,200" in outcome.stderr


def check_rows_decide_nothing(place):
    """Under add-remove, tables of different sizes end alike, though delta lies between one by the one and the other."""
    codes = set()
    for rows in (300, 3000):
        tables.write_csv(place / "data.csv", tables.table(rows))
        codes.add(measured(place, "--epsilon", "9", "--delta", "9e-4", "--force").code)
    assert codes == {0}, "the number of rows decides the exit code"


def test_under_add_remove_nothing_asks_the_rows(place):
    """Whether 1/n is exceeded would tell the number of rows, so it decides nothing; the released estimate warns."""
    check_rows_decide_nothing(place)
    outcome = measured(place, "--epsilon", "9", "--delta", "9e-4", "--force", "--json")
    assert "released estimate of the number of rows" in json.loads(outcome.stdout)["warnings"][0]


def test_that_test_sees_a_look_at_private_rows(place, monkeypatch):
    monkeypatch.setattr(PrivacyUnit, "public_count", property(lambda unit: True))
    with pytest.raises(AssertionError, match="decides the exit code"):
        check_rows_decide_nothing(place)


def test_python_asks_for_confirmation(place):
    with pytest.raises(UserError, match=r"confirmed=True"):
        sundog.Synthesizer(tables.DOCUMENT, epsilon=50, delta=1e-9)
    sundog.Synthesizer(tables.DOCUMENT, epsilon=50, delta=1e-9, confirmed=True)
    ledger = sundog.Ledger()
    with pytest.raises(UserError, match="above 10"):
        ledger.set_limit("t", epsilon=50, delta=1e-9)


@pytest.mark.parametrize(("accounting", "doubted"), [("gaussian", False), ("zcdp", True)])
def test_a_limit_is_held_against_what_is_spent_by_the_accounting_of_the_account(tmp_path, accounting, doubted):
    """Epsilon 1 at delta 1e-5 is rho 0.0359 where all is Gaussian, 0.0306 else: rho 0.033 lies between."""
    ledger = sundog.Ledger(tmp_path / "ledger.sqlite")
    ledger.charge("d", [Charge("gaussian", 0.033, label="x")], unit=PrivacyUnit(), accounting=accounting)
    found = limit_doubts(Budget(1.0, 1e-5), ledger.account("d"))
    assert bool(found) == doubted


def test_a_limit_below_what_is_spent_needs_yes(place):
    assert measured(place, "--epsilon", "2", "--delta", "1e-9").code == 0
    limit = ("ledger", "limit", "clinic", "--epsilon", "1", "--delta", "1e-9")
    refused = run_command(place, *limit)
    assert refused.code == 2
    assert "below what is spent already" in refused.stderr
    assert run_command(place, *limit, "--yes").code == 0
