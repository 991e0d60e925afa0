"""Form: how a relaxed projection uses one class of queries. One file per class, one line in FORMS (forms/__init__.py)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sundog.domain import Schema
from sundog.domain.axis import Axis
from sundog.generate.projection.panels import Panel


def _itself(query: Any) -> Sequence[Any]:
    return (query,)


@dataclass(frozen=True)
class Form:
    """What a projection needs of one class of queries.

    axes: the axes whose cells a query asks about (query, schema).
    panels: the loss and its gradient, in pieces (frame, targets, known).
    answers: what the rows answer, as proportions, numbers exact, labels in expectation (table, queries, maker).
    soft_cells: whether columns held over cells are enough, so that RAP and GEM can use it; else some are numbers (RAP++).
    parts: the queries that one consists of, answered one after the other; the other fields are about those.
    """

    axes: Callable[[Any, Schema], list[Axis]]
    panels: Callable[..., list[Panel]]
    answers: Callable[..., Any]
    soft_cells: bool = False
    parts: Callable[[Any], Sequence[Any]] = _itself
