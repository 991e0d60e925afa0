"""Reviewing a draft: every answer marks its field, and nothing else; the terminal asks what a page could ask."""

import json

import pytest

import tables
from privacy.stand_ins import run_command
from sundog import Review, UserError
from sundog.domain import Schema

DRAFT = {
    "name": "t",
    "description": "CONFIDENTIAL DRAFT",
    "fields": [
        {
            "name": "age",
            "type": "integer",
            "constraints": {"minimum": 0, "maximum": 97, "required": True},
            "sundog": {"origin": "fromData"},
            "why": "Whole numbers.",
        },
        {"name": "city", "categories": ["a", "b"], "sundog": {"origin": "fromData"}, "why": "Labels."},
        {"name": "who", "identifier": True, "sundog": {"origin": "fromData"}, "why": "Names."},
        {"name": "fixed", "type": "boolean"},
    ],
}


def test_questions_say_what_is_declared_and_why():
    first, second, third = Review(DRAFT).questions
    assert (first.name, first.why) == ("age", "Whole numbers.")
    assert first.declares == "integer from 0 to 97; never missing"
    assert second.declares == "string, 2 labels: a, b; may be missing"
    assert third.declares.startswith("left out")


def test_answers_mark_their_field_and_drop_what_was_seen():
    kept = Review(DRAFT).keep("age")
    assert kept.document["fields"][0]["sundog"] == {"origin": "reviewed"}
    assert "why" not in kept.document["fields"][0]
    assert kept.document["fields"][1:] == DRAFT["fields"][1:]
    assert [question.name for question in kept.questions] == ["city", "who"]
    changed = kept.change("city", {"categories": ["a", "b", "c"]}).leave_out("who")
    assert changed.done
    assert "description" not in changed.document
    schema = Schema.from_json(changed.document)
    assert schema.origins == {"age": "reviewed", "city": "reviewed", "who": "reviewed", "fixed": "declared"}
    assert schema.column("city").labels == ("a", "b", "c")
    assert DRAFT["fields"][0]["sundog"] == {"origin": "fromData"}, "the draft itself is untouched"


def test_an_answer_that_makes_no_schema_is_refused():
    with pytest.raises(UserError, match="no value lies between"):
        Review(DRAFT).change("age", {"constraints": {"minimum": 5, "maximum": 1}})
    with pytest.raises(UserError, match="no field 'other'"):
        Review(DRAFT).keep("other")


@pytest.fixture
def place(tmp_path):
    (tmp_path / "draft.json").write_text(json.dumps(DRAFT))
    return tmp_path


def answered(place, monkeypatch, *answers):
    """The review command with these lines typed in."""
    import io

    monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{answer}\n" for answer in answers)))
    return run_command(place, "schema", "review", "draft.json")


def test_the_terminal_walks_through_the_fields(place, monkeypatch):
    outcome = answered(place, monkeypatch, "?", "b", "5", "1", "b", "0", "120", "c", "a, b , c", "x")
    assert outcome.code == 0, outcome.stderr
    assert "no value lies between" in outcome.stdout, "a wrong answer is asked again"
    assert "every field is reviewed" in outcome.stdout
    fields = json.loads(outcome.files["draft.json"])["fields"]
    assert fields[0]["constraints"] == {"minimum": 0, "maximum": 120, "required": True}
    assert fields[1]["categories"] == ["a", "b", "c"]
    assert fields[2] == {"name": "who", "type": "string", "identifier": True, "sundog": {"origin": "reviewed"}}


def test_what_was_answered_is_kept_when_one_quits_or_the_input_ends(place, monkeypatch):
    outcome = answered(place, monkeypatch, "n", "q")
    assert outcome.code == 0
    assert "2 fields wait for review" in outcome.stdout
    fields = json.loads(outcome.files["draft.json"])["fields"]
    assert fields[0]["constraints"] == {"minimum": 0, "maximum": 97}
    outcome = answered(place, monkeypatch, "e", "no json", "e", '{"categories": ["z"]}')
    assert outcome.code == 0
    assert "1 fields wait for review" in outcome.stdout
    assert json.loads(outcome.files["draft.json"])["fields"][1]["categories"] == ["z"]


def test_scripts_name_the_fields_that_they_keep(place):
    outcome = run_command(place, "schema", "review", "draft.json", "--keep", "age", "-o", "r.json", "--json")
    said = json.loads(outcome.stdout)
    assert [question["name"] for question in said["questions"]] == ["city", "who"]
    assert said["reviewed"] is False
    assert outcome.files["draft.json"] == json.dumps(DRAFT).encode()
    assert json.loads(outcome.files["r.json"])["fields"][0]["sundog"]["origin"] == "reviewed"


def test_a_reviewed_draft_may_be_used(place):
    tables.write_csv(place / "data.csv", {"age": [1, 2] * 50, "city": ["a", "b"] * 50, "fixed": [True, False] * 50})
    use = ("measure", "data.csv", "--schema", "draft.json", "--rho", "0.1", "--method", "independent", "-o", "r.json")
    assert run_command(place, *use).code == 2
    keep = [part for name in ("age", "city", "who") for part in ("--keep", name)]
    assert run_command(place, "schema", "review", "draft.json", *keep).code == 0
    outcome = run_command(place, *use)
    assert outcome.code == 0, outcome.stderr
    assert b"reviewed" in outcome.files["r.json"]
