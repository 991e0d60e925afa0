"""sundog audit, as a user meets it."""

import json

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
