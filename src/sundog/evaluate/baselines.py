"""Two tables that every score is read against: how good it could be, and how good anyone could have it for nothing.

The ceiling is a bootstrap of the real rows: as many rows drawn with replacement, so its distance is chance alone. The floor
are independent columns: each column of the real rows in an order of its own, so columns are exact and no relation is left.
Both hold real rows: CONFIDENTIAL, as everything that is computed from them.
"""

import numpy as np

from sundog.domain.rows import Rows
from sundog.random.keys import Key, permutation, split, uniforms

CEILING, FLOOR = "bootstrap of the real rows", "independent columns"


def bootstrap(key: Key, rows: Rows) -> Rows:
    """As many rows, drawn with replacement."""
    chosen = (uniforms(key, len(rows)) * len(rows)).astype(np.int64)
    return _taken(rows, chosen)


def independent_columns(key: Key, rows: Rows) -> Rows:
    """Every column in an order of its own."""
    keys = split(key, len(rows.codes))
    return Rows(rows.schema, tuple(codes[permutation(k, len(rows))] for k, codes in zip(keys, rows.codes, strict=True)))


def halves(key: Key, rows: Rows, *, share: float) -> tuple[Rows, Rows]:
    """A random share of the rows held out for testing, and the others: (others, held out)."""
    order = permutation(key, len(rows))
    count = max(1, round(share * len(rows)))
    return _taken(rows, np.sort(order[count:])), _taken(rows, np.sort(order[:count]))


def _taken(rows: Rows, chosen: np.ndarray) -> Rows:
    return Rows(rows.schema, tuple(codes[chosen] for codes in rows.codes))
