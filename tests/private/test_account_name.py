"""One function names the account for every door; no door has an account of its own."""

import json

import pytest

from sundog import Ledger, Schema, Synthesizer, UserError, adjust, evaluate_tables
from sundog.private.account_name import account_name, checked_name

FIELDS = [{"name": "x", "type": "boolean", "constraints": {"required": True}}]
TABLE = {"x": [True, False] * 20}


@pytest.mark.parametrize(
    ("given", "sources", "name"),
    [
        ("mine", {"schema": "theirs", "data": "files/other.csv"}, "mine"),
        (None, {"schema": "theirs", "data": "files/other.csv"}, "theirs"),
        (None, {"data": "files/other.csv.gz"}, "other"),
        (None, {"schema": " ", "data": "other.csv"}, "other"),
        (None, {"schema": "theirs", "before": "first"}, "first"),
        ("first ", {"schema": "theirs", "before": "first"}, "first"),
        ("mine", {"before": ""}, "mine"),
    ],
)
def test_the_order_in_which_a_name_is_looked_for(given, sources, name):
    assert account_name(given, **sources) == name


@pytest.mark.parametrize(
    ("given", "sources", "message"),
    [
        (None, {}, "no name under which to record the spending"),
        (None, {"data": ".csv"}, "no name"),
        (None, {"data": "parts/*.parquet"}, "no name"),
        (None, {"data": "parts/[ab].parquet"}, "no name"),
        ("", {"schema": "theirs"}, "0 characters"),
        ("mine", {"before": "first"}, "found 'mine', but the earlier release was charged to 'first'"),
        (3, {}, "found a int; the name must be a text"),
    ],
)
def test_without_a_name_or_with_two_nothing_goes_on(given, sources, message):
    with pytest.raises(UserError, match=message):
        account_name(given, **sources)


def test_one_name_has_one_form():
    """Full-width letters, ligatures and doubled blanks are the same account: a limit cannot be passed by spelling."""
    assert checked_name("\uff21dult  \ufb01le") == checked_name(" Adult file ") == "Adult file"


UNSEEN = "\u00ad\u034f\u061c\u115f\u1160\u17b4\u180e\u200b\u200c\u200d\u200e\u202e\u2060\u2063\u2800\u3164\ufe0f\ufeff\uffa0\U000e0041"


@pytest.mark.parametrize("letter", UNSEEN, ids=lambda letter: f"U+{ord(letter):04X}")
def test_letters_that_cannot_be_seen_are_refused(letter):
    with pytest.raises(UserError, match="cannot be seen"):
        checked_name(f"ad{letter}ult")


def test_python_refuses_to_spend_without_a_name():
    schema = Schema.from_json({"fields": FIELDS})
    for spend in (
        lambda: Synthesizer(schema, rho=0.1),
        lambda: evaluate_tables(TABLE, {"a": TABLE}, schema=schema),
        lambda: adjust(TABLE, "marginals: x", schema=schema, real=TABLE, rho=0.1),
    ):
        with pytest.raises(UserError, match=r"Name the schema .* or give --dataset NAME \(dataset=\.\.\. in Python\)"):
            spend()
    assert Ledger().accounts() == []


def test_every_command_charges_the_same_account(tmp_path, command):
    """An unnamed schema: the data file's stem, in every command; a limit set there stops them all."""
    (tmp_path / "schema.json").write_text(json.dumps({"fields": FIELDS}))
    (tmp_path / "people.csv").write_text("x\n" + "true\nfalse\n" * 20)
    schema, data, out = ("--schema", tmp_path / "schema.json"), tmp_path / "people.csv", tmp_path / "out"
    budget = ("--rho", "0.1")
    command("schema", "draft", data, "-o", tmp_path / "draft.json")
    command("synthesize", data, *schema, *budget, "--method", "independent", "-o", out)
    synthetic = out / "synthetic.csv"
    command("measure", data, *schema, *budget, "--method", "independent", "-o", tmp_path / "released.json")
    command("evaluate", "--real", data, "--synthetic", synthetic, *schema)
    command("adjust", synthetic, *schema, "--real", data, *budget, "--measures", "marginals: x", "-o", tmp_path / "a")
    before = ("--before", out / "released.json", "--measures", "marginals: x")
    command("adjust", synthetic, *schema, "--real", data, *budget, *before, "-o", tmp_path / "b")
    assert Ledger().accounts() == ["people"]
    assert len(Ledger().account("people").entries) == 6
    Ledger().set_limit("people", rho=0.41)
    assert command("adjust", synthetic, *schema, "--real", data, *budget, *before, "-o", tmp_path / "c", code=3)
    other = command(
        "adjust", synthetic, *schema, "--real", data, *budget, *before, "--dataset", "x", "-o", tmp_path / "d", code=2
    )
    assert "charged to 'people'" in other
    assert Ledger().accounts() == ["people"]


@pytest.fixture
def command(capsys, monkeypatch):
    """The command line in this process: what it said on standard error."""
    from sundog.cli.app import main

    def run(*args, code=0):
        monkeypatch.setattr("sys.argv", ["sundog", *map(str, args)])
        with pytest.raises(SystemExit) as ended:
            main()
        shown = capsys.readouterr()
        assert (ended.value.code or 0) == code, shown.err
        return shown.err

    return run
