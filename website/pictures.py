"""Makes the pictures of the website and of the README.

    python website/pictures.py            all of them
    python website/pictures.py charts     those drawn from docs/evidence/figures.json
    python website/pictures.py pages      screenshots of a report and of explore.html (needs Chromium; a minute)

The figures in figures.json are results of benchmarks; the file says how each was measured.
"""

import importlib.util
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ASSETS = ROOT / "docs" / "assets"
FIGURES = ROOT / "docs" / "evidence" / "figures.json"
COLOURS = ("#c2410c", "#2563a8", "#4d7c0f", "#7c3a8c", "#57534e")
STYLE = "text{font:13px system-ui,sans-serif;fill:#222}.quiet{fill:#666}.title{font-weight:600;font-size:15px}"
WIDTH, HEIGHT = 760, 400
BROWSERS = ("chromium", "chromium-browser", "google-chrome")

Series = Mapping[str, Mapping[str, float]]


def charts() -> None:
    """Error by epsilon, and error by table."""
    figures = json.loads(FIGURES.read_text(encoding="utf-8"))
    (ASSETS / "error-by-epsilon.svg").write_text(curves(figures["byEpsilon"]), encoding="utf-8")
    (ASSETS / "error-by-table.svg").write_text(bars(figures["byTable"]), encoding="utf-8")


def curves(figure: Mapping[str, object]) -> str:
    """One line per method on two logarithmic scales, named at its right end."""
    series: Series = figure["series"]  # type: ignore[assignment]
    across = sorted({float(at) for line in series.values() for at in line})
    values = [value for line in series.values() for value in line.values()]
    left, right = math.log10(across[0]), math.log10(across[-1])
    low, high = math.log10(min(values) / 1.3), math.log10(max(values) * 1.3)

    def place(at: float, value: float) -> tuple[float, float]:
        x = 70 + 480 * (math.log10(at) - left) / (right - left)
        return x, 350 - 290 * (math.log10(value) - low) / (high - low)

    parts = [text(20, 24, str(figure["title"]), "title"), text(20, 44, str(figure["measure"]), "quiet")]
    for at in across:
        parts.append(text(place(at, values[0])[0], 372, f"{at:g}", anchor="middle"))
    parts.append(text(310, 392, "epsilon", "quiet", anchor="middle"))
    for value in (0.01, 0.02, 0.05, 0.1, 0.2):
        if low <= math.log10(value) <= high:
            y = place(across[0], value)[1]
            parts += [f'<path d="M70 {y:.1f}H550" stroke="#ddd"/>', text(62, y + 4, f"{value:g}", anchor="end")]
    for colour, (name, line) in zip(COLOURS, series.items(), strict=False):
        marks = [place(float(at), value) for at, value in sorted(line.items(), key=lambda pair: float(pair[0]))]
        joined = " ".join(f"{x:.1f},{y:.1f}" for x, y in marks)
        parts.append(f'<polyline points="{joined}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"/>' for x, y in marks]
        parts.append(text(marks[-1][0] + 12, marks[-1][1] + 4, name, colour=colour))
    return svg(parts)


def bars(figure: Mapping[str, object]) -> str:
    """One group of bars per table, one bar per tool."""
    series: Series = figure["series"]  # type: ignore[assignment]
    tables = list(next(iter(series.values())))
    most = max(value for line in series.values() for value in line.values())
    parts = [text(20, 24, str(figure["title"]), "title"), text(20, 44, str(figure["measure"]), "quiet")]
    for place, (colour, name) in enumerate(zip(COLOURS, series, strict=False)):
        parts += [
            f'<rect x="{420 + 150 * place}" y="34" width="10" height="10" fill="{colour}"/>',
            text(435 + 150 * place, 44, name),
        ]
    step = 320 / len(tables)
    for row, table in enumerate(tables):
        top = 62 + step * row
        parts.append(text(150, top + step / 2, table, anchor="end"))
        for place, (colour, line) in enumerate(zip(COLOURS, series.values(), strict=False)):
            length, y = 520 * line[table] / most, top + place * 15
            parts.append(f'<rect x="160" y="{y:.1f}" width="{length:.1f}" height="13" fill="{colour}"/>')
            parts.append(text(166 + length, y + 11, f"{line[table]:.3f}"))
    return svg(parts)


def text(x: float, y: float, words: str, kind: str = "", *, anchor: str = "start", colour: str = "") -> str:
    """One line of text."""
    look = f' class="{kind}"' if kind else ""
    paint = f' style="fill:{colour}"' if colour else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{look}{paint}>{escape(words)}</text>'


def svg(parts: Sequence[str]) -> str:
    """The picture, on a white ground, so that it can be read in dark pages too."""
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}"><style>{STYLE}</style>'
    return head + f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>' + "".join(parts) + "</svg>\n"


def pages() -> None:
    """A report and explore.html of the demo's table, as a browser shows them."""
    browser = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if browser is None:
        sys.exit("No Chromium was found; install one, or make the charts alone: python website/pictures.py charts")
    with tempfile.TemporaryDirectory() as folder:
        release = _release(Path(folder))
        for name in ("report", "explore", "certificate"):
            target = ASSETS / f"{name}.png"
            options = [
                "--headless",
                "--no-sandbox",
                "--hide-scrollbars",
                "--window-size=1280,860",
                "--virtual-time-budget=4000",
            ]
            address = (release / f"{name}.html").as_uri()
            subprocess.run([browser, *options, f"--screenshot={target}", address], check=True, capture_output=True)


def _release(folder: Path) -> Path:
    spec = importlib.util.spec_from_file_location("clinic_visits", ROOT / "examples" / "clinic_visits.py")
    if spec is None or spec.loader is None:
        sys.exit("examples/clinic_visits.py is missing.")
    clinic = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(clinic)
    data, schema = clinic.write(folder, rows=20_000, seed=1)
    command = [
        sys.executable,
        "-c",
        "from sundog.cli.app import main; main()",
        "synthesize",
        str(data),
        "--schema",
        str(schema),
    ]
    options = ["--epsilon", "1", "--delta", "1e-9", "--seed", "1", "-o", str(folder / "release")]
    place = {"SUNDOG_LEDGER": str(folder / "ledger.sqlite")}
    subprocess.run([*command, *options], check=True, capture_output=True, env=os.environ | place)
    return folder / "release"


PARTS = {"charts": charts, "pages": pages}

if __name__ == "__main__":
    for part in sys.argv[1:] or PARTS:
        PARTS[part]()
