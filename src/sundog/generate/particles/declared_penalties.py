"""The penalties that the schema's constraints mean for particles: linear constraints softly, protected statistics measured.

A column's value (scaled to [0, 1] by its public bounds) is close to an affine function of its coordinate, exactly so for
equal bins: that line, fitted to the centres of the cells, carries a linear form of values over to one of coordinates. Hard
constraints are then enforced on rows, exactly, by `sundog.postprocess.constraints`; the penalty only leaves it less to repair.
"""

import numpy as np
from jaxtyping import Float

from sundog.domain import Numeric, Schema
from sundog.domain.axis import Axis
from sundog.domain.constraints.kinds import Linear, ProtectedStatistic
from sundog.generate.particles.embedding import Embedding, Place
from sundog.generate.particles.penalties import Bound, Penalty, Protected
from sundog.queries import SigmoidSum
from sundog.released import Released

USUAL_STRENGTH = 1.0
"""The pull towards a linear constraint that declares none."""


def declared_penalties(released: Released, embedding: Embedding) -> tuple[Penalty, ...]:
    """What the released schema's constraints ask of the particles; protected statistics as far as they were measured."""
    found: list[Penalty] = []
    for constraint in released.schema.constraints:
        if isinstance(constraint, Linear) and constraint.strength != 0:
            found.append(_bound(constraint, released.schema, embedding))
        if isinstance(constraint, ProtectedStatistic) and constraint.strength > 0:
            found += _protected(constraint, released, embedding)
    return tuple(found)


def protected_queries(schema: Schema) -> list[SigmoidSum]:
    """The queries that the schema's protected statistics need."""
    return [
        sigmoid_query(constraint) for constraint in schema.constraints if isinstance(constraint, ProtectedStatistic)
    ]


def sigmoid_query(constraint: ProtectedStatistic) -> SigmoidSum:
    """The query whose noisy answer a protected statistic needs."""
    return SigmoidSum(constraint.columns, constraint.weights, constraint.threshold, constraint.sharpness)


def _bound(constraint: Linear, schema: Schema, embedding: Embedding) -> Bound:
    """Coefficient * units <= limit, with units = lower + (steps - 1) * value, divided by the form's largest weight."""
    scales, limit = [], float(constraint.limit)
    for name, coefficient in zip(constraint.columns, constraint.coefficients, strict=True):
        column = schema.column(name)
        assert isinstance(column, Numeric)  # noqa: S101 (the schema has checked it)
        scales.append(float(coefficient) * max(column.steps - 1, 1))
        limit -= float(coefficient) * column.lower
    largest = max(abs(scale) for scale in scales) or 1.0
    weights = [scale / largest for scale in scales]
    coordinates, own, shift = _carried(schema, embedding, constraint.columns, weights)
    strength = USUAL_STRENGTH if constraint.strength is None else constraint.strength
    return Bound(coordinates, own, limit / largest - shift, strength, constraint.equal)


def _protected(constraint: ProtectedStatistic, released: Released, embedding: Embedding) -> list[Penalty]:
    query = sigmoid_query(constraint)
    answers = [m.values[0] / query.scale / released.rows for m in released.measurements if m.query == query]
    coordinates, own, shift = _carried(released.schema, embedding, constraint.columns, constraint.weights)
    threshold = constraint.threshold - shift
    sharpness, strength = constraint.sharpness, constraint.strength
    return [Protected(coordinates, own, threshold, float(a), strength, sharpness) for a in answers]


def _carried(
    schema: Schema, embedding: Embedding, columns: tuple[str, ...], weights: list[float] | tuple[float, ...]
) -> tuple[tuple[int, ...], tuple[float, ...], float]:
    """A linear form of column values as one of coordinates: sum w x = sum w' z + shift."""
    coordinates: list[int] = []
    own: list[float] = []
    shift = 0.0
    for name, weight in zip(columns, weights, strict=True):
        place = embedding.place(name)
        offset, slopes = _line(place, cell_values(schema, place.axis))
        coordinates += range(place.first, place.first + place.dimensions)
        own += (weight * slopes).tolist()
        shift += weight * offset
    return tuple(coordinates), tuple(own), shift


def _line(place: Place, values: Float[np.ndarray, " cells"]) -> tuple[float, Float[np.ndarray, " dimensions"]]:
    """Offset + <slopes, coordinates> for the value of a column; missing cells (NaN) are left out."""
    if place.points is not None:
        centres = np.column_stack([np.ones(len(values)), place.centres().T])
        found, *_ = np.linalg.lstsq(centres, np.nan_to_num(values, nan=0.5), rcond=None)
        return float(found[0]), found[1:]
    if place.dimensions > 1:
        return 0.0, np.nan_to_num(values, nan=0.5)
    known = np.flatnonzero(~np.isnan(values))
    centres = place.centres()[0][known]
    if len(known) < 2:
        return float(values[known].sum()), np.zeros(1)
    slope, offset = np.polyfit(centres, values[known], 1)
    return float(offset), np.array([slope])


def cell_values(schema: Schema, axis: Axis) -> Float[np.ndarray, " cells"]:
    """The mean value in [0, 1] of every cell of a column; NaN where numbers are missing."""
    column = schema.column(axis.column)
    if not isinstance(column, Numeric):
        every = (np.arange(axis.codes) + 0.5) / axis.codes
        return np.bincount(axis.cell_of, every) / axis.widths
    middle = axis.run_starts() + (axis.widths - 1) / 2
    return np.where(axis.firsts == column.steps, np.nan, middle / max(column.steps - 1, 1))
