"""Both sides of an analysis, and how far they agree.

    overlap = 1/2 (shared length / length of the real interval + shared length / length of the synthetic one)

(Karr et al. 2006): 1 where the intervals are the same, 0 where they do not meet. Signs agree where both estimates have the
same one. A conclusion is kept where, beside that, both intervals leave out zero or both hold it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sundog.domain.rows import Rows
from sundog.evaluate.analysis.models import Estimate, estimates, values
from sundog.evaluate.analysis.request import Analysis

QUARTILES = (0.25, 0.5, 0.75)


@dataclass(frozen=True)
class Side:
    """One estimate on real and on synthetic rows."""

    real: Estimate
    synthetic: Estimate

    @property
    def overlap(self) -> float | None:
        """The overlap of the intervals; None where one side has none."""
        a, b = self.real, self.synthetic
        if a.low is None or a.high is None or b.low is None or b.high is None:
            return None
        shared = max(0.0, min(a.high, b.high) - max(a.low, b.low))
        lengths = (a.high - a.low, b.high - b.low)
        if min(lengths) <= 0:
            return 1.0 if a.value == b.value else 0.0
        return 0.5 * (shared / lengths[0] + shared / lengths[1])

    @property
    def same_sign(self) -> bool | None:
        """Whether both estimates have the same sign."""
        if self.real.value is None or self.synthetic.value is None:
            return None
        return bool(np.sign(self.real.value) == np.sign(self.synthetic.value))

    @property
    def same_conclusion(self) -> bool | None:
        """Whether an analyst would have concluded the same: the same sign, or both uncertain."""
        if self.overlap is None:
            return None
        uncertain = [bool(each.low <= 0 <= each.high) for each in (self.real, self.synthetic)]  # type: ignore[operator]
        return all(uncertain) or (not any(uncertain) and bool(self.same_sign))


@dataclass(frozen=True)
class Parity:
    """An analysis on both tables."""

    analysis: Analysis
    sides: tuple[Side, ...]

    @property
    def overlap(self) -> float | None:
        """The mean overlap of the intervals; an estimate that only the real rows have counts as 0."""
        known = [side.overlap or 0.0 for side in self.sides if side.real.low is not None]
        return float(np.mean(known)) if known else None

    @property
    def conclusions(self) -> tuple[int, int]:
        """How many conclusions are kept, and of how many."""
        known = [bool(side.same_conclusion) for side in self.sides if side.real.low is not None]
        return sum(known), len(known)

    def to_json(self) -> dict[str, Any]:
        """Everything, as plain JSON."""
        kept, of = self.conclusions
        return {
            "analysis": self.analysis.text,
            "kind": self.analysis.kind,
            "overlap": self.overlap,
            "conclusionsKept": kept,
            "conclusions": of,
            "estimates": [
                {
                    "name": side.real.name,
                    "real": _numbers(side.real),
                    "synthetic": _numbers(side.synthetic),
                    "overlap": side.overlap,
                    "sameSign": side.same_sign,
                }
                for side in self.sides
            ],
        }


def parity_of(analyses: Sequence[Analysis], real: Rows, synthetic: Rows) -> tuple[Parity, ...]:
    """Every analysis on both tables."""
    return tuple(_parity(analysis, real, synthetic) for analysis in analyses)


def _parity(analysis: Analysis, real: Rows, synthetic: Rows) -> Parity:
    times = _times(analysis, real)
    both = [estimates(analysis, rows, times=times) for rows in (real, synthetic)]
    return Parity(analysis, tuple(Side(one, other) for one, other in zip(*both, strict=True)))


def _times(analysis: Analysis, real: Rows) -> list[float]:
    """The quartiles of the real times."""
    if analysis.kind != "survival" or not len(real):
        return []
    missing = real.schema.column(analysis.outcome).missing
    lasted = values(real, analysis.outcome)
    known = lasted[real.column(analysis.outcome) != missing] if missing is not None else lasted
    return sorted({float(time) for time in np.quantile(known, QUARTILES, method="lower")}) if len(known) else []


def _numbers(estimate: Estimate) -> dict[str, float | None]:
    return {"estimate": estimate.value, "low": estimate.low, "high": estimate.high}
