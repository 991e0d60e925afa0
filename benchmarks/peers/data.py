"""The tables of the comparison: public ones, cut to few columns and rows so that every tool has a chance in three CPU minutes.

Missing labels become a label of their own and truth values labels, for all tools alike; no number chosen here is ever missing. The schema is public
and the same for all: labels and bounds as the tables' documentation declares them.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness import DATA

MISSING = "missing"
ROWS, TEST_ROWS = 5_000, 2_500
COLUMNS: dict[str, tuple[str, ...]] = {
    "adult": ("age", "workclass", "education", "marital-status", "sex", "hours-per-week", "income"),
    "bank_marketing": ("age", "job", "marital", "balance", "housing", "duration", "y"),
    "diamonds": ("carat", "cut", "color", "clarity", "depth", "price"),
    "mushroom": ("class", "odor", "gill-size", "gill-color", "stalk-root", "ring-type", "spore-print-color", "habitat"),
    "online_shoppers": ("ProductRelated", "ExitRates", "PageValues", "Month", "VisitorType", "Weekend", "Revenue"),
}
COMPARED = ("adult", "bank_marketing", "diamonds", "mushroom")
"""The tables of the comparison; the last of all is for post_processing.py."""


def prepare(settings: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """Leave train.parquet, test.parquet and schema.json of one table in a folder; the split is the same for all tools."""
    import numpy as np
    from pyarrow import parquet, types

    name, folder = settings["table"], Path(settings["folder"])
    folder.mkdir(parents=True, exist_ok=True)
    document = schema(json.loads((DATA / f"{name}.schema.json").read_text(encoding="utf-8")), COLUMNS[name])
    table = parquet.read_table(DATA / f"{name}.parquet", columns=list(COLUMNS[name]))
    for field in document["fields"]:
        if "categories" in field:
            at = table.schema.get_field_index(field["name"])
            cells = table[field["name"]]
            cells = cells.cast("string") if types.is_boolean(cells.type) else cells  # "true" and "false"
            table = table.set_column(at, field["name"], cells.fill_null(MISSING))
    order = np.random.default_rng(seed).permutation(len(table))[: ROWS + TEST_ROWS]
    parquet.write_table(table.take(order[:ROWS]), folder / "train.parquet")
    parquet.write_table(table.take(order[ROWS:]), folder / "test.parquet")
    (folder / "schema.json").write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    return {"rows": len(order)}


def schema(document: dict[str, Any], columns: tuple[str, ...]) -> dict[str, Any]:
    """The document with the chosen columns; labels that may be missing have one more label instead."""
    fields = []
    for field in (dict(each) for each in document["fields"] if each["name"] in columns):
        rules = field.get("constraints", {})
        if field["type"] == "boolean":
            field |= {"type": "string", "categories": ["false", "true"]}
        extra = (
            {}
            if rules.get("required") or "categories" not in field
            else {"categories": [*field["categories"], MISSING]}
        )
        fields.append(field | extra | {"constraints": rules | {"required": True}})
    targets = [target for target in document["targets"] if target in columns]
    return {
        "name": document["name"],
        "targets": targets,
        "fields": sorted(fields, key=lambda f: columns.index(f["name"])),
    }
