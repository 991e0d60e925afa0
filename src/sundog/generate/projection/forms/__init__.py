"""The classes of queries that relaxed projections can use. A further one is one file and one line here."""

from typing import Any

from sundog.generate.projection.forms import conditional, halfspaces, marginal, ranges, tree
from sundog.generate.projection.forms.base import Form
from sundog.queries import BinaryTree, Conditional, Halfspaces, Marginal, Ranges

FORMS: dict[type[Any], Form] = {
    Marginal: marginal.FORM,
    BinaryTree: tree.FORM,
    Ranges: ranges.FORM,
    Halfspaces: halfspaces.FORM,
    Conditional: conditional.FORM,
}
