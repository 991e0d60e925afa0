"""Match measured answers: denoise, tilt, check, resample. A function of synthetic rows and released measurements alone.

The denoised answers still hold noise, and following it exactly would throw most rows away for nothing. So the tilting
weighs both: misfit in standard deviations of the noise against KL divergence, the table counting as much as `trust` rows
of evidence,

    min over p of   |(mean(p) - a) / stddev|^2 / 2  +  trust KL(p || synthetic).

A table drawn from the truth with this many rows would be off by a divergence of about K / (2 trust) in K measures. So `trust`
is at most `TRUST`, and less where the divergence that is found shows that the table deserves less.

Its optimum is the distribution closest in KL whose measures lie within gamma of the final target, which lies between the
denoised answers and what the rows have: near the former where the noise is small, near the latter where it is large.

With `trust` off there is no such weighing: KL(p || synthetic) is least subject to |mean(p) - a| <= gamma, the paper's problem (3).
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float
from threadpoolctl import threadpool_limits

from sundog.domain.rows import Rows
from sundog.errors import UserError
from sundog.postprocess.columns import column_estimates
from sundog.postprocess.denoise import Noisy, denoised
from sundog.postprocess.matching import Matching
from sundog.postprocess.resample import drawn, row_weights, taken
from sundog.postprocess.support import Support, support_of
from sundog.postprocess.tilt import Tilt, tilt
from sundog.queries import Moments, Query
from sundog.random.keys import Key, split
from sundog.released import Measurement

TRUST = 50.0
"""As how many rows of evidence the synthetic table counts, at most, against the measured answers."""
TOO_FAR = 6.0
"""An answer further than this many standard deviations from what the support can reach counts as not met."""


class NotMet(UserError):
    """The synthetic rows cannot meet the measures; nothing was changed."""

    released: Any = None
    """What was measured, and paid for, before this was found out."""


@dataclass(frozen=True, eq=False)
class Match:
    """The adjusted rows, and how well the measures are met: largest errors before, of the new weights, of the rows."""

    rows: Rows
    tilt: Tilt
    moved: float
    before: float
    after: float
    made: float

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
            "largestErrorResampled": self.made,
        }


def check_rows_present(rows: Rows) -> None:
    """Refuse a table without rows, or without any that counts."""
    if not len(rows) or (rows.weights is not None and not rows.weights.any()):
        raise UserError(
            "adjust: the synthetic table has no rows (or only such of weight 0), so nothing can be matched."
        )


@contextmanager
def one_thread() -> Iterator[None]:
    """One thread: several on a busy machine wait for each other, for four times the CPU time."""
    with threadpool_limits(limits=1):
        yield


@one_thread()
def match(
    key: Key,
    rows: Rows,
    *,
    measurements: Sequence[Measurement],
    total: float,
    total_stddev: float = 0.0,
    known: Sequence[Measurement] = (),
    matching: Matching | None = None,
) -> Match:
    """Rows reweighted to match noisy answers; `total` is the number of real rows, with the noise it has (0: public).

    `known` are other measurements of the same table; where they ask about the same single columns, they count as well.
    Refuses, and changes nothing, where the rows cannot meet the answers, unless `closest` asks for the nearest.
    """
    check_rows_present(rows)
    how = matching or Matching()
    measurements = column_estimates(measurements, rows.schema, known=known, rows=total)
    support = support_of(rows, [m.query for m in measurements])
    answers = np.concatenate([m.values / m.query.scale / total for m in measurements])
    stddev = np.concatenate([np.full(m.query.size, m.stddev / m.query.scale / total) for m in measurements])
    noisy = Noisy(answers, stddev, total_stddev / total)
    reachable = denoised(support, noisy, laplace=all(m.noise == "laplace" for m in measurements))
    missed = np.abs(reachable.mass * reachable.mean - answers)
    if not how.closest:
        _refuse_unmet(missed, stddev, how.gamma, [m.query for m in measurements])
    weigh = _weighed if how.trust == "auto" else _as_measured
    slack, solved = weigh(support, reachable.mean, stddev, gamma=how.gamma)
    target = reachable.mean + slack * solved.multipliers
    moved = float(np.abs(reachable.mass * target - answers).max())
    return _made(key, rows, support=support, solved=solved, target=target, moved=moved, stddev=stddev, how=how)


def _as_measured(
    support: Support, mean: Float[np.ndarray, " measures"], stddev: Float[np.ndarray, " measures"], *, gamma: float
) -> tuple[Float[np.ndarray, " measures"], Tilt]:
    """The paper's problem (3): the denoised answers are met to within gamma, whatever their noise."""
    return np.zeros_like(stddev), tilt(support, mean, gamma=gamma)


def _weighed(
    support: Support, mean: Float[np.ndarray, " measures"], stddev: Float[np.ndarray, " measures"], *, gamma: float
) -> tuple[Float[np.ndarray, " measures"], Tilt]:
    """The tilt with as much slack as the table deserves trust; also the slack."""
    slack = TRUST * stddev**2
    solved = tilt(support, mean, gamma=gamma, slack=slack)
    deserved = max(len(mean) / (2 * solved.divergence), 1.0) if solved.divergence > 0 else TRUST
    if deserved >= TRUST:
        return slack, solved
    slack = deserved * stddev**2
    return slack, tilt(support, mean, gamma=gamma, slack=slack, start=solved.multipliers)


def _made(
    key: Key,
    rows: Rows,
    *,
    support: Support,
    solved: Tilt,
    target: Float[np.ndarray, " measures"],
    moved: float,
    stddev: Float[np.ndarray, " measures"],
    how: Matching,
) -> Match:
    """The rows drawn, or weighted, by the new shares, with the errors that they have."""
    weights = row_weights(support, solved.shares, rows)
    if how.resample == "weights":
        made, final = Rows(rows.schema, rows.codes, weights * len(rows)), weights
    else:
        first, second = split(key, 2)
        copies = drawn(
            first,
            rows,
            support,
            weights=weights,
            order=(support.vectors @ solved.multipliers)[support.point],
            scale=stddev,
            count=how.rows or len(rows),
            multinomial=how.resample == "multinomial",
        )
        made, final = taken(second, rows, copies), copies
    errors = [
        float(np.abs(support.mean(shares) - target).max())
        for shares in (np.exp(support.base), solved.shares, _shares(support, final))
    ]
    return Match(made, solved, moved, *errors)


def _shares(support: Support, weights: Any) -> Float[np.ndarray, " points"]:
    """The points' shares of rows with these weights."""
    sums = np.bincount(support.point, weights=weights, minlength=len(support.base))
    return sums / sums.sum()


def _refuse_unmet(
    missed: Float[np.ndarray, " k"], stddev: Float[np.ndarray, " k"], gamma: float, queries: Sequence[Query]
) -> None:
    """Say which measure cannot be met, and how far the rows are from it."""
    excess = missed - gamma - TOO_FAR * stddev
    worst = int(np.argmax(excess))
    if excess[worst] <= 0:
        return
    others = int((excess > 0).sum()) - 1
    raise NotMet(
        f"adjust: the synthetic rows cannot meet {_named(worst, queries)}: the closest they allow is {missed[worst]:.3g} "
        f"away ({missed[worst] / stddev[worst]:.1f} standard deviations of its noise)"
        + (f", and {others} more of {len(missed)} answers are out of reach" if others else "")
        + ". Nothing was changed. Use more or other synthetic rows, fewer measures, or ask for the closest (--closest)."
    )


def _named(place: int, queries: Sequence[Query]) -> str:
    """One answer of all, in words."""
    for query in queries:
        if place < query.size:
            break
        place -= query.size
    if isinstance(query, Moments):
        return query.name_of(place)
    return f"{query.describe()!r}, answer {place + 1} of {query.size}"
