"""Ways to a schema: draft one from the data (CONFIDENTIAL), and review it.

A review is a value (`sundog.Review`): a terminal or a page shows its questions and hands back answers.
"""

from collections.abc import Mapping
from typing import Any

from sundog.api.options import Charged
from sundog.domain.forms import Document
from sundog.domain.known_keys import unknown_keys
from sundog.domain.linked.package import is_package
from sundog.domain.review import Question, Review
from sundog.private.draft import Drafting, draft

__all__ = ["Question", "Review", "draft_schema", "unknown_note"]


def draft_schema(
    data: Any,
    *,
    dataset: str | None = None,
    ledger: str | None = None,
    new_account: bool = False,
    dialect: Mapping[str, Any] | None = None,
    sql: str | None = None,
) -> dict[str, Any]:
    """A schema document read from the data. CONFIDENTIAL: the ledger records it, and every field waits for review.

    Args:
        data: the private table: a frame or a path.
        dataset: the ledger's account, and the schema's name; default: the file's name.
        ledger: the path of the ledger; default: in your data directory, or $SUNDOG_LEDGER.
        new_account: open a new account although its name looks like that of an existing one.
        dialect: what is known of a text file's dialect (`sundog help schema`); the rest is guessed.
        sql: what to read from a database.
    """
    charged = Charged(ledger, dataset, new_account)
    name = charged.account(None, data if isinstance(data, str) or hasattr(data, "__fspath__") else None)
    return draft(data, Drafting(name, name, charged.open_ledger()), dialect=dialect, sql=sql)


def unknown_note(document: Mapping[str, Any]) -> str:
    """What to say of keys that Sundog does not know; empty where it knows all of them, and of linked tables."""
    if is_package(document):
        return ""
    unknown = unknown_keys(document, Document)
    shown = ", ".join(unknown[:8]) + (f" and {len(unknown) - 8} more" if unknown[8:] else "")
    return f"Sundog does not know these keys and leaves them out of every release: {shown}." if unknown else ""
