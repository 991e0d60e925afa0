"""The fuzzer sees what it looks for: a private row in words, files and names, a traceback, a charge for what was refused."""

import pytest

from fuzz.promises import READING, SECRET, SECRET_NUMBER, broken, charges, files
from fuzz.worker import _call, _command
from sundog.domain.unit import PrivacyUnit
from sundog.errors import UserError
from sundog.private.accountant import Charge
from sundog.private.ledger import Ledger


def found(place, *, code=2, said="Error: no.", given=frozenset(), before=()):
    return broken(code, said, place=place, given=set(given), before=before)


@pytest.mark.parametrize(
    "said",
    [f"cell {SECRET}", SECRET.upper(), "".join(chr(ord(sign) + 0xFEE0) for sign in SECRET), f"key {SECRET_NUMBER}.0"],
)
def test_words_that_quote_a_row_are_seen(said, tmp_path):
    assert found(tmp_path, said=said) == "a message quotes a private row"
    assert found(tmp_path, said=said[:-4]) == ""


def test_files_and_names_that_quote_a_row_are_seen_unless_they_were_given(tmp_path):
    (tmp_path / "below").mkdir()
    held, named = tmp_path / "below" / "x.log", tmp_path / f"{SECRET}.csv"
    held.write_bytes(b"\x00\xff" + SECRET.encode())
    assert "x.log" in found(tmp_path)
    assert found(tmp_path, given=files(tmp_path)) == ""
    named.touch()
    assert SECRET in found(tmp_path, given={held})
    (tmp_path / "ledger.sqlite").write_text(SECRET)
    assert "ledger.sqlite" in found(tmp_path, given=files(tmp_path))


@pytest.mark.parametrize("column", [None, "homes.id"])
def test_a_charge_for_what_was_refused_is_seen_and_a_disclosure_is_none(column, tmp_path):
    book = Ledger(tmp_path / "ledger.sqlite")
    book.disclose("d", "keys checked")
    book.set_limit("d", epsilon=1.0, delta=1e-6)
    assert charges(book.path) == []
    below = column is not None
    book.charge("d", [Charge("gaussian", 0.001, label="x")], unit=PrivacyUnit("replace", column, below=below))
    assert found(tmp_path) == "exit code 2 after a charge"
    assert (found(tmp_path, said=f"x: {READING}.") != "") == below
    assert found(tmp_path, before=charges(book.path)) == found(tmp_path, code=0) == ""
    book.path.write_bytes(b"no ledger")
    assert charges(book.path) is None


def test_a_traceback_is_seen(tmp_path):
    def fails():
        raise KeyError("x")

    code, said = _call(fails)
    assert (code, found(tmp_path, code=code, said=said)) == (1, "a traceback")


def test_everything_that_is_said_is_heard():
    """What a library prints without Python too, and what stands behind an exception."""
    import os

    def refused():
        os.write(2, b"from below\n")
        print("printed")
        try:
            raise ValueError("behind")
        except ValueError:
            raise UserError("in front") from None

    code, said = _call(refused)
    assert code == 2
    assert all(words in said for words in ("from below", "printed", "behind", "in front"))
    assert _command(("methods", "--nothing"))[0] == 2
