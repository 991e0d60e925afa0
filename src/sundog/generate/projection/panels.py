"""Panels: measurements cut into pieces of a few fixed shapes, so that little is compiled and memory is bounded.

The loss of RAP, RAP++ and GEM is one sum over all measurements,

    loss = 1/cells * sum over measured cells of (n_hat * (answer - noisy answer / n_hat) / stddev)^2,

about 1 for rows that fit to within the noise. Each panel adds its part of the loss and of the gradient by the feature
matrix (see soft_table.py), so all that is ever held is one panel's members.

- Tiles (marginals, trees; tiles.py): matrix products.
- Thresholds (halfspaces, by label or not): one product of the rows with the directions serves all their thresholds.
- Conditions (ranges, by label or not): products of sigmoids and labels.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from jaxtyping import Float, Int

from sundog.domain import Numeric, Schema
from sundog.domain.axis import Axis
from sundog.generate.projection.soft_table import EMBEDDED, FAR, HARD, MISSING, Frame, Known, place_of
from sundog.lazy_jax import Array, accelerated, jax, jit, jnp
from sundog.queries import Conditional, Halfspaces, Ranges
from sundog.queries.halfspace import GRID

Matrix = Float[Array, "features rows"]
Kind = Literal["cells", "ranges", "halfspaces"]
Counts = Callable[..., Float[Array, "queries labels"]]
MEMBERS = (256, 1024)
"""Soft memberships are held for so many queries at a time: few enough to stay in a processor's cache."""
MORE = 16384
"""On a device that is not a processor: enough to keep it busy."""


@dataclass(frozen=True, eq=False)
class Panel:
    """A compiled function that adds this piece's loss and gradient, and what it takes beside the matrix."""

    kind: Kind
    add: Callable[..., tuple[Float[Array, ""], Matrix]]
    arrays: tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class MeasuredCells:
    """Noisy proportions of a query and the weight of each in the loss."""

    query: Any
    values: Float[np.ndarray, " cells"]
    weight: float


def add_panels(
    matrix: Matrix, panels: Sequence[Panel], *, sharpness: dict[Kind, float]
) -> tuple[dict[Kind, Any], Matrix]:
    """The loss of each class of queries, and the gradient of their sum by the matrix."""
    losses: dict[Kind, Any] = {}
    gradient = jnp.zeros_like(matrix)
    for panel in panels:
        before = losses.get(panel.kind, jnp.zeros(()))
        losses[panel.kind], gradient = panel.add(matrix, before, gradient, sharpness[panel.kind], *panel.arrays)
    return losses, gradient


Inner = Halfspaces | Ranges


def label_axes(query: Inner | Conditional, schema: Schema) -> list[Axis]:
    """The axes that thresholds and conditions need: the target, and the labels among the conditions."""
    inner, label = (query.inner, [query.label]) if isinstance(query, Conditional) else (query, [])
    return label + [
        Axis.whole(schema.column(name)) for name in inner.columns if not isinstance(schema.column(name), Numeric)
    ]


def member_panels(frame: Frame, target: MeasuredCells, *, known: Known) -> list[Panel]:
    """The panels of thresholds or conditions."""
    labels, answers = _by_label(frame, target)
    kind: Kind = "ranges" if isinstance(_inner(target.query), Ranges) else "halfspaces"
    add = _add_ranges if kind == "ranges" else _add_halfspaces
    panels = []
    for arrays, places in _pieces(frame, _inner(target.query), known):
        values = np.zeros((len(places), answers.shape[1]), np.float32)
        weight = np.zeros(len(places), np.float32)
        values[places >= 0] = answers[places[places >= 0]]
        weight[places >= 0] = target.weight
        rest = weight * isinstance(target.query, Conditional)
        panels.append(Panel(kind, add, _device((labels, values, weight, rest, *arrays))))
    return panels


def member_answers(frame: Frame, query: Any, matrix: Matrix, *, known: Known) -> Float[np.ndarray, " cells"]:
    """The exact answers of thresholds or conditions on hard features, as proportions."""
    labels = _labels(frame, query)
    inner = _inner(query)
    counts = _range_counts if isinstance(inner, Ranges) else _halfspace_counts
    found = np.zeros((inner.size, len(labels)))
    for arrays, places in _pieces(frame, inner, known):
        part = np.asarray(counts(matrix, HARD, jnp.asarray(labels), *_device(arrays)))
        found[places[places >= 0]] = part[places >= 0]
    if not isinstance(query, Conditional):
        return found.ravel()
    return np.concatenate([found, 1 - found.sum(axis=1, keepdims=True)], axis=1).ravel()


def _inner(query: Any) -> Any:
    return query.inner if isinstance(query, Conditional) else query


def _labels(frame: Frame, query: Any) -> Int[np.ndarray, " labels"]:
    return frame.cells(query.label) if isinstance(query, Conditional) else np.array([frame.one])


def _by_label(
    frame: Frame, target: MeasuredCells
) -> tuple[Int[np.ndarray, " labels"], Float[np.ndarray, "queries labels"]]:
    """The label features, and the noisy proportions with the complement as the last column (0 where there is none)."""
    labels = _labels(frame, target.query)
    if isinstance(target.query, Conditional):
        return labels, target.values.reshape(-1, len(labels) + 1).astype(np.float32)
    return labels, np.stack([target.values, np.zeros_like(target.values)], axis=1).astype(np.float32)


def _pieces(frame: Frame, inner: Inner, known: Known) -> list[tuple[tuple[Any, ...], Int[np.ndarray, " members"]]]:
    """Arrays of a fixed size, and which query each of their members is (-1: padding)."""
    return _range_pieces(frame, inner, known) if isinstance(inner, Ranges) else _halfspace_pieces(frame, inner)


def _members(queries: int) -> int:
    """How many queries are held at a time: the largest allowed number that is at least half full."""
    allowed = (*MEMBERS, MORE) if accelerated() else MEMBERS
    return max((size for size in allowed if 2 * queries > size), default=allowed[0])


def _halfspace_pieces(frame: Frame, query: Halfspaces) -> list[tuple[tuple[Any, ...], Int[np.ndarray, " members"]]]:
    lengths = np.maximum(np.linalg.norm(query.theta, axis=1, keepdims=True), 1.0)
    theta, cuts = query.theta / lengths, (query.thresholds + 0.5) / (GRID * lengths)
    number = np.arange(query.size).reshape(cuts.shape)
    wide = min(cuts.shape[1], MEMBERS[-1])
    high = _members(query.size) // wide or 1
    places = np.concatenate([_embedding(frame, name) for name in query.columns])
    pieces = []
    for first in range(0, len(theta), high):
        for start in range(0, cuts.shape[1], wide):
            part = (slice(first, first + high), slice(start, start + wide))
            arrays = (places, _padded(theta[part[0]], (high, theta.shape[1])), _padded(cuts[part], (high, wide)))
            pieces.append((arrays, _padded(number[part], (high, wide), fill=-1).ravel()))
    return pieces


def _embedding(frame: Frame, name: str) -> Int[np.ndarray, " features"]:
    """The features of a column in the halfspaces' embedding."""
    column, number = frame.schema.column(name), frame.number(name)
    if number is None:
        return frame.cells(Axis.whole(column))
    return np.arange(number + EMBEDDED, number + EMBEDDED + 1 + column.nullable)


def _range_pieces(
    frame: Frame, query: Ranges, known: Known
) -> list[tuple[tuple[Any, ...], Int[np.ndarray, " members"]]]:
    parts = _conditions(frame, query, known)
    size = _members(query.size)
    fills = (frame.one, frame.zero, False, -FAR, FAR)
    pieces = []
    for first in range(0, query.size, size):
        part = slice(first, first + size)
        arrays = tuple(
            _padded(array[part], (size, array.shape[1]), fill=fill) for array, fill in zip(parts, fills, strict=True)
        )
        pieces.append((arrays, _padded(np.arange(query.size)[part], (size,), fill=-1)))
    return pieces


def _conditions(frame: Frame, query: Ranges, known: Known) -> tuple[np.ndarray, ...]:
    """For every condition its feature, the feature for missing, whether it is a number, and its two cuts."""
    shape = query.which.shape
    feature, missing = np.full(shape, frame.one), np.full(shape, frame.zero)
    is_number, low, high = np.zeros(shape, bool), np.full(shape, -FAR), np.full(shape, FAR)
    for place, name in enumerate(query.columns):
        on, column, number = query.which == place, frame.schema.column(name), frame.number(name)
        if number is None:
            feature[on] = frame.cells(Axis.whole(column))[query.low[on]]
            continue
        steps = column.size - column.nullable
        gone = on & (query.low == column.missing) if column.nullable else np.zeros(shape, bool)
        feature[on], missing[on], is_number[on] = number, number + MISSING, True
        feature[gone], missing[gone], is_number[gone] = number + MISSING, frame.zero, False
        bounded = on & (query.low > 0)
        low[bounded] = place_of(frame, name, known, query.low[bounded])
        bounded = on & (query.high < steps)
        high[bounded] = place_of(frame, name, known, query.high[bounded])
    return feature, missing, is_number, low, high


def _padded(array: np.ndarray, shape: tuple[int, ...], *, fill: Any = 0) -> np.ndarray:
    full = np.full(shape, fill, dtype=np.float32 if array.dtype == float else array.dtype)
    full[tuple(slice(0, size) for size in array.shape)] = array
    return full


def _device(arrays: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(jnp.asarray(array) for array in arrays)


@jit()
def _halfspace_counts(
    matrix: Matrix, sharpness: Any, labels: Any, places: Any, theta: Any, cuts: Any
) -> Float[Array, "queries labels"]:
    products = jnp.matmul(theta, matrix[places], precision="highest")
    members = jax.nn.sigmoid(sharpness * (cuts[:, :, None] - products[:, None, :]))
    return (
        jnp.einsum("dtn,ln->dtl", members, matrix[labels], precision="highest").reshape(-1, labels.shape[0])
        / matrix.shape[1]
    )


@jit()
def _range_counts(
    matrix: Matrix, sharpness: Any, labels: Any, feature: Any, missing: Any, is_number: Any, low: Any, high: Any
) -> Float[Array, "queries labels"]:
    value = matrix[feature]
    rise = jax.nn.sigmoid(sharpness * (value - low[:, :, None])) - jax.nn.sigmoid(
        sharpness * (value - high[:, :, None])
    )
    held = jnp.where(is_number[:, :, None], rise * (1.0 - matrix[missing]), value)
    return jnp.matmul(held.prod(axis=1), matrix[labels].T, precision="highest") / matrix.shape[1]


def _adding(counts: Counts) -> Callable[..., tuple[Float[Array, ""], Matrix]]:
    """Adds the weighted squared error of these counts, and its gradient."""

    def part(matrix: Matrix, sharpness: Any, labels: Any, values: Any, weight: Any, rest: Any, *arrays: Any) -> Any:
        found = counts(matrix, sharpness, labels, *arrays)
        error = jnp.square(found - values[:, : found.shape[1]]).sum(axis=1)
        complement = jnp.square(1.0 - found.sum(axis=1) - values[:, -1])
        return (weight * error + rest * complement).sum()

    @jit()
    def add(matrix: Matrix, loss: Any, gradient: Matrix, sharpness: Any, *arrays: Any) -> tuple[Any, Matrix]:
        value, slope = jax.value_and_grad(part)(matrix, sharpness, *arrays)
        return loss + value, gradient + slope

    return add


_add_halfspaces = _adding(_halfspace_counts)
_add_ranges = _adding(_range_counts)
