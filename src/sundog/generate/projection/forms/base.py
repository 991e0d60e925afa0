"""Form: how a relaxed projection uses one class of queries. One file per class, one line in FORMS (forms/__init__.py)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sundog.domain import Schema
from sundog.domain.axis import Axis
from sundog.generate.projection.panels import Panel


def _itself(query: Any) -> Sequence[Any]:
    return (query,)


def _nowhere(query: Any, schema: Schema) -> list[Axis]:
    return []


def _always(query: Any) -> bool:
    return True


@dataclass(frozen=True)
class Form:
    """What a projection needs of one class of queries.

    axes: the axes whose cells a query asks about (query, schema).
    panels: the loss and its gradient, in pieces (frame, targets, known).
    answers: what the rows answer, as proportions, numbers exact, labels in expectation (table, queries, maker).
    cuts: where a query cuts numeric columns, of use only where those are held over cells (query, schema).
    soft_cells: whether columns held over cells are enough, so that RAP and GEM can use it; else some are numbers (RAP++).
    parts: the queries that one consists of, answered one after the other; the other fields are about those.
    """

    axes: Callable[[Any, Schema], list[Axis]]
    panels: Callable[..., list[Panel]]
    answers: Callable[..., Any]
    cuts: Callable[[Any, Schema], list[Axis]] = _nowhere
    soft_cells: Callable[[Any], bool] = _always
    parts: Callable[[Any], Sequence[Any]] = _itself
