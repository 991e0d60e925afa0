"""Small tables for the tests of the metrics."""

import numpy as np

from sundog.domain import Schema
from sundog.domain.rows import Rows

DOCUMENT = {
    "name": "small",
    "targets": ["y"],
    "fields": [
        {"name": "a", "type": "string", "categories": ["p", "q", "r"]},
        {"name": "b", "type": "string", "categories": ["u", "v"], "constraints": {"required": True}},
        {"name": "x", "type": "integer", "constraints": {"minimum": 0, "maximum": 99, "required": True}},
        {"name": "z", "type": "number", "constraints": {"minimum": 0, "maximum": 1}, "sundog": {"decimals": 2}},
        {"name": "y", "type": "boolean", "constraints": {"required": True}},
    ],
}
SCHEMA = Schema.from_json(DOCUMENT)


def related(rows, seed, *, schema=SCHEMA):
    """Rows whose columns depend on each other, with missing values."""
    random = np.random.default_rng(seed)
    a = random.choice(4, rows, p=[0.5, 0.3, 0.15, 0.05])
    b = (random.random(rows) < 0.3 + 0.15 * a).astype(np.int64)
    x = np.clip(random.normal(30 + 15 * a, 10, rows), 0, 99).astype(np.int64)
    z = np.where(random.random(rows) < 0.1, 101, np.clip(x + random.integers(-9, 9, rows), 0, 100))
    y = (random.random(rows) < 1 / (1 + np.exp(-(x - 45) / 8))).astype(np.int64)
    return Rows(schema, (a, b, x, z, y))


def permuted(rows, column, seed=5):
    """The rows with one column shuffled."""
    order = np.random.default_rng(seed).permutation(len(rows))
    position = rows.schema.position(column)
    return Rows(rows.schema, tuple(c[order] if k == position else c for k, c in enumerate(rows.codes)))
