"""From an exporter's file to a release, as a custodian goes: draft, review, check, synthesize."""

import json

import pytest

import hospital
from privacy.stand_ins import run_command
from sundog import Review

CHANGES = {
    "Blutdruck": {"missingValues": ["", "-9"], "constraints": {"minimum": 50, "maximum": 250}},
    "Schmerzskala": {"categories": list(range(11)), "categoriesOrdered": True, "constraints": {"required": True}},
}
"""The edits that tests/hospital.py names, as a reviewer makes them."""


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with the file and its reviewed schema."""
    folder = tmp_path_factory.mktemp("hospital")
    hospital.write(folder / "cases.csv", 600)
    drafted = run_command(folder, "schema", "draft", "cases.csv", "-o", "schema.json")
    assert drafted.code == 0, drafted.stderr
    review = Review(json.loads(drafted.files["schema.json"]))
    assert CHANGES.keys() == hospital.EDITS.keys()
    for question in review.questions:
        changes = CHANGES.get(question.name)
        review = review.keep(question.name) if changes is None else review.change(question.name, changes)
    (folder / "schema.json").write_text(json.dumps(review.document))
    return folder


def test_after_the_edits_every_cell_is_read(place):
    outcome = run_command(place, "check", "cases.csv", "--schema", "schema.json", "--unit", "Patienten-ID", "--json")
    assert outcome.code == 0, outcome.stderr
    found = json.loads(outcome.stdout)
    assert [column["name"] for column in found["columns"] if column["findings"]] == []
    assert found["rows"] == 600
    assert found["lines"] == {"lines": 600, "short": 0, "long": 0, "blank": 0, "unclosed": 0}
    missing = {column["name"]: column["missing"] for column in found["columns"] if column["missing"]}
    assert missing.keys() == {"Entlassung - Aufnahme", "Diabetes", "Raucher", "Temperatur", "Blutdruck"}


def test_a_release_needs_no_warning_and_names_the_review(place):
    budget = ("--epsilon", "8", "--delta", "1e-9", "--method", "independent")
    outcome = run_command(place, "synthesize", "cases.csv", "--schema", "schema.json", *budget, "-o", "out", "--json")
    assert outcome.code == 0, outcome.stderr
    assert json.loads(outcome.stdout)["warnings"] == []
    certificate = json.loads(outcome.files["out/certificate.json"])
    assert list(certificate["domains"]) == ["reviewed"]
    assert "why" not in outcome.files["out/released.json"].decode()
    assert "€" not in outcome.files["out/synthetic.csv"].decode()


def test_the_same_file_read_without_its_dialect_is_found_out(place):
    document = json.loads((place / "schema.json").read_text())
    for field in document["fields"]:
        for key in ("decimalChar", "groupChar", "bareNumber", "format"):
            field.pop(key, None)
    (place / "plain.json").write_text(json.dumps(document))
    options = ("--schema", "plain.json", "--delimiter", ";", "--encoding", "utf-8")
    found = json.loads(run_command(place, "check", "cases.csv", *options, "--json").stdout)
    remedies = {column["name"]: column["findings"][0]["remedy"] for column in found["columns"] if column["findings"]}
    assert "decimal commas" in remedies["Temperatur"]
    assert "bareNumber to false" in remedies["Gewicht"]
    assert '"%d.%m.%Y"' in remedies["Geburtsdatum"]
    assert "another encoding" in remedies["Ort"]
