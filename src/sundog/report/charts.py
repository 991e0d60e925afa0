"""Our own small SVG: bars for synthetic shares, ticks with bands for measured ones, squares for deviations.

One path a series, coordinates to a tenth of a pixel, colours from the page's CSS variables: a chart is about two
kilobytes, follows light and dark, and prints.
"""

from collections.abc import Iterable, Sequence
from html import escape

import numpy as np
from jaxtyping import Float

from sundog.domain import Numeric
from sundog.report.facts import ColumnFacts, PairFacts

WIDTH = 340.0
LEFT, RIGHT = 44.0, 336.0
TOP, BASE = 8.0, 104.0
ROW = 18.0
NAME = 118.0
VALUE = 44.0
SQUARE = 15.0
PER_CENT = "\u00a0%"
NOTHING, LEAST = 1e-9, 0.01
"""Per cent below the first are rounding errors of sums; below the second they are not distinguished."""
FAR = 4.0
"""A bar this many times longer than the next is broken, so that the others can be read."""
LETTER = 5.2
"""How much a letter of a label turned by 55 degrees adds to a chart's height."""

Shares = Float[np.ndarray, " cells"]


def column_chart(facts: ColumnFacts) -> str:
    """Upright bars for numbers, lying ones for labels and for ranges by mass."""
    return _upright(facts) if isinstance(facts.column, Numeric) and not facts.by_mass else _lying(facts)


def percent(share: float) -> str:
    r"""A share in per cent, small ones with two digits that matter, none smaller than a hundredth.

    >>> percent(0.12345), percent(0.00012), percent(3e-6), percent(4e-17)
    ('12.3\xa0%', '0.012\xa0%', '<0.01\xa0%', '0\xa0%')
    """
    value = 100 * share
    if abs(value) < NOTHING:
        return f"0{PER_CENT}"
    if 0 < value < LEAST:
        return f"<{LEAST}{PER_CENT}"
    return f"{value:.1f}{PER_CENT}" if abs(value) >= 1 else f"{value:.2g}{PER_CENT}"


def _upright(facts: ColumnFacts) -> str:
    top = _top(facts)
    apart = 8.0 if facts.labels[-1] == "missing" else 0.0
    step = (RIGHT - LEFT - apart) / len(facts.labels)
    lefts = [
        LEFT + k * step + (apart if apart and k == len(facts.labels) - 1 else 0.0) for k in range(len(facts.labels))
    ]
    gap = min(1.0, step / 6)

    def height(share: float) -> float:
        return BASE - (BASE - TOP) * min(max(share, 0.0), top) / top

    parts = [_line(LEFT, RIGHT, height(share), "grid") for share in (top, top / 2)]
    bars = zip(lefts, facts.synthetic, strict=True)
    parts.append(_path("syn", (_box(x + gap, height(s), step - 2 * gap, BASE - height(s)) for x, s in bars if s > 0)))
    if facts.measured is not None and facts.half_width is not None:
        marks = list(zip(lefts, facts.measured, facts.half_width, strict=True))
        bands = (_box(x, height(m + h), step, height(m - h) - height(m + h)) for x, m, h in marks)
        parts += [_path("band", bands), _path("tick", (f"M{x:.1f} {height(m):.1f}h{step:.1f}" for x, m, _ in marks))]
    parts += [_line(LEFT, RIGHT, BASE, "axis"), *_scale(top, height), *_ends(facts, lefts, step)]
    return _svg(BASE + 20, parts, title=_shares_of(facts))


def _scale(top: float, height: object) -> list[str]:
    return [
        _text(LEFT - 4, height(share) + 3.5, percent(share), anchor="end")  # type: ignore[operator]
        for share in (top, top / 2)
    ]


def _ends(facts: ColumnFacts, lefts: Sequence[float], step: float) -> list[str]:
    """The names of the first, middle and last bar, and of missing."""
    names, missing = list(facts.labels), []
    if names[-1] == "missing":
        missing = [_text(RIGHT, BASE + 14, "missing", anchor="end")]
        names = names[:-1]
    shown = [(0, "start")] + ([(len(names) // 2, "middle")] if len(names) > 4 else [])
    if not missing and len(names) > 1:
        shown.append((len(names) - 1, "end"))
    placed = {"start": 0.0, "middle": step / 2, "end": step}
    return [
        _text(lefts[k] + placed[anchor], BASE + 14, _short(names[k], 19), anchor=anchor) for k, anchor in shown
    ] + missing


def _lying(facts: ColumnFacts) -> str:
    broken, top = _broken(facts)
    room = WIDTH - NAME - VALUE

    def reach(share: float) -> float:
        return room * min(max(share, 0.0), top) / top

    tops = [TOP + k * ROW for k in range(len(facts.labels))]
    parts = [
        _text(NAME - 6, y + 10, _short(name, 17), anchor="end") for y, name in zip(tops, facts.labels, strict=True)
    ]
    bars = zip(tops, facts.synthetic, strict=True)
    parts.append(_path("syn", (_box(NAME, y + 2, reach(s), ROW - 7) for y, s in bars if s > 0)))
    if broken is not None:
        parts.append(_gap(NAME + 0.8 * room, tops[broken]))
    if facts.measured is not None and facts.half_width is not None:
        every = zip(tops, facts.measured, facts.half_width, strict=True)
        marks = [mark for k, mark in enumerate(every) if k != broken]
        bands = (_box(NAME + reach(m - h), y + 0.5, reach(m + h) - reach(m - h), ROW - 4) for y, m, h in marks)
        parts += [
            _path("band", bands),
            _path("tick", (f"M{NAME + reach(m):.1f} {y + 0.5:.1f}v{ROW - 4:.1f}" for y, m, _ in marks)),
        ]
    parts.append(f'<path class="axis" d="M{NAME} {TOP - 2:.1f}V{tops[-1] + ROW - 3:.1f}"/>')
    parts += [_text(WIDTH - 2, y + 10, percent(s), anchor="end") for y, s in zip(tops, facts.synthetic, strict=True)]
    return _svg(
        tops[-1] + ROW + 2, parts, title=_shares_of(facts, "; the longest bar is broken" if broken is not None else "")
    )


def _broken(facts: ColumnFacts) -> tuple[int | None, float]:
    """The bar that is too long beside the others, if there is one, and the share at the end of the scale."""
    shares = facts.synthetic if facts.measured is None else np.maximum(facts.synthetic, facts.measured)
    order = np.argsort(-shares, kind="stable")
    if len(order) > 2 and shares[order[0]] > FAR * shares[order[1]] > 0:
        return int(order[0]), float(1.6 * shares[order[1]])
    return None, _top(facts)


def _gap(x: float, y: float) -> str:
    """Two slanting strokes in the colour of the paper."""
    strokes = (f"M{x + k:.1f} {y + ROW - 3:.1f}l4 {3 - ROW:.1f}" for k in (0, 6))
    return _path("gap", strokes)


def _shares_of(facts: ColumnFacts, more: str = "") -> str:
    return f"Shares of {facts.column.name}: synthetic rows beside the measurement{more}"


def pair_chart(facts: PairFacts) -> str:
    """Where the synthetic rows have too many (warm) or too few (cold), in standard deviations of the noise."""
    rows, columns = facts.deviations.shape
    width, height = min(SQUARE, 210 / columns), SQUARE
    left, below = 118.0, TOP + rows * height
    parts = [f'<rect class="ground" x="{left}" y="{TOP}" width="{columns * width:.1f}" height="{rows * height:.1f}"/>']
    for (row, column), deviation in np.ndenumerate(facts.deviations):
        strength = min(abs(deviation) / 5, 1.0)
        if strength >= 0.2:
            place = f'x="{left + column * width:.1f}" y="{TOP + row * height:.1f}" width="{width:.1f}" height="{height:.1f}"'
            parts.append(f'<rect class="{"more" if deviation > 0 else "less"}" {place} opacity="{strength:.2f}"/>')
    parts += [
        _text(left - 5, TOP + row * height + 11, _short(name, 17), anchor="end")
        for row, name in enumerate(facts.labels[0])
    ]
    names = [_short(name, 12) for name in facts.labels[1]]
    for column, name in enumerate(names):
        x, y = left + (column + 0.7) * width, below + 7
        turned = f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="end" transform="rotate(-55 {x:.1f} {y:.1f})">'
        parts.append(f"{turned}{escape(name)}</text>")
    return _svg(
        below + 14 + LETTER * max(map(len, names)),
        parts,
        title=f"Deviations of {facts.columns[0]} by {facts.columns[1]}",
    )


def _top(facts: ColumnFacts) -> float:
    """The largest share to be drawn; bands may be cut, but never by more than half of the picture."""
    most = float(facts.synthetic.max(initial=0.0))
    if facts.measured is not None and facts.half_width is not None:
        most = max(most, float(facts.measured.max()))
        most = max(most, min(float((facts.measured + facts.half_width).max()), 2 * most))
    return min(max(most, 1e-9), 1.0)


def _svg(height: float, parts: Iterable[str], *, title: str) -> str:
    box = f'viewBox="0 0 {WIDTH:g} {height:.0f}"'
    return f'<svg class="chart" {box} role="img" aria-label="{escape(title)}">{"".join(parts)}</svg>'


def _path(kind: str, pieces: Iterable[str]) -> str:
    return f'<path class="{kind}" d="{"".join(pieces)}"/>'


def _box(x: float, y: float, width: float, height: float) -> str:
    return f"M{x:.1f} {y:.1f}h{width:.1f}v{max(height, 0.0):.1f}h{-width:.1f}z"


def _line(left: float, right: float, y: float, kind: str) -> str:
    return f'<path class="{kind}" d="M{left:g} {y:.1f}H{right:g}"/>'


def _text(x: float, y: float, words: str, *, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'


def _short(words: str, most: int) -> str:
    return words if len(words) <= most else words[: most - 1].rstrip() + "…"
