"""Small tables, exact or noisy releases of them, and their answers, for the tests of RAP, RAP++ and GEM."""

from collections.abc import Sequence

import numpy as np

from sundog.domain import Schema
from sundog.domain.rows import Rows
from sundog.domain.unit import PrivacyUnit
from sundog.queries import Query, answer
from sundog.random.keys import key_of, uniforms
from sundog.released import Guarantee, Measurement, Released

MIXED = Schema.from_json(
    {
        "fields": [
            {
                "name": "colour",
                "type": "string",
                "categories": ["red", "green", "blue"],
                "constraints": {"required": True},
            },
            {"name": "warm", "type": "boolean", "constraints": {"required": True}},
            {"name": "size", "type": "integer", "constraints": {"minimum": 0, "maximum": 99}},
            {
                "name": "weight",
                "type": "number",
                "constraints": {"minimum": 0, "maximum": 1, "required": True},
                "sundog": {"decimals": 2},
            },
        ],
        "targets": ["warm"],
    }
)


def mixed_rows(count: int = 2000) -> Rows:
    """Colour and warmth go together, size has a spike at 0 and missing values, weight follows size."""
    u = uniforms(key_of(3), 4 * count).reshape(4, count)
    colour = np.searchsorted([0.5, 0.8], u[0], side="right")
    warm = (u[1] < np.array([0.9, 0.3, 0.1])[colour]).astype(np.int64)
    size = np.where(u[2] < 0.4, 0, (u[2] * 60 + 30 * warm).astype(np.int64))
    weight = np.clip(size + 20 * u[3], 0, 100).astype(np.int64)
    return Rows(MIXED, (colour, warm, np.where(u[3] < 0.1, 100, size), weight))


def released(queries: Sequence[Query], rows: Rows, *, stddev: float = 1.0, seed: int = 0) -> Released:
    """The queries measured on these rows, with Gaussian noise."""
    from scipy.special import ndtri

    measured = []
    for place, query in enumerate(queries):
        noise = ndtri(np.clip(uniforms(key_of(1000 * seed + place), query.size), 1e-9, 1 - 1e-9)) * stddev
        measured.append(Measurement(query, answer(query, rows) + np.rint(noise).astype(np.int64), stddev, str(place)))
    guarantee = Guarantee(PrivacyUnit("replace"), "gaussian", 1.0)
    return Released(rows.schema, tuple(measured), guarantee, public_rows=len(rows))


def errors(generator, state, queries: Sequence[Query], rows: Rows) -> list[float]:
    """The mean absolute error of the model's answer to each query."""
    return [float(np.abs(generator.answer(state, q) - answer(q, rows) / len(rows)).mean()) for q in queries]
