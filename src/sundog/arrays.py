"""Arrays from users and files, checked where they enter: compiled kernels (Numba) check no bounds themselves.

An index beyond an array would read, or write, foreign memory there. So every array of whole numbers that can reach a kernel
passes here first: its shape, that it holds whole numbers (nothing is rounded), and between which bounds they lie.
"""

from typing import Any

import numpy as np
from jaxtyping import Int

from sundog.errors import UserError

MOST = 2**63 - 1
"""What 64 bits hold on either side of zero; the absolute value of -2^63 would overflow."""


def whole_array(
    name: str, given: Any, *, dimensions: int, least: int = -MOST, most: int = MOST
) -> Int[np.ndarray, "..."]:
    """The numbers as a contiguous int64 array; whatever is not whole, or out of bounds, is refused."""
    try:
        found = np.asarray(given)
    except (ValueError, OverflowError):  # lists of different lengths
        raise UserError(f"{name}: its lists have different lengths; give as many numbers in each.") from None
    if found.ndim != dimensions or (found.size and found.dtype.kind not in "iu"):
        raise UserError(f"{name}: it must be {_SHAPES[dimensions]} of whole numbers of at most 64 bits.")
    if found.size and (int(found.min()) < least or int(found.max()) > most):
        raise UserError(f"{name}: a number lies outside {least}..{most}.")
    return np.ascontiguousarray(found, dtype=np.int64)


_SHAPES = {1: "a list", 2: "a list of lists"}
