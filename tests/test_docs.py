"""The documentation is true: its Python examples run, its commands and options exist, its links lead somewhere."""

import doctest
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

import sundog
from option_tables import COMMANDS, GLOBAL, HEAD, PAGE, written

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]

pages = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


GROUPS = {name.split()[0] for name in COMMANDS if " " in name}


def options(name: str) -> set[str]:
    parts = COMMANDS[name].params
    return {option for part in parts for option in [*part.opts, *part.secondary_opts] if option.startswith("-")}


def command_of(words: list[str]) -> str:
    return " ".join(words[:2] if words[:1] and words[0] in GROUPS else words[:1])


def fenced(text: str, language: str = "") -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)


def commands_in(text: str) -> Iterator[list[str]]:
    """The words after `sundog` in blocks and in inline code."""
    blocks = [line for block in fenced(text) for line in block.splitlines()]
    for line in [*blocks, *re.findall(r"`(sundog [^`]+)`", re.sub(r"\s*\n\s*", " ", text))]:
        if line.startswith("sundog "):
            yield shlex.split(line, comments=True)[1:]


@pages
def test_python_examples_run(page, tmp_path, monkeypatch):
    monkeypatch.setenv("SUNDOG_LEDGER", str(tmp_path / "ledger.sqlite"))
    monkeypatch.chdir(tmp_path)
    examples = "\n".join(fenced(page.read_text(encoding="utf-8"), "python"))
    test = doctest.DocTestParser().get_doctest(examples, {}, page.name, str(page), 0)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    report: list[str] = []
    assert runner.run(test, out=report.append).failed == 0, "".join(report)


def test_some_examples_are_found():
    for page in (
        ROOT / "README.md",
        ROOT / "docs" / "reference" / "python.md",
        ROOT / "docs" / "reference" / "schema.md",
    ):
        assert ">>> " in "".join(fenced(page.read_text(encoding="utf-8"), "python"))


@pages
def test_commands_and_their_options_exist(page):
    for words in commands_in(page.read_text(encoding="utf-8")):
        used = {word for word in words if word.startswith("-")}
        if (words[0] in GROUPS and not words[1:]) or used & GLOBAL:
            continue
        name = command_of(words)
        assert name in COMMANDS, f"{page.name} names `sundog {name}`, which does not exist"
        unknown = used - options(name)
        assert not unknown, f"{page.name}: `sundog {name}` has no option {', '.join(sorted(unknown))}"


def test_every_command_and_option_is_described():
    text = PAGE.read_text(encoding="utf-8")
    described = re.findall(r"^## sundog (.+?)$", text, flags=re.MULTILINE)
    assert set(described) == COMMANDS.keys()
    assert written(text) == text, "docs/reference/command-line.md: run tests/option_tables.py"
    assert text.count(HEAD) == sum(bool(options(name) - GLOBAL) for name in COMMANDS)


def anchors(page: Path) -> set[str]:
    heads = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads}


@pages
def test_relative_links_resolve(page):
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if "://" in link:
            continue
        place, _, anchor = link.partition("#")
        target = (page.parent / place).resolve() if place else page
        assert target.exists(), f"{page.name}: {link} leads nowhere"
        assert not anchor or anchor in anchors(target), f"{page.name}: {link} has no such heading"


def test_methods_and_names_that_are_described_exist():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    methods = re.findall(r"^\| `([^`]+)` \|", readme.partition("## Status")[2], flags=re.MULTILINE)
    assert methods
    assert set(methods) <= set(sundog.METHODS)
    listed = (ROOT / "docs" / "reference" / "python.md").read_text(encoding="utf-8").partition("## All public names")[2]
    assert set(re.findall(r"`(\w+)`", listed)) == set(sundog.__all__)
