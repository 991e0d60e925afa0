"""What a run chose to measure and why, in sentences: for the certificate and the report. Released values only."""

import math
from statistics import median

from sundog.domain.linked.views import LinkedSchema
from sundog.estimate.pairs.determined import TOLERANCE, dependencies
from sundog.estimate.repeats import without_repeats
from sundog.queries import Joined, Marginal
from sundog.released import Measurement, Released
from sundog.released.per_view import of_view

MEAN_ABSOLUTE = math.sqrt(2 / math.pi)
"""The mean absolute value of a normal variable, in standard deviations."""
MOST_NAMED = 5
"""Wider tables are named up to this many."""


def choices(released: Released) -> tuple[str, ...]:
    """A few sentences, in the order in which the choices were made."""
    if isinstance(released.schema, LinkedSchema):
        views = [(view.name, of_view(released, view)) for view in released.schema.views]
        return tuple(f"{name}: {each}" for name, view in views if view.measurements for each in choices(view))
    said = (
        _columns(released),
        _screened(released),
        _pairs(released),
        _left_out(released),
        _residuals(released),
        _wider(released),
        _determined(released),
    )
    return tuple(sentence for sentence in said if sentence)


def _columns(released: Released) -> str:
    found = _marginals(released, ways=1)
    if not found:
        return ""
    names = {name for m in found for name in m.query.columns}
    in_trees = len(found) - len(names)
    trees = " (numbers at several resolutions)" if in_trees else ""
    return (
        f"Measured {len(names)} of {len(released.schema.names)} columns alone{trees}, "
        f"for {_share(released, found)} of the budget."
    )


def _pairs(released: Released) -> str:
    found = _marginals(released, ways=2)
    if not found:
        return ""
    there = math.comb(len(released.schema.names), 2)
    tables = without_repeats(found)
    measured = {m.query.columns for m in tables}
    coarse = sum(_coarse(m, released) for m in tables)
    coarsely = f", {coarse} of them coarsely" if coarse else ""
    errors = [_noise(m, released.rows) for m in tables]
    return (
        f"Measured {len(measured)} of {there} pairs of columns{coarsely}, for {_share(released, found)} of the budget; "
        f"noise alone moves {_percent(median(errors), 1)} of the rows of a measured table (median; at most {_percent(max(errors), 1)}), "
        f"before the tables are cleaned with each other."
    )


def _screened(released: Released) -> str:
    """How many pairs were looked at, where some were chosen first."""
    if not released.scores or not any(payment.mechanism == "exponential" for payment in released.payments):
        return ""
    looked = len({query.columns for query in released.scores[0].candidates})
    return (
        f"Chose privately {looked} of {math.comb(len(released.schema.names), 2)} pairs of columns to look at: those in which "
        f"the lower and upper halves of both columns agree most."
    )


def _left_out(released: Released) -> str:
    """What is known of scored pairs that were not measured."""
    if not released.scores:
        return ""
    scores = released.scores[0]
    measured = {m.query.columns for m in _marginals(released, ways=2)}
    left: dict[tuple[str, ...], float] = {}
    for query, value in zip(scores.candidates, scores.values, strict=True):
        if query.columns not in measured:
            left[query.columns] = max(left.get(query.columns, 0.0), float(value))
    if not left:
        return "No scored pair was left out."
    most = max(left.values()) / (2 * max(released.rows, 1))
    return (
        f"Left out {len(left)} pairs: by their noisy scores at most {_percent(max(most, 0.0), 1)} of the rows of any of them depart "
        f"from independence, chance included: less than measuring them would have cost the others."
    )


def _residuals(released: Released) -> str:
    """What was measured of numbers to predict beyond the number that they follow."""
    found = [m for m in released.measurements if isinstance(m.query, Joined)]
    if not found:
        return ""
    pairs = dict.fromkeys(m.query.columns[:2] for m in found)
    names = "; ".join(" and ".join(pair) for pair in pairs)
    return (
        f"Measured {len(found)} tables of how far two columns lie from what is usual for them ({names}), each by another column, for "
        f"{_share(released, found)} of the budget."
    )


def _wider(released: Released) -> str:
    """What was measured of three and more columns."""
    found = [m for m in released.measurements if isinstance(m.query, Marginal) and len(m.query.axes) > 2]
    if not found:
        return ""
    names = "; ".join(" x ".join(m.query.columns) for m in found[:MOST_NAMED])
    more = f" and {len(found) - MOST_NAMED} more" if len(found) > MOST_NAMED else ""
    return f"Measured {len(found)} tables of three and more columns, for {_share(released, found)} of the budget: {names}{more}."


def _determined(released: Released) -> str:
    """Which columns follow from others."""
    found = [f"{each.column.column} from {each.by.column}" for each in dependencies(released)]
    if not found:
        return ""
    return (
        f"Checked by a noisy count of the rows that break it: {', '.join(found)}. Every synthetic row follows it; a rule that at "
        f"least {_percent(TOLERANCE)} of the rows break would have passed once in a thousand times."
    )


def _marginals(released: Released, *, ways: int) -> list[Measurement]:
    return [m for m in released.measurements if isinstance(m.query, Marginal) and len(m.query.axes) == ways]


def _coarse(measurement: Measurement, released: Released) -> bool:
    """Whether the same pair was also scored on finer cells."""
    sizes = [q.size for scores in released.scores for q in scores.candidates if q.columns == measurement.query.columns]
    return bool(sizes) and measurement.query.size < max(sizes)


def _share(released: Released, found: list[Measurement]) -> str:
    receipts = {m.receipt for m in found}
    paid = sum(payment.rho for payment in released.payments if payment.receipt in receipts)
    return _percent(paid / released.guarantee.rho) if released.guarantee.rho else "none"


def _percent(share: float, digits: int = 0) -> str:
    return f"{100 * share:.{digits}f} %"


def _noise(measurement: Measurement, rows: int) -> float:
    """The expected total variation that the noise puts into a table, at most all of it."""
    return min(MEAN_ABSOLUTE * measurement.stddev * measurement.query.size / (2 * max(rows, 1)), 1.0)
