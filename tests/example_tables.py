"""A small table of every kind of column, with strong relations, and its schema; made by arithmetic, no randomness."""

import numpy as np

from sundog.domain import Schema

DOCUMENT = {
    "fields": [
        {
            "name": "colour",
            "type": "string",
            "categories": ["red", "green", "blue", "grey", "plum"],
            "constraints": {"required": True},
        },
        {"name": "warm", "type": "boolean", "constraints": {"required": True}},
        {"name": "size", "type": "integer", "constraints": {"minimum": 0, "maximum": 999}},
        {"name": "grade", "type": "integer", "constraints": {"minimum": 1, "maximum": 5, "required": True}},
    ]
}
SCHEMA = Schema.from_json(DOCUMENT)


def table(rows: int = 4000) -> dict[str, list[object]]:
    """Warm colours are red or plum; grade follows colour; size is zero for half, missing for some, else follows grade."""
    index = np.arange(rows)
    spread = (index * 2654435761) % 2**32 / 2**32
    colour = np.searchsorted([0.4, 0.7, 0.95, 0.975], spread, side="right")
    noise = (index * 40503 + 17) % 65536 / 65536
    grade = 1 + (colour + (noise > 0.8)) % 5
    size = np.where(noise < 0.5, 0, np.minimum(999, (grade * 150 + 200 * spread)).astype(int))
    labels = np.array(["red", "green", "blue", "grey", "plum"])[colour]
    return {
        "colour": labels.tolist(),
        "warm": ((colour == 0) | (colour == 4)).tolist(),
        "size": [None if k % 10 == 3 else int(value) for k, value in zip(index, size, strict=True)],
        "grade": grade.tolist(),
    }
