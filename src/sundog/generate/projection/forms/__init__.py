"""The classes of queries that relaxed projections can use. A further one is one file and one line here."""

from typing import Any

from sundog.generate.projection.forms import agreements, cells, conditional, halfspaces, marginal, ranges, tree
from sundog.generate.projection.forms.base import Form
from sundog.queries import AtLeast, BinaryTree, Cells, Conditional, Halfspaces, Marginal, Parity, Ranges

FORMS: dict[type[Any], Form] = {
    Marginal: marginal.FORM,
    BinaryTree: tree.FORM,
    Cells: cells.FORM,
    AtLeast: agreements.FORM,
    Parity: agreements.FORM,
    Ranges: ranges.FORM,
    Halfspaces: halfspaces.FORM,
    Conditional: conditional.FORM,
}
