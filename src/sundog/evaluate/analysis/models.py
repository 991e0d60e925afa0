"""The analyses themselves, on encoded rows: estimates with 95 % intervals. Rows with a missing value are left out.

- linear: least squares; intervals from heteroscedasticity-robust standard errors (HC1).
- logistic: maximum likelihood by Newton's method; intervals from the Fisher information.
- t: Welch's difference of means. correlation: Fisher's z. survival: Kaplan and Meier, Greenwood's formula on the log-log
  scale, at given times.

A coefficient that the rows cannot tell (a label that does not occur, two columns that say the same, an outcome without
variation) has no estimate: it is None, never a crash.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from sundog.domain import Categorical, Numeric
from sundog.domain.rows import Rows
from sundog.evaluate.analysis.request import Analysis

NORMAL = 1.959963984540054
STEPS = 50
LARGEST = 30.0
"""A log-odds beyond this is separation: the rows cannot tell how large it is."""

Matrix = Float[np.ndarray, "rows terms"]
Vector = Float[np.ndarray, " rows"]


@dataclass(frozen=True)
class Estimate:
    """One number with its 95 % interval; None where the rows cannot tell."""

    name: str
    value: float | None
    low: float | None = None
    high: float | None = None


def estimates(analysis: Analysis, rows: Rows, *, times: Sequence[float] = ()) -> list[Estimate]:
    """The estimates of an analysis, always the same names in the same order for one schema."""
    kept = _complete(rows, analysis.columns)
    if analysis.kind in ("linear", "logistic"):
        return _regressed(analysis, kept)
    return (
        {"t": _t_test, "correlation": _correlated}[analysis.kind](analysis, kept)
        if analysis.kind != "survival"
        else (_survival(analysis, kept, times))
    )


def values(rows: Rows, name: str) -> Vector:
    """A numeric column in its own units: numbers as they are, dates in days, datetimes in days, times in hours."""
    column = rows.schema.column(name)
    if not isinstance(column, Numeric):
        raise TypeError(f"column {name!r} is not numeric")
    units = rows.column(name).astype(np.float64) + column.lower
    if column.kind == "datetime":
        return units * column.resolution / 86_400
    if column.kind == "time":
        return units * column.resolution / 3_600
    return units / 10.0**column.decimals


def _complete(rows: Rows, names: Sequence[str]) -> Rows:
    kept: Bool[np.ndarray, " rows"] = np.ones(len(rows), dtype=bool)
    for name in names:
        missing = rows.schema.column(name).missing
        if missing is not None:
            kept &= rows.column(name) != missing
    return Rows(rows.schema, tuple(codes[kept] for codes in rows.codes))


def _regressed(analysis: Analysis, rows: Rows) -> list[Estimate]:
    names, design = _design(analysis, rows)
    usable = _independent(design)
    outcome = _outcome(analysis, rows)
    fit = _least_squares if analysis.kind == "linear" else _logistic
    found = fit(design[:, usable], outcome) if len(outcome) > usable.sum() and np.ptp(outcome) > 0 else None
    made, place = [], 0
    for name, used in zip(names, usable, strict=True):
        made.append(_with_interval(name, *(pair[place] for pair in found)) if used and found else Estimate(name, None))
        place += int(used)
    return made[1:]  # the intercept is no finding


def _with_interval(name: str, value: float, error: float) -> Estimate:
    if not np.isfinite(value) or not np.isfinite(error):
        return Estimate(name, None)
    return Estimate(name, float(value), float(value - NORMAL * error), float(value + NORMAL * error))


def _outcome(analysis: Analysis, rows: Rows) -> Vector:
    column = rows.schema.column(analysis.outcome)
    if isinstance(column, Numeric):
        return values(rows, analysis.outcome)
    code = [str(label) for label in column.labels].index(str(analysis.label))
    return (rows.column(analysis.outcome) == code).astype(np.float64)


def _design(analysis: Analysis, rows: Rows) -> tuple[list[str], Matrix]:
    """An intercept, numbers as they are, labels as 0/1 against the schema's first one; products for interactions."""
    names, columns = ["intercept"], [np.ones((len(rows), 1))]
    for term in analysis.terms:
        parts = [_term(rows, name) for name in term]
        label, block = parts[0]
        for more, other in parts[1:]:
            block = (block[:, :, None] * other[:, None, :]).reshape(len(rows), -1)
            label = [f"{a} : {b}" for a in label for b in more]
        names += label
        columns.append(block)
    return names, np.concatenate(columns, axis=1)


def _term(rows: Rows, name: str) -> tuple[list[str], Matrix]:
    column = rows.schema.column(name)
    if isinstance(column, Numeric):
        return [name], values(rows, name)[:, None]
    codes = rows.column(name)
    block = (codes[:, None] == np.arange(1, len(column.labels))[None, :]).astype(np.float64)
    return [f"{name} = {label}" for label in column.labels[1:]], block


def _independent(design: Matrix) -> Bool[np.ndarray, " terms"]:
    """Columns that are no combination of those before them (Gram-Schmidt on the Gram matrix of scaled columns)."""
    scale = np.sqrt((design**2).mean(axis=0)) if len(design) else np.zeros(design.shape[1])
    usable = scale > 0
    scaled = design / np.where(usable, scale, 1.0)
    gram = scaled.T @ scaled / max(len(design), 1)
    kept: list[int] = []
    for k in np.flatnonzero(usable):
        rest = gram[k, k]
        if kept:
            rest -= gram[k, kept] @ np.linalg.solve(gram[np.ix_(kept, kept)], gram[kept, k])
        if rest > 1e-9:
            kept.append(int(k))
    found: Bool[np.ndarray, " terms"] = np.zeros(design.shape[1], dtype=bool)
    found[kept] = True
    return found


def _least_squares(design: Matrix, outcome: Vector) -> tuple[Vector, Vector]:
    scale = np.sqrt((design**2).mean(axis=0))
    scaled = design / scale
    inverse = np.linalg.inv(scaled.T @ scaled)
    coefficients = inverse @ (scaled.T @ outcome)
    residual = outcome - scaled @ coefficients
    meat = (scaled * residual[:, None] ** 2).T @ scaled
    correction = len(outcome) / (len(outcome) - design.shape[1])
    errors = np.sqrt(np.maximum(np.diag(inverse @ meat @ inverse) * correction, 0.0))  # rounding may go below zero
    return coefficients / scale, errors / scale


def _logistic(design: Matrix, outcome: Vector) -> tuple[Vector, Vector]:
    """Newton's method with halved steps; a coefficient that separates the outcome is NaN."""
    from scipy.special import expit

    scale = np.sqrt((design**2).mean(axis=0))
    scaled = design / scale
    beta = np.zeros(design.shape[1])
    best = _log_likelihood(scaled @ beta, outcome)
    for _ in range(STEPS):
        chance = expit(scaled @ beta)
        information = (scaled * (chance * (1 - chance))[:, None]).T @ scaled
        step = np.linalg.lstsq(information, scaled.T @ (outcome - chance), rcond=None)[0]
        size = 1.0
        while _log_likelihood(scaled @ (beta + size * step), outcome) < best and size > 1e-6:
            size /= 2
        beta = beta + size * step
        best = _log_likelihood(scaled @ beta, outcome)
        if np.abs(size * step).max() < 1e-8:
            break
    errors = np.sqrt(np.maximum(np.diag(np.linalg.pinv(information)), 0.0))
    separated = np.abs(beta) > LARGEST
    return np.where(separated, np.nan, beta) / scale, errors / scale


def _log_likelihood(scores: Vector, outcome: Vector) -> float:
    return float(np.sum(outcome * scores - np.logaddexp(0, scores)))


def _t_test(analysis: Analysis, rows: Rows) -> list[Estimate]:
    """The mean within each label less that within the first."""
    group = analysis.terms[0][0]
    column, codes, number = rows.schema.column(group), rows.column(group), values(rows, analysis.outcome)
    if not isinstance(column, Categorical):
        raise TypeError(f"column {group!r} has no labels")
    sides = [number[codes == code] for code in range(len(column.labels))]
    made = []
    for label, side in zip(column.labels[1:], sides[1:], strict=True):
        name = f"{label} less {column.labels[0]}"
        if min(len(side), len(sides[0])) < 2:
            made.append(Estimate(name, None))
            continue
        error = np.sqrt(side.var(ddof=1) / len(side) + sides[0].var(ddof=1) / len(sides[0]))
        made.append(_with_interval(name, side.mean() - sides[0].mean(), error))
    return made


def _correlated(analysis: Analysis, rows: Rows) -> list[Estimate]:
    first, second = values(rows, analysis.outcome), values(rows, analysis.terms[0][0])
    if len(rows) < 4 or np.ptp(first) == 0 or np.ptp(second) == 0:
        return [Estimate("correlation", None)]
    found = float(np.clip(np.corrcoef(first, second)[0, 1], -1 + 1e-12, 1 - 1e-12))
    half = NORMAL / np.sqrt(len(rows) - 3)
    low, high = (float(np.tanh(np.arctanh(found) + side * half)) for side in (-1, 1))
    return [Estimate("correlation", found, low, high)]


def _survival(analysis: Analysis, rows: Rows, times: Sequence[float]) -> list[Estimate]:
    """The share that survives each time; by group where one is named."""
    event = analysis.terms[0][0]
    happened: Bool[np.ndarray, " rows"] = np.equal(rows.column(event), len(rows.schema.column(event).labels) - 1)  # type: ignore[union-attr]
    lasted = values(rows, analysis.outcome)
    if len(analysis.terms) == 1:
        return _curve("survival", lasted, happened, times)
    group = rows.schema.column(analysis.terms[1][0])
    codes: Int[np.ndarray, " rows"] = rows.column(group.name)
    made = []
    for code, label in enumerate(group.labels):  # type: ignore[union-attr]
        made += _curve(f"{group.name} = {label}", lasted[codes == code], happened[codes == code], times)
    return made


def _curve(name: str, lasted: Vector, happened: Bool[np.ndarray, " rows"], times: Sequence[float]) -> list[Estimate]:
    order = np.unique(lasted[happened])
    at_risk = len(lasted) - np.searchsorted(np.sort(lasted), order)
    deaths = np.array([np.sum(happened & (lasted == time)) for time in order], dtype=np.float64)
    made = []
    for time in times:
        upto = order <= time
        share = float(np.prod(1 - deaths[upto] / at_risk[upto]))
        spread = float(np.sum(deaths[upto] / np.maximum(at_risk[upto] * (at_risk[upto] - deaths[upto]), 1)))
        label = f"{name} at {time:g}"
        if not len(lasted) or not 0 < share < 1:
            made.append(Estimate(label, share if len(lasted) else None))
            continue
        half = NORMAL * np.sqrt(spread) / abs(np.log(share))
        made.append(Estimate(label, share, share ** float(np.exp(half)), share ** float(np.exp(-half))))
    return made
