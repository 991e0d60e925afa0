"""The classes of queries. A new one is one file and one line in CLASSES; the law tests read this dictionary."""

from collections.abc import Mapping
from typing import Any

from sundog.domain import Schema
from sundog.errors import UserError
from sundog.queries.at_least import AtLeast
from sundog.queries.base import Counting, Query, add_all, answer
from sundog.queries.cells import Cells
from sundog.queries.conditional import Conditional
from sundog.queries.group_sum import GroupSums
from sundog.queries.halfspace import Halfspaces
from sundog.queries.joined import Joined
from sundog.queries.marginal import Marginal
from sundog.queries.moment import Moments
from sundog.queries.parity import Parity
from sundog.queries.ranges import Ranges
from sundog.queries.shared import Shared
from sundog.queries.sigmoid import SigmoidSum
from sundog.queries.tree import BinaryTree

__all__ = [
    "CLASSES",
    "AtLeast",
    "BinaryTree",
    "Cells",
    "Conditional",
    "Counting",
    "GroupSums",
    "Halfspaces",
    "Joined",
    "Marginal",
    "Moments",
    "Parity",
    "Query",
    "Ranges",
    "Shared",
    "SigmoidSum",
    "add_all",
    "answer",
    "load_query",
]

CLASSES: dict[str, type[Query]] = {
    "marginal": Marginal,
    "ranges": Ranges,
    "tree": BinaryTree,
    "halfspaces": Halfspaces,
    "conditional": Conditional,
    "at_least": AtLeast,
    "parities": Parity,
    "cells": Cells,
    "joined": Joined,
    "moments": Moments,
    "sigmoid": SigmoidSum,
    "group_sums": GroupSums,
    "shared": Shared,
}


def load_query(document: Mapping[str, Any], schema: Schema) -> Query:
    """The query that a `to_json` described."""
    name = document.get("query")
    if name not in CLASSES:
        raise UserError(f"query class {name!r} is unknown; known are {', '.join(sorted(CLASSES))}.")
    return CLASSES[name].from_json(document, schema)
