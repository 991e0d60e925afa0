"""Penalties for particles: terms lambda R(Z) added to PrivPGD's loss (Eq. 7), for what the data should or should not say.

A penalty says which coordinates it looks at, and the gradient m dR/dz_i by them: the mean over particles is divided out, and
a step that sees a part of the marginals takes the same part of the penalty, so that its strength means the same for any
number of particles, batches and epochs. `strength_at` is the factor lambda at a point of the descent, from 0 to 1. The
declared kinds here are functions of one linear form of the columns' values, y_i = sum_c w_c v_c(z_ic). What value lies at a
coordinate is a curve v_c, linear between the cells (values.py), so that the gradient is w_c v_c'(z_ic) slope(y)_i; own_penalty.py takes a user's function of the
columns.

- Protected (the paper's Sec. 4.4, App. B): R = 10^-6 / (10^-4 + (S(Z) - s)^2), S the mean of sigmoid(k (y - b)) and s its
  DP estimate, measured by the curator like anything else. It pushes a threshold statistic away from the truth. k is 20 unless
  declared, and 5 in the paper: a steep sigmoid is moved by rows near the threshold alone, so that the share of rows above it
  follows and the rest stays. The paper prints the threshold's sign both ways; here y - b. Its numerator is 0.01, which
  outweighs the distances by far when both are in the units of Eq. 7: here strength 1 moves the statistic visibly at a
  moderate cost in the marginals. It fades out over the first 70 % of the descent: particles are told early which of the
  arrangements with the same marginals to take, and the marginals are then fitted undisturbed. With a constant strength they
  were not (docs/explanation/privpgd.md).
- Bound: R = mean of max(0, y - b)^2, or of (y - b)^2 for an equality: a linear constraint in its soft form.
"""

from dataclasses import dataclass
from types import ModuleType
from typing import Any, Protocol

from sundog.domain.constraints.kinds import SHARPNESS
from sundog.generate.particles.values import Curve, along

HEIGHT, WIDTH = 1e-6, 1e-4
FADED = 0.7
"""Where in the descent a protected statistic is pushed no more."""


class Penalty(Protocol):
    """A term of the loss. `numpy_like` is numpy or jax.numpy."""

    @property
    def coordinates(self) -> tuple[int, ...]:
        """The coordinates that it looks at."""

    def strength_at(self, progress: Any, numpy_like: ModuleType) -> Any:
        """The factor lambda at this point of the descent."""

    def gradient(self, positions: Any, numpy_like: ModuleType) -> Any:
        """The number of particles times dR/dz, from its coordinates of all particles."""


class OfLinearForm:
    """A penalty that is a function of one linear form: what follows from its weights, curves and slope."""

    weights: tuple[float, ...]
    curves: tuple[Curve, ...]

    def slope(self, projections: Any, numpy_like: ModuleType) -> Any:
        """The number of particles times dR/dy_i, from the linear form of all particles."""
        raise NotImplementedError

    def gradient(self, positions: Any, numpy_like: ModuleType) -> Any:
        """The slope, by the values at the particles' places."""
        weights = numpy_like.asarray(self.weights, dtype=positions.dtype)[:, None]
        values, steep = along(self.curves, positions, numpy_like)
        return weights * steep * self.slope((weights * values).sum(axis=0), numpy_like)


@dataclass(frozen=True)
class Protected(OfLinearForm):
    """Push the mean of sigmoid(sharpness (y - threshold)) away from `estimate`."""

    coordinates: tuple[int, ...]
    weights: tuple[float, ...]
    curves: tuple[Curve, ...]
    threshold: float
    estimate: float
    strength: float
    sharpness: float = SHARPNESS

    def strength_at(self, progress: Any, numpy_like: ModuleType) -> Any:
        """The strength at a step: it falls to zero over the descent."""
        return self.strength * numpy_like.maximum(0.0, 1 - progress / FADED)

    def value(self, projections: Any, numpy_like: ModuleType) -> Any:
        """10^-6 / (10^-4 + difference^2)."""
        return HEIGHT / (WIDTH + (self._share(projections, numpy_like).mean() - self.estimate) ** 2)

    def slope(self, projections: Any, numpy_like: ModuleType) -> Any:
        """Its derivative, times the number of particles."""
        share = self._share(projections, numpy_like)
        difference = share.mean() - self.estimate
        outer = -2 * HEIGHT * difference / (WIDTH + difference**2) ** 2
        return outer * self.sharpness * share * (1 - share)

    def _share(self, projections: Any, numpy_like: ModuleType) -> Any:
        return (1 + numpy_like.tanh(self.sharpness / 2 * (projections - self.threshold))) / 2


@dataclass(frozen=True)
class Bound(OfLinearForm):
    """Keep the linear form at most at `limit`, or, if `equal`, at it."""

    coordinates: tuple[int, ...]
    weights: tuple[float, ...]
    curves: tuple[Curve, ...]
    limit: float
    strength: float
    equal: bool = False

    def strength_at(self, progress: Any, numpy_like: ModuleType) -> Any:
        """The same strength at every step."""
        return self.strength

    def value(self, projections: Any, numpy_like: ModuleType) -> Any:
        """The mean squared excess."""
        return (self._excess(projections, numpy_like) ** 2).mean()

    def slope(self, projections: Any, numpy_like: ModuleType) -> Any:
        """Its derivative, times the number of particles."""
        return 2 * self._excess(projections, numpy_like)

    def _excess(self, projections: Any, numpy_like: ModuleType) -> Any:
        over = projections - self.limit
        return over if self.equal else numpy_like.maximum(over, 0.0)
