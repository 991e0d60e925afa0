"""Small supports for the solvers of adjust, and rows whose moments are easy to see. Importable as `adjust.tiny_supports`."""

import numpy as np

from sundog.domain import Schema
from sundog.domain.rows import Rows
from sundog.postprocess.support import Support

FIELDS = [
    {"name": "x", "type": "integer", "constraints": {"minimum": 0, "maximum": 10, "required": True}},
    {"name": "y", "type": "integer", "constraints": {"minimum": 0, "maximum": 10}},
    {"name": "g", "type": "string", "categories": ["a", "b", "c"]},
    {"name": "t", "type": "boolean", "constraints": {"required": True}},
]
DOCUMENT = {"name": "toy", "targets": ["t"], "fields": FIELDS}
SCHEMA = Schema.from_json(DOCUMENT)


def support(seed, *, points, measures):
    """Random vectors with random base shares."""
    random = np.random.default_rng(seed)
    shares = random.dirichlet(np.full(points, 2.0))
    return Support(random.uniform(-0.5, 0.5, (points, measures)), np.log(shares), np.arange(points))


def inside(made, seed):
    """A target that some distribution on the points has, well inside."""
    return np.random.default_rng(seed).dirichlet(np.full(len(made.base), 3.0)) @ made.vectors


def table(count, *, seed=0, slope=0.0):
    """A table of every kind; y follows x as much as the slope says, with missing values in y and g."""
    random = np.random.default_rng(seed)
    x = random.integers(0, 11, count)
    y = np.clip(np.round(slope * x + (1 - slope) * random.integers(0, 11, count)), 0, 10)
    g, t = random.integers(0, 4, count), random.random(count) < 0.2 + 0.05 * x
    return {
        "x": x.tolist(),
        "y": [None if k % 11 == 0 else int(value) for k, value in enumerate(y)],
        "g": [[*"abc", None][code] for code in g],
        "t": t.tolist(),
    }


def rows(*codes, weights=None):
    """Rows of (x, y, g, t) codes."""
    columns = tuple(np.array(column) for column in zip(*codes, strict=True))
    return Rows(SCHEMA, columns, None if weights is None else np.array(weights, dtype=float))
