"""Binary trees of soft rows: their tables, one after the other."""

from collections.abc import Sequence
from dataclasses import replace

from sundog.generate.projection.forms import marginal
from sundog.queries import BinaryTree, Marginal


def _tables(query: BinaryTree) -> Sequence[Marginal]:
    return query.tables


FORM = replace(marginal.FORM, parts=_tables)
