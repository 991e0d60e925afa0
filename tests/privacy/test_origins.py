"""A domain that was read from the rows stays marked so on every way to a certificate, until somebody reviews it.

What adjusts a table or completes a schema makes a new document; a way that loses the mark must fail.
"""

import json
import stat

import pytest

import sundog
from privacy.stand_ins import run_command
from sundog.domain import Schema
from sundog.private import complete as completing
from sundog.report.certificate import certificate

DECLARED = {
    "name": "people",
    "fields": [
        {"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 97}},
        {"name": "sex", "categories": ["m", "f"]},
    ],
}
DRAFT = {**DECLARED, "fields": [{**field, "sundog": {"origin": "fromData"}} for field in DECLARED["fields"]]}
TABLE = {"age": list(range(20, 80)), "sex": ["m", "f"] * 30}
BUDGET = {"epsilon": 1.0, "delta": 1e-6}


def unreviewed(released):
    return certificate(released)["domains"].get("fromData", [])


def check_adjusted(folder):
    """A clean schema for adjusting a table whose own making used a draft."""
    options = {**BUDGET, "ledger": folder / "l"}
    made = sundog.Synthesizer(DRAFT, method="independent", accept_unreviewed=True, **options).fit(TABLE)
    assert unreviewed(made.released) == ["age", "sex"]
    rows = made.sample(50, seed=1)
    done = sundog.adjust(
        rows, "columns", schema=DECLARED, real=TABLE, before=made.released, dataset="people",
        matching=sundog.Matching(closest=True), **options,
    )  # fmt: skip
    assert unreviewed(done.released) == ["age", "sex"], "a mark was lost"
    assert unreviewed(sundog.Released.from_json(done.released.to_json())) == ["age", "sex"]


def completed(folder, fields):
    (folder / "s.json").write_text(json.dumps({**DRAFT, "fields": fields}))
    (folder / "t.csv").write_text("age,sex\n" + "".join(f"{k},m\n" for k in range(90)))
    run = run_command(
        folder, "schema", "complete", "t.csv", "--schema", "s.json", "--epsilon", "5", "--delta", "1e-6", "-o", "full.json"
    )  # fmt: skip
    assert run.code == 0, run.stderr
    return run, {field["name"]: field for field in json.loads(run.files["full.json"])["fields"]}


def check_completed(folder):
    """A draft's field of which one bound was taken away: the other was still read from the rows."""
    half = {**DRAFT["fields"][0], "constraints": {"minimum": 0}}
    run, fields = completed(folder, [half, DRAFT["fields"][1]])
    assert fields["age"]["sundog"]["origin"] == "fromData", "a mark was lost"
    assert "CONFIDENTIAL: 2 fields wait for review" in run.stdout
    assert stat.S_IMODE((folder / "full.json").stat().st_mode) == 0o600


def test_adjusting_keeps_the_marks_of_the_table(tmp_path):
    check_adjusted(tmp_path)


def test_completing_keeps_the_mark_of_a_bound(tmp_path):
    check_completed(tmp_path)


def test_a_drafted_field_of_which_nothing_is_left_is_paid_for(tmp_path):
    bare = {"name": "age", "type": "integer", "sundog": {"origin": "fromData"}}
    _, fields = completed(tmp_path, [bare, {"name": "sex", "categories": ["m", "f"]}])
    assert fields["age"]["sundog"]["origin"] == "paid"


def test_an_adjustment_that_forgets_is_found(monkeypatch, tmp_path):
    monkeypatch.setattr(Schema, "unreviewed_as", lambda self, other: self)
    with pytest.raises(AssertionError, match="a mark was lost"):
        check_adjusted(tmp_path)


def test_a_completion_that_forgets_is_found(monkeypatch, tmp_path):
    fill = completing._fill
    monkeypatch.setattr(completing, "_fill", lambda field, *found: fill({**field, "sundog": {}}, *found))
    with pytest.raises(AssertionError, match="a mark was lost"):
        check_completed(tmp_path)
