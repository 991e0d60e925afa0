"""sundog answer, as users meet it: text, JSON and CSV; refusals with exit code 2; old folders say that they were fitted again."""

import csv
import json
import re

import pytest
from typer.testing import CliRunner

from example_tables import DOCUMENT, table
from sundog import Synthesizer
from sundog.cli.app import app
from sundog.errors import UserError


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("answers")
    made = Synthesizer(DOCUMENT, epsilon=2.0, delta=1e-6, dataset="d", ledger=place / "l", seed=3).fit(table(1000))
    return made.save(place / "release")


def run(*words):
    result = CliRunner().invoke(app, ["answer", *map(str, words)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.output


def test_text(folder):
    said = run(folder, "--by", "colour,warm")
    assert re.search(r"red\s+True", said)
    assert "measured" in said
    assert "in total." in said
    assert "mean of size" in run(folder, "--mean", "size", "--by", "grade", "--where", "size > 100")


def test_json_adds_up_to_the_number_of_rows(folder):
    found = json.loads(run(folder, "--by", "colour", "--json"))
    rows = json.loads((folder / "released.json").read_text(encoding="utf-8"))
    assert sum(line["estimate"] for line in found["answers"]) == pytest.approx(found["rows"]["estimate"])
    assert rows["publicRows"] is None
    shares = json.loads(
        run(folder, "--share", "warm=true", "--quantile", "size=0.5,0.9", "--where", "grade = 1", "--json")
    )
    assert [line["statistic"] for line in shares["answers"]] == [
        "share of warm = true",
        "0.5 quantile of size",
        "0.9 quantile of size",
    ]


def test_csv(folder, tmp_path):
    target = tmp_path / "out.csv"
    assert "5 lines" in run(folder, "--by", "colour", "--csv", target)
    with open(target, encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    assert [line["colour"] for line in lines] == ["red", "green", "blue", "grey", "plum"]
    with pytest.raises(UserError, match="--force"):
        run(folder, "--by", "colour", "--csv", target)


def test_measurements_alone_answer_what_they_cover(folder, tmp_path):
    (tmp_path / "released.json").write_bytes((folder / "released.json").read_bytes())
    assert "measured" in run(tmp_path / "released.json", "--by", "colour")
    with pytest.raises(UserError, match="sundog generate"):
        run(tmp_path, "--by", "colour,warm,grade")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--where", "colour = pink"], "'pink' is not a value of field 'colour'"),
        (["--by", "nobody"], "'nobody' is not in the schema"),
        (["--quantile", "size"], "COLUMN=0.5"),
        (["--quantile", "size=0.5.5"], "COLUMN=0.5"),
        (["--quantile", "size=2"], "between 0 and 1"),
        (["--share", "warm=purple"], "not a value"),
        (["--confidence", "95"], "confidence"),
    ],
)
def test_refusals(folder, words, said):
    with pytest.raises(UserError, match=said) as refused:
        run(folder, *words)
    assert refused.value.exit_code == 2


def test_no_release(tmp_path):
    with pytest.raises(UserError, match=r"released\.json"):
        run(tmp_path)
