"""Lanes: one line per attack on one scale, with what was found, its interval, the baseline, and the most that a claim allows.

Our own SVG like charts.py: the shaded part of a lane is what the claim allows, a dot with whiskers what was found, an upright tick the
baseline. Names stand above their lanes, so that a chart can be read at any width; values stand at its end.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

LEFT, RIGHT, ROOM = 6.0, 268.0, 340.0
STEP, TOP = 34.0, 4.0


@dataclass(frozen=True)
class Lane:
    """One line: its name, what was found with its interval, the baseline, the limit, and the words at its end."""

    name: str
    value: float
    low: float
    high: float
    said: str
    baseline: float | None = None
    limit: float | None = None


def lane_chart(lanes: Sequence[Lane], *, most: float, ticks: Sequence[tuple[float, str]], title: str) -> str:
    """All lanes over one scale from 0 to `most`."""

    def place(value: float) -> float:
        return LEFT + (RIGHT - LEFT) * min(max(value / most, 0.0), 1.0)

    below = TOP + STEP * len(lanes)
    parts = [f'<path class="grid" d="M{place(at):.1f} {TOP:g}V{below:.1f}"/>' for at, _ in ticks]
    for number, lane in enumerate(lanes):
        parts += _lane(lane, TOP + STEP * number, place)
    ends = {0: "start", len(ticks) - 1: "end"}
    for number, (at, words) in enumerate(ticks):
        anchor = ends.get(number, "middle")
        parts.append(f'<text x="{place(at):.1f}" y="{below + 12:.1f}" text-anchor="{anchor}">{escape(words)}</text>')
    box = f'viewBox="0 0 {ROOM:g} {below + 18:.0f}"'
    return f'<svg class="chart lanes" {box} role="img" aria-label="{escape(title)}">{"".join(parts)}</svg>'


def _lane(lane: Lane, top: float, at: Callable[[float], float]) -> list[str]:
    middle = top + 22.0
    parts = [f'<rect class="ground" x="{LEFT}" y="{middle - 6:.1f}" width="{RIGHT - LEFT:g}" height="12" rx="3"/>']
    if lane.limit is not None:
        width = at(lane.limit) - LEFT
        parts.append(f'<rect class="band" x="{LEFT}" y="{middle - 6:.1f}" width="{width:.1f}" height="12" rx="3"/>')
    if lane.baseline is not None:
        parts.append(f'<path class="tick" d="M{at(lane.baseline):.1f} {middle - 8:.1f}v16"/>')
    beyond = lane.limit is not None and lane.low > lane.limit
    low, value, high = (at(each) for each in (lane.low, lane.value, lane.high))
    parts += [
        f'<path class="{"beyond" if beyond else "found"}" d="M{low:.1f} {middle:.1f}H{high:.1f}"/>',
        f'<circle class="{"beyond" if beyond else "found"}" cx="{value:.1f}" cy="{middle:.1f}" r="4"/>',
        f'<text class="name" x="{LEFT}" y="{top + 11:.1f}">{escape(lane.name)}</text>',
        f'<text x="{ROOM}" y="{middle + 3.5:.1f}" text-anchor="end">{escape(lane.said)}</text>',
    ]
    return parts
