"""The door for evaluation: the ledger first, then the rows."""

import pytest

from related_tables import SCHEMA, related
from sundog.errors import BudgetRefused, UserError
from sundog.private.disclose import disclose_rows
from sundog.private.ledger import Ledger
from sundog.private.table import PrivateTable
from sundog.sources.duck import DuckTable

TABLE = related(50, 1).to_arrow()


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "ledger.sqlite")


def test_rows_come_after_the_entry(ledger):
    rows = disclose_rows(PrivateTable(TABLE), SCHEMA, purpose="evaluation", dataset="small", ledger=ledger)
    account = ledger.account("small")
    assert len(rows) == 50
    assert account.disclosed
    assert account.rho == 0
    assert [entry.mechanism for entry in account.entries] == ["disclosed"]
    assert "CONFIDENTIAL" in account.entries[0].label


def test_the_entry_is_there_even_if_reading_fails(ledger, monkeypatch):
    def read(self, schema):
        assert ledger.account("small").disclosed
        raise UserError("cannot be read")

    monkeypatch.setattr(DuckTable, "read", read)
    with pytest.raises(UserError, match="cannot be read"):
        disclose_rows(PrivateTable(TABLE), SCHEMA, purpose="evaluation", dataset="small", ledger=ledger)
    assert ledger.account("small").disclosed


def test_rows_that_can_only_be_counted_are_not_disclosed(ledger):
    class Counted:
        columns = SCHEMA.names

        def check(self, names):
            assert names == SCHEMA.names

        def add_up(self, *_, **__):
            raise AssertionError

    with pytest.raises(UserError, match="only be counted where they are"):
        disclose_rows(PrivateTable(Counted()), SCHEMA, purpose="evaluation", dataset="small", ledger=ledger)


def test_a_ledger_that_cannot_be_written_keeps_the_rows_shut(tmp_path):
    (tmp_path / "ledger.sqlite").write_bytes(b"damaged")
    with pytest.raises(BudgetRefused):
        disclose_rows(
            PrivateTable(TABLE),
            SCHEMA,
            purpose="evaluation",
            dataset="small",
            ledger=Ledger(tmp_path / "ledger.sqlite"),
        )


def test_a_table_that_lacks_a_column_discloses_nothing(ledger):
    with pytest.raises(UserError, match="lacks the column 'x'"):
        disclose_rows(
            PrivateTable(TABLE.drop_columns(["x"])), SCHEMA, purpose="evaluation", dataset="small", ledger=ledger
        )
    assert not ledger.account("small").entries
