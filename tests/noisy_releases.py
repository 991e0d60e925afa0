"""Fresh noisy releases of a small related table, for tests of estimates."""

import numpy as np

from related_tables import SCHEMA, related
from sundog.domain.axis import Axis
from sundog.domain.unit import PrivacyUnit
from sundog.estimate.hierarchy import hierarchical
from sundog.queries import Marginal, answer
from sundog.released import Guarantee, Measurement, Released

ROWS = related(2000, 1)
A, B, X, Z = (SCHEMA.column(name) for name in "abxz")
QUERIES = (
    *hierarchical(SCHEMA),
    Marginal((Axis.of(X, 10), Axis.whole(A))),
    Marginal((Axis.of(X, 20), Axis.of(Z, 5))),
    Marginal((Axis.whole(B), Axis.of(X, 7))),
    Marginal((Axis.of(X, 7), Axis.whole(B), Axis.whole(A))),
)
STDDEVS = tuple(5.0 + 3 * (k % 3) for k in range(len(QUERIES)))


def release(seed, *, public_rows=None, queries=QUERIES, stddevs=STDDEVS):
    """A release with fresh noise."""
    random = np.random.default_rng(seed)
    parts = []
    for query, stddev in zip(queries, stddevs, strict=True):
        noise = np.rint(random.normal(0, stddev, query.size)).astype(np.int64)
        parts.append(Measurement(query, answer(query, ROWS) + noise, stddev, "small#1"))
    unit = PrivacyUnit("add-remove" if public_rows is None else "replace")
    return Released(SCHEMA, tuple(parts), Guarantee(unit, "gaussian", 0.1), public_rows=public_rows)
