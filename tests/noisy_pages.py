"""A release of known measurements, for tests of pages."""

from itertools import combinations

import numpy as np

from related_tables import SCHEMA
from sundog.domain.unit import PrivacyUnit
from sundog.queries import Marginal, answer
from sundog.released import Guarantee, Measurement, Released

EVIL = [
    "<script>alert(1)</script>",
    "</script><b>",
    '"',
    "'",
    "&amp;",
    "line\u2028end",
    "x" * 200,
    "žluť\x00",
    "\\u003c",
]
"""Labels that would break a careless page."""


def released(rows, *, ways=(1, 2), stddev=5.0, seed=0, schema=SCHEMA, payments=(), but=()):
    """All marginals of these many columns with noise, except the ones over `but`."""
    random = np.random.default_rng(seed)
    wanted = [names for k in ways for names in combinations(schema.names, k) if names not in but]
    queries = [Marginal.of(schema, *names) for names in wanted]
    measured = tuple(
        Measurement(q, answer(q, rows) + np.rint(random.normal(0, stddev, q.size)).astype(np.int64), stddev, "small#1")
        for q in queries
    )
    guarantee = Guarantee(PrivacyUnit(), "gaussian", 0.02, epsilon=1.0, delta=1e-9)
    return Released(schema, measured, guarantee, payments=tuple(payments), dataset=schema.name or "")
