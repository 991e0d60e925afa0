"""The generators. A new one is one file and one line in GENERATORS; the law tests read this dictionary."""

from typing import Any

from sundog.generate.base import Constrained, Ending, EndsEarly, Generator, SizeLimited, UsesPublic, can_use, ending_of
from sundog.generate.genetic.private_gsd import Genetic
from sundog.generate.graphical.private_pgm import Graphical
from sundog.generate.independent import Independent
from sundog.generate.narrowing import Narrowing
from sundog.generate.particles.privpgd import Particles
from sundog.generate.polished import Polished
from sundog.generate.pooled.pooled_search import PooledSearch
from sundog.generate.projection.gem import GenerativeNetwork
from sundog.generate.projection.rap import RelaxedProjection
from sundog.generate.projection.rap_plus_plus import AnnealedProjection

__all__ = [
    "GENERATORS",
    "AnnealedProjection",
    "Constrained",
    "Ending",
    "EndsEarly",
    "GenerativeNetwork",
    "Generator",
    "Genetic",
    "Graphical",
    "Independent",
    "Narrowing",
    "Particles",
    "Polished",
    "PooledSearch",
    "RelaxedProjection",
    "SizeLimited",
    "UsesPublic",
    "can_use",
    "ending_of",
]

GENERATORS: dict[str, type[Generator[Any]]] = {
    "independent": Independent,
    "genetic": Genetic,
    "graphical": Graphical,
    "particles": Particles,
    "pooled-search": PooledSearch,
    "relaxed-projection": RelaxedProjection,
    "annealed-projection": AnnealedProjection,
    "network": GenerativeNetwork,
    "polished": Polished,
}
