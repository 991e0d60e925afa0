"""The documentation that travels with Sundog: where it is, its topics, and one topic as Markdown.

A wheel holds the pages in the folder `pages` and, where it was built after `make docs`, the website in `site`; a checkout
holds the pages in `docs`. A topic is a page (`schema`), a command (`synthesize`, `ledger show`) or a term of the glossary (`rho`).
"""

import re
from difflib import get_close_matches
from pathlib import Path

import sundog
from sundog.errors import UserError

PACKAGE = Path(sundog.__file__).parent
SECTIONS = ("start", "tutorials", "how-to", "reference", "explanation", "evidence")
GENERATED = ("api",)
"""Pages that are directives for the website and hold no text."""


def site() -> Path | None:
    """The start page of the website, where this installation has it."""
    index = PACKAGE / "site" / "index.html"
    return index if index.exists() else None


def pages_folder() -> Path:
    """The folder of the Markdown pages."""
    for folder in (PACKAGE / "pages", PACKAGE.parents[1] / "docs"):
        if (folder / "index.md").exists():
            return folder
    raise UserError(
        "docs: this installation has no documentation; it is in the folder docs of the source distribution. Install "
        "Sundog from a wheel or from its source."
    )


def pages() -> dict[str, Path]:
    """Every page by its topic, in the order of the website's sections."""
    found = [path for part in SECTIONS for path in sorted((pages_folder() / part).glob("*.md"))]
    return {path.stem: path for path in found if path.stem not in GENERATED}


def text_of(path: Path) -> str:
    """A page without its comments, which are for the tests."""
    return re.sub(r"<!--.*?-->\n?", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)


def title(text: str) -> str:
    """The first heading of a page."""
    return text.partition("\n")[0].removeprefix("# ")


def topic(name: str) -> str:
    """One topic as Markdown."""
    known = topics()
    wanted = name.strip().lower().removeprefix("sundog ")
    if wanted not in known:
        near = get_close_matches(wanted, known, n=3)
        hint = f"Near it: {', '.join(near)}. " if near else ""
        raise UserError(f"help: there is no topic {name!r}. {hint}`sundog help` lists the topics.")
    return known[wanted]


def topics() -> dict[str, str]:
    """Every topic and its text; where names coincide, a page comes before a command, and a command before a term."""
    whole = {name: text_of(path) for name, path in pages().items()}
    return terms(whole["glossary"]) | commands(whole["command-line"]) | whole


def commands(text: str) -> dict[str, str]:
    """The sections on single commands, by the command's name."""
    return {name.lower(): body for name, body in _sections(text, r"^## sundog (.+)$")}


def terms(text: str) -> dict[str, str]:
    """The glossary's entries, by their terms."""
    return {term: body for heads, body in _sections(text, r"^### (.+)$") for term in heads.lower().split(", ")}


def _sections(text: str, heading: str) -> list[tuple[str, str]]:
    """Every part that begins with such a heading and ends before the next heading of its rank or above."""
    starts = list(re.finditer(heading, text, flags=re.MULTILINE))
    rank = heading.index(" ") - 1
    ends = [found.start() for found in re.finditer(rf"^#{{1,{rank}}} ", text, flags=re.MULTILINE)] + [len(text)]
    return [(each[1], text[each.start() : min(end for end in ends if end > each.start())]) for each in starts]
