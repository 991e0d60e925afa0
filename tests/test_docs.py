"""The documentation is true: its Python examples run, its commands and options exist, its links lead somewhere."""

import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

import docs_world
import sundog
from markdown_pages import PAGES, ROOT, blocks, is_slow, run_page
from option_tables import COMMANDS, GLOBAL, HEAD, PAGE, written
from sundog.cli.pages import topics

LONG = {"command-line.md", "declare-a-schema.md", "plan.md"}
"""Pages whose examples take some seconds each."""
pages = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


KINDS = {
    "shell": lambda block: block.shell and block.kind == "fast",
    "slow shell": lambda block: block.shell and block.kind == "slow",
    "python": lambda block: block.language == "python" and block.kind == "fast",
}
WRONG = [
    "```sh\nsundog verify nowhere\n```\n",
    "<!-- exit: 2 -->\n```sh\nsundog verify release\n```\n",
    "```sh\nsundog --version\n```\n\n<!-- output -->\n```text\nsundog nought\n```\n",
    "```sh\nfalse\n```\n",
    "```python\n>>> 1 + 1\n3\n```\n",
    '```json\n{"name" "x"}\n```\n',
]
"""Pages that are wrong: a command that fails, one that does not fail, another output, another value, no JSON."""

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
    blocks = [line for block in fenced(text) for line in re.sub(r"\\\n\s*", " ", block).splitlines()]
    for line in [*blocks, *re.findall(r"`(sundog [^`]+)`", re.sub(r"\s*\n\s*", " ", text))]:
        if line.startswith("sundog "):
            yield shlex.split(line, comments=True)[1:]


@pytest.fixture(scope="session")
def world(tmp_path_factory):
    return docs_world.make(tmp_path_factory.mktemp("world"))


@pytest.fixture
def place(world, tmp_path, monkeypatch):
    """A copy of the files that examples speak of, with a ledger of its own."""
    folder = tmp_path / "page"
    shutil.copytree(world, folder, symlinks=True)
    monkeypatch.setenv("SUNDOG_LEDGER", str(folder / "ledger.sqlite"))
    return folder


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=[pytest.mark.long] * (page.name in LONG), id=page.name) for page in PAGES],
)
def test_examples_run(page, place):
    run_page(page, place)


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in PAGES if is_slow(page)], ids=lambda page: page.stem)
def test_slow_examples_run(page, place):
    run_page(page, place, slow=True)


def test_some_examples_are_found():
    kinds = {name: [block for page in PAGES for block in blocks(page) if test(block)] for name, test in KINDS.items()}
    assert {name: len(found) > 5 for name, found in kinds.items()} == dict.fromkeys(KINDS, True)


def test_an_example_that_is_wrong_is_noticed(place, tmp_path):
    page = tmp_path / "page.md"
    for text in WRONG:
        page.write_text(text, encoding="utf-8")
        with pytest.raises(AssertionError):
            run_page(page, place)


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
    assert written(text) == text, "run: python tests/option_tables.py"
    assert text.count(HEAD) == sum(
        any(not GLOBAL & {*part.opts} for part in command.params) for command in COMMANDS.values()
    )


def anchors(page: Path) -> set[str]:
    heads = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads}


@pages
def test_relative_links_resolve(page):
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    for link in re.findall(r"\]\(([^)\s]+)\)", text) + re.findall(r'<img src="([^"]+)"', text):
        if "://" in link:
            continue
        place, _, anchor = link.partition("#")
        target = (page.parent / place).resolve() if place else page
        assert target.exists(), f"{page.name}: {link} leads nowhere"
        assert not anchor or anchor in anchors(target), f"{page.name}: {link} has no such heading"


def described(page, pattern):
    return set(re.findall(pattern, (ROOT / "docs" / page).read_text(encoding="utf-8"), flags=re.MULTILINE))


def test_methods_and_names_that_are_described_exist():
    assert described("explanation/methods.md", r"^\| `([^`]+)` \| ") == set(sundog.METHODS)
    listed = (ROOT / "docs" / "reference" / "python.md").read_text(encoding="utf-8").partition("## All public names")[2]
    assert set(re.findall(r"`(\w+)`", listed)) == set(sundog.__all__)
    assert described("reference/api.md", r"^::: sundog\.(\w+)$") == set(sundog.__all__) - {"METHODS", "__version__"}


def test_every_page_is_in_the_navigation_of_the_website():
    def places(part):
        if isinstance(part, str):
            return {part}
        return set().union(*(places(each) for each in (part.values() if isinstance(part, dict) else part)))

    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    named = {place for place in places(yaml.safe_load(text)["nav"]) if not place.startswith("project/")}
    assert named == {str(page.relative_to(ROOT / "docs")) for page in (ROOT / "docs").rglob("*.md")}, (
        "see nav in mkdocs.yml"
    )


def test_messages_name_topics_that_exist():
    known = topics()
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py")]
    named = {name for text in texts for name in re.findall(r"`?sundog help ([a-z][a-z-]+)", text)}
    assert {"schema", "constraints"} <= named
    assert not named - known.keys()


def test_the_readme_fits_on_two_screens():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 80


@pages
def test_a_page_speaks_of_a_likeness_once_at_most(page):
    if page.name not in ("CHANGELOG.md",):
        assert len(re.findall("likeness", page.read_text(encoding="utf-8"))) <= 1
