"""Post-processing of noisy counts that every generator may use: it looks at released values only, so it is free."""

import numpy as np
from jaxtyping import Float


def nonnegative(values: Float[np.ndarray, " cells"], total: float) -> Float[np.ndarray, " cells"]:
    """The closest point (least squares) with no negative entry and the given sum.

    >>> nonnegative(np.array([5.0, 1.0, -3.0]), 4.0).tolist()
    [4.0, 0.0, 0.0]
    """
    falling = np.sort(values)[::-1]
    shifts = (np.cumsum(falling) - total) / np.arange(1, len(values) + 1)
    kept = np.flatnonzero(falling > shifts)
    shift = shifts[kept[-1]] if len(kept) else shifts[-1]
    return np.maximum(values - shift, 0.0)
