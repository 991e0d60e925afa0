"""Where a rising number of rows reaches what a quantile asks for: the value, and all values that noise does not rule out.

Woodruff (1952): F(t) - p n is estimated with its variance at the ends of pieces of codes; the interval holds all t at which it is no
more than z standard deviations from zero. Inside a piece of m rows the part u of its codes holds u m of them, with the further
variance u (1 - u) (m + TILT^2 m^2): rows lie in it by chance, and not quite evenly.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from sundog.estimate.question import Numbers
from sundog.estimate.tilt import TILT

POINTS = 8
"""This many codes are tried inside a piece for the ends of an interval."""

Codes = Float[np.ndarray, " items"]


@dataclass(frozen=True, eq=False)
class Rising:
    """Rows up to the end of every piece, less those that the quantile asks for: by cells, rising, with variances."""

    values: Numbers
    variances: Numbers
    begins: Codes
    ends: Codes

    @staticmethod
    def of(values: Numbers, variances: Numbers, *, ends: Codes) -> "Rising":
        """The estimates made to rise; pieces follow each other."""
        low = np.maximum.accumulate(values, axis=1)
        high = np.minimum.accumulate(values[:, ::-1], axis=1)[:, ::-1]
        return Rising((low + high) / 2, variances, np.append(0, ends[:-1] + 1), ends)

    def crossing(self) -> Float[np.ndarray, " cells"]:
        """The first code with enough rows up to it, evenly within a piece."""
        reached = self.values >= 0
        at = np.where(reached.any(axis=1), reached.argmax(axis=1), self.values.shape[1] - 1)
        line = np.arange(len(self.values))
        after = self.values[line, at]
        before = np.where(at > 0, self.values[line, np.maximum(at - 1, 0)], np.minimum(0.0, after))
        part = np.clip(-before / np.maximum(after - before, 1e-12), 0.0, 1.0)
        return np.floor(self.begins[at] + part * (self.ends[at] - self.begins[at]))

    def interval(self, z: float) -> tuple[Float[np.ndarray, " cells"], Float[np.ndarray, " cells"]]:
        """The first and the last code that noise does not rule out."""
        values, variances, codes = self._inside()
        half = z * np.sqrt(variances)
        after = np.minimum(np.append(0, codes[:-1] + 1), codes)
        return _first(values + half >= 0, after), _first(values - half >= 0, codes)

    def _inside(self) -> tuple[Numbers, Numbers, Codes]:
        """The same at POINTS codes of every piece."""
        widths = self.ends - self.begins + 1
        steps = np.ceil(np.arange(1, POINTS + 1) / POINTS * widths[:, None])
        u = steps / widths[:, None]
        start, doubt = (np.pad(each, ((0, 0), (1, 0)), mode="edge")[:, :-1] for each in (self.values, self.variances))
        start[:, 0] = np.minimum(self.values[:, 0], 0.0)
        rows = (self.values - start)[:, :, None]
        values = start[:, :, None] + u * rows
        variances = (
            doubt[:, :, None] + u * (self.variances - doubt)[:, :, None] + u * (1 - u) * (rows + (TILT * rows) ** 2)
        )
        flat = (len(self.values), -1)
        return values.reshape(flat), variances.reshape(flat), (self.begins[:, None] + steps - 1).ravel()


def _first(reached: Numbers, codes: Codes) -> Float[np.ndarray, " cells"]:
    at = np.where(reached.any(axis=1), reached.argmax(axis=1), reached.shape[1] - 1)
    return codes[at].astype(float)
