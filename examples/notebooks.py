"""Makes the notebooks of the tutorials from their pages, so that nothing is written twice.

    python examples/notebooks.py

Prose becomes text cells; Python examples become code cells without their outputs; shell commands become lines that begin with `!`;
a file that the page shows becomes a cell that writes it. The notebooks are committed without outputs; a test runs them, and another
fails where a page has changed and its notebook has not.
"""

import doctest
import json
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted((ROOT / "docs" / "tutorials").glob("*.md"))
FENCE = re.compile(r"((?:^<!--[^\n]*-->\n)*)^```([\w-]*)\n(.*?)^```$\n?", flags=re.DOTALL | re.MULTILINE)
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


def notebook(page: Path) -> str:
    """One page as a notebook (nbformat 4.5), the same text for the same page."""
    text = page.read_text(encoding="utf-8")
    cells, end = [], 0
    for found in FENCE.finditer(text):
        cells += _prose(text[end : found.start()])
        cells += _cell(*found.groups())
        end = found.end()
    cells += _prose(text[end:])
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    document = {"cells": cells, "metadata": {"kernelspec": KERNEL}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(document, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def _prose(text: str) -> list[dict[str, Any]]:
    """Text without comments; links to other pages become their names, since the notebook lies elsewhere."""
    kept = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    kept = re.sub(r" As a\s+notebook: \[[^\]]*\]\([^)]*\)\.", "", kept)
    kept = re.sub(r"\[([^\]]*)\]\((?!https?:)[^)]*\)", r"\1", kept).strip()
    return [{"cell_type": "markdown", "metadata": {}, "source": kept.splitlines(keepends=True)}] if kept else []


def _cell(notes: str, language: str, body: str) -> list[dict[str, Any]]:
    file = re.search(r"<!-- file: (.+?) -->", notes)
    if file:
        source = f"%%writefile {file[1]}\n{body}"
    elif language == "sh":
        lines = [line for line in body.splitlines() if line.strip()]
        source = "\n".join(f"!{line}" for line in lines)
    elif language == "python":
        source = "".join(example.source for example in doctest.DocTestParser().get_examples(body))
    else:
        return _prose(f"```{language}\n{body}```")
    code = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": []}
    return [code | {"source": source.rstrip("\n").splitlines(keepends=True)}]


def main() -> None:
    """Write all of them beside this script."""
    for page in PAGES:
        (ROOT / "examples" / f"{page.stem}.ipynb").write_text(notebook(page), encoding="utf-8")


if __name__ == "__main__":
    main()
