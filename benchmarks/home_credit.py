"""A made-up table of the size and kind of home-credit, which the post-processing paper uses and which we do not have.

307,511 rows of 104 columns beside the target: a third numbers, a third labels, a third flags. Eight hidden traits of an
applicant move the columns, so that many of them depend on each other; a sixth of the columns has missing values, and one row in
twelve defaults, as there. `tables` has the form of methods_table.tables.
"""

from typing import Any

import numpy as np

NAME = "home-credit-size"
ROWS, COLUMNS, TRAITS = 307_511, 104, 8
TARGET, DEFAULTS = "default", 1 / 12
LABELS = 6


def tables() -> tuple[dict[str, Any], Any, Any]:
    """The schema document, four fifths of the rows to learn from, and one to test models on."""
    import pyarrow as pa

    random = np.random.default_rng(0)
    traits = random.normal(size=(ROWS, TRAITS))
    made, fields = {}, []
    for place in range(COLUMNS):
        part = traits[:, random.integers(TRAITS)] * random.uniform(0.2, 0.8)
        value = part + random.normal(size=ROWS) * random.uniform(0.5, 1.0)
        name, column, field = _column(place, value)
        missing = random.random(ROWS) < 0.15 if place % 6 == 5 else None
        made[name] = pa.array(column, mask=missing)
        fields.append(field | {"constraints": field.get("constraints", {}) | {"required": missing is None}})
    score = traits @ random.normal(size=TRAITS) + random.normal(size=ROWS)
    made[TARGET] = pa.array(score > np.quantile(score, 1 - DEFAULTS))
    fields.append({"name": TARGET, "type": "boolean", "constraints": {"required": True}})
    table, cut = pa.table(made), int(0.8 * ROWS)
    return {"name": NAME, "fields": fields, "targets": [TARGET]}, table.slice(0, cut), table.slice(cut)


def _column(place: int, value: Any) -> tuple[str, Any, dict[str, Any]]:
    """A number, a label or a flag, in turn."""
    if place % 3 == 0:
        name = f"amount {place}"
        bounds = {"minimum": 0, "maximum": 999_999}
        amounts = np.clip(np.exp(10 + value), 0, 999_999).astype(np.int64)
        return name, amounts, {"name": name, "type": "integer", "constraints": bounds}
    if place % 3 == 1:
        name = f"kind {place}"
        names = [f"kind {code}" for code in range(LABELS)]
        kinds = np.asarray(names)[np.clip(np.floor(value + LABELS / 2), 0, LABELS - 1).astype(int)]
        return name, kinds, {"name": name, "type": "string", "categories": names}
    name = f"flag {place}"
    return name, value > 1, {"name": name, "type": "boolean"}
