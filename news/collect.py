"""Move the notes in news/ into the top section of CHANGELOG.md: `python news/collect.py [--check]`.

A note is a file SUBJECT.KIND.md with one entry. Where the top section is that of a version that was released, a new one is
begun. `--check` moves nothing; a note of another kind or form ends both with exit code 1.
"""

import re
import sys
from pathlib import Path

NEWS = Path(__file__).resolve().parent
CHANGELOG = NEWS.parent / "CHANGELOG.md"
KINDS = ("added", "changed", "fixed", "removed", "security")
LONGEST = 400


def main(arguments: list[str]) -> int:
    """Check all notes, then move them."""
    notes = sorted(path for path in NEWS.glob("*.md") if path.name != "README.md")
    wrong = [f"news/{path.name}: {fault}" for path in notes if (fault := fault_of(path.name, path.read_text("utf-8")))]
    if wrong:
        print("\n".join(wrong), file=sys.stderr)
        return 1
    if notes and "--check" not in arguments:
        text = CHANGELOG.read_text("utf-8")
        CHANGELOG.write_text(collected(text, {path.name: path.read_text("utf-8") for path in notes}), "utf-8")
        for path in notes:
            path.unlink()
    return 0


def fault_of(name: str, text: str) -> str | None:
    """What is wrong with a note."""
    if not re.fullmatch(rf"[a-z0-9-]+\.({'|'.join(KINDS)})\.md", name):
        return f"the name must be SUBJECT.KIND.md, in small letters, with one of the kinds {', '.join(KINDS)}"
    entry = text.strip()
    if not entry or "\n" in entry or not entry.endswith(".") or len(entry) > LONGEST:
        return f"a note is one line of sentences, at most {LONGEST} characters, and ends with a full stop"
    return "leave out the bullet" if entry.startswith("-") else None


def collected(text: str, notes: dict[str, str]) -> str:
    """The changelog with the notes at the end of their parts of the top section."""
    head, *sections = re.split(r"(?=^## )", text, flags=re.MULTILINE)
    if "unreleased" not in sections[0].splitlines()[0].lower():
        sections.insert(0, "## Unreleased\n\n")
    for name, note in notes.items():
        sections[0] = _with(sections[0], heading=f"### {name.split('.')[1].capitalize()}\n", entry=note.strip())
    return head + "".join(sections)


def _with(section: str, *, heading: str, entry: str) -> str:
    """The section with one more entry, under a heading that is added where it is missing."""
    parts = re.split(r"(?=^### )", section, flags=re.MULTILINE)
    if not any(part.startswith(heading) for part in parts):
        parts.append(heading)
    return "".join(_longer(part, entry) if part.startswith(heading) else part for part in parts)


def _longer(part: str, entry: str) -> str:
    between = "\n" if part.rstrip().count("\n") else "\n\n"
    return f"{part.rstrip()}{between}- {entry}\n\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
