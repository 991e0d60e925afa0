"""The report in a real browser, where one is installed: it renders in light and dark, and for paper."""

import shutil
import struct
import subprocess
import zlib

import numpy as np
import pytest

from related_tables import SCHEMA, related
from sundog.domain.unit import PrivacyUnit
from sundog.queries import Marginal, answer
from sundog.released import Guarantee, Measurement, Released
from sundog.report.page import report_page

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
]

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(BROWSER is None, reason="needs a Chromium browser; none is installed"),
]


@pytest.fixture
def page(tmp_path):
    rows = related(500, 1)
    queries = [Marginal.of(SCHEMA, name) for name in SCHEMA.names] + [Marginal.of(SCHEMA, "a", "b")]
    measured = tuple(Measurement(query, answer(query, rows), 3.0, "small#1") for query in queries)
    release = Released(
        SCHEMA, measured, Guarantee(PrivacyUnit(), "gaussian", 0.02, epsilon=1.0, delta=1e-9), dataset="small"
    )
    path = tmp_path / "report.html"
    path.write_text(report_page(release, rows, method="independent"), encoding="utf-8")
    return path


def test_light_and_dark(page, tmp_path):
    light, dark = (
        screenshot(page, tmp_path / name, *flags) for name, flags in (("light", ()), ("dark", ("--force-dark-mode",)))
    )
    assert corner(light) == (0xFB, 0xFA, 0xF7)
    assert corner(dark) == (0x12, 0x16, 0x1C)
    assert detail(light) > 300
    assert detail(dark) > 300


def test_on_paper_it_is_light_even_where_the_screen_is_dark(page, tmp_path):
    """The rules for paper shown on a dark screen: what a printer gets."""
    paper = tmp_path / "paper.html"
    paper.write_text(page.read_text(encoding="utf-8").replace("@media print", "@media all"), encoding="utf-8")
    picture = screenshot(paper, tmp_path / "paper", "--force-dark-mode")
    assert corner(picture) == (0xFF, 0xFF, 0xFF)
    assert detail(picture) > 300


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_phone_nothing_is_wider_than_the_screen(page, scheme):
    """Not even a name of 300 letters in a sentence."""
    page.write_text(page.read_text(encoding="utf-8").replace("independent", "x" * 300), encoding="utf-8")
    driver = pytest.importorskip("playwright.sync_api", reason="needs playwright's Python package")
    with driver.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=BROWSER, args=FLAGS[1:])
        phone = browser.new_page(viewport={"width": 420, "height": 800}, color_scheme=scheme)
        phone.goto(page.as_uri())
        assert phone.evaluate("document.documentElement.scrollWidth") <= 420
        assert phone.evaluate("[...document.querySelectorAll('.stack')].every(each => each.scrollWidth <= 420)")
        assert phone.locator("table.stack td").first.is_visible()
        browser.close()


def screenshot(page, folder, *flags):
    folder.mkdir()
    picture = folder / "picture.png"
    own = [f"--user-data-dir={folder / 'profile'}", "--window-size=1000,1500", f"--screenshot={picture}"]
    subprocess.run([BROWSER, *FLAGS, *own, *flags, page.as_uri()], capture_output=True, timeout=240, check=True)
    return pixels(picture.read_bytes())


def pixels(data):
    """The scan lines of an 8-bit PNG, still filtered, as (header, bytes)."""
    width, height, depth, kind = struct.unpack(">IIBB", data[16:26])
    assert (depth, kind in (2, 6)) == (8, True)
    place, stream = 8, b""
    while place < len(data):
        (length,) = struct.unpack(">I", data[place : place + 4])
        if data[place + 4 : place + 8] == b"IDAT":
            stream += data[place + 8 : place + 8 + length]
        place += 12 + length
    return np.frombuffer(zlib.decompress(stream), dtype=np.uint8).reshape(height, 1 + width * (3 if kind == 2 else 4))


def corner(lines):
    """The first pixel: whatever the filter, it has no neighbours, so it stands as it is."""
    return tuple(int(value) for value in lines[0, 1:4])


def detail(lines):
    """How many scan lines differ: hundreds where there is text, a few on an empty page, whatever the filter."""
    return len(np.unique(lines, axis=0))
