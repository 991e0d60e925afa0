"""Made-up people for attacks: a population of which some are in the table, some are not."""

import numpy as np

from sundog.domain import Schema
from sundog.domain.rows import Rows

LABELS = [f"v{k}" for k in range(6)]
SCHEMA = Schema.from_json(
    {
        "name": "people",
        "fields": [
            *({"name": f"c{k}", "type": "string", "constraints": {"enum": LABELS, "required": True}} for k in range(5)),
            {"name": "n", "type": "integer", "constraints": {"minimum": 0, "maximum": 999}},
        ],
        "targets": ["c0"],
    }
)


def population(count, *, seed):
    """Labels at random, but the first tells something about the number; one number in ten is missing."""
    random = np.random.default_rng(seed)
    labels = [random.integers(0, 6, count) for _ in range(5)]
    numbers = np.minimum(random.integers(0, 500, count) + 80 * labels[0], 999)
    return Rows(SCHEMA, (*labels, np.where(random.random(count) < 0.1, 1000, numbers)))
