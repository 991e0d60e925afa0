"""The generators. A new one is one file and one line in GENERATORS; the law tests read this dictionary."""

from typing import Any

from sundog.generate.annealed_projection import AnnealedProjection
from sundog.generate.base import Generator, SizeLimited, UsesPublic
from sundog.generate.genetic import Genetic
from sundog.generate.graphical import Graphical
from sundog.generate.independent import Independent
from sundog.generate.network import GenerativeNetwork
from sundog.generate.particles import Particles
from sundog.generate.polished import Polished
from sundog.generate.pooled_search import PooledSearch
from sundog.generate.relaxed_projection import RelaxedProjection

__all__ = [
    "GENERATORS",
    "AnnealedProjection",
    "GenerativeNetwork",
    "Generator",
    "Genetic",
    "Graphical",
    "Independent",
    "Particles",
    "Polished",
    "PooledSearch",
    "RelaxedProjection",
    "SizeLimited",
    "UsesPublic",
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
