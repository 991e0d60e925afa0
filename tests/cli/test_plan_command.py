"""sundog plan and synthesize --dry-run, as users meet them: neither opens a table."""

import json
import re

import pytest
from typer.testing import CliRunner

from example_tables import DOCUMENT, table
from sundog import Synthesizer
from sundog.cli.app import app
from sundog.errors import BudgetRefused, UserError
from sundog.private.ledger import Ledger


@pytest.fixture
def schema(tmp_path):
    path = tmp_path / "schema.json"
    path.write_text(json.dumps(DOCUMENT | {"name": "things"}), encoding="utf-8")
    return path


def run(*words):
    result = CliRunner().invoke(app, [str(word) for word in words])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.output


def test_plan(schema, tmp_path):
    said = run(
        "plan",
        schema,
        "--rows",
        20000,
        "--column-error",
        "2%",
        "--pair-error",
        "grade=6%",
        "--html",
        tmp_path / "p.html",
    )
    assert "is needed" in said
    assert "No data was read" in said
    page = (tmp_path / "p.html").read_text(encoding="utf-8")
    assert "<svg" in page
    style, _, body = page.partition("</style>")
    used = {name for names in re.findall(r'<div class="([^"]+)"', body) for name in names.split()}
    assert used  # tables that are wider than a phone scroll in these
    assert all(f".{name} " in style for name in used)
    found = json.loads(run("plan", schema, "--rows", 20000, "--epsilon", "0.5,2", "--json"))
    assert [each["epsilon"] for each in found["budgets"]] == [0.5, 2.0]
    with pytest.raises(UserError, match="must be a number"):
        run("plan", schema, "--rows", 20000, "--epsilon", "much")


def dry(schema, tmp_path, *more):
    words = [
        "synthesize",
        tmp_path / "no-such-table.csv",
        "--schema",
        schema,
        "--dry-run",
        "--ledger",
        tmp_path / "ledger",
    ]
    return run(*words, *more)


def test_a_dry_run_opens_no_table_and_writes_nothing(schema, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = sorted(path.name for path in tmp_path.iterdir())
    said = dry(schema, tmp_path, "--epsilon", 1, "--delta", 1e-9)
    assert "no rows were read" in said
    assert "differential privacy" in said
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_a_dry_run_predicts_the_charge_and_the_balance(schema, tmp_path):
    ledger = Ledger(tmp_path / "ledger")
    ledger.set_limit("things", epsilon=2.0, delta=1e-9)
    foretold = json.loads(dry(schema, tmp_path, "--epsilon", 1, "--delta", 1e-9, "--json"))
    made = Synthesizer(
        DOCUMENT | {"name": "things"}, epsilon=1.0, delta=1e-9, method="independent", ledger=tmp_path / "ledger"
    )
    made.fit(table(300))
    assert ledger.account("things").rho == pytest.approx(foretold["spentAfter"]["rho"], rel=1e-6)
    assert made.released.guarantee.epsilon == pytest.approx(foretold["charge"]["epsilon"], rel=1e-6)
    entries = len(ledger.account("things").entries)
    again = json.loads(dry(schema, tmp_path, "--epsilon", 0.5, "--delta", 1e-9, "--json"))
    assert again["spentBefore"]["rho"] == pytest.approx(foretold["spentAfter"]["rho"], rel=1e-6)
    assert again["leftAfter"]["rho"] > 0
    assert len(ledger.account("things").entries) == entries
    with pytest.raises(BudgetRefused):
        dry(schema, tmp_path, "--epsilon", 1.9, "--delta", 1e-9)


def test_a_default_delta_needs_the_number_of_rows(schema, tmp_path):
    with pytest.raises(UserError, match="rows_about"):
        dry(schema, tmp_path, "--epsilon", 1, "--neighbours", "replace")
    said = json.loads(dry(schema, tmp_path, "--epsilon", 1, "--neighbours", "replace", "--rows-about", 1000, "--json"))
    assert said["charge"]["delta"] == pytest.approx(1e-6)
