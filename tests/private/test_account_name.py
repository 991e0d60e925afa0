"""One function names the account for every door; no door has an account of its own."""

import json

import pytest

import sundog
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
    charged = [entry for entry in Ledger().account("people").entries if entry.mechanism != "certified"]
    assert len(charged) == 6
    Ledger().set_limit("people", rho=0.41)
    assert command("adjust", synthetic, *schema, "--real", data, *budget, *before, "-o", tmp_path / "c", code=3)
    other = command(
        "adjust", synthetic, *schema, "--real", data, *budget, *before, "--dataset", "x", "-o", tmp_path / "d", code=2
    )
    assert "charged to 'people'" in other
    assert Ledger().accounts() == ["people"]


FULL = [{"name": "x", "type": "integer", "constraints": {"minimum": 0}}]
BUDGET = ("--epsilon", "1", "--delta", "1e-6")
COMMANDS = {
    "synthesize": ("synthesize", "DATA", "--schema", "SCHEMA", *BUDGET, "-o", "out"),
    "dry run": ("synthesize", "DATA", "--schema", "SCHEMA", *BUDGET, "--dry-run"),
    "measure": ("measure", "DATA", "--schema", "SCHEMA", *BUDGET, "-o", "m.json"),
    "draft": ("schema", "draft", "DATA", "-o", "d.json"),
    "complete": ("schema", "complete", "DATA", "--schema", "GAPS", *BUDGET, "-o", "c.json"),
    "check": ("check", "DATA", "--schema", "SCHEMA"),
    "evaluate": ("evaluate", "--real", "DATA", "--synthetic", "absent.csv", "--schema", "SCHEMA"),
    "audit": ("audit", "release", "--real", "DATA", "--synthetic", "absent.csv", "--schema", "SCHEMA"),
    "adjust": ("adjust", "absent.csv", "--schema", "SCHEMA", "--real", "DATA", *BUDGET, "--measures", "marginals: x", "-o", "a"),
    "linked": ("synthesize", "absent", "--schema", "PACKAGE", *BUDGET, "--dataset", "patientsl"),
    "linked evaluate": ("evaluate", "--real", "absent", "--synthetic", "absent", "--schema", "PACKAGE", "--dataset", "patientsl"),
    "linked check": ("check", "absent", "--schema", "PACKAGE", "--dataset", "patientsl"),
    "limit": ("ledger", "limit", "patientsl", *BUDGET),
}  # fmt: skip
PACKAGE = {
    "resources": [
        {"name": "homes", "schema": {"primaryKey": "id", "fields": [{"name": "id", "type": "integer"}, *FIELDS]}},
    ],
}


@pytest.fixture
def world(tmp_path, monkeypatch):
    """Schemas in a folder without a table: a command that opened one would say that it is missing."""
    for name, document in (("SCHEMA", {"fields": FIELDS}), ("GAPS", {"fields": FULL}), ("PACKAGE", PACKAGE)):
        (tmp_path / f"{name}.json").write_text(json.dumps(document))
    monkeypatch.chdir(tmp_path)
    Ledger().disclose("patients1", "a look")
    return Ledger().export()


def _given(words, data="patientsl.csv"):
    places = {"DATA": data, **{name: f"{name}.json" for name in ("SCHEMA", "GAPS", "PACKAGE")}}
    return [places.get(word, word) for word in words]


@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS.keys())
def test_every_command_refuses_a_look_alike_before_it_reads_or_writes_anything(world, command, words, tmp_path):
    there = sorted(tmp_path.iterdir())
    said = command(*_given(words), code=2)
    assert "looks like that of 'patients1'" in said
    assert "--new-account" in said
    assert Ledger().export() == world
    assert sorted(tmp_path.iterdir()) == there


@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS.keys())
def test_every_command_goes_on_with_a_new_account(world, command, words):
    """It then fails at the missing file, or does its work."""
    said = command(*_given(words), "--new-account", code=0 if words[0] == "ledger" or "--dry-run" in words else 2)
    assert "looks like" not in said
    assert Ledger().accounts() == (["patients1", "patientsl"] if words[0] == "ledger" else ["patients1"])


def test_two_files_of_similar_names_have_one_account_or_two_that_were_asked_for(world, command, tmp_path):
    for name in ("patients1.csv", "patientsl.csv"):
        (tmp_path / name).write_text("x\n" + "true\nfalse\n" * 20)
    words = COMMANDS["measure"]
    command(*_given(words, "patients1.csv"))
    command(*_given(words, "patientsl.csv"), "--force", code=2)
    command(*_given(words, "patientsl.csv"), "--force", "--dataset", "patients1")
    assert Ledger().accounts() == ["patients1"]
    command(*_given(words, "patientsl.csv"), "--force", "--new-account")
    command(*_given(words, "patientsl.csv"), "--force")
    assert Ledger().accounts() == ["patients1", "patientsl"]


def _doors(**more):
    """What Python offers, with a look-alike's name and no table."""
    schema = Schema.from_json({"fields": FIELDS})
    package = sundog.Synthesizer
    options = {"dataset": "patientsl", **more}
    absent = {"schema": schema, **options}
    return {
        "Synthesizer": lambda: package(schema, rho=0.1, **options),
        "Synthesizer of linked tables": lambda: package(PACKAGE, rho=0.1, **options),
        "adjust": lambda: adjust(TABLE, "marginals: x", real="absent.csv", rho=0.1, **absent),
        "evaluate_tables": lambda: evaluate_tables("absent.csv", {"a": "absent.csv"}, **absent),
        "evaluate_linked": lambda: sundog.evaluate_linked("absent", "absent", schema=PACKAGE, **options),
        "audit_release": lambda: sundog.audit_release("absent.csv", "absent.csv", **absent),
        "check_table": lambda: sundog.check_table("absent.csv", schema, **options),
        "draft_schema": lambda: sundog.draft_schema("absent.csv", **options),
    }


@pytest.mark.parametrize("door", _doors())
def test_every_door_of_python_refuses_a_look_alike(world, door):
    with pytest.raises(UserError, match=r"looks like that of 'patients1'.*new_account=True in Python"):
        _doors()[door]()
    assert Ledger().export() == world
    assert "looks like" not in _refusal(_doors(new_account=True)[door])


def _refusal(call):
    """What is said where it fails, at an absent table."""
    try:
        call()
    except UserError as error:
        return str(error)
    return ""


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
