"""Where domains come from: only known keys are kept, and what was read from the rows is refused until it is accepted."""

import json

import pytest

import tables
from privacy.stand_ins import run_command
from sundog import Synthesizer, UserError
from sundog.domain import Schema
from sundog.domain.origin import grouped, refuse_unreviewed

BUDGET = ("--epsilon", "1", "--delta", "1e-9", "--method", "independent")


def drafted(*names):
    """The schema of the test table, some of its fields as a draft would mark them."""
    fields = [
        {**field, "why": "48842 cells", "sundog": {**field.get("sundog", {}), "origin": "fromData"}}
        if field["name"] in names
        else field
        for field in tables.DOCUMENT["fields"]
    ]
    return {**tables.DOCUMENT, "rows": 48842, "notes": "a draft of 48842 rows", "fields": fields}


def test_only_known_keys_are_kept_at_every_depth():
    labels = [{"value": "a", "label": "first", "count": 48842}, {"value": "b"}]
    document = {
        "name": "t",
        "rows": 48842,
        "fields": [
            {"name": "x", "categories": labels, "why": "48842", "constraints": {"required": True, "seen": 48842}},
            {"name": "y", "type": "integer", "constraints": {"minimum": 0, "maximum": 9}, "sundog": {"origin": "paid"}},
        ],
    }
    kept = Schema.from_json(document).to_json()
    assert "48842" not in json.dumps(kept)
    assert kept["fields"][0]["categories"] == [{"value": "a", "label": "first"}, {"value": "b"}]
    assert kept["fields"][1] == document["fields"][1]
    assert Schema.from_json(kept) == Schema.from_json(document)


def test_origins_are_read_and_grouped():
    schema = Schema.from_json(drafted("age", "day"))
    assert schema.origins["age"] == "fromData"
    assert schema.origins["region"] == "declared"
    assert grouped(schema.origins)["fromData"] == ["age", "day"]
    refuse_unreviewed(schema.origins, accepted=True)
    with pytest.raises(UserError, match=r"2 fields were read from the rows.*'age', 'day'.*sundog schema review"):
        refuse_unreviewed(schema.origins, accepted=False)


def test_an_origin_that_does_not_exist_is_refused():
    with pytest.raises(UserError, match=r"field 'x', sundog\.origin"):
        Schema.from_json({"fields": [{"name": "x", "type": "boolean", "sundog": {"origin": "guessed"}}]})


def test_a_synthesizer_refuses_an_unreviewed_draft():
    with pytest.raises(UserError, match="nobody has reviewed"):
        Synthesizer(drafted("age"), rho=0.1)
    Synthesizer(drafted("age"), rho=0.1, accept_unreviewed=True)


@pytest.mark.parametrize("command", ["synthesize", "measure"])
def test_commands_refuse_it_before_anything_is_spent(tmp_path, command):
    tables.write_csv(tmp_path / "data.csv", tables.table(200))
    (tmp_path / "schema.json").write_text(json.dumps(drafted("age")))
    outcome = run_command(tmp_path, command, "data.csv", "--schema", "schema.json", *BUDGET, "-o", "out")
    assert outcome.code == 2
    assert "nobody has reviewed" in outcome.stderr
    assert outcome.ledger == []


def test_accepted_it_is_said_on_every_page(tmp_path):
    tables.write_csv(tmp_path / "data.csv", tables.table(200))
    (tmp_path / "schema.json").write_text(json.dumps(drafted("age", "day")))
    options = ("--schema", "schema.json", *BUDGET, "--accept-unreviewed", "-o", "out")
    outcome = run_command(tmp_path, "synthesize", "data.csv", *options)
    assert outcome.code == 0, outcome.stderr
    sentence = "of 2 columns were read from the rows without noise and not reviewed: age, day."
    assert sentence in outcome.stdout
    certificate = json.loads(outcome.files["out/certificate.json"])
    assert certificate["domains"]["fromData"] == ["age", "day"]
    assert sentence in certificate["warnings"][0]
    for page in ("out/certificate.html", "out/report.html"):
        text = outcome.files[page].decode()
        assert sentence in text
        assert "public schema alone" not in text
        assert "never from the rows themselves" not in text
    assert sentence in outcome.files["out/README.txt"].decode()
    assert all(b"48842" not in outcome.files[f"out/{name}"] for name in ("released.json", "certificate.json"))


def test_a_declared_schema_has_no_such_words(tmp_path):
    tables.write_csv(tmp_path / "data.csv", tables.table(200))
    (tmp_path / "schema.json").write_text(json.dumps(tables.DOCUMENT))
    outcome = run_command(tmp_path, "synthesize", "data.csv", "--schema", "schema.json", *BUDGET, "-o", "out")
    assert list(json.loads(outcome.files["out/certificate.json"])["domains"]) == ["declared"]
    assert "public schema alone" in outcome.files["out/certificate.html"].decode()
