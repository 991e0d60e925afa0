"""sundog evaluate as a user meets it."""

import json
import stat

import pytest
from pyarrow import csv

from related_tables import DOCUMENT, permuted, related
from sundog.cli.app import main


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "schema.json").write_text(json.dumps(DOCUMENT), encoding="utf-8")
    tables = {"real": related(600, 1), "ours": related(500, 2), "theirs": permuted(related(600, 1), "x")}
    for name, rows in tables.items():
        csv.write_csv(rows.to_text(), tmp_path / f"{name}.csv")
    return tmp_path


@pytest.fixture
def sundog(folder, monkeypatch, capsys):
    """The command in this process: its exit code, standard output and standard error."""

    def run(*arguments):
        base = ["--real", "real.csv", "--schema", "schema.json", "--ledger", "ledger.sqlite", "--no-learning"]
        monkeypatch.chdir(folder)
        monkeypatch.setattr("sys.argv", ["sundog", "evaluate", *arguments, *base])
        with pytest.raises(SystemExit) as stopped:
            main()
        return stopped.value.code, *capsys.readouterr()

    return run


def test_tables_side_by_side_on_the_terminal_as_json_and_as_a_page(folder, sundog):
    code, said, told = sundog("--synthetic", "ours.csv", "--compare", "theirs.csv", "real.csv", "--html", "page.html")
    assert code == 0, told
    assert said.startswith("CONFIDENTIAL")
    assert any(line.split()[:3] == ["ours.csv", "theirs.csv", "real.csv"] for line in said.splitlines())
    page = folder / "page.html"
    assert stat.S_IMODE(page.stat().st_mode) == 0o600
    assert "http" not in page.read_text(encoding="utf-8")
    _, said, _ = sundog("--synthetic", "ours.csv", "--json", "--html", "page.html", "--force")
    document = json.loads(said)
    assert document["confidential"] is True
    assert set(document["tables"][0]["scores"]) >= {"tv1", "tv2", "tv3", "sw1", "prefix", "halfspace"}
    assert stat.S_IMODE(page.stat().st_mode) == 0o600


def test_every_protected_statistic_is_shown_where_there_are_several(folder, sundog):
    """One that did not move would hide in the mean."""
    rules = [
        {"kind": "protected", "name": name, "weights": {"x": 1}, "threshold": at}
        for name, at in (("low", 0.2), ("high", 0.9))
    ]
    schema = json.dumps(DOCUMENT | {"constraints": [*DOCUMENT.get("constraints", []), *rules]})
    (folder / "schema.json").write_text(schema, encoding="utf-8")
    code, said, told = sundog("--synthetic", "ours.csv", "--html", "page.html")
    assert code == 0, told
    shown = [line.split()[0] for line in said.splitlines() if line.strip()]
    at = shown.index("protected")
    assert shown[at + 1 : at + 3] == ["low", "high"]
    page = (folder / "page.html").read_text(encoding="utf-8")
    assert "Protected statistics, larger is better" in page


def test_mistakes_end_with_a_sentence(folder, sundog):
    (folder / "partial.csv").write_text("a,b,x\np,u,3\n", encoding="utf-8")
    code, _, told = sundog("--synthetic", "partial.csv")
    assert code == 2
    assert "lacks the columns 'z', 'y'" in told
    assert "--common-columns" in told
    assert sundog("--synthetic", "partial.csv", "--common-columns")[0] == 0
    assert "named twice" in sundog("--synthetic", "ours.csv", "--compare", "ours.csv")[2]


def test_a_private_page_does_not_go_into_a_release(folder, sundog):
    (folder / "certificate.json").write_text("{}", encoding="utf-8")
    code, _, told = sundog("--synthetic", "ours.csv", "--html", "page.html")
    assert code == 2
    assert "lies in the release" in told
    assert not (folder / "page.html").exists()
    assert not (folder / "ledger.sqlite").exists()


def test_the_notes_on_other_tools_tables_are_shown(folder, sundog):
    text = (folder / "theirs.csv").read_text(encoding="utf-8")
    (folder / "theirs.csv").write_text(text.replace('"p"', '"unheard"', 3), encoding="utf-8")
    assert "label not declared" in sundog("--synthetic", "theirs.csv")[1]
