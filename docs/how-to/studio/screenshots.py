"""Pictures of every step of the studio for the documentation.

    python docs/how-to/studio/screenshots.py

Starts a studio on a made-up table, goes the whole way in Debian's Chromium, and writes docs/how-to/studio/STEP-WIDTH-SCHEME.png. Needs
playwright (`make browser`) and the packages of the studio.
"""

import json
import signal
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "examples")]

import clinic_visits  # noqa: E402

from studio_browser import browsing, started  # noqa: E402

LOOKS = [(1280, "light"), (420, "dark")]
KEY = {"type": "string", "identifier": True}
PACKAGE = {
    "name": "homes",
    "resources": [
        {
            "name": "households",
            "path": "households.csv",
            "schema": {
                "primaryKey": ["household"],
                "fields": [
                    {"name": "household", **KEY},
                    {"name": "rooms", "type": "integer", "constraints": {"minimum": 1, "maximum": 12}},
                    {"name": "tenure", "type": "string", "categories": ["owned", "rented", "other"]},
                ],
            },
        },
        {
            "name": "persons",
            "path": "persons.csv",
            "maximumPerParent": 8,
            "minimumPerParent": 1,
            "schema": {
                "primaryKey": ["person"],
                "foreignKeys": [
                    {"fields": ["household"], "reference": {"resource": "households", "fields": ["household"]}}
                ],
                "fields": [
                    {"name": "person", **KEY},
                    {"name": "household", **KEY},
                    {"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 120}},
                    {"name": "sex", "type": "string", "categories": ["female", "male", "other"]},
                ],
            },
        },
        {
            "name": "visits",
            "path": "visits.csv",
            "maximumPerParent": 20,
            "orderBy": ["day"],
            "schema": {
                "foreignKeys": [{"fields": ["person"], "reference": {"resource": "persons", "fields": ["person"]}}],
                "fields": [
                    {"name": "person", **KEY},
                    {"name": "day", "type": "date", "constraints": {"minimum": "2023-01-01", "maximum": "2024-12-31"}},
                    {"name": "cost", "type": "number", "constraints": {"minimum": 0, "maximum": 300}},
                ],
            },
        },
        {
            "name": "vehicles",
            "path": "vehicles.csv",
            "maximumPerParent": 4,
            "schema": {
                "foreignKeys": [
                    {"fields": ["household"], "reference": {"resource": "households", "fields": ["household"]}}
                ],
                "fields": [
                    {"name": "household", **KEY},
                    {"name": "kind", "type": "string", "categories": ["car", "van", "motorcycle", "bicycle"]},
                ],
            },
        },
    ],
}
"""Linked tables for the picture; no row of theirs is read."""
EVERY = [(1280, "light"), (1280, "dark"), (420, "light"), (420, "dark")]


def main() -> None:
    """The whole way, a picture per step."""
    target = Path(sys.argv[1]) if sys.argv[1:] else ROOT / "docs" / "how-to" / "studio"
    looks = EVERY if sys.argv[1:] else LOOKS
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "clinic"
        place.mkdir()
        data, _ = clinic_visits.write(place, rows=3000, seed=1)
        (place / "datapackage.json").write_text(json.dumps(PACKAGE), encoding="utf-8")
        studio = started(place)
        try:
            with browsing() as browser:
                page = browser.new_context().new_page()
                page.set_default_timeout(120_000)
                page.goto(studio.address)
                walk(page, data, lambda name: picture(page, target / name, looks))
        finally:
            studio.end(signal.SIGINT)


def walk(page: Any, data: Path, shot: Any) -> None:
    """From the table to the ledger."""
    page.wait_for_selector("h1")
    page.click("text=Browse")
    page.wait_for_selector(".browser")
    shot("1-table")
    page.fill("input[name=data]", str(data))
    page.keyboard.press("Enter")
    page.click("text=Draft the schema")
    page.wait_for_selector("table.fields")
    shot("2-schema-draft")
    page.click("table.fields a:text-is('age')")
    page.fill("input[name=maximum]", "120")
    page.fill("input[name=because]", "known to everyone")
    page.wait_for_selector("#said .fine")
    shot("2-schema-column")
    page.click("text=Right and public: back to the schema")
    page.check("[data-all]")
    page.fill("input[name=because]", "the codebook lists it")
    page.click("text=Keep as declared")
    page.wait_for_selector("text=all reviewed or declared")
    shot("2-schema-reviewed")
    page.click("text=Go on to the check")
    page.click("text=Check the table")
    page.wait_for_selector("text=Findings")
    shot("3-check")
    page.click("text=Go on to the plan")
    page.fill("input[name=rows_about]", "3000")
    page.wait_for_selector("text=What it buys")
    shot("4-plan")
    page.click("text=Go on: see the charge")
    page.wait_for_selector(".spend")
    shot("5-charge")
    page.click(".spend")
    page.wait_for_selector("[data-log] li")
    shot("5-run")
    page.wait_for_selector("text=The last run is done")
    page.click("text=its release")
    page.click("button:text('Verify')")
    page.wait_for_selector("text=Nothing differs")
    shot("6-release")
    page.click("nav a:text('Ledger')")
    page.wait_for_selector("text=Set a limit")
    shot("7-ledger")
    page.click("nav a:text('Tables')")
    page.fill("input[name=data]", str(data.parent / "datapackage.json"))
    page.keyboard.press("Enter")
    page.wait_for_selector(".tree-table")
    shot("2-schema-linked")


def picture(page: Any, stem: Path, looks: list[tuple[int, str]]) -> None:
    """The page as it stands, in every look."""
    for width, scheme in looks:
        page.set_viewport_size({"width": width, "height": 800})
        page.emulate_media(color_scheme=scheme)
        page.evaluate(
            "scrollTo(0, 0)"
        )  # the banner of CONFIDENTIAL pages stays in sight, and would stand in the middle
        page.wait_for_timeout(150)
        page.screenshot(path=f"{stem}-{width}-{scheme}.png", full_page=True)
    page.set_viewport_size({"width": 1280, "height": 800})
    page.emulate_media(color_scheme="light")


if __name__ == "__main__":
    main()
