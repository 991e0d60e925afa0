"""Ledger entries that Sundog never writes stop the run, also where their hashes are right."""

import json
import math
import os
import sqlite3

import pytest

from sundog.domain.unit import PrivacyUnit
from sundog.errors import BudgetRefused
from sundog.private.accountant import Charge
from sundog.private.entries import ForgedEntry, read_entry
from sundog.private.ledger import Ledger, Run, _digest

UNIT = {"neighbours": "replace", "column": "who", "rows": 2}
CHARGE = {
    "dataset": "d",
    "time": "2024-01-01T00:00:00+00:00",
    "mechanism": "gaussian",
    "rho": 0.1,
    "delta": 0.0,
    "label": "x",
    "details": {},
    "accounting": "gaussian",
    "unit": UNIT,
}
RUN = {"number": 1, "method": "auto", "purpose": "a report", "delta": 1e-9}
LIMIT = CHARGE | {
    "mechanism": "limit",
    "rho": 0.0,
    "details": {"epsilon": 1.0, "delta": 1e-6, "rho": None},
    "accounting": None,
    "unit": None,
}


def read(content):
    return read_entry(1, json.dumps(content), "h", previous="p")


def test_what_sundog_writes_is_read():
    assert read(CHARGE).unit == PrivacyUnit("replace", "who", 2)
    assert read(LIMIT).details["epsilon"] == 1.0
    assert read(LIMIT | {"run": None}).run is None
    assert read(CHARGE | {"run": RUN}).run == Run("auto", "a report", 1e-9, 1)


def test_an_entry_of_before_runs_were_recorded_is_read():
    assert "run" not in CHARGE
    assert read(CHARGE).run is None


@pytest.mark.parametrize(
    "change",
    [
        {"rho": math.nan},
        {"rho": math.inf},
        {"rho": -1e-9},
        {"rho": "0.1"},
        {"rho": None},
        {"rho": True},
        {"rho": 10**400},
        {"label": "\ud800"},
        {"delta": math.nan},
        {"delta": -1.0},
        {"mechanism": "magic"},
        {"mechanism": "disclosed"},
        {"mechanism": "limit"},
        {"accounting": "renyi"},
        {"accounting": None},
        {"unit": None},
        {"unit": 3},
        {"unit": UNIT | {"rows": 1.5}},
        {"unit": UNIT | {"column": 3}},
        {"unit": UNIT | {"more": 1}},
        {"dataset": 3},
        {"dataset": " "},
        {"details": []},
        {"label": None},
        {"more": 1},
        {"run": 3},
        {"run": {}},
        {"run": RUN | {"more": 1}},
        {"run": RUN | {"number": 2}},
        {"run": RUN | {"number": 0}},
        {"run": RUN | {"number": True}},
        {"run": RUN | {"method": 3}},
        {"run": RUN | {"purpose": []}},
        {"run": RUN | {"delta": math.nan}},
        {"run": RUN | {"delta": 1}},
    ],
    ids=repr,
)
def test_a_forged_charge_is_refused(change):
    with pytest.raises(ForgedEntry):
        read(CHARGE | change)


@pytest.mark.parametrize(
    "change",
    [
        {"details": {}},
        {"details": {"epsilon": math.nan, "delta": 1e-6, "rho": None}},
        {"details": {"epsilon": 1.0, "delta": 2.0, "rho": None}},
        {"details": {"epsilon": 10**400, "delta": 1e-6, "rho": None}},
        {"details": {"limit": 3}},
        {"rho": 0.5},
        {"delta": 0.5},
        {"unit": UNIT},
        {"accounting": "zcdp"},
    ],
    ids=repr,
)
def test_a_forged_limit_is_refused(change):
    with pytest.raises(ForgedEntry):
        read(LIMIT | change)


@pytest.mark.parametrize("body", ["", "[]", "3", "{", "[" * 100_000, '{"rho": ' + "9" * 10_000 + "}"])
def test_what_is_no_entry_is_refused(body):
    with pytest.raises(ForgedEntry):
        read_entry(1, body, "h", previous="p")


@pytest.mark.parametrize("rho", [math.nan, -1.0, "0"])
def test_a_forged_cost_with_right_hashes_gives_no_budget_back(tmp_path, rho):
    ledger = Ledger(tmp_path / "ledger.sqlite")
    ledger.set_limit("d", rho=1.0)
    ledger.charge("d", [Charge("gaussian", 0.9, label="x")], unit=PrivacyUnit())
    connection = sqlite3.connect(ledger.path, isolation_level=None)
    connection.execute("DROP TRIGGER kept")
    digest = "0" * 64
    for number, body in connection.execute("SELECT number, body FROM entries ORDER BY number").fetchall():
        content = json.loads(body)
        text = json.dumps(content | ({"rho": rho} if number == 2 else {}))
        digest = _digest(digest, number, body=text)
        connection.execute("UPDATE entries SET body = ?, hash = ? WHERE number = ?", (text, digest, number))
    connection.close()
    (tmp_path / "ledger.sqlite.witness").write_text(f"2 {digest}\n")
    for act in (
        lambda: ledger.account("d"),
        lambda: ledger.charge("d", [Charge("gaussian", 0.9, label="x")], unit=PrivacyUnit()),
    ):
        with pytest.raises(BudgetRefused, match="entry 2 is none that Sundog writes"):
            act()


@pytest.mark.forks
@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="needs a user to change into")
@pytest.mark.parametrize("lock", [True, False])
def test_a_read_only_folder_with_writable_files_is_refused(tmp_path, lock):
    """As another user, since nothing is read-only for root."""
    folder = tmp_path / "ledger"
    folder.mkdir()
    ledger = Ledger(folder / "ledger.sqlite")
    ledger.charge("d", [Charge("gaussian", 0.1, label="x")], unit=PrivacyUnit())
    for path in folder.iterdir():
        path.chmod(0o666)
    if not lock:
        (folder / "ledger.sqlite.lock").unlink(missing_ok=True)
    for parent in (folder, *folder.parents):
        if parent.stat().st_uid == os.getuid() and parent != folder and str(parent).startswith("/tmp"):
            parent.chmod(parent.stat().st_mode | 0o055)
    folder.chmod(0o555)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.setuid(65534)
            ledger.charge("d", [Charge("gaussian", 0.1, label="x")], unit=PrivacyUnit())
        except BudgetRefused:
            code = 3
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3
