"""The selection rules. A new one is one file and one line in RULES; the law tests read this dictionary."""

from sundog.select.adaptive import Adaptive
from sundog.select.aim import AIM
from sundog.select.allocate import Allocate
from sundog.select.base import SelectionRule, Settles, Splits, Weighted
from sundog.select.everything import Everything
from sundog.select.spanning_tree import SpanningTree
from sundog.select.worst_error import WorstError

__all__ = [
    "AIM",
    "RULES",
    "Adaptive",
    "Allocate",
    "Everything",
    "SelectionRule",
    "Settles",
    "SpanningTree",
    "Splits",
    "Weighted",
    "WorstError",
]

RULES: dict[str, type[SelectionRule]] = {
    "everything": Everything,
    "spanning-tree": SpanningTree,
    "aim": AIM,
    "allocate": Allocate,
    "worst-error": WorstError,
    "adaptive": Adaptive,
}
