"""The generators. A new one is one file and one line in GENERATORS; the law tests read this dictionary."""

from typing import Any

from sundog.generate.base import Generator
from sundog.generate.independent import Independent
from sundog.generate.particles import Particles

__all__ = ["GENERATORS", "Generator", "Independent", "Particles"]

GENERATORS: dict[str, type[Generator[Any]]] = {"independent": Independent, "particles": Particles}
