"""Match measured answers: denoise, tilt, check, resample. A function of synthetic rows and released measurements alone.

The denoised answers still hold noise, and following it exactly would throw most rows away for nothing. So the tilting
weighs both: misfit in standard deviations of the noise against KL divergence, the table counting as much as `trust` rows
of evidence,

    min over p of   |(mean(p) - a) / stddev|^2 / 2  +  |(columns(p) - c) / stddev|^2 / 2  +  trust KL(p || synthetic).

A table drawn from the truth with this many rows would be off by a divergence of about K / (2 trust) in K measures. So the
divergence that a first solution finds, with little trust, tells how much of it the table deserves.

The second term holds single columns: c is what earlier measurements of the same table say of those that are not among the
measures. Without it the rows would follow the noise of a few measures in whatever columns go with them.

Its optimum is the distribution closest in KL whose measures lie within gamma of the final target, which lies between the
denoised answers and what the rows have: near the former where the noise is small, near the latter where it is large.

With `trust` off there is no such weighing: KL(p || synthetic) is least subject to |mean(p) - a| <= gamma, the paper's problem (3).
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Float
from threadpoolctl import threadpool_limits

from sundog.domain.rows import Rows
from sundog.errors import UserError
from sundog.postprocess.columns import column_estimates, held_columns
from sundog.postprocess.denoise import Noisy, denoised
from sundog.postprocess.matching import Matching
from sundog.postprocess.resample import drawn, row_weights, taken
from sundog.postprocess.support import Support, support_of
from sundog.postprocess.tilt import Tilt, tilt
from sundog.queries import Moments, Query
from sundog.queries.marginal import one_way_axis
from sundog.random.keys import Key, split
from sundog.released import Measurement

FIRST_TRUST, MOST_TRUST = 50.0, 2000.0
"""As how many rows of evidence the synthetic table counts against the measured answers: at first, and at most."""
ROUGH = 1e-4
"""How precisely the first solution is found, of which only the divergence counts."""
TOO_FAR = 6.0
"""An answer further than this many standard deviations from what the support can reach counts as not met."""
LITTLE_LEFT = 0.1
"""Rows that are worth less than this share of the table's are too few to rest anything else on."""
COLUMNS_FIRST = "; where single columns are far off, adjust to 'columns' first, and the result to the other measures"


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
    columns_alone: bool = False
    """Whether nothing but single columns was measured."""

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

    def notes(self) -> tuple[str, ...]:
        """What whoever uses the rows has to know: that few of them carry nearly all of the weight."""
        share = self.tilt.effective
        if share >= LITTLE_LEFT:
            return ()
        remedy = "" if self.columns_alone else COLUMNS_FIRST
        return (
            f"the adjusted rows are worth {share:.1%} of the table's: it is far from the measures, and few of its rows carry nearly all "
            f"of the weight, so that whatever was not measured rests on these few. Use rows that are closer{remedy}.",
        )


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

    `known` are other measurements of the same table; where they ask about single columns, they count as well.
    Refuses, and changes nothing, where the rows cannot meet the answers, unless `closest` asks for the nearest.
    """
    check_rows_present(rows)
    how = matching or Matching()
    asked = column_estimates(measurements, rows.schema, known=known, rows=total)
    held = []
    if how.trust == "auto":
        held = held_columns(asked, rows.schema, known=known, rows=total, synthetic=len(rows))
    support = support_of(rows, [m.query for m in (*asked, *held)])
    noisy = Noisy(*_proportions(asked, total), total_stddev / total)
    measures = len(noisy.answers)
    laplace = all(m.noise == "laplace" for m in asked)
    reachable = denoised(support.first(measures), noisy, laplace=laplace)
    missed = np.abs(reachable.mass * reachable.mean - noisy.answers)
    if not how.closest:
        _refuse_unmet(missed, noisy.stddev, how.gamma, [m.query for m in asked])
    columns, columns_stddev = _proportions(held, total)
    wanted = _Wanted(np.append(reachable.mean, columns), np.append(noisy.stddev, columns_stddev), measures)
    weigh = _weighed if how.trust == "auto" else _as_measured
    slack, solved = weigh(support, wanted, gamma=how.gamma)
    target = wanted.mean + slack * solved.multipliers
    moved = float(np.abs(reachable.mass * target[:measures] - noisy.answers).max())
    reached = replace(wanted, mean=target)
    made = _made(key, rows, support=support, solved=solved, reached=reached, moved=moved, how=how)
    return replace(made, columns_alone=all(one_way_axis(m.query) is not None for m in asked))


@dataclass(frozen=True, eq=False)
class _Wanted:
    """Means to meet and their noise: first the measures, then the columns that are only held."""

    mean: Float[np.ndarray, " all"]
    stddev: Float[np.ndarray, " all"]
    measures: int

    def gamma(self, gamma: float) -> Float[np.ndarray, " all"]:
        """How far each may be missed for nothing: a measure by gamma, a held column by nothing."""
        return np.where(np.arange(len(self.mean)) < self.measures, gamma, 0.0)


def _proportions(
    measurements: Sequence[Measurement], total: float
) -> tuple[Float[np.ndarray, " cells"], Float[np.ndarray, " cells"]]:
    """All answers relative to the number of rows, and their noise."""
    answers = [m.values / m.query.scale / total for m in measurements]
    stddev = [np.full(m.query.size, m.stddev / m.query.scale / total) for m in measurements]
    return np.concatenate([*answers, np.empty(0)]), np.concatenate([*stddev, np.empty(0)])


def _as_measured(support: Support, wanted: _Wanted, *, gamma: float) -> tuple[Float[np.ndarray, " all"], Tilt]:
    """The paper's problem (3): the denoised answers are met to within gamma, whatever their noise."""
    return np.zeros_like(wanted.stddev), tilt(support, wanted.mean, gamma=gamma)


def _weighed(support: Support, wanted: _Wanted, *, gamma: float) -> tuple[Float[np.ndarray, " all"], Tilt]:
    """The tilt with as much slack as the table deserves trust; also the slack."""
    tolerated, variance = wanted.gamma(gamma), wanted.stddev**2
    first = tilt(support, wanted.mean, gamma=tolerated, slack=FIRST_TRUST * variance, tolerance=ROUGH)
    deserved = wanted.measures / (2 * first.divergence) if first.divergence > 0 else MOST_TRUST
    slack = float(np.clip(deserved, 1.0, MOST_TRUST)) * variance
    return slack, tilt(support, wanted.mean, gamma=tolerated, slack=slack, start=first.multipliers)


def _made(
    key: Key,
    rows: Rows,
    *,
    support: Support,
    solved: Tilt,
    reached: _Wanted,
    moved: float,
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
            scale=reached.stddev,
            count=how.rows or len(rows),
            multinomial=how.resample == "multinomial",
        )
        made, final = taken(second, rows, copies), copies
    before, after, resampled = (
        float(np.abs((support.mean(shares) - reached.mean)[: reached.measures]).max())
        for shares in (np.exp(support.base), solved.shares, _shares(support, final))
    )
    return Match(made, solved, moved, before, after, resampled)


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
