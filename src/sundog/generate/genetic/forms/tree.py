"""Binary trees in the genetic search: their tables, one after the other."""

from collections.abc import Iterator, Sequence

import numpy as np

from sundog.domain import Schema
from sundog.generate.genetic.atoms import Atoms, Cut
from sundog.generate.genetic.forms.base import Asked, Form, Lists
from sundog.generate.genetic.forms.marginal import table_cuts, table_lists, tables
from sundog.queries import BinaryTree


def _cuts(schema: Schema, queries: Sequence[BinaryTree]) -> Iterator[Cut]:
    return table_cuts(schema, [table for query in queries for table in query.tables])


def _lists(atoms: Atoms, asked: Sequence[Asked]) -> Lists:
    parts = []
    for query, start, weight in asked:
        starts = np.cumsum([start, *(table.size for table in query.tables)])
        parts += [Asked(table, int(own), weight) for table, own in zip(query.tables, starts, strict=False)]
    return table_lists(atoms, parts)


FORM = Form(_cuts, _lists, tables)
