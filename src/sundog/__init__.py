"""Sundog: a differentially private likeness of a table.

The public names; each is imported when it is first used, so that `import sundog` is quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sundog.errors import BudgetRefused, UserError
from sundog.version import __version__

if TYPE_CHECKING:
    from sundog.adjusting import adjust
    from sundog.methods import METHODS
    from sundog.model import Model, load
    from sundog.private.accountant import Budget
    from sundog.private.ledger import Ledger
    from sundog.queries import Marginal
    from sundog.released import Released
    from sundog.schema import Schema
    from sundog.side_by_side import evaluate_tables
    from sundog.synthesizer import Synthesizer

__all__ = [
    "METHODS",
    "Budget",
    "BudgetRefused",
    "Ledger",
    "Marginal",
    "Model",
    "Released",
    "Schema",
    "Synthesizer",
    "UserError",
    "__version__",
    "adjust",
    "evaluate_tables",
    "load",
]

_PLACES = {
    "METHODS": "sundog.methods",
    "Budget": "sundog.private.accountant",
    "Ledger": "sundog.private.ledger",
    "Marginal": "sundog.queries",
    "Model": "sundog.model",
    "Released": "sundog.released",
    "Schema": "sundog.schema",
    "Synthesizer": "sundog.synthesizer",
    "evaluate_tables": "sundog.side_by_side",
    "load": "sundog.model",
}


def __getattr__(name: str) -> Any:
    if name == "adjust":  # the package is callable: once it is imported, its name stands for both
        return import_module("sundog.adjust")
    if name not in _PLACES:
        raise AttributeError(f"module 'sundog' has no attribute {name!r}")
    return getattr(import_module(_PLACES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
