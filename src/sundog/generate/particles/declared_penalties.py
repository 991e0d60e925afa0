"""The penalties that the schema's constraints mean for particles: linear constraints softly, protected statistics measured.

A linear form of values becomes one of curves along coordinates (values.py). Hard constraints are then enforced on rows, exactly,
by `sundog.postprocess.constraints`; the penalty only leaves it less to repair.
"""

from collections.abc import Mapping, Sequence

from sundog.domain import Numeric, Schema
from sundog.domain.constraints.kinds import Linear, ProtectedStatistic
from sundog.generate.particles.embedding import Embedding
from sundog.generate.particles.penalties import Bound, Penalty, Protected
from sundog.generate.particles.values import Curve
from sundog.queries import SigmoidSum
from sundog.released import Released

Known = Mapping[str, tuple[float, tuple[Curve, ...]]]
"""For every column an offset and its curves."""
USUAL_STRENGTH = 1.0
"""The pull towards a linear constraint that declares none."""


def declared_penalties(released: Released, embedding: Embedding, known: Known) -> tuple[Penalty, ...]:
    """What the released schema's constraints ask of the particles; protected statistics as far as they were measured."""
    found: list[Penalty] = []
    for constraint in released.schema.constraints:
        if isinstance(constraint, Linear) and constraint.strength != 0:
            found.append(_bound(constraint, released.schema, embedding, known))
        if isinstance(constraint, ProtectedStatistic) and constraint.strength > 0:
            found += _protected(constraint, released, embedding, known)
    return tuple(found)


def protected_queries(schema: Schema) -> list[SigmoidSum]:
    """The queries that the schema's protected statistics need."""
    return [SigmoidSum.of(rule) for rule in schema.constraints if isinstance(rule, ProtectedStatistic)]


def _bound(constraint: Linear, schema: Schema, embedding: Embedding, known: Known) -> Bound:
    """Coefficient * units <= limit, with units = lower + (steps - 1) * value, divided by the form's largest weight."""
    scales, limit = [], float(constraint.limit)
    for name, coefficient in zip(constraint.columns, constraint.coefficients, strict=True):
        column = schema.column(name)
        assert isinstance(column, Numeric)  # noqa: S101 (the schema has checked it)
        scales.append(float(coefficient) * max(column.steps - 1, 1))
        limit -= float(coefficient) * column.lower
    largest = max(abs(scale) for scale in scales) or 1.0
    weights = [scale / largest for scale in scales]
    coordinates, own, curves, shift = _carried(embedding, known, constraint.columns, weights)
    strength = USUAL_STRENGTH if constraint.strength is None else constraint.strength
    return Bound(coordinates, own, curves, limit / largest - shift, strength, constraint.equal)


def _protected(constraint: ProtectedStatistic, released: Released, embedding: Embedding, known: Known) -> list[Penalty]:
    query = SigmoidSum.of(constraint)
    answers = [m.values[0] / query.scale / released.rows for m in released.measurements if m.query == query]
    coordinates, own, curves, shift = _carried(embedding, known, constraint.columns, constraint.weights)
    threshold = constraint.threshold - shift
    sharpness, strength = constraint.sharpness, constraint.strength
    return [Protected(coordinates, own, curves, threshold, float(a), strength, sharpness) for a in answers]


def _carried(
    embedding: Embedding, known: Known, columns: tuple[str, ...], weights: Sequence[float]
) -> tuple[tuple[int, ...], tuple[float, ...], tuple[Curve, ...], float]:
    """A linear form of column values as one of curves along coordinates, and what is added to it."""
    coordinates: list[int] = []
    own: list[float] = []
    along: list[Curve] = []
    shift = 0.0
    for name, weight in zip(columns, weights, strict=True):
        place, (offset, curves) = embedding.place(name), known[name]
        coordinates += range(place.first, place.first + place.dimensions)
        own += [weight] * place.dimensions
        along += curves
        shift += weight * offset
    return tuple(coordinates), tuple(own), tuple(along), shift
