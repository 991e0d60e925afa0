"""The ledger adds up, pins the unit, keeps to its limits, and refuses rather than forgets whatever happens to it."""

import contextlib
import itertools
import json
import math
import os
import random
import re
import shutil
import sqlite3
import stat
from fractions import Fraction
from pathlib import Path

import pytest
from filelock import FileLock

from sundog.domain.unit import PrivacyUnit
from sundog.errors import BudgetRefused, UserError
from sundog.private import ledger as module
from sundog.private.accountant import Budget, Charge, gaussian_epsilon, zcdp_epsilon, zcdp_rho
from sundog.private.ledger import Ledger, Receipt, default_path

UNIT = PrivacyUnit()


def gaussian(rho, label="marginal"):
    return Charge("gaussian", rho, label=label, details={"sensitivity_squared": 1})


def selection(rho):
    return Charge("exponential", rho, label="choose a marginal")


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "books" / "ledger.sqlite")


@pytest.fixture
def used(ledger):
    for turn in range(30):
        ledger.charge("adult", [gaussian(0.01, f"turn {turn}")], unit=UNIT)
    return ledger


def refused(ledger, match="damaged|could not"):
    """Both writing and reading are refused."""
    with pytest.raises(BudgetRefused, match=match) as found:
        ledger.charge("adult", [gaussian(0.01)], unit=UNIT)
    with pytest.raises(BudgetRefused, match=match):
        ledger.account("adult")
    return str(found.value)


def test_charges_add_up_over_ledgers_on_the_same_file(ledger):
    receipts = ledger.charge("adult", [gaussian(0.1), gaussian(0.2)], unit=UNIT)
    assert [str(receipt) for receipt in receipts] == ["adult#1", "adult#2"]
    assert Ledger(ledger.path).charge("other", [selection(0.5)], unit=UNIT) == [Receipt("other", 3)]
    again = Ledger(ledger.path).charge("adult", [Charge("threshold", 0.1, delta=1e-10, label="categories")], unit=UNIT)
    account = ledger.account("adult")
    assert again == [Receipt("adult", 4)]
    assert account.exact_rho == Fraction(0.1) + Fraction(0.2) + Fraction(0.1)
    assert account.rho >= 0.4
    assert account.delta_spent == 1e-10
    assert account.unit == UNIT
    assert account.accounting == "gaussian"
    assert account.epsilon(1e-9) == pytest.approx(gaussian_epsilon(0.4, 9e-10), rel=1e-9)
    assert ledger.accounts() == ["adult", "other"]


def test_an_unknown_dataset_is_an_empty_account_and_reading_makes_no_file(ledger):
    account = ledger.account("nothing")
    assert (account.rho, account.delta_spent, account.entries, account.limit, account.unit) == (0, 0, (), None, None)
    assert account.epsilon(1e-9) == 0
    assert ledger.accounts() == []
    assert ledger.export() == {"format": 1, "accounts": []}
    assert not ledger.path.parent.exists()


def test_charging_nothing_writes_nothing(used):
    before = used.path.read_bytes()
    assert used.charge("adult", [], unit=UNIT) == []
    assert used.path.read_bytes() == before


def test_entries_are_chained_and_say_what_happened(used):
    entries = used.account("adult").entries
    assert [entry.number for entry in entries] == list(range(1, 31))
    assert all(after.previous == before.hash for before, after in itertools.pairwise(entries))
    assert entries[3].label == "turn 3"
    assert entries[3].details == {"sensitivity_squared": 1}
    assert entries[3].time.endswith("+00:00")


def test_export_is_json_without_a_path(used):
    used.disclose("other", "evaluation on the rows")
    text = json.dumps(used.export())
    assert str(used.path.parent) not in text
    assert [account["dataset"] for account in json.loads(text)["accounts"]] == ["adult", "other"]
    assert len(used.export("adult")["accounts"][0]["entries"]) == 30


def test_files_are_for_the_owner_only(used):
    assert stat.S_IMODE(used.path.parent.stat().st_mode) == 0o700
    names = sorted(path.name for path in used.path.parent.iterdir())
    assert {"ledger.sqlite", "ledger.sqlite.witness"} <= set(names)
    assert not [name for name in names if name.endswith(("-wal", "-shm", ".new"))]
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in used.path.parent.iterdir())


def test_default_path(monkeypatch, tmp_path):
    monkeypatch.setenv("SUNDOG_LEDGER", str(tmp_path / "mine.sqlite"))
    assert Ledger().path == (tmp_path / "mine.sqlite").resolve()
    monkeypatch.delenv("SUNDOG_LEDGER")
    assert default_path().name == "ledger.sqlite"
    assert "sundog" in str(default_path())


@pytest.mark.parametrize("other", [PrivacyUnit("replace"), PrivacyUnit(column="person", rows=1), None])
def test_the_first_charge_pins_the_unit(ledger, other):
    first = PrivacyUnit(column="person", rows=3)
    other = other or PrivacyUnit(column="person", rows=4)
    ledger.disclose("adult", "before any charge")
    ledger.charge("adult", [gaussian(0.1)], unit=first)
    with pytest.raises(BudgetRefused, match="do not add up"):
        ledger.charge("adult", [gaussian(0.1)], unit=other)
    with pytest.raises(BudgetRefused, match="do not add up"):
        ledger.check("adult", 0.1, unit=other, accounting="zcdp")
    ledger.charge("adult", [gaussian(0.1)], unit=first)
    ledger.charge("another", [gaussian(0.1)], unit=other)
    assert ledger.account("adult").exact_rho == 2 * Fraction(0.1)


def test_disclosed(ledger):
    ledger.set_limit("adult", rho=1e-6)
    assert not ledger.account("adult").disclosed
    ledger.disclose("adult", "evaluation on the rows")
    account = ledger.account("adult")
    assert account.disclosed
    assert account.rho == 0
    assert account.export()["disclosed"]


@pytest.mark.parametrize("accounting", ["gaussian", "zcdp"])
@pytest.mark.parametrize("delta_spent", [0.0, 3e-10])
def test_a_run_of_the_limit_fits_and_nothing_more(ledger, accounting, delta_spent):
    ledger.set_limit("adult", epsilon=1.0, delta=1e-9)
    total = Budget(epsilon=1.0, delta=1e-9).total_rho(accounting, delta_spent=delta_spent)
    ledger.check("adult", total, unit=UNIT, accounting=accounting, delta=delta_spent)
    with pytest.raises(BudgetRefused):
        ledger.check("adult", math.nextafter(total, 1), unit=UNIT, accounting=accounting, delta=delta_spent)
    categories = Charge("threshold", total / 4, delta=delta_spent, label="categories")
    last = selection(total / 4) if accounting == "zcdp" else gaussian(total / 4)
    for charge in (categories, gaussian(total / 2), last):
        ledger.charge("adult", [charge], unit=UNIT, accounting=accounting)
    account = ledger.account("adult")
    assert account.accounting == accounting
    assert 1 - 1e-9 < account.epsilon(1e-9) <= 1
    with pytest.raises(BudgetRefused, match="has spent rho") as found:
        ledger.charge("adult", [gaussian(5e-324)], unit=UNIT, accounting=accounting)
    assert "epsilon 1 at delta 1e-09" in str(found.value)
    assert ledger.account("adult") == account


def test_a_refusal_says_what_is_left_in_epsilon_and_that_is_granted(ledger):
    def charge(epsilon):
        rho = Budget(epsilon=epsilon, delta=1e-9).total_rho("gaussian")
        ledger.charge("adult", [gaussian(rho)], unit=UNIT, accounting="gaussian")

    ledger.set_limit("adult", epsilon=3, delta=1e-9)
    charge(1)
    with pytest.raises(BudgetRefused, match="Left to a run: epsilon") as found:
        charge(3)
    charge(float(re.search(r"epsilon ([\d.]+) at delta 1e-09\. Ask", str(found.value)).group(1)))
    with pytest.raises(BudgetRefused, match="Left"):
        charge(0.1)


def test_a_refused_batch_writes_none_of_it(ledger):
    ledger.set_limit("adult", rho=0.25)
    with pytest.raises(BudgetRefused):
        ledger.charge("adult", [gaussian(0.125), gaussian(0.25)], unit=UNIT)
    assert ledger.account("adult").rho == 0
    ledger.charge("adult", [gaussian(0.125), gaussian(0.125)], unit=UNIT)
    ledger.charge("other", [gaussian(100.0)], unit=UNIT)


def test_limits_are_history_and_may_fall_below_what_is_spent(ledger):
    ledger.charge("adult", [gaussian(0.5)], unit=UNIT)
    with pytest.raises(
        UserError, match=r"rho 0\.1 is below what is spent already \(rho 0\.5\).*Nothing was spent or changed"
    ):
        ledger.set_limit("adult", rho=0.1)
    assert ledger.account("adult").limit is None
    ledger.set_limit("adult", rho=0.1, confirmed=True)
    with pytest.raises(BudgetRefused, match=r"has spent rho 0\.5"):
        ledger.charge("adult", [gaussian(1e-9)], unit=UNIT)
    ledger.set_limit("adult", epsilon=10, delta=1e-6)
    ledger.charge("adult", [gaussian(1e-9)], unit=UNIT)
    account = ledger.account("adult")
    assert account.limit == Budget(epsilon=10, delta=1e-6)
    assert [entry.label for entry in account.entries if entry.mechanism == "limit"] == [
        "rho 0.1",
        "epsilon 10 at delta 1e-06",
    ]


@pytest.mark.parametrize("wrong", [{}, {"epsilon": 1.0}, {"epsilon": 1.0, "delta": 1e-9, "rho": 1.0}, {"rho": -1.0}])
def test_a_wrong_limit_is_refused(ledger, wrong):
    with pytest.raises(UserError, match="budget"):
        ledger.set_limit("adult", **wrong)
    assert not ledger.path.exists()


def test_delta_counts_towards_the_limit(ledger):
    ledger.set_limit("adult", epsilon=1.0, delta=1e-9)
    for match, delta in (("thresholds take", 1e-9), ("thresholds take", 0.5)):
        with pytest.raises(BudgetRefused, match=match):
            ledger.charge("adult", [Charge("threshold", 1e-6, delta=delta, label="x")], unit=UNIT)
    ledger.set_limit("other", rho=1.0)
    with pytest.raises(BudgetRefused, match="no delta"):
        ledger.charge("other", [Charge("threshold", 1e-6, delta=1e-12, label="x")], unit=UNIT)


def test_turning_to_selection_later_is_mixed_and_stated_at_half_of_delta(ledger):
    ledger.set_limit("adult", epsilon=1.0, delta=1e-9)
    ledger.charge("adult", [gaussian(0.01)], unit=UNIT)
    most = zcdp_rho(1.0, 1e-9)
    with pytest.raises(BudgetRefused):
        ledger.charge("adult", [selection(most - 0.009)], unit=UNIT)
    ledger.charge("adult", [selection(most - 0.011)], unit=UNIT)
    account = ledger.account("adult")
    assert account.accounting == "mixed"
    assert account.epsilon(1e-9) == zcdp_epsilon(account.rho, 5e-10)
    assert account.epsilon(2e-9) <= 1.0
    with pytest.raises(BudgetRefused):
        ledger.charge("adult", [gaussian(0.0015)], unit=UNIT)


def test_the_accounting_of_a_run_is_that_of_its_plan(ledger):
    ledger.charge("adult", [gaussian(0.01)], unit=UNIT, accounting="zcdp")
    ledger.charge("adult", [selection(0.01)], unit=UNIT, accounting="zcdp")
    ledger.charge("adult", [gaussian(0.01)], unit=UNIT)
    assert ledger.account("adult").accounting == "zcdp"
    with pytest.raises(UserError, match="selection"):
        ledger.charge("adult", [selection(0.01)], unit=UNIT, accounting="gaussian")


def test_epsilon_needs_more_delta_than_is_spent(ledger):
    ledger.charge("adult", [Charge("threshold", 0.01, delta=1e-9, label="x")], unit=UNIT)
    with pytest.raises(UserError, match="larger delta"):
        ledger.account("adult").epsilon(1e-9)


@pytest.mark.parametrize("name", ["", "   ", "a\nb", "a\x00", "\x7f", "x" * 201, "\ud800", "a\u200db"])
def test_a_wrong_name_is_refused(ledger, name):
    for act in (lambda: ledger.charge(name, [gaussian(0.1)], unit=UNIT), lambda: ledger.account(name)):
        with pytest.raises(UserError, match="dataset: found"):
            act()


@pytest.mark.parametrize("name", ["adult", "données 2024", "表", "a'b\"; DROP TABLE entries; --", "x" * 200, "🔬"])
def test_any_other_name_works(ledger, name):
    ledger.charge(name, [gaussian(0.1)], unit=UNIT)
    assert ledger.account(name).rho == 0.1
    assert ledger.accounts() == [name]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("donne\u0301es", "donn\u00e9es"),
        (" adult ", "adult"),
        ("adult\n", "adult"),
        ("the  adults", "the\u00a0adults"),
        ("\uff41dult", "adult"),
        ("\ufb01les", "files"),
    ],
)
def test_two_spellings_of_one_name_are_one_account(ledger, first, second):
    ledger.set_limit(second, rho=0.15)
    ledger.charge(first, [gaussian(0.1)], unit=UNIT)
    assert ledger.account(second).rho == 0.1
    assert ledger.accounts() == [second.replace("\u00a0", " ")]
    with pytest.raises(BudgetRefused):
        ledger.charge(second, [gaussian(0.1)], unit=UNIT)


def test_there_is_no_way_back(used):
    offered = {name for name in dir(Ledger) if not name.startswith("_")}
    assert offered == {
        "account",
        "accounts",
        "certify",
        "charge",
        "check",
        "check_name",
        "disclose",
        "export",
        "known",
        "set_limit",
    }
    connection = sqlite3.connect(used.path)
    for statement in ("DELETE FROM entries", "UPDATE entries SET body = ''"):
        with pytest.raises(sqlite3.IntegrityError, match="never"):
            connection.execute(statement)
    connection.close()


def test_every_commit_reaches_the_disk(used):
    with used._locked(), contextlib.closing(used._connect()) as connection:
        assert connection.execute("PRAGMA synchronous").fetchone() == (2,)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_a_busy_ledger_is_refused_after_waiting(used, monkeypatch):
    monkeypatch.setattr(module, "LOCK_SECONDS", 0.2)
    with FileLock(f"{used.path}.lock"):
        refused(used, "in use")
    used.charge("adult", [gaussian(0.01)], unit=UNIT)


@pytest.mark.parametrize("part", [0.0, 0.001, 0.02, 0.3, 0.5, 0.9, 0.9999])
def test_a_truncated_file_is_refused(used, part):
    length = int(part * used.path.stat().st_size)
    os.truncate(used.path, length)
    for _ in range(2):
        assert "backup" in refused(used)
    assert used.path.stat().st_size == length


def test_a_deleted_file_is_refused_and_no_new_one_is_made(used):
    used.path.unlink()
    assert "backup" in refused(used)
    assert not used.path.exists()


def test_an_older_or_another_ledger_in_its_place_is_refused(used, tmp_path):
    old = tmp_path / "old.sqlite"
    shutil.copy(used.path, old)
    used.charge("adult", [gaussian(0.01)], unit=UNIT)
    shutil.copy(old, used.path)
    assert "entry 31" in refused(used)
    other = Ledger(tmp_path / "other.sqlite")
    for _ in range(40):
        other.charge("adult", [gaussian(1e-6)], unit=UNIT)
    shutil.copy(other.path, used.path)
    refused(used, "witness")


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE entries SET body = replace(body, '0.01', '0.00') WHERE number = 7",
        "UPDATE entries SET hash = hex(randomblob(32)) WHERE number = 30",
        "DELETE FROM entries WHERE number = 7",
        "DELETE FROM entries WHERE number = 30",
        "DELETE FROM entries",
        "DROP TABLE entries",
        "PRAGMA user_version = 2",
        "PRAGMA user_version = 0",
    ],
)
def test_edited_entries_are_refused(used, statement):
    connection = sqlite3.connect(used.path, isolation_level=None)
    for trigger in ("kept", "stays"):
        connection.execute(f"DROP TRIGGER {trigger}")
    connection.execute(statement)
    connection.close()
    refused(used)


def test_a_flipped_byte_is_refused_or_harmless(used):
    good, known = used.path.read_bytes(), used.account("adult")
    dice, seen = random.Random(7), 0
    places = [*range(100), *(dice.randrange(100, len(good)) for _ in range(150))]
    for place in places:
        used.path.write_bytes(good[:place] + bytes([good[place] ^ (1 << dice.randrange(8))]) + good[place + 1 :])
        try:
            assert used.account("adult") == known
        except BudgetRefused:
            seen += 1
    assert seen > 50
    used.path.write_bytes(good)
    assert used.account("adult") == known


def test_a_lost_witness_is_made_again(used):
    witness = Path(f"{used.path}.witness")
    witness.unlink()
    assert used.account("adult").rho >= 0.3
    used.charge("adult", [gaussian(0.01)], unit=UNIT)
    assert witness.read_text().startswith("31 ")


@pytest.mark.parametrize(
    "wrong", [b"", b"30\n", b"x" * 70, b"0 " + b"0" * 64 + b"\n", b"7 " + b"a" * 64 + b"\n", b"\xff"]
)
def test_a_corrupted_witness_is_refused(used, wrong):
    Path(f"{used.path}.witness").write_bytes(wrong)
    refused(used, "witness")


def test_not_a_database_is_refused(ledger):
    ledger.path.parent.mkdir()
    ledger.path.write_text("name,age\nsomeone,42\n" * 100)
    refused(ledger)
    assert ledger.path.read_text().startswith("name,age")


def test_a_folder_in_its_place_is_refused(ledger):
    ledger.path.mkdir(parents=True)
    refused(ledger)
    with pytest.raises(BudgetRefused, match="nothing was computed"):
        Ledger(Path(__file__) / "ledger.sqlite").charge("adult", [gaussian(0.1)], unit=UNIT)


def test_the_root_folder_is_no_ledger():
    with pytest.raises(UserError, match="which is a folder; give the path of a file"):
        Ledger(Path("/"))


def test_a_damaged_schema_that_is_no_text_is_refused(used):
    """SQLite quotes the damaged text in its own message, which is then no UTF-8."""
    file = Path(used.path)
    file.write_bytes(file.read_bytes().replace(b"CREATE TABLE entries", b"CREATE \xff\xfeBLE entries"))
    with pytest.raises(BudgetRefused, match="could not be read"):
        used.accounts()


@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may write to a read-only folder")
def test_a_read_only_folder_is_refused(used):
    used.path.chmod(0o400)
    used.path.parent.chmod(0o500)
    try:
        with pytest.raises(BudgetRefused, match="permission"):
            used.charge("adult", [gaussian(0.01)], unit=UNIT)
    finally:
        used.path.parent.chmod(0o700)
        used.path.chmod(0o600)
    assert len(used.account("adult").entries) == 30
