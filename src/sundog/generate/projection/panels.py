"""Panels: measurements cut into pieces of a few fixed shapes, so that little is compiled and memory is bounded.

The loss of RAP, RAP++ and GEM is one sum over all measurements,

    loss = 1/cells * sum over measured cells of (n_hat * (answer - noisy answer / n_hat) / stddev)^2,

about 1 for rows that fit to within the noise. Each panel adds its part of the loss and of the gradient by the feature
matrix (see soft_table.py), so all that is ever held is one panel's members.

How a class of queries is cut into panels is said by its form: one file per class in forms/.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from sundog.lazy_jax import Array, jax, jnp

Matrix = Float[Array, "features rows"]
Kind = str
"""What a panel asks about: sigmoids of one kind have one sharpness."""


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


def on_device(arrays: tuple[Any, ...]) -> tuple[Any, ...]:
    """Arrays, or tuples of them, where JAX computes."""
    return tuple(jax.tree.map(jnp.asarray, array) for array in arrays)
