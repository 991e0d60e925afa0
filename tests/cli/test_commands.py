"""The command line, as its users meet it: results, exit codes, sentences; never a traceback."""

import copy
import csv
import json
import re
import stat
from pathlib import Path

import numpy as np
import pytest
from pyarrow import parquet

import tables
from privacy.stand_ins import run_command

BUDGET = ("--epsilon", "1", "--delta", "1e-9")
METHOD = ("--method", "independent")
RELEASE = {"released.json", "model.json", "certificate.json", "certificate.html"}


@pytest.fixture
def place(tmp_path):
    """A folder with the data in data.csv and its schema in schema.json."""
    tables.write_csv(tmp_path / "data.csv", tables.table(200))
    (tmp_path / "schema.json").write_text(json.dumps(tables.DOCUMENT), encoding="utf-8")
    return tmp_path


def synthesize(place, *options, data="data.csv", schema="schema.json", budget=BUDGET, out="out"):
    return run_command(place, "synthesize", data, "--schema", schema, *budget, *METHOD, "-o", out, *options)


def measure(place, *options, data="data.csv", budget=BUDGET, out="released.json"):
    return run_command(place, "measure", data, "--schema", "schema.json", *budget, *METHOD, "-o", out, *options)


def document(outcome, name):
    return json.loads(outcome.files[name])


def refused(outcome, match, code=2):
    assert outcome.code == code, outcome.stderr
    assert re.search(match, re.sub(r"\s+|[│╭╮╰╯─]+", " ", outcome.stderr)), outcome.stderr
    assert "Traceback" not in outcome.stderr
    assert "fault in Sundog" not in outcome.stderr


# --- the whole way --------------------------------------------------------------------------------------------------


def test_synthesize(place):
    outcome = synthesize(place)
    assert outcome.code == 0, outcome.stderr
    assert outcome.stderr == ""
    assert {f"out/{name}" for name in {*RELEASE, "synthetic.csv"}} <= set(outcome.files)
    certificate = document(outcome, "out/certificate.json")
    assert certificate["epsilon"] <= 1
    assert certificate["delta"] == 1e-9
    assert certificate["neighbours"] == "add-remove"
    assert certificate["claim"].startswith("(epsilon = ")
    assert certificate["claim"] in outcome.stdout
    charges = [entry for entry in outcome.ledger if entry["mechanism"] != "certified"]
    assert len(charges) == len(outcome.ledger) - 1
    assert len(certificate["payments"]) == len(charges) >= len(tables.schema().columns)
    assert sum(line["rho"] for line in certificate["payments"]) == pytest.approx(certificate["rho"])
    header = outcome.files["out/synthetic.csv"].decode().splitlines()[0]
    assert header.replace('"', "") == "smoker,region,grade,parity,age,cost,day,seen"
    assert "out/synthetic.csv" in outcome.stdout


def test_the_certificate_page_says_what_the_certificate_says(place):
    outcome = synthesize(place, "--dataset", "<b>clinic</b> & co")
    page = outcome.files["out/certificate.html"].decode()
    assert "&lt;b&gt;clinic&lt;/b&gt; &amp; co" in page
    assert "<b>clinic" not in page
    for payment in document(outcome, "out/certificate.json")["payments"]:
        assert (
            payment["receipt"].replace("<b>", "&lt;b&gt;").replace("</b>", "&lt;/b&gt;").replace("& ", "&amp; ") in page
        )


def test_synthetic_rows_can_be_read_as_the_schema_says(place):
    synthesize(place, "--rows", "500")
    synthesize(place, "--rows", "500", "--format", "parquet", out="other")
    for path in (place / "out" / "synthetic.csv", place / "other" / "synthetic.parquet"):
        codes = tables.encoded(path)
        assert [len(column) for column in codes] == [500] * 8
    kinds = [field.type for field in tables.ARROW if field.name not in ("visit", "seen")]
    assert parquet.read_table(place / "other" / "synthetic.parquet").schema.types[:-1] == kinds


def test_json(place):
    outcome = synthesize(place, "--json", "--rows", "50")
    result = json.loads(outcome.stdout)
    assert result["rows"] == 50
    assert result["dataset"] == "clinic"
    assert result["epsilon"] <= 1
    assert result["method"] == "independent"
    assert {Path(name).name for name in result["files"]} >= {*RELEASE, "synthetic.csv"}
    assert all((place / name).is_file() for name in result["files"])


def test_json_of_a_refusal(place):
    outcome = synthesize(place, "--json", data="absent.csv")
    assert json.loads(outcome.stdout) == {
        "error": "data file 'absent.csv' does not exist; check the path.",
        "exitCode": 2,
    }
    refused(outcome, "does not exist")


def test_json_of_an_option_that_cannot_be_read(place):
    outcome = synthesize(place, "--json", "--rows", "many")
    assert json.loads(outcome.stdout) == {
        "error": "Invalid value for '--rows': 'many' is no whole number.",
        "exitCode": 2,
    }
    assert "is no whole number" in outcome.stderr


def test_generate_given_a_condition_and_under_a_later_schema(place):
    measure(place)
    later = {
        **tables.DOCUMENT,
        "fields": [*tables.FIELDS, {"name": "decade", "type": "integer", "derived": "floor(age / 10)"}],
    }
    (place / "later.json").write_text(json.dumps(later), encoding="utf-8")
    command = ("generate", "released.json", *METHOD, "-o", "made", "--force")
    made = run_command(
        place, *command, "--rows", "30", "--where", "age >= 60 and smoker = true", "--schema", "later.json"
    )
    assert made.code == 0, made.stderr
    rows = list(csv.DictReader(made.files["made/synthetic.csv"].decode().splitlines()))
    assert len(rows) == 30
    assert all(int(row["age"]) >= 60 for row in rows)
    assert {row["smoker"] for row in rows} == {"true"}
    assert all(int(row["decade"]) == int(row["age"]) // 10 for row in rows)
    assert "given a condition: age >= 60 and smoker = true" in document(made, "made/certificate.json")["remark"]
    assert run_command(place, "verify", "made").code == 0
    nobody = run_command(place, "generate", "released.json", *METHOD, "-o", "nobody", "--where", "age > 110")
    refused(nobody, "no row of the model satisfies")
    assert not (place / "nobody").exists()
    refused(run_command(place, *command, "--where", "agee > 1"), "it is not a column")
    narrow = copy.deepcopy(later)
    next(field for field in narrow["fields"] if field["name"] == "age")["constraints"]["maximum"] = 100
    (place / "narrow.json").write_text(json.dumps(narrow), encoding="utf-8")
    refused(
        run_command(place, *command, "--schema", "narrow.json"),
        "column 'age' was measured with another minimum or maximum",
    )


def test_measure_then_generate(place):
    measured = measure(place)
    assert measured.code == 0
    assert "sundog generate released.json" in measured.stdout
    (place / "data.csv").unlink()
    (place / "ledger.sqlite").unlink()
    (place / "ledger.sqlite.witness").unlink()
    made = run_command(place, "generate", "released.json", *METHOD, "--rows", "70", "-o", "made")
    assert made.code == 0, made.stderr
    assert made.ledger == []
    assert len(tables.encoded(place / "made" / "synthetic.csv")[0]) == 70
    assert made.files["made/released.json"] == measured.files["released.json"]
    assert document(made, "made/certificate.json")["rho"] == document(measured, "released.json")["guarantee"]["rho"]


def test_the_seed_fixes_the_rows_and_never_the_noise(place):
    first, second = (measure(place, "--seed", "5", out=f"{k}.json") for k in (1, 2))
    values = [
        [m["values"] for m in document(outcome, name)["measurements"]]
        for outcome, name in ((first, "1.json"), (second, "2.json"))
    ]
    assert values[0] != values[1]
    made = [
        run_command(place, "generate", "1.json", *METHOD, "--seed", seed, "-o", f"{seed} {k}")
        for seed in "56"
        for k in (1, 2)
    ]
    texts = [
        outcome.files[f"{seed} {k}/synthetic.csv"]
        for outcome, (seed, k) in zip(made, [(s, k) for s in "56" for k in (1, 2)], strict=True)
    ]
    assert texts[0] == texts[1]
    assert texts[2] == texts[3]
    assert texts[0] != texts[2]


def test_a_run_without_a_seed_differs_every_time(place):
    measure(place)
    made = [
        run_command(place, "generate", "released.json", *METHOD, "-o", str(k)).files[f"{k}/synthetic.csv"]
        for k in (1, 2)
    ]
    assert made[0] != made[1]


def test_the_ledger_adds_up_over_runs(place):
    rho = [document(measure(place, out=f"{k}.json"), f"{k}.json")["guarantee"]["rho"] for k in (1, 2)]
    show = run_command(place, "ledger", "show")
    assert f"spent: rho {sum(rho):.6g}" in show.stdout
    exported = json.loads(run_command(place, "ledger", "show", "clinic", "--json").stdout)
    assert exported["accounts"][0]["rho"] == pytest.approx(sum(rho))


# --- budgets --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("budget", "match"),
    [
        (("--epsilon", "1"), "delta must be given: with add-remove the number of rows is private"),
        ((), "neither epsilon nor rho"),
        (("--epsilon", "1", "--delta", "1e-9", "--rho", "1"), "both rho and epsilon"),
        (("--epsilon", "-1", "--delta", "1e-9"), "found epsilon -1.0; it must be a finite number above 0"),
        (("--epsilon", "nan", "--delta", "1e-9"), "'epsilon': found nan"),
        (("--epsilon", "1", "--delta", "0"), "found delta 0.0; it must lie strictly between 0 and 1"),
        (("--epsilon", "1", "--delta", "2"), "found delta 2.0"),
        (("--rho", "inf"), "'rho': found inf"),
        (("--epsilon", "much", "--delta", "1e-9"), "Invalid value for '--epsilon'"),
        ((*BUDGET, "--neighbours", "cousins"), "Invalid value for '--neighbours'"),
        ((*BUDGET, "--rows-per-unit", "3"), "needs a unit column; name it with --unit"),
        ((*BUDGET, "--unit", "visit", "--rows-per-unit", "0"), "rows per unit: found 0; it must be 1 or more"),
        ((*BUDGET, "--unit", "patient"), "lacks the column 'patient'"),
        (("--epsilon", "1", "--neighbours", "replace", "--unit", "visit"), "delta must be given"),
    ],
)
def test_wrong_budgets_are_refused_before_anything_is_spent(place, budget, match):
    outcome = synthesize(place, budget=budget)
    refused(outcome, match)
    assert outcome.ledger == []


def test_rho(place):
    certificate = document(synthesize(place, budget=("--rho", "0.25")), "out/certificate.json")
    assert certificate["rho"] == pytest.approx(0.25)
    assert certificate["epsilon"] is None
    assert certificate["claim"].startswith("rho = 0.25 zero-concentrated")
    stated = document(synthesize(place, budget=("--rho", "0.25", "--delta", "1e-6"), out="two"), "two/certificate.json")
    assert stated["epsilon"] > 1


def test_delta_follows_from_a_public_number_of_rows(place):
    outcome = synthesize(place, budget=("--epsilon", "1", "--neighbours", "replace"))
    certificate = document(outcome, "out/certificate.json")
    assert certificate["delta"] == 1 / 200**2
    assert certificate["rowCount"] == "public"
    assert len(tables.encoded(place / "out" / "synthetic.csv")[0]) == 200


def test_delta_must_be_given_for_a_tiny_table(place):
    tables.write_csv(place / "data.csv", tables.table(1))
    refused(synthesize(place, budget=("--epsilon", "1", "--neighbours", "replace")), "delta: it must be given")


def test_a_limit_ends_with_exit_code_3(place):
    limited = run_command(place, "ledger", "limit", "clinic", "--epsilon", "1", "--delta", "1e-9")
    assert "clinic: limited to epsilon 1 at delta 1e-09 in total." in limited.stdout
    assert measure(place).code == 0
    outcome = measure(place, "--json", out="second.json")
    refused(outcome, "'clinic' has spent rho .* its limit is epsilon 1 at delta 1e-09.*Nothing was computed", code=3)
    assert json.loads(outcome.stdout)["exitCode"] == 3
    assert "second.json" not in outcome.files


def test_another_unit_is_refused(place):
    assert measure(place).code == 0
    refused(
        measure(place, "--neighbours", "replace", out="2.json"), "Guarantees for different units do not add up", code=3
    )


def test_synthesize_has_a_folder_of_its_own_where_none_is_named(place):
    arguments = ("synthesize", "data.csv", "--schema", "schema.json", *BUDGET, *METHOD)
    assert run_command(place, *arguments).code == 0
    assert (place / "synthetic" / "synthetic.csv").exists()
    assert run_command(place, *arguments).code == 2


# --- files and options ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        (("synthesize",), "(?i)Missing argument 'data'"),
        (("synthesize", "data.csv", "-o", "out"), "--schema: it is needed"),
        (("measure", "data.csv", "--schema", "schema.json", *BUDGET), "Missing option '--out'"),
        (("synthesise", "data.csv"), "No such command 'synthesise'"),
        (("measure", "data.csv", "--colour", "red"), "No such option: --colour"),
        (
            ("generate", "absent.json", *METHOD, "-o", "out"),
            "released measurements 'absent.json' does not exist; write them with",
        ),
        (("generate", "schema.json", *METHOD, "-o", "out"), "'schema.json' is not a file of released measurements"),
        (("generate", "data.csv", *METHOD, "-o", "out"), "released measurements 'data.csv' is not JSON"),
        (("schema", "check", "absent.json"), "'absent.json' does not exist; draft one with: sundog schema draft"),
        (("schema", "check", "data.csv"), "'data.csv' is not JSON"),
        (("schema", "draft", "absent.csv", "-o", "d.json"), "'absent.csv' does not exist"),
        (("schema", "import-sdv", "schema.json", "-o", "d.json"), "SDV metadata: found neither"),
        (("schema", "complete", "data.csv", "--schema", "schema.json", *BUDGET, "-o", "d.json"), "nothing to pay for"),
        (("ledger", "limit", "clinic"), "neither epsilon nor rho"),
        (("ledger", "show", "x\ny"), "dataset: found the name .x.ny.; it must not hold"),
    ],
)
def test_wrong_words_are_answered(place, arguments, match):
    refused(run_command(place, *arguments), match)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        (("--rows", "0"), "rows: found 0; it must be 1 or more"),
        (("--rows", "-5"), "rows: found -5"),
        (("--method", "magic"), "method 'magic' is unknown; methods are .*independent"),
        (("--format", "xlsx"), "Invalid value for '--format'"),
        (("--sql", "SELECT 1"), "lacks the column 'smoker' and 7 more"),
        (("--delimiter", "||"), "dialect, delimiter: found '||'; it must be one character".replace("|", r"\|")),
        (("--delimiter", ";"), "lacks the column 'smoker' and 7 more"),
        (("--seed", "x"), "Invalid value for '--seed'"),
    ],
)
def test_wrong_options_are_refused_before_anything_is_spent(place, options, match):
    outcome = synthesize(place, *options)
    refused(outcome, match)
    assert outcome.ledger == []


def test_a_missing_column_is_named(place):
    values = tables.table(20)
    del values["age"]
    tables.write_csv(place / "data.csv", values | {"Age": [1] * 20})
    outcome = synthesize(place)
    refused(outcome, "lacks the column 'age'; columns found: 9. Names must agree in every letter and in case")
    assert outcome.ledger == []


def test_existing_results_are_kept_unless_forced(place):
    first = synthesize(place)
    assert first.code == 0
    before = (place / "out" / "synthetic.csv").read_bytes()
    again = synthesize(place)
    refused(again, "--out: 'out' holds 'README.txt' already; choose another folder, or --force")
    assert again.ledger == first.ledger
    assert (place / "out" / "synthetic.csv").read_bytes() == before
    assert synthesize(place, "--force").code == 0
    assert (place / "out" / "synthetic.csv").read_bytes() != before


@pytest.mark.parametrize("command", [synthesize, measure])
def test_a_folder_that_cannot_be_written_is_refused_before_anything_is_spent(place, command):
    (place / "file").write_text("")
    target = "file/out" if command is synthesize else "file/released.json"
    outcome = command(place, out=target)
    refused(outcome, "cannot be written|holds")
    assert outcome.ledger == []


@pytest.mark.parametrize("force", [(), ("--force",)])
def test_a_folder_in_place_of_a_file_is_refused_before_anything_is_spent(place, force):
    (place / "released.json").mkdir()
    outcome = measure(place, *force)
    refused(outcome, "'released.json' is a folder")
    assert outcome.ledger == []
    (place / "out" / "synthetic.csv").mkdir(parents=True)
    outcome = synthesize(place, *force)
    refused(outcome, "'out/synthetic.csv' is a folder")
    assert outcome.ledger == []


@pytest.mark.skipif(not hasattr(stat, "S_IWUSR"), reason="needs file permissions")
def test_a_read_only_folder_is_refused_before_anything_is_spent(place, monkeypatch):
    """As root nothing is read-only, so the refusal of the system is imitated."""

    def deny(**options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tempfile.TemporaryFile", deny)
    outcome = synthesize(place)
    refused(outcome, r"cannot be written \(Permission denied\); choose another folder")
    assert outcome.ledger == []


def test_what_was_paid_for_is_kept_when_fitting_fails(place, monkeypatch):
    from sundog.generate import Independent

    def fail(*_, **__):
        raise MemoryError

    monkeypatch.setattr(Independent, "fit", fail)
    outcome = synthesize(place)
    assert outcome.code == 2
    assert "Kept the measurements that were paid for: out/released.json" in outcome.stderr
    monkeypatch.undo()
    assert run_command(place, "generate", "out/released.json", *METHOD, "-o", "made").code == 0


def test_what_was_paid_for_is_kept_when_sampling_fails(place, monkeypatch):
    from sundog.generate import Independent

    def fail(*_, **__):
        raise MemoryError

    monkeypatch.setattr(Independent, "sample", fail)
    outcome = synthesize(place)
    assert outcome.code == 2
    assert "out/released.json" in outcome.files
    assert "Kept the measurements that were paid for: out/released.json" in outcome.stderr
    assert f"sundog generate out/released.json {' '.join(METHOD)} -o FOLDER" in outcome.stderr
    monkeypatch.undo()
    assert run_command(place, "generate", "out/released.json", *METHOD, "-o", "made").code == 0


def test_a_failure_of_our_own_is_told_without_a_traceback(place, monkeypatch):
    from sundog.private.curator import Curator

    def fail(*_, **__):
        raise ZeroDivisionError("division by secret")

    monkeypatch.setattr(Curator, "_answers", fail)
    outcome = measure(place)
    assert outcome.code == 1
    assert "an unexpected ZeroDivisionError stopped the run; this is a fault in Sundog" in outcome.stderr
    assert "secret" not in outcome.stderr
    assert "Traceback" not in outcome.stderr


# --- the ledger -----------------------------------------------------------------------------------------------------


def test_an_empty_ledger(place):
    show = run_command(place, "ledger", "show")
    assert show.code == 0
    assert "Nothing has been spent yet." in show.stdout
    assert not (place / "ledger.sqlite").exists()


def test_show_and_export(place):
    outcome = measure(place)
    run_command(place, "ledger", "limit", "clinic", "--epsilon", "5", "--delta", "1e-6")
    show = run_command(place, "ledger", "show").stdout
    assert "protects: one row added or removed" in show
    assert "limit: epsilon 5 at delta 1e-06" in show
    entries = len(outcome.ledger) + 1
    exported = run_command(place, "ledger", "export", "-o", "record.json")
    assert exported.code == 0
    (account,) = document(exported, "record.json")["accounts"]
    assert [entry["number"] for entry in account["entries"]] == list(range(1, entries + 1))
    assert [entry["previous"] for entry in account["entries"]][1:] == [entry["hash"] for entry in account["entries"]][
        :-1
    ]
    refused(run_command(place, "ledger", "export", "-o", "record.json"), "holds 'record.json' already")
    refused(run_command(place, "ledger", "export", "nobody", "-o", "nobody.json"), "has no account 'nobody'")
    assert not (place / "nobody.json").exists()


def test_a_line_per_run(place):
    run_command(place, "ledger", "limit", "clinic", "--epsilon", "3", "--delta", "1e-6")
    drafted = run_command(place, "schema", "draft", "data.csv", "--dataset", "clinic", "-o", "draft.json")
    assert drafted.code == 0, drafted.stderr
    for number in (1, 2):
        made = measure(place, "--purpose", f"report {number}", out=f"{number}.json")
        assert made.code == 0, made.stderr
    show = run_command(place, "ledger", "show", "clinic").stdout.splitlines()
    (draft,) = [line for line in show if "  disclosed  " in line]
    assert "schema draft" in draft
    lines = [line.split() for line in show if "independent" in line]
    assert [line[-2:] for line in lines] == [["report", "1"], ["report", "2"]]
    assert [line[0] for line in lines] == ["#3", f"#{3 + (len(made.ledger) - 2) // 2}"]
    (account,) = json.loads(run_command(place, "ledger", "show", "clinic", "--json").stdout)["accounts"]
    paid = [run for run in account["runs"] if not run["disclosed"]]
    assert account["delta"] == 1e-6
    assert sum(run["charges"] for run in paid) == len(made.ledger) - 2
    assert sum(run["rho"] for run in paid) == pytest.approx(account["rho"])
    assert [run["epsilon"] for run in paid] == pytest.approx([float(line[3]) for line in lines], rel=1e-3)
    assert max(run["epsilon"] for run in paid) < account["epsilon"] < sum(run["epsilon"] for run in paid)
    assert f"epsilon {account['epsilon']:.6g} at delta 1e-06" in " ".join(show)
    assert 0 < account["left"]["epsilon"] < 3
    at = run_command(place, "ledger", "show", "clinic", "--delta", "1e-3", "--json")
    assert json.loads(at.stdout)["accounts"][0]["epsilon"] < account["epsilon"]
    refused(run_command(place, "ledger", "show", "--delta", "2"), "delta 2.0; it must lie strictly between 0 and 1")


def test_history_and_csv(place):
    entries = measure(place, "--purpose", "a report").ledger
    history = run_command(place, "ledger", "history", "clinic")
    assert [line.split()[0] for line in history.stdout.splitlines()[1:]] == [f"#{e['number']}" for e in entries]
    told = json.loads(run_command(place, "ledger", "history", "--json").stdout)["entries"]
    assert [(entry["run"], entry["method"], entry["purpose"]) for entry in told] == [
        (1, "independent", "a report")
    ] * len(entries)
    assert run_command(place, "ledger", "export", "-o", "record.csv").code == 0
    with (place / "record.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    assert [(int(line["number"]), float(line["rho"])) for line in lines] == [(e["number"], e["rho"]) for e in entries]
    for command in ("show", "history"):
        refused(run_command(place, "ledger", command, "clinc"), "has no account 'clinc'; its accounts: 'clinic'")


def test_a_ledger_of_ones_own(place):
    outcome = measure(place, "--ledger", "mine.sqlite")
    assert outcome.code == 0
    assert outcome.ledger == []
    assert "clinic" in run_command(place, "ledger", "show", "--ledger", "mine.sqlite").stdout


def test_a_damaged_ledger_stops_every_run(place):
    measure(place)
    (place / "ledger.sqlite").write_bytes(b"")
    for outcome in (
        run_command(
            place / "..",
            "measure",
            place / "data.csv",
            "--schema",
            place / "schema.json",
            *BUDGET,
            "-o",
            place / "2.json",
            "--ledger",
            place / "ledger.sqlite",
        ),
        run_command(place / "..", "ledger", "show", "--ledger", place / "ledger.sqlite"),
    ):
        refused(outcome, "ledger: .* is damaged", code=3)


# --- schemas --------------------------------------------------------------------------------------------------------


def test_draft_check_and_use(place):
    drafted = run_command(place, "schema", "draft", "data.csv", "-o", "draft.json")
    assert drafted.code == 0, drafted.stderr
    assert drafted.stdout.startswith("CONFIDENTIAL draft: draft.json (fields: 9, left out: 1")
    draft = document(drafted, "draft.json")
    assert draft["description"].startswith("CONFIDENTIAL DRAFT")
    kinds = {field["name"]: field["type"] for field in draft["fields"]}
    assert kinds == {
        "visit": "string",
        "smoker": "boolean",
        "region": "string",
        "grade": "string",
        "parity": "integer",
        "age": "integer",
        "cost": "number",
        "day": "date",
        "seen": "datetime",
    }
    region = next(field for field in draft["fields"] if field["name"] == "region")
    assert sorted(region["categories"]) == sorted(tables.FIELDS[2]["categories"])
    checked = run_command(place, "schema", "check", "draft.json", "data.csv")
    assert checked.code == 0
    assert "draft.json is a valid schema: 8 columns, 1 identifiers" in checked.stdout
    assert drafted.ledger[0]["mechanism"] == "disclosed"
    assert "CONFIDENTIAL results were disclosed" in run_command(place, "ledger", "show").stdout
    refused(synthesize(place, schema="draft.json"), "nobody has reviewed")
    assert synthesize(place, "--accept-unreviewed", schema="draft.json").code == 0


def test_a_draft_covers_what_it_saw(place):
    run_command(place, "schema", "draft", "data.csv", "-o", "draft.json")
    from sundog.domain import Schema
    from sundog.sources import open_table

    schema = Schema.load(place / "draft.json")
    rows = open_table(place / "data.csv").read(schema)
    decoded, values = rows.to_arrow().to_pydict(), tables.table(200)
    for name in ("age", "cost", "day", "region", "smoker"):
        assert decoded[name] == values[name], name


@pytest.mark.parametrize(
    "cells",
    [
        ["infinity", "2020-01-01", "99999-01-01"],
        ["inf", "1", "2.5", "3"],
        ["123456789012345678", "223456789012345678", "323456789012345679"],
        ["0.123456789012", "5000.5", "-3.25"],
        ["1e300", "2", "3"],
        ["", "", ""],
        ["01", "02", "03"],
        ["0", "0", "1"],
        ["true", "FALSE", "True"],
        ["\x00", "a", "b"],
        ["NA", "NA", "NA"],
        ["text " * 50, "word " * 50, "text " * 50],
        ["a", "b", "text " * 50],
    ],
)
def test_odd_columns_are_drafted_too(place, cells):
    tables.write_csv(place / "odd.csv", {"x": cells, "y": ["a", "b", "c", "d"][: len(cells)]})
    outcome = run_command(place, "schema", "draft", "odd.csv", "-o", "odd.json")
    assert outcome.code == 0, outcome.stderr
    checked = run_command(place, "schema", "check", "odd.json", "odd.csv")
    assert checked.code == 0, checked.stderr


def test_a_draft_lists_no_label_that_a_schema_refuses(place):
    """A column of words for missing, or of long texts, must not end the draft of all others."""
    tables.write_csv(
        place / "odd.csv", {"empty": ["NA"] * 3, "note": ["text " * 50] * 3, "some": ["a", "b", "text " * 50]}
    )
    assert run_command(place, "schema", "draft", "odd.csv", "-o", "odd.json").code == 0
    empty, note, some = json.loads((place / "odd.json").read_text())["fields"]
    assert (empty["identifier"], empty["why"]) == (True, "Left out: every cell means missing.")
    assert (note["identifier"], note["why"]) == (True, "Left out: every text has more than 200 characters.")
    assert some["categories"] == ["a", "b"]
    assert "Not listed: 1 of more than 200 characters." in some["why"]


def test_check_tells_what_is_left_out(place):
    values = tables.table(5) | {"extra": [1] * 5}
    tables.write_csv(place / "data.csv", values)
    outcome = run_command(place, "schema", "check", "schema.json", "data.csv", "--json")
    result = json.loads(outcome.stdout)
    assert result["valid"] is True
    assert result["notInSchema"] == ["extra"]
    assert result["columns"]["cost"] == 505002
    shown = run_command(place, "schema", "check", "schema.json").stdout
    assert "  cost: number, -50.00 to 5000.00, may be missing" in shown
    assert "  grade: 3 ordered categories" in shown


def test_import_from_sdv_then_complete(place):
    columns = {
        "smoker": {"sdtype": "boolean"},
        "region": {"sdtype": "categorical"},
        "age": {"sdtype": "numerical", "computer_representation": "Int64"},
        "cost": {"sdtype": "numerical"},
        "day": {"sdtype": "datetime", "datetime_format": "%Y-%m-%d"},
        "seen": {"sdtype": "datetime"},
        "visit": {"sdtype": "id"},
    }
    (place / "sdv.json").write_text(json.dumps({"columns": columns, "primary_key": "visit"}))
    imported = run_command(place, "schema", "import-sdv", "sdv.json", "-o", "imported.json")
    assert imported.code == 0
    assert "age: constraints.minimum and .maximum" in imported.stdout
    refused(run_command(place, "schema", "check", "imported.json"), "field 'region'.*sundog schema complete")
    tables.write_csv(place / "data.csv", tables.table(3000))
    budget = ("--epsilon", "20", "--delta", "1e-6", "--yes")
    completed = run_command(
        place, "schema", "complete", "data.csv", "--schema", "imported.json", *budget, "-o", "full.json"
    )
    assert completed.code == 0, completed.stderr
    assert "Paid: (epsilon = " in completed.stdout
    assert run_command(place, "schema", "check", "full.json", "data.csv").code == 0
    full = {field["name"]: field for field in document(completed, "full.json")["fields"]}
    assert full["region"]["categories"] == sorted(tables.FIELDS[2]["categories"])
    assert (full["age"]["constraints"]["minimum"], full["age"]["constraints"]["maximum"]) == (0, 128)
    assert (full["cost"]["constraints"]["minimum"], full["cost"]["constraints"]["maximum"]) == (-64, 8192)
    assert full["day"]["constraints"] == {"minimum": "2020-01-01", "maximum": "2023-12-31"}
    assert full["seen"]["constraints"] == {"minimum": "2020-01-01T00:00:00", "maximum": "2023-12-31T23:59:59"}
    assert full["day"]["sundog"]["origin"] == "paid"
    made = synthesize(place, schema="full.json")
    assert made.code == 0
    certificate = document(made, "out/certificate.json")
    assert set(certificate["domains"]) == {"paid", "declared"}
    assert certificate["receiptsOfDomains"]["day"] == full["day"]["sundog"]["receipts"]
    paid = {f"{entry['dataset']}#{entry['number']}" for entry in completed.ledger if entry["rho"]}
    assert {receipt for receipts in certificate["receiptsOfDomains"].values() for receipt in receipts} == paid


def open_field(place, field, values, *options, budget=("--epsilon", "5", "--delta", "1e-6")):
    (place / "open.json").write_text(json.dumps({"name": "open", "fields": [{"name": "x", **field}]}))
    tables.write_csv(place / "open.csv", {"x": values, "y": [1] * len(values)})
    outcome = run_command(
        place, "schema", "complete", "open.csv", "--schema", "open.json", *budget, "-o", "o.json", "--force", *options
    )
    return outcome, (document(outcome, "o.json")["fields"][0] if outcome.code == 0 else None)


def test_rare_values_stay_unnamed(place):
    outcome, field = open_field(place, {"type": "string"}, ["often"] * 300 + ["rarity", "twice", "twice"])
    assert field["categories"] == ["often"]
    assert "rarity" not in outcome.stdout + outcome.stderr + outcome.files["o.json"].decode()


@pytest.mark.parametrize("field", [{"type": "string"}, {"type": "integer"}, {"type": "date"}, {"type": "number"}])
@pytest.mark.parametrize("values", [[], ["1"], [None] * 50])
def test_where_nothing_stands_clear_of_the_noise_it_is_said(place, field, values):
    outcome, _ = open_field(place, field, values)
    assert outcome.code == 0, outcome.stderr
    assert "x: nothing stood clear of the noise; declare it or spend more" in outcome.stdout


def test_missing_values_are_no_category(place):
    path = place / "open.csv"
    _, field = open_field(place, {"type": "string"}, [""] * 300 + ["a"] * 300)
    assert field["categories"] == ["a"]
    parquet.write_table(tables.pa.table({"x": [""] * 300 + ["a"] * 300}), place / "open.parquet")
    outcome = run_command(
        place,
        "schema",
        "complete",
        "open.parquet",
        "--schema",
        "open.json",
        "--epsilon",
        "5",
        "--delta",
        "1e-6",
        "-o",
        "p.json",
    )
    assert document(outcome, "p.json")["fields"][0]["categories"] == ["a"]
    assert path.exists()


def test_declared_bounds_are_kept(place):
    _, field = open_field(place, {"type": "integer", "constraints": {"minimum": 0}}, [-5, 5, 9] * 200)
    assert field["constraints"] == {"minimum": 0, "maximum": 16}


@pytest.mark.parametrize("form", ["default", "any", "%d.%m.%Y"])
def test_dates_are_completed_in_their_format(place, form):
    cell = "05.06.2021" if "%" in form else "2021-06-05"
    _, field = open_field(place, {"type": "date", "format": form}, [cell] * 300)
    assert field["constraints"] == {"minimum": "2021-01-01", "maximum": "2021-12-31"}


@pytest.mark.parametrize("extra", [{}, {"sundog": {"decimals": 3}}])
def test_numbers_beyond_any_grid_are_bounded(place, extra):
    _, field = open_field(place, {"type": "number", **extra}, ["1e300", "-1e300"] * 200)
    from sundog.domain import Schema

    assert Schema.from_json({"fields": [field]}).columns[0].steps > 10**12


def test_categories_need_a_delta(place):
    outcome, _ = open_field(place, {"type": "string"}, ["a"], budget=("--rho", "1"))
    refused(outcome, "needs --delta")
    outcome, field = open_field(place, {"type": "integer"}, [5] * 300, budget=("--rho", "1"))
    assert field["constraints"] == {"minimum": 4, "maximum": 8}


# --- tables at the edges --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [0, *(pytest.param(rows, marks=pytest.mark.long) for rows in (1, 2))])
@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
def test_tables_of_hardly_any_rows(place, rows, neighbours):
    tables.write_csv(place / "data.csv", tables.table(rows))
    outcome = synthesize(place, "--neighbours", neighbours)
    assert outcome.code == 0, outcome.stderr
    assert len(tables.encoded(place / "out" / "synthetic.csv")[0]) >= 1


def test_columns_of_nulls(place):
    values = tables.table(30)
    tables.write_csv(place / "data.csv", values | {name: [None] * 30 for name in values if name != "visit"})
    assert synthesize(place).code == 0


@pytest.mark.long
def test_two_hundred_columns(place):
    names = [f"column {k}" for k in range(200)]
    fields = [{"name": n, "type": "integer", "constraints": {"minimum": 0, "maximum": 9}} for n in names]
    (place / "wide.json").write_text(json.dumps({"name": "wide", "fields": fields}))
    draw = np.random.default_rng(0)
    tables.write_csv(place / "wide.csv", {name: draw.integers(0, 10, 100).tolist() for name in names})
    outcome = synthesize(place, data="wide.csv", schema="wide.json")
    assert outcome.code == 0, outcome.stderr
    assert len(document(outcome, "out/certificate.json")["payments"]) >= 200


def test_ten_thousand_categories(place):
    labels = [f"label {k}" for k in range(10_000)]
    fields = [{"name": "x", "categories": labels}, {"name": "y", "type": "boolean"}]
    (place / "many.json").write_text(json.dumps({"name": "many", "fields": fields}))
    tables.write_csv(place / "many.csv", {"x": labels, "y": [True] * 10_000})
    outcome = synthesize(place, "--rows", "100", data="many.csv", schema="many.json")
    assert outcome.code == 0, outcome.stderr


def test_odd_names_the_whole_way(place):
    names = ["größe", 'quo"te', "it's", "two words", "select", "😀", "Age", "age", "<b>", "a,b", "=1+1"]
    fields = [{"name": n, "categories": ["a", "b,c", 'd"e', "<f>"]} for n in names]
    (place / "odd.json").write_text(json.dumps({"name": "ödd 😀", "fields": fields}), encoding="utf-8")
    tables.write_csv(place / "odd.csv", {name: ["a", "b,c", 'd"e', "<f>"] * 20 for name in names})
    outcome = synthesize(place, data="odd.csv", schema="odd.json")
    assert outcome.code == 0, outcome.stderr
    from sundog.domain import Schema

    codes = tables.encoded(place / "out" / "synthetic.csv", Schema.load(place / "odd.json"))
    assert len(codes) == len(names)
    assert all(set(column) <= {0, 1, 2, 3, 4} for column in codes)
    assert "<b>" not in outcome.files["out/certificate.html"].decode()


@pytest.mark.parametrize("budget", [("--rho", "1e-9"), ("--rho", "1e7")])
def test_budgets_at_the_edges(place, budget):
    """Hardly any information, and hardly any noise: a result or a sentence."""
    outcome = synthesize(place, "--rows", "20", "--yes", budget=budget)
    if outcome.code:
        refused(outcome, "noise: found scale")
    else:
        assert len(tables.encoded(place / "out" / "synthetic.csv")[0]) == 20


def test_a_file_with_a_mark_and_ragged_lines(place):
    text = "\ufeff" + "\r\n".join(["x,y,z", "1,2", "3,4,5,6", '"', "7"]) + "\r\n"
    (place / "ragged.csv").write_text(text, encoding="utf-8", newline="")
    fields = [{"name": n, "type": "integer", "constraints": {"minimum": 0, "maximum": 9}} for n in "xyz"]
    (place / "ragged.json").write_text(json.dumps({"name": "ragged", "fields": fields}))
    assert synthesize(place, data="ragged.csv", schema="ragged.json").code == 0


# --- constraints ----------------------------------------------------------------------------------------------------

NO_GRADE = [{"name": grade, "kind": "impossible", "where": {"grade": grade}} for grade in ("low", "middle", "high")]


@pytest.mark.parametrize("command", [synthesize, measure])
def test_constraints_that_contradict_each_other_cost_nothing(place, command):
    (place / "schema.json").write_text(json.dumps(tables.DOCUMENT | {"constraints": NO_GRADE}), encoding="utf-8")
    outcome = command(place)
    refused(outcome, "constraints 'low', 'middle', 'high': they contradict each other")
    assert outcome.ledger == []
    assert set(outcome.files) == {"data.csv", "schema.json"}
    refused(run_command(place, "schema", "check", "schema.json"), "'low', 'middle', 'high'")
    (place / "schema.json").write_text(json.dumps(tables.DOCUMENT | {"constraints": NO_GRADE[1:]}), encoding="utf-8")
    assert run_command(place, "schema", "check", "schema.json").code == 0
