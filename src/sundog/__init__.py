"""Sundog: a differentially private likeness of a table.

The public names; each is imported when it is first used, so that `import sundog` is quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sundog.errors import BudgetRefused, UserError
from sundog.version import __version__

if TYPE_CHECKING:
    from sundog.api.adjust import adjust
    from sundog.api.audit_mechanism import audit_mechanism
    from sundog.api.audit_release import audit_release
    from sundog.api.check import check_table
    from sundog.api.evaluate import evaluate_tables
    from sundog.api.evaluate_linked import evaluate_linked
    from sundog.api.model import Model, load
    from sundog.api.plan import plan
    from sundog.api.schema import Review, draft_schema
    from sundog.api.synthesizer import Synthesizer
    from sundog.api.verify import verify
    from sundog.domain import Schema
    from sundog.methods.recipes import METHODS
    from sundog.postprocess.matching import Matching
    from sundog.private.accountant import Budget
    from sundog.private.ledger import Ledger
    from sundog.queries import Marginal
    from sundog.released import Released
    from sundog.sources import OnServer

__all__ = [
    "METHODS",
    "Budget",
    "BudgetRefused",
    "Ledger",
    "Marginal",
    "Matching",
    "Model",
    "OnServer",
    "Released",
    "Review",
    "Schema",
    "Synthesizer",
    "UserError",
    "__version__",
    "adjust",
    "audit_mechanism",
    "audit_release",
    "check_table",
    "draft_schema",
    "evaluate_linked",
    "evaluate_tables",
    "load",
    "plan",
    "verify",
]

_PLACES = {
    "METHODS": "sundog.methods.recipes",
    "Budget": "sundog.private.accountant",
    "Ledger": "sundog.private.ledger",
    "Marginal": "sundog.queries",
    "Matching": "sundog.postprocess.matching",
    "Model": "sundog.api.model",
    "OnServer": "sundog.sources",
    "Released": "sundog.released.released",
    "Review": "sundog.api.schema",
    "Schema": "sundog.domain",
    "Synthesizer": "sundog.api.synthesizer",
    "adjust": "sundog.api.adjust",
    "audit_mechanism": "sundog.api.audit_mechanism",
    "audit_release": "sundog.api.audit_release",
    "check_table": "sundog.api.check",
    "draft_schema": "sundog.api.schema",
    "evaluate_linked": "sundog.api.evaluate_linked",
    "evaluate_tables": "sundog.api.evaluate",
    "verify": "sundog.api.verify",
    "load": "sundog.api.model",
    "plan": "sundog.api.plan",
}


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module 'sundog' has no attribute {name!r}")
    return getattr(import_module(_PLACES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
