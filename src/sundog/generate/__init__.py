"""The generators. A new one is one file and one line in GENERATORS; the law tests read this dictionary."""

from typing import Any

from sundog.generate.base import Generator, SizeLimited, UsesPublic
from sundog.generate.genetic import Genetic
from sundog.generate.graphical import Graphical
from sundog.generate.independent import Independent
from sundog.generate.particles import Particles
from sundog.generate.pooled_search import PooledSearch

__all__ = [
    "GENERATORS",
    "Generator",
    "Genetic",
    "Graphical",
    "Independent",
    "Particles",
    "PooledSearch",
    "SizeLimited",
    "UsesPublic",
]

GENERATORS: dict[str, type[Generator[Any]]] = {
    "independent": Independent,
    "genetic": Genetic,
    "graphical": Graphical,
    "particles": Particles,
    "pooled-search": PooledSearch,
}
