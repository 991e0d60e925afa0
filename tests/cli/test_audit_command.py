"""sundog audit, as a user meets it."""

import json

from pyarrow import parquet

from audit.people import SCHEMA, population
from privacy.stand_ins import run_command


def test_an_audit_of_a_mechanism_leaves_the_ledger_alone_and_writes_a_page(tmp_path):
    command = ("audit", "mechanism", "--method", "independent", "--runs", "20", "--rho", "2")
    made = run_command(tmp_path, *command, "--html", "audit.html", "--json")
    assert made.code == 0, made.stderr
    document = json.loads(made.stdout)
    assert document["methods"][0]["claim"]["rho"] <= 2.0
    assert not document["broken"]
    assert made.ledger == []
    assert list(made.files) == ["audit.html"]
    page = made.files["audit.html"].decode()
    assert "No attack proved that independent spends more than its certificate says." in page
    assert "What this does not prove" in page


def test_mistakes_are_named_before_anything_runs(tmp_path):
    for options, words in (
        (("--method", "nosuch"), "method 'nosuch' is unknown"),
        (("--runs", "3"), "runs: found 3"),
        (("--confidence", "1"), "confidence: found 1.0"),
        (("--rho", "1", "--epsilon", "1"), "both rho and epsilon"),
        (("--method", "mst", "--set", "nosuch=1"), "nosuch"),
    ):
        made = run_command(tmp_path, "audit", "mechanism", *options)
        assert (made.code, words in made.stderr) == (2, True), made.stderr


def test_an_audit_of_a_release_is_confidential_and_disclosed(tmp_path):
    for name, seed in (("real.parquet", 1), ("test.parquet", 2), ("made.parquet", 3)):
        parquet.write_table(population(200, seed=seed).to_arrow(), tmp_path / name)
    (tmp_path / "schema.json").write_text(json.dumps(SCHEMA.to_json()))
    files = ("real.parquet", "test.parquet", "made.parquet", "schema.json")
    command = ("audit", "release", "--real", files[0], "--synthetic", files[2], "--schema", files[3], "--targets", "50")
    budget = ("--epsilon", "1", "--delta", "1e-6")
    made = run_command(tmp_path, *command, "--test", files[1], *budget, "--html", "a.html", inputs=files)
    assert made.code == 0, made.stderr
    assert made.stdout.startswith("CONFIDENTIAL")
    assert "Membership, density ratio" in made.stdout
    assert list(made.files) == ["a.html"]
    assert (tmp_path / "a.html").stat().st_mode & 0o777 == 0o600
    assert [entry["label"].startswith("CONFIDENTIAL") for entry in made.ledger] == [True, True]
    document = json.loads(run_command(tmp_path, *command, "--secret", "n", "--json", inputs=files).stdout)
    assert [each["name"] for each in document["attacks"] if each["kind"] == "Inference"] == ["guess n"]
    refused = run_command(tmp_path, *command, *budget, "--released", "nosuch.json", inputs=files)
    assert (refused.code, "leave one out" in refused.stderr) == (2, True)
