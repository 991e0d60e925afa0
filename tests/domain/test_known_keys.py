"""Keys that Sundog does not know are named when a command loads a schema, and copied nowhere."""

import json

import tables
from privacy import worlds
from privacy.stand_ins import run_command
from sundog.domain.forms import Document
from sundog.domain.known_keys import unknown_keys

FIELDS = [{**tables.FIELDS[0], "title": "a title", "count": 48842}, *tables.FIELDS[1:]]
DOCUMENT = {
    **tables.DOCUMENT,
    "rows": 48842,
    "description": "for people",
    "fields": FIELDS,
    "dialect": {"encoding": "utf-8"},
}


def test_unknown_keys_are_named_by_their_places():
    assert unknown_keys(DOCUMENT, Document) == ["rows", "fields.count"]
    assert unknown_keys(tables.DOCUMENT, Document) == []


def test_a_command_names_them_and_releases_none(tmp_path):
    folder = worlds.write(tmp_path, worlds.lines_of(tables.table(30)), DOCUMENT)
    command = ("measure", worlds.DATA, "--schema", worlds.SCHEMA, "--rho", "0.5", "--method", "independent")
    outcome = run_command(folder, *command, "-o", "released.json", inputs=(worlds.DATA, worlds.SCHEMA))
    assert outcome.code == 0
    assert "leaves them out of every release: rows, fields.count." in outcome.stderr
    assert "48842" not in outcome.stderr + outcome.files["released.json"].decode()
    assert "rows" not in json.loads(outcome.files["released.json"])["schema"]


def test_review_and_complete_name_them_too(tmp_path):
    without_bounds = [{"name": "age", "type": "integer"} if field["name"] == "age" else field for field in FIELDS]
    document = {**DOCUMENT, "fields": without_bounds}
    folder = worlds.write(tmp_path, worlds.lines_of(tables.table(30)), document)
    said = "leaves them out of every release: rows, fields.count."
    reviewed = run_command(folder, "schema", "review", worlds.SCHEMA, "--json")
    paying = ("--schema", worlds.SCHEMA, "--rho", "0.5", "--delta", "1e-9", "-o", "filled.json")
    completed = run_command(folder, "schema", "complete", worlds.DATA, *paying)
    assert (reviewed.code, completed.code) == (0, 0)
    assert said in reviewed.stderr
    assert said in completed.stderr
