"""Two pictures of the comparison, a panel per table: error against epsilon, and error against CPU seconds, on logarithmic scales.

A colour is a package, a mark one of its methods. Tools without a promise are dashed lines: ceilings.
"""

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from harness import COLOURS

from peers.tools import TOOLS, Tool

METRIC = "tv2"
WIDTH, HEIGHT, LEGEND = 380.0, 250.0, 16.0
STYLE = "text{font:11px system-ui,sans-serif;fill:#222}.quiet{fill:#666}.title{font-weight:600;font-size:13px}"
STEPS = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
MARKS = (
    "M-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0-7 0", "M-3.2-3.2h6.4v6.4h-6.4z", "M0-4.2L4 3h-8z", "M0-4.4L4.4 0L0 4.4L-4.4 0z",
)  # fmt: skip
"""A circle, a square, a triangle, a diamond."""

Cells = Sequence[Mapping[str, Any]]
Point = tuple[float, float]


def by_epsilon(cells: Cells) -> str:
    """One line per tool over epsilon."""
    return _picture(cells, across="epsilon", ticks=(0.3, 1.0, 10.0), lines=True)


def by_cpu(cells: Cells) -> str:
    """One mark per tool at epsilon 1, over its CPU seconds; tools without a promise are marked too."""
    chosen = [cell for cell in cells if cell["epsilon"] in (0.0, 1.0)]
    return _picture(chosen, across="cpu_s", ticks=(1.0, 3.0, 10.0, 30.0, 100.0), lines=False)


def _picture(cells: Cells, *, across: str, ticks: Sequence[float], lines: bool) -> str:
    scored = [cell for cell in cells if METRIC in cell.get("scores", {}) and cell["seed"] == 0]
    tables = sorted({cell["table"] for cell in scored})
    tools = [tool for tool in TOOLS if any(cell["tool"] == tool.name for cell in scored)]
    values = [cell["scores"][METRIC] for cell in scored] or [1.0]
    along = [cell[across] for cell in scored if cell[across] > 0] + ([] if lines else list(ticks))
    ends = (min([*along, *ticks]), max([*along, *ticks])), (min(values) / 1.3, max(values) * 1.3)
    parts = []
    for place, table in enumerate(tables):
        left, top = WIDTH * (place % 2), HEIGHT * (place // 2)
        own = [cell for cell in scored if cell["table"] == table]
        inside = _axes(table, across=across, ticks=ticks, ends=ends)
        for tool in tools:
            points = sorted((cell[across], cell["scores"][METRIC]) for cell in own if cell["tool"] == tool.name)
            inside += _series(tool, points, ends=ends, lines=lines)
        parts.append(f'<g transform="translate({left:.0f} {top:.0f})">{"".join(inside)}</g>')
    height = HEIGHT * math.ceil(len(tables) / 2)
    parts += _legend(tools, top=height + 12)
    return _svg(parts, height=height + 12 + LEGEND * math.ceil(len(tools) / 3))


def _place(point: Point, ends: tuple[Point, Point]) -> Point:
    (first, last), (low, high) = ends
    x = 48 + 316 * (math.log(point[0]) - math.log(first)) / (math.log(last / first) or 1.0)
    return x, 212 - 178 * (math.log(point[1]) - math.log(low)) / (math.log(high / low) or 1.0)


def _axes(table: str, *, across: str, ticks: Sequence[float], ends: tuple[Point, Point]) -> list[str]:
    named = {"epsilon": "epsilon", "cpu_s": "CPU seconds, epsilon 1"}[across]
    parts = [
        f'<text x="48" y="22" class="title">{escape(table)}</text>',
        f'<text x="206" y="242" text-anchor="middle" class="quiet">{named}</text>',
    ]
    for tick in ticks:
        x = _place((tick, ends[1][0]), ends)[0]
        parts.append(f'<text x="{x:.1f}" y="227" text-anchor="middle" class="quiet">{tick:g}</text>')
    for step in (step for step in STEPS if ends[1][0] <= step <= ends[1][1]):
        y = _place((ends[0][0], step), ends)[1]
        parts.append(f'<path d="M48 {y:.1f}H364" stroke="#ddd"/>')
        parts.append(f'<text x="44" y="{y + 4:.1f}" text-anchor="end" class="quiet">{step:g}</text>')
    return parts


def _series(tool: Tool, points: Sequence[Point], *, ends: tuple[Point, Point], lines: bool) -> list[str]:
    colour, mark = _look(tool)
    if lines and not tool.private:
        heights = [_place((ends[0][0], value), ends)[1] for _, value in points]
        return [f'<path d="M48 {y:.1f}H364" stroke="{colour}" stroke-dasharray="5 3"/>' for y in heights]
    places = [_place(point, ends) for point in points]
    joined = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    line = f'<polyline points="{joined}" fill="none" stroke="{colour}" stroke-width="1.5"/>' if lines and places else ""
    return [line, *(f'<path transform="translate({x:.1f} {y:.1f})" d="{mark}" fill="{colour}"/>' for x, y in places)]


def _look(tool: Tool) -> tuple[str, str]:
    """The package's colour, and the mark of this method in it."""
    packages = list(dict.fromkeys((each.environment, each.adapter) for each in TOOLS))
    own = [each.name for each in TOOLS if (each.environment, each.adapter) == (tool.environment, tool.adapter)]
    colour = COLOURS[packages.index((tool.environment, tool.adapter)) % len(COLOURS)]
    return colour, MARKS[own.index(tool.name) % len(MARKS)]


def _legend(tools: Sequence[Tool], *, top: float) -> list[str]:
    parts = []
    for place, tool in enumerate(tools):
        x, y = 20 + 250 * (place % 3), top + LEGEND * (place // 3)
        colour, mark = _look(tool)
        parts.append(f'<path transform="translate({x:.0f} {y:.0f})" d="{mark}" fill="{colour}"/>')
        words = tool.name if tool.private else f"{tool.name}: no promise"
        parts.append(f'<text x="{x + 10:.0f}" y="{y + 4:.0f}">{escape(words)}</text>')
    return parts


def _svg(parts: Sequence[str], *, height: float) -> str:
    """On a white ground, so that it can be read in dark pages too."""
    box = f'viewBox="0 0 {2 * WIDTH:.0f} {height:.0f}"'
    ground = f'<rect width="{2 * WIDTH:.0f}" height="{height:.0f}" fill="#fff"/>'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {box}><style>{STYLE}</style>{ground}{"".join(parts)}</svg>\n'
