"""The generators. A new one is one file and one line in GENERATORS; the law tests read this dictionary."""

from typing import Any

from sundog.generate.annealed_projection import AnnealedProjection
from sundog.generate.base import Generator, SizeLimited, UsesPublic
from sundog.generate.graphical import Graphical
from sundog.generate.independent import Independent
from sundog.generate.network import GenerativeNetwork
from sundog.generate.relaxed_projection import RelaxedProjection

__all__ = [
    "GENERATORS",
    "AnnealedProjection",
    "GenerativeNetwork",
    "Generator",
    "Graphical",
    "Independent",
    "RelaxedProjection",
    "SizeLimited",
    "UsesPublic",
]

GENERATORS: dict[str, type[Generator[Any]]] = {
    "independent": Independent,
    "graphical": Graphical,
    "relaxed-projection": RelaxedProjection,
    "annealed-projection": AnnealedProjection,
    "network": GenerativeNetwork,
}
