"""The tables that independent columns would have, from their one-way measurements. Free: released values only."""

from collections.abc import Iterator, Sequence

import numpy as np
from jaxtyping import Float

from sundog.domain.axis import Axis
from sundog.estimate.bins import leaves_of
from sundog.queries import Query
from sundog.released import Released


def independent(queries: Sequence[Query], released: Released) -> Iterator[Float[np.ndarray, " cells"]]:
    """The tables of independent columns, in rows, one by one: of very many, all at once would take the memory."""
    leaves, rows = leaves_of(released), float(released.rows)
    shares: dict[Axis, Float[np.ndarray, " cells"]] = {}
    for query in queries:
        table = np.array([rows])
        for axis in query.axes:  # type: ignore[attr-defined]
            if axis not in shares:
                shares[axis] = leaves[axis.column].shares(axis)
            table = (table[:, None] * shares[axis]).ravel()
        yield table
