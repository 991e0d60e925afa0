"""The made-up tables of the tutorials, with the surprises of real ones. Nobody in them exists.

    python examples/tutorial_tables.py hospital --out hospital
    python examples/tutorial_tables.py office --out office       (needs pandas and pyreadstat)
    python examples/tutorial_tables.py loans --out loans

hospital: stays of patients as an export writes them: a byte order mark, semicolons, decimal commas, names with spaces and signs,
two spellings of "missing", dates in two formats. office: households and persons as Stata files with value labels. loans: one
table for prediction, with a missing income and a rare group.
"""

import argparse
import csv
import json
from datetime import date, timedelta
from pathlib import Path
from random import Random
from typing import Any

WARDS = ["Surgery", "Internal medicine", "Children", "Maternity", "Intensive care"]
DIAGNOSES = ["A09", "E11", "I21", "I50", "J18", "K35", "O80", "S72"]
HOSPITAL = [
    "Pat.-No",
    "Ward name",
    "Sex",
    "Age (years)",
    "Dx",
    "Admitted on",
    "Discharged on",
    "Weight (kg)",
    "Pain 0-10",
]


def hospital(folder: Path, seed: int = 1) -> list[Path]:
    """Some 8,000 stays of 5,000 patients."""
    draw = Random(seed)
    rows = [row for patient in range(1, 5001) for row in _stays(draw, f"P{patient:05d}")]
    draw.shuffle(rows)
    path = folder / "stays.csv"
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file, delimiter=";")
        writer.writerow(HOSPITAL)
        writer.writerows(rows)
    return [path]


def _stays(draw: Random, patient: str) -> list[list[str]]:
    sex = draw.choice(["F", "M"])
    age = min(99, int(draw.betavariate(1.6, 1.4) * 100))
    weight = 4 + 3.2 * age if age < 18 else draw.gauss(68 if sex == "F" else 80, 12)
    return [_stay(draw, patient, sex, age, weight) for _ in range(draw.choices([1, 2, 3, 5], [65, 22, 10, 3])[0])]


def _stay(draw: Random, patient: str, sex: str, age: int, weight: float) -> list[str]:
    dx = _diagnosis(draw, sex, age)
    ward = {"O80": "Maternity", "K35": "Surgery", "S72": "Surgery"}.get(dx, "Internal medicine")
    ward = "Children" if age < 16 else "Intensive care" if dx == "I21" and draw.random() < 0.5 else ward
    admitted = date(2023, 1, 1) + timedelta(days=draw.randrange(700))
    days = min(60, int(draw.expovariate(1 / (3 + age / 15 + (4 if ward == "Intensive care" else 0)))))
    mark = "%d.%m.%Y" if draw.random() < 0.01 else "%Y-%m-%d"  # some are typed by hand
    pain = draw.choices(["n/a", "-9", None], [6, 4, 90])[0] or str(min(10, max(0, round(draw.gauss(4, 2.5)))))
    kilograms = "" if draw.random() < 0.05 else f"{max(2.0, weight + draw.gauss(0, 2)):.1f}".replace(".", ",")
    dates = [admitted.strftime(mark), (admitted + timedelta(days=days)).strftime("%Y-%m-%d")]
    return [patient, ward, sex, str(age), dx, *dates, kilograms, pain]


def _diagnosis(draw: Random, sex: str, age: int) -> str:
    birth = 6.0 if sex == "F" and 18 <= age <= 45 else 0.0
    heart = max(0.0, (age - 40) / 10)
    return draw.choices(DIAGNOSES, [2, 1 + age / 30, heart, heart, 2, 2, birth, 0.5 + heart / 2])[0]


REGIONS = {1: "North", 2: "East", 3: "South", 4: "West"}
TENURE = {1: "owner", 2: "tenant", 3: "other"}
SEX = {1: "female", 2: "male"}
WORK = {1: "employed", 2: "unemployed", 3: "not in the labour force"}
OFFICE_LABELS: dict[str, dict[str, dict[int, str]]] = {
    "households": {"region": REGIONS, "tenure": TENURE},
    "persons": {"region": REGIONS, "sex": SEX, "work": WORK},
}


def office(folder: Path, seed: int = 1) -> list[Path]:
    """4,000 households and their persons as Stata files, a Data Package for both, and a schema for the persons alone."""
    import pandas
    import pyreadstat

    tables = _households(Random(seed))
    written = []
    for name, rows in tables.items():
        path = folder / f"{name}.dta"
        pyreadstat.write_dta(pandas.DataFrame(rows), str(path), variable_value_labels=OFFICE_LABELS[name])
        written.append(path)
    documents = {
        "datapackage.json": _package(),
        "persons.schema.json": {"name": "census_persons", "fields": _persons(flat=True)},
    }
    for name, document in documents.items():
        (folder / name).write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    return [*written, *(folder / name for name in documents)]


def _households(draw: Random) -> dict[str, list[dict[str, Any]]]:
    households: list[dict[str, Any]] = []
    persons: list[dict[str, Any]] = []
    for number in range(1, 4001):
        region, wealth = draw.choices([1, 2, 3, 4], [30, 15, 35, 20])[0], draw.lognormvariate(0, 0.4)
        tenure = draw.choices([1, 2, 3], [40 * wealth, 50, 5])[0]
        households.append({"household_id": number, "region": region, "tenure": tenure})
        head = draw.randint(20, 90)
        ages = [head] + ([max(18, head + draw.randint(-8, 8))] if draw.random() < 0.55 else [])
        ages += [draw.randint(0, 19) for _ in range(draw.choices([0, 1, 2, 3], [6, 2, 3, 1])[0]) if 22 <= head <= 60]
        persons += [_person(draw, number, region, age, wealth) for age in ages[:6]]
    for number, person in enumerate(persons, start=1):
        person["person_id"] = number
    return {"households": households, "persons": persons}


def _person(draw: Random, household: int, region: int, age: int, wealth: float) -> dict[str, Any]:
    work = 3 if age < 16 or age > 66 else draw.choices([1, 2, 3], [75, 3 + 4 * (region == 2), 18])[0]
    income = draw.lognormvariate(7.7, 0.45) * wealth if work == 1 else 900 * wealth if age > 66 else 0
    facts = {"person_id": 0, "household_id": household, "region": region, "sex": draw.choice([1, 2]), "age": age}
    return facts | {"work": work, "income": None if draw.random() < 0.03 else float(round(min(income, 15000), -1))}


def _package() -> dict[str, Any]:
    key = {"fields": ["household_id"], "reference": {"resource": "households", "fields": ["household_id"]}}
    roots = [_number("household_id"), _labels("region", REGIONS), _labels("tenure", TENURE)]
    children = {"primaryKey": ["person_id"], "foreignKeys": [key], "fields": _persons(flat=False)}
    return {
        "name": "census",
        "privacyUnit": "households",
        "resources": [
            {
                "name": "households",
                "path": "households.dta",
                "schema": {"primaryKey": ["household_id"], "fields": roots},
            },
            {
                "name": "persons",
                "path": "persons.dta",
                "maximumPerParent": 6,
                "minimumPerParent": 1,
                "schema": children,
            },
        ],
    }


def _persons(*, flat: bool) -> list[dict[str, Any]]:
    keys = [_number("person_id"), _number("household_id")]
    keys = [key | {"identifier": True} for key in keys] if flat else keys
    bounds = {"minimum": 0, "maximum": 15000}
    income = {"name": "income", "type": "number", "constraints": bounds, "sundog": {"decimals": 0}}
    region = [_labels("region", REGIONS)] if flat else []
    return [*keys, *region, _labels("sex", SEX), _number("age", 0, 110), _labels("work", WORK), income]


def _labels(name: str, labels: dict[int, str]) -> dict[str, Any]:
    return {"name": name, "type": "string", "categories": list(labels.values()), "constraints": {"required": True}}


def _number(name: str, low: int | None = None, high: int | None = None) -> dict[str, Any]:
    bounds = {} if low is None else {"constraints": {"minimum": low, "maximum": high, "required": True}}
    return {"name": name, "type": "integer", **bounds}


LOANS = ["customer", "applied", "age", "home", "purpose", "income", "amount", "months", "late payments", "repaid"]


def loans(folder: Path, seed: int = 1) -> list[Path]:
    """10,000 loans, one per customer; whether they were repaid depends on the rest."""
    draw = Random(seed)
    path = folder / "loans.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(LOANS)
        writer.writerows(_loan(draw, number) for number in range(1, 10001))
    return [path]


def _loan(draw: Random, number: int) -> list[Any]:
    age = min(90, int(21 + draw.gammavariate(2.2, 10)))
    income = round(draw.lognormvariate(10.2 + 0.01 * min(age - 21, 30), 0.45), -2)
    home = draw.choices(["own", "rent", "family"], [max(1, age - 18), 40, max(1, 40 - age)])[0]
    purpose = draw.choices(["car", "house", "education", "other"], [30, 20 + age / 2, max(1, 60 - age), 25])[0]
    amount = round(min(60000, draw.lognormvariate(9.0, 0.5) * (1.8 if purpose == "house" else 1)), -2)
    months = draw.choice([12, 24, 36, 48, 60])
    late = min(9, int(draw.expovariate(1.2 if home == "own" else 0.7)))
    burden = amount / months * 12 / income
    repaid = draw.random() < 0.97 / (1 + 0.25 * late + 0.9 * burden)
    applied = date(2024, 1, 1) + timedelta(days=draw.randrange(366))
    shown = "" if draw.random() < 0.08 else f"{income:.0f}"
    return [
        f"C{number:06d}",
        applied,
        age,
        home,
        purpose,
        shown,
        f"{amount:.0f}",
        months,
        late,
        "yes" if repaid else "no",
    ]


TABLES = {"hospital": hospital, "office": office, "loans": loans}


def main() -> None:
    """Write the tables of one tutorial."""
    parser = argparse.ArgumentParser(description="The made-up tables of a tutorial.")
    parser.add_argument("tutorial", choices=TABLES)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    for path in TABLES[given.tutorial](given.out):
        print(path)


if __name__ == "__main__":
    main()
