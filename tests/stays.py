"""A made-up table of hospital stays in which columns follow from each other, and its schema. Importable as `stays`.

Born, admitted and discharged are dates in this order; stay, age at admission, the month and the total follow from others;
how long people stay depends on the ward and on their age, and what it costs on how long they stay.
"""

from datetime import date, timedelta

import numpy as np
import pyarrow as pa

FIRST = date(2022, 1, 1)
WARDS = ["childbirth", "children", "geriatrics", "intensive care", "surgery"]

DOCUMENT = {
    "name": "stays",
    "fields": [
        {
            "name": "admitted",
            "type": "date",
            "constraints": {"minimum": "2022-01-01", "maximum": "2023-12-31", "required": True},
        },
        {
            "name": "discharged",
            "type": "date",
            "relativeTo": "admitted",
            "offset": {"minimum": 0, "maximum": 90},
            "constraints": {"required": True},
        },
        {"name": "stay", "type": "integer", "derived": "days(discharged - admitted)"},
        {
            "name": "born",
            "type": "date",
            "relativeTo": "admitted",
            "offset": {"minimum": -40200, "maximum": 0},
            "constraints": {"required": True},
        },
        {"name": "age", "type": "integer", "derived": "age(born, admitted)"},
        {"name": "ward", "type": "string", "categories": WARDS, "constraints": {"required": True}},
        {"name": "month", "type": "integer", "derived": "month(admitted)"},
        {
            "name": "bed",
            "type": "number",
            "constraints": {"minimum": 0, "maximum": 60000, "required": True},
            "sundog": {"decimals": 2},
        },
        {
            "name": "drugs",
            "type": "number",
            "constraints": {"minimum": 0, "maximum": 20000, "required": True},
            "sundog": {"decimals": 2},
        },
        {"name": "total", "type": "number", "derived": "bed + drugs", "sundog": {"decimals": 2}},
    ],
}


def table(rows, seed=1):
    """That many stays."""
    random = np.random.default_rng(seed)
    ward = random.choice(len(WARDS), rows, p=[0.2, 0.2, 0.25, 0.1, 0.25])
    years = np.clip(random.normal(np.array([30, 7, 80, 55, 50])[ward], np.array([6, 4, 7, 18, 18])[ward]), 0, 100)
    typical = np.array([4.0, 3.0, 10.0, 8.0, 5.0])[ward] * (1 + years / 200)
    stay = np.minimum(random.gamma(2.0, typical / 2.0), 89).astype(int)
    admitted = random.integers(0, 730, rows)
    born = admitted - (years * 365.25).astype(int) - random.integers(0, 30, rows)
    bed = np.round(np.array([400, 450, 300, 1500, 600])[ward] * (stay + 1) * random.gamma(20, 0.05, rows), 2)
    drugs = np.round(np.minimum(random.gamma(1.5, 120, rows) * (1 + stay / 5), 20000), 2)
    days = [FIRST + timedelta(days=int(day)) for day in admitted]
    births = [FIRST + timedelta(days=int(day)) for day in born]
    return pa.table(
        {
            "admitted": days,
            "discharged": [day + timedelta(days=int(length)) for day, length in zip(days, stay, strict=True)],
            "stay": stay,
            "born": births,
            "age": [age(*pair) for pair in zip(births, days, strict=True)],
            "ward": [WARDS[code] for code in ward],
            "month": [day.month for day in days],
            "bed": np.minimum(bed, 60000),
            "drugs": drugs,
            "total": np.round(np.minimum(bed, 60000) + drugs, 2),
        }
    )


def age(born, at):
    """Full years, in words of the calendar."""
    return at.year - born.year - ((at.month, at.day) < (born.month, born.day))
