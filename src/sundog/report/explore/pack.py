"""Whole numbers in few bytes of text: planes of bytes, deflated, in base64. The page's own script takes them apart again.

A segment is an array of numbers from 0 to 2^53. Each number takes as many bytes as the largest of them needs; all lowest
bytes stand together, then all second ones, which deflate finds much to repeat in. Sorted numbers are stored as differences.
"""

import base64
import zlib
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Int

LEVEL = 6
"""Level 9 takes ten times as long and saves two per cent."""
LARGEST = 2**53
"""Beyond this a script could not tell neighbouring whole numbers apart."""


@dataclass
class Pack:
    """Segments one after the other; `shape` says for each how many bytes a number takes and how many numbers there are."""

    shape: list[tuple[int, int]] = field(default_factory=list)
    _bytes: list[bytes] = field(default_factory=list)

    def add(self, numbers: Int[np.ndarray, " some"]) -> int:
        """Keep an array; its place among the segments."""
        whole = np.asarray(numbers, dtype=np.int64)
        if len(whole) and not (whole.min() >= 0 and whole.max() < LARGEST):
            raise ValueError("a packed number lies between 0 and 2^53")
        width = max(1, (int(whole.max(initial=0)).bit_length() + 7) // 8)
        planes = np.ascontiguousarray(whole.astype("<i8")).view(np.uint8).reshape(-1, 8)[:, :width]
        self._bytes.append(planes.T.tobytes())
        self.shape.append((width, len(whole)))
        return len(self.shape) - 1

    def add_sorted(self, numbers: Int[np.ndarray, " some"]) -> int:
        """Keep numbers that never fall, as differences."""
        return self.add(np.diff(np.asarray(numbers, dtype=np.int64), prepend=0))

    def text(self) -> str:
        """All of it in base64."""
        return base64.b64encode(zlib.compress(b"".join(self._bytes), LEVEL)).decode("ascii")
