"""The generators. A new one is one file and one line in GENERATORS; the law tests read this dictionary."""

from typing import Any

from sundog.generate.base import Generator, SizeLimited, UsesPublic
from sundog.generate.graphical import Graphical
from sundog.generate.independent import Independent

__all__ = ["GENERATORS", "Generator", "Graphical", "Independent", "SizeLimited", "UsesPublic"]

GENERATORS: dict[str, type[Generator[Any]]] = {"independent": Independent, "graphical": Graphical}
