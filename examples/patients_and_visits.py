"""A made-up pair of linked tables for the demo: patients, and their visits in order of time."""

import csv
import json
from datetime import date, timedelta
from pathlib import Path
from random import Random

PACKAGE = {
    "name": "patients_and_visits",
    "privacyUnit": "patients",
    "resources": [
        {
            "name": "patients",
            "path": "patients.csv",
            "schema": {
                "primaryKey": ["patient_id"],
                "fields": [
                    {"name": "patient_id", "type": "integer"},
                    {
                        "name": "sex",
                        "type": "string",
                        "categories": ["female", "male"],
                        "constraints": {"required": True},
                    },
                    {
                        "name": "born",
                        "type": "integer",
                        "constraints": {"minimum": 1920, "maximum": 2023, "required": True},
                    },
                ],
            },
        },
        {
            "name": "visits",
            "path": "visits.csv",
            "maximumPerParent": 6,
            "minimumPerParent": 1,
            "orderBy": ["day"],
            "schema": {
                "primaryKey": ["visit_id"],
                "foreignKeys": [
                    {"fields": ["patient_id"], "reference": {"resource": "patients", "fields": ["patient_id"]}}
                ],
                "fields": [
                    {"name": "visit_id", "type": "integer"},
                    {"name": "patient_id", "type": "integer"},
                    {
                        "name": "day",
                        "type": "date",
                        "constraints": {"minimum": "2024-01-01", "maximum": "2024-12-31", "required": True},
                    },
                    {
                        "name": "reason",
                        "type": "string",
                        "categories": ["check-up", "infection", "injury", "heart", "follow-up"],
                        "constraints": {"required": True},
                    },
                    {
                        "name": "systolic",
                        "type": "integer",
                        "constraints": {"minimum": 80, "maximum": 220, "required": True},
                    },
                ],
            },
        },
    ],
}
"""The public facts: labels, round bounds, and at most six visits of one patient."""


def write(folder: Path, *, patients: int, seed: int) -> Path:
    """Both tables and their package; the path of the latter."""
    folder.mkdir(parents=True, exist_ok=True)
    draw = Random(seed)
    people, visits = [], []
    for patient in range(1, patients + 1):
        born = draw.randint(1930, 2020)
        people.append([patient, draw.choice(["female", "male"]), born])
        visits += [[len(visits) + k, patient, *visit] for k, visit in enumerate(_visits(draw, 2024 - born), start=1)]
    _write(folder / "patients.csv", ["patient_id", "sex", "born"], people)
    _write(folder / "visits.csv", ["visit_id", "patient_id", "day", "reason", "systolic"], visits)
    package = folder / "datapackage.json"
    package.write_text(json.dumps(PACKAGE, indent=2) + "\n", encoding="utf-8")
    return package


def _visits(draw: Random, age: int) -> list[list[object]]:
    """Older patients come more often and with a heart; one who was ill comes again within two weeks; pressure stays alike."""
    pressure = draw.gauss(105 + 0.5 * age, 10)
    day, reason = date(2024, 1, 1) + timedelta(days=draw.randint(0, 180)), ""
    made: list[list[object]] = []
    for _ in range(min(6, 1 + sum(draw.random() < 0.2 + age / 160 for _ in range(5)))):
        again = reason in ("infection", "injury", "heart") and draw.random() < 0.7
        reason = "follow-up" if again else _reason(draw, age)
        made.append([min(day, date(2024, 12, 31)), reason, round(min(max(draw.gauss(pressure, 6), 80), 220))])
        ill = reason in ("infection", "injury", "heart")
        day += timedelta(days=draw.randint(5, 14) if ill else draw.randint(20, 120))
    return made


def _reason(draw: Random, age: int) -> str:
    heart = max(0.0, (age - 40) / 80)
    return draw.choices(["check-up", "infection", "injury", "heart"], [0.4, 0.3, 0.2, heart])[0]


def _write(path: Path, names: list[str], rows: list[list[object]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        writer.writerows(rows)
