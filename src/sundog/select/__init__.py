"""The selection rules. A new one is one file and one line in RULES; the law tests read this dictionary."""

from sundog.select.base import SelectionRule
from sundog.select.everything import Everything
from sundog.select.worst_error import WorstError

__all__ = ["RULES", "Everything", "SelectionRule", "WorstError"]

RULES: dict[str, type[SelectionRule]] = {"everything": Everything, "worst_error": WorstError}
