"""The generators. A new one is one file and one line in GENERATORS; the law tests read this dictionary."""

from typing import Any

from sundog.generate.base import Generator, SizeLimited, UsesPublic
from sundog.generate.genetic import Genetic
from sundog.generate.graphical import Graphical
from sundog.generate.independent import Independent
from sundog.generate.particles import Particles

__all__ = ["GENERATORS", "Generator", "Genetic", "Graphical", "Independent", "Particles", "SizeLimited", "UsesPublic"]

GENERATORS: dict[str, type[Generator[Any]]] = {
    "independent": Independent,
    "genetic": Genetic,
    "graphical": Graphical,
    "particles": Particles,
}
