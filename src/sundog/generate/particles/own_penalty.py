"""A user's own penalty: any differentiable function of the particles, by the names of their columns (PrivPGD, Eq. 7: R).

    def fewer_old_and_rich(columns):
        return (columns["age"] * columns["income"]).mean()

    Particles(penalty=fewer_old_and_rich, penalty_strength=0.1)

The function gets a dictionary and returns one number that is to be small. A number column is an array of values in [0, 1]
(by its public bounds; missing: the middle), one per particle; a column of labels is an array (labels, particles) of
memberships that sum to 1: on the line a particle between two cells belongs partly to both, elsewhere the closer a label, the
more. It is written in jax.numpy, and its gradient is JAX's. It sees released values and particles only, so it costs no
privacy; what it needs to know of the table has to be measured like anything else.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from types import ModuleType
from typing import Any

import numpy as np
from jaxtyping import Float

from sundog.domain import Numeric, Schema
from sundog.domain.axis import Axis
from sundog.estimate.bins import Leaves
from sundog.generate.particles.embedding import Embedding, Place
from sundog.generate.particles.values import TINY, along, curves
from sundog.lazy_jax import jax, jnp

PenaltyFunction = Callable[[dict[str, Any]], Any]
NEAR = 50.0
"""How fast a membership falls with the squared distance from a label's point."""


@dataclass(frozen=True)
class OwnPenalty:
    """The function, and how coordinates become columns."""

    function: PenaltyFunction
    schema: Schema
    embedding: Embedding
    leaves: tuple[Leaves, ...]
    strength: float

    @property
    def coordinates(self) -> tuple[int, ...]:
        """The coordinates that the penalty uses: all of them."""
        return tuple(range(self.embedding.coordinates))

    def strength_at(self, progress: Any, numpy_like: ModuleType) -> Any:
        """The same strength at every step."""
        return self.strength

    def gradient(self, positions: Any, numpy_like: ModuleType) -> Any:
        """The number of particles times dR/dz, by JAX."""
        return self._slope(positions) * positions.shape[1]

    @cached_property
    def _slope(self) -> Any:
        return jax.jit(jax.grad(lambda positions: self.function(self.columns(positions))))

    def columns(self, positions: Any) -> dict[str, Any]:
        """What the function sees of the particles."""
        places = zip(self.embedding.places, self.leaves, strict=True)
        return {place.axis.column: self._column(place, leaves, positions) for place, leaves in places}

    def _column(self, place: Place, leaves: Leaves, positions: Any) -> Any:
        own = positions[place.first : place.first + place.dimensions]
        if not isinstance(self.schema.column(place.axis.column), Numeric):
            return _memberships(place, own)[place.axis.cell_of] * _code_shares(place.axis, leaves)[:, None]
        return along(curves(place, leaves)[1], own, jnp)[0][0]


def _code_shares(axis: Axis, leaves: Leaves) -> Float[np.ndarray, " codes"]:
    """The share of each code in its cell: labels in one cell are drawn by the column's own measurement."""
    weights = (leaves.proportions / leaves.axis.widths)[leaves.axis.cell_of] + TINY
    return weights / np.bincount(axis.cell_of, weights)[axis.cell_of]


def _memberships(place: Place, own: Any) -> Any:
    """How far each particle belongs to each cell; they sum to 1."""
    if place.on_line:
        last = place.axis.size - 1
        at = jnp.clip(own[0] * place.axis.size - 0.5, 0.0, last)
        return jnp.maximum(0.0, 1.0 - jnp.abs(at[None, :] - np.arange(last + 1)[:, None]))
    gaps = jnp.square(own[:, None, :] - place.centres()[:, :, None]).sum(axis=0)
    return jax.nn.softmax(-NEAR * gaps, axis=0)
