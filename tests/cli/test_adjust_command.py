"""sundog adjust on the command line: files, sentences, exit codes, and a certificate that claims no more than is known."""

import csv
import json
import re

import pytest

from postprocess.tiny_supports import DOCUMENT, table
from privacy.stand_ins import run_command

BUDGET = ("--epsilon", "1", "--delta", "1e-9")
FILES = {"adjusted.csv", "adjust.json", "released.json", "certificate.json", "certificate.html"}


def write(path, values):
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(values)
        cells = [["" if value is None else str(value).lower() for value in column] for column in values.values()]
        writer.writerows(zip(*cells, strict=True))


@pytest.fixture
def place(tmp_path):
    write(tmp_path / "real.csv", table(3000, seed=1, slope=0.8))
    write(tmp_path / "theirs.csv", dict(reversed(table(800, seed=2).items())))
    write(tmp_path / "one.csv", {name: values[:1] for name, values in table(5).items()})
    write(tmp_path / "narrow.csv", {"x": [1], "t": [True]})
    (tmp_path / "schema.json").write_text(json.dumps(DOCUMENT), encoding="utf-8")
    return tmp_path


def adjust(place, *options, synthetic="theirs.csv", real=("--real", "real.csv"), budget=BUDGET, out="out"):
    return run_command(place, "adjust", synthetic, "--schema", "schema.json", *real, *budget, "-o", out, *options)


def refused(outcome, match, *, code=2, entries=0):
    assert outcome.code == code, outcome.stderr
    assert re.search(match, re.sub(r"\s+|[│╭╮╰╯─]+", " ", outcome.stderr)), outcome.stderr
    assert "Traceback" not in outcome.stderr
    assert "fault in Sundog" not in outcome.stderr
    assert len(outcome.ledger) == entries


def charges(outcome):
    """What the ledger holds beside the receipts of certificates, which cost nothing."""
    return [entry for entry in outcome.ledger if entry["mechanism"] != "certified"]


def document(outcome, name):
    return json.loads(outcome.files[name])


def test_the_whole_way(place):
    outcome = adjust(place, "--measures", "correlations: x, y; means: x by g")
    assert outcome.code == 0, outcome.stderr
    assert {f"out/{name}" for name in FILES} <= set(outcome.files)
    certificate = document(outcome, "out/certificate.json")
    assert certificate["epsilon"] <= 1
    assert "making the synthetic table itself is not known" in certificate["remark"]
    assert certificate["remark"] in outcome.stdout
    assert certificate["remark"].split(" (")[0] in outcome.files["out/certificate.html"].decode()
    assert len(certificate["payments"]) == len(charges(outcome)) == 3
    figures = document(outcome, "out/adjust.json")
    assert figures["kktResidual"] < 1e-8
    assert figures["violation"] <= 1.001e-5
    assert figures["largestErrorResampled"] < 0.1 * figures["largestErrorBefore"]
    assert len(outcome.files["out/adjusted.csv"].splitlines()) == 801


def test_without_trust_the_measures_are_met_whatever_their_noise(place):
    """The paper's problem: at a small budget the compromise stays off the noisy target, `--trust off` does not."""
    small, free = ("--epsilon", "0.1", "--delta", "1e-9"), ("--released", "off/released.json")
    met = adjust(place, "--measures", "correlations: x, y", "--trust", "off", budget=small, out="off")
    weighed = adjust(place, real=free, budget=(), out="auto")
    off, auto = document(met, "off/adjust.json"), document(weighed, "auto/adjust.json")
    assert off["klDivergence"] > auto["klDivergence"]
    assert off["denoisingMoved"] < auto["denoisingMoved"]


def test_again_at_no_cost_and_as_json(place):
    first = adjust(place, "--measures", "correlations: x, y")
    free = ("--released", "out/released.json")
    again = adjust(place, "--json", "--resample", "weights", real=free, budget=(), out="again")
    assert again.code == 0, again.stderr
    assert len(again.ledger) == len(first.ledger)
    result = json.loads(again.stdout)
    assert result["rows"] == 800
    assert result["rho"] == document(first, "out/certificate.json")["rho"]
    assert again.files["again/adjusted.csv"].splitlines()[0].replace(b'"', b"") == b"x,y,g,t,weight"
    more = adjust(
        place, "--weights", "weight", "--rows", "50", synthetic="again/adjusted.csv", real=free, budget=(), out="c"
    )
    assert more.code == 0, more.stderr
    assert len(more.files["c/adjusted.csv"].splitlines()) == 51


def test_costs_of_making_the_table_are_added(place):
    made = run_command(
        place, "synthesize", "real.csv", "--schema", "schema.json", *BUDGET, "--method", "independent", "-o", "made"
    )
    assert made.code == 0, made.stderr
    both = adjust(
        place, "--before", "made/released.json", "--measures", "correlations: x, y", synthetic="made/synthetic.csv"
    )
    assert both.code == 0, both.stderr
    certificate = document(both, "out/certificate.json")
    assert certificate["remark"] is None
    assert 1.3 < certificate["epsilon"] < 1.5
    assert sum(line["rho"] for line in certificate["payments"]) == pytest.approx(certificate["rho"])
    assert len(certificate["payments"]) == len(charges(both))


def test_a_table_paid_for_in_another_ledger_hides_nothing_of_this_account(place):
    """Its receipts may have the numbers of entries here, which belong to other runs."""
    options = ("--method", "independent", "--dataset", "real", "--ledger", "other.sqlite", "-o", "made")
    run_command(place, "synthesize", "real.csv", "--schema", "schema.json", *BUDGET, *options)
    adjust(place, "--dataset", "real", out="earlier")
    both = adjust(place, "--before", "made/released.json", synthetic="made/synthetic.csv")
    assert both.code == 0, both.stderr
    earlier, now = (document(both, f"{folder}/certificate.json")["account"] for folder in ("earlier", "out"))
    assert now["rhoBefore"] == earlier["rhoAfter"]


def test_rows_that_cannot_meet_the_measures(place):
    outcome = adjust(place, "--measures", "correlations: x, y", synthetic="one.csv")
    refused(outcome, r"cannot meet the .* of '[xy]'.*Nothing was changed.*kept in 'out/released.json'", entries=2)
    assert "out/adjusted.csv" not in outcome.files
    free = ("--released", "out/released.json")
    closest = adjust(place, "--closest", synthetic="one.csv", real=free, budget=(), out="closest")
    assert closest.code == 0, closest.stderr
    assert len(closest.ledger) == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--measures", "correlations: x, salary"), "salary"),
        (("--measures", "correlation: x"), "allowed are 'correlations: A, B'"),
        (("--gamma", "-1"), "'gamma': found -1"),
        (("--resample", "bootstrap"), "bootstrap"),
        (("--rows", "0"), "'rows': found 0"),
        (("--weights", "w"), "lacks the column 'w'"),
        (("--released", "schema.json"), "either --real DATA"),
        (("--before", "schema.json"), "not a file of released measurements"),
        (("--noise", "uniform"), "uniform"),
        (("--delimiter", "ab"), "must be one character"),
    ],
)
def test_nothing_is_spent_on_wrong_options(place, options, message):
    refused(adjust(place, *options), message)


def test_other_mistakes(place):
    refused(adjust(place, synthetic="narrow.csv"), "synthetic table: the table lacks the column 'y' and 1 more")
    refused(adjust(place, synthetic="absent.csv"), "'absent.csv' does not exist")
    refused(adjust(place, real=(), budget=()), "either --real DATA")
    refused(adjust(place, budget=()), "neither epsilon nor rho")
    refused(adjust(place, budget=("--epsilon", "1")), "delta must be given")
    refused(adjust(place, real=("--released", "schema.json")), "costs nothing, so there is no budget")
    refused(adjust(place, real=("--real", "absent.csv")), "does not exist")


def test_the_ledgers_limit_is_exit_code_3(place):
    run_command(place, "ledger", "limit", "toy", "--epsilon", "0.1", "--delta", "1e-9")
    outcome = adjust(place)
    assert outcome.code == 3
    assert "Nothing was computed" in re.sub(r"\s+", " ", outcome.stderr)


def test_results_are_not_overwritten_unasked(place):
    (place / "out").mkdir()
    (place / "out" / "adjusted.csv").write_text("mine", encoding="utf-8")
    refused(adjust(place), "holds 'adjusted.csv' already")
    assert adjust(place, "--force").code == 0


def test_a_second_step_claims_no_more_than_the_first(place):
    first = adjust(place, "--measures", "columns: x, y", out="first")
    assert document(first, "first/released.json")["rowsFromElsewhere"]
    again = ("--measures", "correlations: x, y", "--before", "first/released.json")
    second = adjust(place, *again, synthetic="first/adjusted.csv", out="second")
    assert second.code == 0, second.stderr
    certificate = document(second, "second/certificate.json")
    assert "making the synthetic table itself is not known" in certificate["remark"]
    assert certificate["remark"] in second.stdout
    assert 1 < certificate["epsilon"] < 2


def test_rows_made_of_measurements_alone_have_a_known_cost(place):
    adjust(place, "--measures", "columns", out="first")
    made = run_command(place, "generate", "first/released.json", "--method", "independent", "-o", "made")
    assert made.code == 0, made.stderr
    again = ("--measures", "correlations: x, y", "--before", "made/released.json")
    outcome = adjust(place, *again, synthetic="made/synthetic.csv", out="second")
    assert outcome.code == 0, outcome.stderr
    assert document(outcome, "second/certificate.json")["remark"] is None
