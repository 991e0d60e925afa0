"""Match measured answers: denoise, tilt, check, resample. A function of synthetic rows and released measurements alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from sundog.adjust.denoise import MANY, least_absolute, least_squares
from sundog.adjust.resample import Resampling, resampled, row_weights
from sundog.adjust.support import Support, support_of, unit_of
from sundog.adjust.tilt import Tilt, tilt
from sundog.errors import UserError
from sundog.keys import Key
from sundog.released import Measurement
from sundog.rows import Rows

GAMMA = 1e-5
INSIDE = 1e-3
"""An answer that the support cannot reach is taken this far from the edge towards what the rows have now."""
TOO_FAR = 6.0
"""An answer further than so many standard deviations from what the support can reach counts as not met."""


@dataclass(frozen=True, eq=False)
class Match:
    """The adjusted rows, and how well the measures are met."""

    rows: Rows
    tilt: Tilt
    moved: float
    before: float
    after: float

    def describe(self) -> dict[str, Any]:
        """The figures, for reports."""
        return {
            "kktResidual": self.tilt.residual,
            "violation": self.tilt.violation,
            "effectiveSampleShare": self.tilt.effective,
            "klDivergence": self.tilt.divergence,
            "newtonSteps": self.tilt.steps,
            "denoisingMoved": self.moved,
            "largestErrorBefore": self.before,
            "largestErrorAfter": self.after,
        }


def match(
    key: Key,
    rows: Rows,
    *,
    measurements: Sequence[Measurement],
    total: float,
    gamma: float = GAMMA,
    how: Resampling = "systematic",
    count: int | None = None,
    closest: bool = False,
) -> Match:
    """Rows reweighted to match noisy answers; `total` is the (noisy or public) number of real rows.

    Refuses, and changes nothing, where the rows cannot meet the answers, unless `closest` asks for the nearest.
    """
    if not len(rows):
        raise UserError("adjust: the synthetic table has no rows, so nothing can be matched.")
    if gamma < 0 or not np.isfinite(gamma):
        raise UserError(f"gamma: found {gamma!r}; it must be 0 or more.")
    support = support_of(rows, [m.query for m in measurements])
    answers = np.concatenate([m.values / unit_of(m.query) / total for m in measurements])
    stddev = np.concatenate([np.full(m.query.size, m.stddev / unit_of(m.query) / total) for m in measurements])
    present = support.mean(np.exp(support.base))
    if len(answers) > MANY:
        reachable, solved = answers, tilt(support, answers, gamma=gamma, slack=stddev**2)
        missed = np.abs(support.mean(solved.shares) - answers)
    else:
        laplace = all(m.noise == "laplace" for m in measurements)
        reachable = (least_absolute if laplace else least_squares)(support, answers, np.maximum(stddev, 1e-12))
        missed = np.abs(reachable - answers)
        edge = missed.max() > 1e-9
        solved = tilt(support, reachable + INSIDE * edge * (present - reachable), gamma=gamma)
    if not closest:
        _refuse_unmet(missed, stddev, gamma, measurements)
    return _made(key, rows, support=support, solved=solved, target=reachable, missed=missed, how=how, count=count)


def _made(
    key: Key,
    rows: Rows,
    *,
    support: Support,
    solved: Tilt,
    target: Float[np.ndarray, " measures"],
    missed: Float[np.ndarray, " measures"],
    how: Resampling,
    count: int | None,
) -> Match:
    weights = row_weights(support, solved.shares, rows)
    order = (support.vectors @ solved.multipliers)[support.point]
    made = resampled(key, rows, weights=weights, order=order, count=count or len(rows), how=how)
    new = np.bincount(support.point, weights=weights, minlength=len(support.base))
    before = float(np.abs(support.mean(np.exp(support.base)) - target).max())
    after = float(np.abs(support.mean(new / new.sum()) - target).max())
    return Match(made, solved, float(missed.max()), before, after)


def _refuse_unmet(
    missed: Float[np.ndarray, " k"], stddev: Float[np.ndarray, " k"], gamma: float, measurements: Sequence[Measurement]
) -> None:
    """Say which measure cannot be met, and how far the rows are from it."""
    excess = missed - gamma - TOO_FAR * stddev
    worst = int(np.argmax(excess))
    if excess[worst] <= 0:
        return
    place = worst
    for measurement in measurements:
        if place < measurement.query.size:
            break
        place -= measurement.query.size
    raise UserError(
        f"adjust: the synthetic rows cannot meet {measurement.query.describe()!r}: answer {place + 1} of "
        f"{measurement.query.size} stays {missed[worst]:.3g} away ({missed[worst] / max(stddev[worst], 1e-300):.1f} "
        "standard deviations of its noise). Nothing was changed. Use more or other synthetic rows, fewer measures, or "
        "ask for the closest that they allow (--closest)."
    )
