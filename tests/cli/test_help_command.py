"""sundog help and sundog docs: topics offline, and the place of the documentation."""

import json
from unittest import mock

import pytest

from option_tables import COMMANDS
from privacy.stand_ins import run_command
from sundog.cli import pages


def test_topics_are_pages_commands_and_terms(tmp_path):
    listed = run_command(tmp_path, "help")
    assert listed.code == 0
    for name in ("`schema`", "`hospital`", "ledger show", "zcdp"):
        assert name in listed.stdout
    assert set(COMMANDS) <= set(pages.topics())


@pytest.mark.parametrize(
    ("topic", "first", "last"),
    [
        (["schema"], "# Schema", ""),
        (["synthesize"], "## sundog synthesize", "`--dry-run`"),
        (["ledger", "show"], "## sundog ledger show", ""),
        (["rho"], "### rho, zcdp", ""),
        (["ZCDP"], "### rho, zcdp", ""),
        (["sundog", "plan"], "", ""),
    ],
)
def test_a_topic_is_its_part_of_the_pages_alone(tmp_path, topic, first, last):
    shown = run_command(tmp_path, "help", *topic)
    assert shown.code == 0
    assert shown.stdout.startswith(first)
    assert last in shown.stdout
    assert "<!--" not in shown.stdout
    assert shown.stdout.count("## sundog ") <= 1


def test_an_unknown_topic_names_near_ones(tmp_path):
    refused = run_command(tmp_path, "help", "schemas")
    assert refused.code == 2
    assert "Near it: schema" in refused.stderr


def test_docs_opens_the_website_where_it_is_installed(tmp_path, monkeypatch):
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "index.html").write_text("<html>", encoding="utf-8")
    monkeypatch.setattr(pages, "site", lambda: tmp_path / "site" / "index.html")
    with mock.patch("webbrowser.open", return_value=True) as opened:
        told = json.loads(run_command(tmp_path, "docs", "--json").stdout)
        assert told["opened"]
        assert opened.call_args.args == ((tmp_path / "site" / "index.html").as_uri(),)
        assert not json.loads(run_command(tmp_path, "docs", "--no-browser", "--json").stdout)["opened"]
        assert opened.call_count == 1


def test_docs_names_the_pages_where_there_is_no_website(tmp_path, monkeypatch):
    monkeypatch.setattr(pages, "site", lambda: None)
    told = run_command(tmp_path, "docs")
    assert told.code == 0
    assert str(pages.pages_folder()) in told.stdout


def test_an_installation_without_pages_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(pages, "PACKAGE", tmp_path / "lib" / "sundog")
    refused = run_command(tmp_path, "help", "schema")
    assert refused.code == 2
    assert "no documentation" in refused.stderr


def test_a_wheel_finds_its_own_pages(tmp_path, monkeypatch):
    folder = tmp_path / "sundog" / "pages"
    folder.mkdir(parents=True)
    (folder / "index.md").write_text("# Sundog", encoding="utf-8")
    monkeypatch.setattr(pages, "PACKAGE", tmp_path / "sundog")
    assert pages.pages_folder() == folder
