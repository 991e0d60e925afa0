"""What an account has spent over time, as steps under its limit: our own small SVG, without a style attribute."""

from collections.abc import Sequence
from html import escape

WIDTH, HEIGHT = 340.0, 120.0
LEFT, RIGHT, TOP, BASE = 6.0, 334.0, 16.0, 98.0


def spending_chart(spent: Sequence[tuple[str, float]], *, limit: float | None) -> str:
    """Steps of (day, rho spent so far), one per charge, and a line for the limit.

    >>> "limit" in spending_chart([("2024-01-01", 0.1), ("2024-02-01", 0.3)], limit=0.5)
    True
    """
    last = spent[-1][1]
    top = max(last, limit or 0.0) or 1.0
    step = (RIGHT - LEFT) / len(spent)

    def height(rho: float) -> float:
        return BASE - (BASE - TOP) * rho / top

    path, area = f"M{LEFT:g} {BASE:g}", ""
    for number, (_, rho) in enumerate(spent):
        path += f"V{height(rho):.1f}H{LEFT + (number + 1) * step:.1f}"
    area = f"{path}V{BASE:g}Z"
    parts = [f'<path class="syn" d="{area}"/>', f'<path class="axis" d="M{LEFT:g} {BASE:g}H{RIGHT:g}"/>']
    if limit is not None:
        parts.append(f'<path class="tick" d="M{LEFT:g} {height(limit):.1f}H{RIGHT:g}"/>')
        parts.append(f'<text x="{RIGHT:g}" y="{height(limit) - 4:.1f}" text-anchor="end">limit: rho {limit:.4g}</text>')
    parts.append(f'<text x="{LEFT:g}" y="{BASE + 14:g}">{escape(spent[0][0])}</text>')
    parts.append(f'<text x="{RIGHT:g}" y="{BASE + 14:g}" text-anchor="end">{escape(spent[-1][0])}</text>')
    said = f"Spent so far: rho {last:.4g}" + (f" of {limit:.4g}" if limit is not None else "")
    return f'<svg class="chart" viewBox="0 0 {WIDTH:g} {HEIGHT:g}" role="img" aria-label="{escape(said)}">{"".join(parts)}</svg>'
