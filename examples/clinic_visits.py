"""A made-up but realistic table: visits to a clinic, one row per visit, several visits per patient.

It has a column of every kind and the habits of real tables: codes that look like numbers ('01'), skewed waiting times, an
amount that is usually zero, values that are missing for a reason, and columns that depend on one another. Nobody in it
exists. The schema declares what one would know without seeing a row: round bounds, lists of labels, that the age group follows
from the age, and that people arrive on the day of their visit, while the clinic is open.

    python examples/clinic_visits.py --rows 20000 --seed 1 --out FOLDER
"""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import csv

Columns = dict[str, np.ndarray]

FIRST_DAY = np.datetime64("2023-01-01")
DAYS = 731
PATIENTS_PER_VISIT = 0.6

DISTRICTS = [f"{number:02d}" for number in range(1, 13)]
SEXES = ["female", "male", "other"]
GROUPS = ["child", "adult", "senior"]
TRIAGE = ["immediate", "very urgent", "urgent", "standard", "non-urgent"]
# Reason for the visit: how common, the typical age, how urgent (added to the triage score), how much warmer.
REASONS: dict[str, tuple[float, float, float, float]] = {
    "abdominal pain": (9, 40, 0.5, 0.1),
    "allergy": (3, 25, -0.2, 0.0),
    "asthma": (4, 20, 0.9, 0.0),
    "back pain": (7, 50, -0.5, 0.0),
    "burn": (2, 30, 0.4, 0.0),
    "chest pain": (6, 62, 1.6, 0.0),
    "check-up": (10, 45, -1.2, 0.0),
    "cough or cold": (14, 22, -0.7, 0.5),
    "ear infection": (5, 8, -0.3, 0.7),
    "fever": (9, 12, 0.4, 1.8),
    "fracture": (6, 35, 0.8, 0.0),
    "headache": (6, 38, 0.0, 0.1),
    "mental health": (4, 34, 0.3, 0.0),
    "pregnancy": (4, 30, 0.2, 0.0),
    "skin rash": (5, 24, -0.6, 0.2),
    "wound": (6, 28, 0.3, 0.1),
}


def make_table(rows: int = 20_000, seed: int = 1) -> pa.Table:
    """The table: the same rows and seed give the same table."""
    random = np.random.default_rng(seed)
    patients = _patients(random, max(1, round(rows * PATIENTS_PER_VISIT)))
    visits = _visits(random, patients, rows)
    visits |= _severity(random, visits)
    visits |= _measurements(random, visits)
    visits |= _stay(random, visits)
    return _arrow(visits)


def _patients(random: np.random.Generator, count: int) -> Columns:
    """What stays the same from visit to visit; some people come more often than others."""
    district = random.choice(len(DISTRICTS), count, p=_shares(1 / np.arange(1.0, len(DISTRICTS) + 1)))
    adult = random.random(count) < 0.72
    birth_age = np.where(adult, 16 + random.gamma(2.4, 14.0, count), 16 * random.beta(0.9, 1.3, count))
    insured = random.random(count) < np.clip(0.93 - 0.035 * district + 0.05 * (birth_age > 65), 0, 1)
    smoker = random.random(count) < np.where(birth_age < 16, 0.01, 0.13 + 0.012 * district)
    frame = np.where(birth_age < 18, 14.5 + 0.5 * birth_age, 24.5 + 0.04 * (birth_age - 18))
    return {
        "weight": random.gamma(3.0, 1.0, count) * (0.6 + birth_age / 60),
        "number": 100_000 + random.permutation(900_000)[:count],
        "district": district,
        "sex": random.choice(len(SEXES), count, p=[0.53, 0.46, 0.01]),
        "birth_age": np.where(birth_age > 97, 70.0, birth_age),
        "insured": insured,
        "smoker": smoker,
        "frame": frame * np.exp(random.normal(0, 0.16, count)),
    }


def _visits(random: np.random.Generator, patients: Columns, rows: int) -> Columns:
    """Who comes, when, and why: colds in winter, fewer visits at weekends, two busy times of the day."""
    who = random.choice(len(patients["number"]), rows, p=_shares(patients["weight"]))
    visits = {name: values[who] for name, values in patients.items() if name != "weight"}
    day = np.arange(DAYS)
    weekend = np.isin((FIRST_DAY + day).astype("datetime64[D]").astype(int) % 7, [2, 3])  # 1970-01-01 was a Thursday
    visits["day"] = random.choice(DAYS, rows, p=_shares(np.where(weekend, 0.55, 1.0) * (1 + day / 3000)))
    visits["age"] = np.minimum(visits["birth_age"] + visits["day"] / 365.25, 105).astype(int)
    morning = random.random(rows) < 0.55
    hour = np.where(morning, random.normal(9.7, 1.5, rows), random.normal(16.8, 2.6, rows))
    visits["minute"] = (np.clip(hour, 6.0, 23.7) * 60).astype(int)
    visits["reason"] = _reasons(random, visits)
    return visits


def _reasons(random: np.random.Generator, visits: Columns) -> np.ndarray:
    common, typical_age = (np.array([facts[k] for facts in REASONS.values()]) for k in (0, 1))
    odds = common * np.exp(-(((visits["age"][:, None] - typical_age) / 26) ** 2))
    names = list(REASONS)
    winter = 1 + 0.9 * np.cos(2 * np.pi * (visits["day"] - 20) / 365.25)
    for cold in ("cough or cold", "fever", "ear infection"):
        odds[:, names.index(cold)] *= winter
    childbearing = (visits["sex"] != 1) & (visits["age"] > 15) & (visits["age"] < 48)
    odds[:, names.index("pregnancy")] *= np.where(childbearing, 2.0, 0.0)
    odds[:, names.index("asthma")] *= np.where(visits["smoker"], 2.5, 1.0)
    chances = np.cumsum(odds, axis=1)
    return (chances < (random.random(len(odds)) * chances[:, -1])[:, None]).sum(axis=1)


def _severity(random: np.random.Generator, visits: Columns) -> Columns:
    """Temperature and triage: the old, the hot and the breathless go first."""
    rows = len(visits["age"])
    urgency, warmth = (np.array([facts[k] for facts in REASONS.values()])[visits["reason"]] for k in (2, 3))
    temperature = np.clip(36.7 + warmth * random.gamma(3.0, 0.33, rows) + random.normal(0, 0.3, rows), 34.0, 41.9)
    score = urgency + 0.012 * (visits["age"] - 40) + 0.6 * (temperature > 38.5) + random.normal(0, 0.8, rows)
    return {"temperature": temperature, "triage": np.digitize(-score, [-2.6, -1.7, -0.8, 0.5])}


def _measurements(random: np.random.Generator, visits: Columns) -> Columns:
    """What is written down, and what is not: children are rarely weighed, check-ups rarely need a thermometer."""
    rows, child = len(visits["age"]), visits["age"] < 14
    check_up = visits["reason"] == list(REASONS).index("check-up")
    bmi = visits["frame"] * np.exp(random.normal(0, 0.02, rows))
    skipped = np.where(child, 0.55, 0.12) + 0.25 * (visits["triage"] <= 1)
    return {
        "bmi": np.where(random.random(rows) < skipped, np.nan, np.clip(bmi, 10, 60)),
        "temperature": np.where(random.random(rows) < np.where(check_up, 0.6, 0.05), np.nan, visits["temperature"]),
        "smoker_known": ~child & (random.random(rows) > 0.07),
    }


def _stay(random: np.random.Generator, visits: Columns) -> Columns:
    """How long they wait, whether they stay, and what they pay (most pay nothing)."""
    rows, triage = len(visits["age"]), visits["triage"]
    busy = 1 + 0.6 * np.exp(-(((visits["minute"] / 60 - 10.5) / 2.0) ** 2))
    waiting = np.minimum(np.array([1.0, 8.0, 24.0, 42.0, 55.0])[triage] * busy * random.gamma(1.3, 0.8, rows), 600)
    hot = np.nan_to_num(visits["temperature"], nan=36.7) > 39
    log_odds = -1.1 - 0.9 * triage + 0.03 * (visits["age"] - 40) + 0.8 * hot
    pays = random.random(rows) < np.where(visits["insured"], 0.12, 0.81)
    bill = np.exp(random.normal(np.where(visits["insured"], 2.9, 4.1), 0.6)) + 15 * (triage <= 1)
    return {
        "waiting": waiting.astype(int),
        "admitted": random.random(rows) < 1 / (1 + np.exp(-log_odds)),
        "paid": np.where(pays, np.minimum(bill, 2000.0), 0.0),
    }


def _arrow(visits: Columns) -> pa.Table:
    date = (FIRST_DAY + visits["day"]).astype("datetime64[D]")
    arrived = date.astype("datetime64[s]") + (visits["minute"] * 60).astype("timedelta64[s]")
    return pa.table(
        {
            "patient_id": [f"P{number}" for number in visits["number"]],
            "visit_date": pa.array(date),
            "arrived_at": pa.array(arrived),
            "age": pa.array(visits["age"]),
            "age_group": pa.array(np.array(GROUPS)[np.digitize(visits["age"], [18, 65])].tolist()),
            "sex": pa.array(np.array(SEXES)[visits["sex"]].tolist()),
            "district": pa.array(np.array(DISTRICTS)[visits["district"]].tolist()),
            "insured": pa.array(visits["insured"]),
            "smoker": pa.array(visits["smoker"], mask=~visits["smoker_known"]),
            "reason": pa.array(np.array(list(REASONS))[visits["reason"]].tolist()),
            "triage": pa.array(np.array(TRIAGE)[visits["triage"]].tolist()),
            "temperature": _rounded(visits["temperature"], 1),
            "bmi": _rounded(visits["bmi"], 1),
            "waiting_minutes": pa.array(visits["waiting"]),
            "amount_paid": _rounded(visits["paid"], 2),
            "admitted": pa.array(visits["admitted"]),
        }
    )


def _rounded(values: np.ndarray, decimals: int) -> pa.Array:
    return pa.array(np.round(values, decimals), mask=np.isnan(values))


def _shares(weights: np.ndarray) -> np.ndarray:
    return np.asarray(weights / weights.sum())


def schema() -> dict[str, Any]:
    """The public facts about the table, as a Table Schema document."""
    return {
        "name": "clinic_visits",
        "title": "Visits to a made-up clinic, 2023 and 2024",
        "missingValues": [""],
        "targets": ["admitted"],
        "fields": [
            {"name": "patient_id", "type": "string", "identifier": True, "sundog": {"regenerate": True}},
            _between("visit_date", "date", "2023-01-01", "2024-12-31", bins=24),
            _after("arrived_at", "datetime", "visit_date", "6 hours", "1439 minutes", resolution=60, bins=36),
            _between("age", "integer", 0, 110, bins=22),
            {
                "name": "age_group",
                "type": "string",
                "derived": f"choose(cut(age, 18, 65), {', '.join(map(repr, GROUPS))})",
            },
            _labels("sex", SEXES),
            _labels("district", DISTRICTS),
            {"name": "insured", "type": "boolean", "constraints": {"required": True}},
            {"name": "smoker", "type": "boolean"},
            _labels("reason", list(REASONS)),
            _labels("triage", TRIAGE, ordered=True),
            _between("temperature", "number", 34, 42, required=False, decimals=1),
            _between("bmi", "number", 10, 60, required=False, decimals=1, bins=25),
            _between("waiting_minutes", "integer", 0, 600, bins=[5, 10, 15, 20, 30, 45, 60, 90, 120, 180, 300]),
            _between("amount_paid", "number", 0, 2000, decimals=2, bins=[0.01, 5, 10, 20, 40, 60, 80, 120, 200, 400]),
            {"name": "admitted", "type": "boolean", "constraints": {"required": True}},
        ],
    }


def _labels(name: str, labels: list[str], *, ordered: bool = False) -> dict[str, Any]:
    order = {"categoriesOrdered": True} if ordered else {}
    return {"name": name, "type": "string", "categories": labels, **order, "constraints": {"required": True}}


def _between(name: str, kind: str, low: Any, high: Any, *, required: bool = True, **sundog: Any) -> dict[str, Any]:
    constraints = {"minimum": low, "maximum": high} | ({"required": True} if required else {})
    return {"name": name, "type": kind, "constraints": constraints} | ({"sundog": sundog} if sundog else {})


def _after(name: str, kind: str, base: str, low: Any, high: Any, **sundog: Any) -> dict[str, Any]:
    """A field that is modelled as its distance from another: of a time on a day, the clock."""
    offset = {"minimum": low, "maximum": high}
    return {
        "name": name,
        "type": kind,
        "relativeTo": base,
        "offset": offset,
        "constraints": {"required": True},
        "sundog": sundog,
    }


def write(folder: Path, *, rows: int, seed: int) -> tuple[Path, Path]:
    """Write clinic_visits.csv and clinic_visits.schema.json into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    data, document = folder / "clinic_visits.csv", folder / "clinic_visits.schema.json"
    csv.write_csv(make_table(rows, seed), data)
    document.write_text(json.dumps(schema(), indent=2) + "\n", encoding="utf-8")
    return data, document


def main() -> None:
    """Write the table and its schema."""
    parser = argparse.ArgumentParser(description="A made-up table of clinic visits, and its schema.")
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("."))
    given = parser.parse_args()
    for path in write(given.out, rows=given.rows, seed=given.seed):
        print(path)


if __name__ == "__main__":
    main()
