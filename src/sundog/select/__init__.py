"""The selection rules. A new one is one file and one line in RULES; the law tests read this dictionary."""

from sundog.select.base import SelectionRule
from sundog.select.everything import Everything

__all__ = ["RULES", "Everything", "SelectionRule"]

RULES: dict[str, type[SelectionRule]] = {"everything": Everything}
