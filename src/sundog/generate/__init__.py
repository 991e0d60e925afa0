"""The generators. A new one is one file and one line in GENERATORS; the law tests read this dictionary."""

from typing import Any

from sundog.generate.base import Generator
from sundog.generate.independent import Independent

__all__ = ["GENERATORS", "Generator", "Independent"]

GENERATORS: dict[str, type[Generator[Any]]] = {"independent": Independent}
