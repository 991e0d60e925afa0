"""The tables and pictures of docs/evidence/peers.md, made from the results file.

Tables stand on the page between `<!-- made: NAME -->` and `<!-- end -->`; what is there is replaced. A cell without a score says
why: a time-out, out of memory, a failure, or not run.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from peers import pictures
from peers.tools import BY_NAME, TOOLS

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = DOCS / "evidence" / "peers.md"
EPSILONS = (0.3, 1.0, 10.0)
METRICS = {
    "tv2": "Error of pairs of columns (total variation; lower is better)",
    "f1": "F1 of models (higher is better)",
}

Cells = Sequence[Mapping[str, Any]]


def write(cells: Cells) -> None:
    """Replace what was made on the page, and draw the pictures again."""
    text = PAGE.read_text(encoding="utf-8")
    for name, made in tables(cells).items():
        text = replaced(text, name, made)
    PAGE.write_text(text, encoding="utf-8")
    for name, picture in (("peers-epsilon", pictures.by_epsilon), ("peers-cpu", pictures.by_cpu)):
        (DOCS / "assets" / f"{name}.svg").write_text(picture(cells), encoding="utf-8")


def replaced(text: str, name: str, made: str) -> str:
    """The page with one table put in its place."""
    place = re.compile(rf"(<!-- made: {name} -->\n).*?(<!-- end -->)", re.DOTALL)
    if not place.search(text):
        raise ValueError(f"the page has no place for {name!r}")
    return place.sub(lambda found: f"{found[1]}{made}\n{found[2]}", text)


def tables(cells: Cells) -> dict[str, str]:
    """Every table of the page, by name."""
    found = {name: scores(cells, name) for name in METRICS}
    return found | {"promises": promises(), "costs": costs(cells), "count": count(cells)}


def promises() -> str:
    """What each tool promises."""
    rows = [["tool", "neighbours", "accounting", "read from the rows for free, as run here"]]
    return _markdown(rows + [[tool.name, tool.neighbours, tool.accounting, tool.free] for tool in TOOLS])


def scores(cells: Cells, metric: str) -> str:
    """One line per tool, one column per table and epsilon; tools without a promise stand in the column of their table."""
    names = sorted({cell["table"] for cell in cells})
    head = ["", *(f"{name} {epsilon:g}" for name in names for epsilon in EPSILONS)]

    def value(cell: Mapping[str, Any]) -> str:
        if metric in cell.get("scores", {}):
            return f"{cell['scores'][metric]:.3f}"
        return "" if cell["outcome"] == "done" else cell["outcome"]

    return _markdown([head, *_lines(cells, [(name, epsilon) for name in names for epsilon in EPSILONS], value)])


def costs(cells: Cells) -> str:
    """CPU seconds and the most megabytes, tool by tool, over all cells that ended well."""
    rows = [["", "cells done", "CPU seconds: median", "most", "MB: most", "other outcomes"]]
    for tool in TOOLS:
        own = [cell for cell in cells if cell["tool"] == tool.name]
        done = sorted((cell["cpu_s"], cell["rss_mb"]) for cell in own if cell["outcome"] == "done")
        others = sorted(cell["outcome"] for cell in own if cell["outcome"] != "done")
        told = ", ".join(f"{others.count(each)} {each}" for each in dict.fromkeys(others)) or ("" if own else "not run")
        figures = (
            [f"{done[len(done) // 2][0]:.0f}", f"{done[-1][0]:.0f}", str(max(rss for _, rss in done))]
            if done
            else ["", "", ""]
        )
        rows.append([tool.name, str(len(done)), *figures, told])
    return _markdown(rows)


def count(cells: Cells) -> str:
    """How much of the comparison there is."""
    packages = {
        BY_NAME[cell["tool"]].environment or BY_NAME[cell["tool"]].adapter for cell in cells if "scores" in cell
    }
    done = sum("scores" in cell for cell in cells)
    return f"On this page: {done} cells with scores, of {len(packages)} packages."


def _lines(
    cells: Cells, places: Sequence[tuple[str, float]], value: Callable[[Mapping[str, Any]], str]
) -> list[list[str]]:
    found = {(cell["tool"], cell["table"], cell["epsilon"]): value(cell) for cell in cells if cell["seed"] == 0}
    lines = []
    for tool in TOOLS:
        keys = [(tool.name, name, epsilon if tool.private else 0.0) for name, epsilon in places]
        if any(key in found for key in keys):
            lines.append([tool.name, *(found.get(key, "not run") for key in keys)])
    return lines


def _markdown(rows: Sequence[Sequence[str]]) -> str:
    lines = [rows[0], ["---"] * len(rows[0]), *rows[1:]]
    return "\n".join("| " + " | ".join(row) + " |" for row in lines)
