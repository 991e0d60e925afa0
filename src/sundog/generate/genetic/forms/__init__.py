"""The classes of queries that the genetic search can use. A further one is one file and one line here."""

from typing import Any

from sundog.generate.genetic.forms import (
    at_least,
    cells,
    conditional,
    group_sums,
    halfspaces,
    joined,
    marginal,
    moments,
    parity,
    ranges,
    sigmoid,
    tree,
)
from sundog.generate.genetic.forms.base import Form
from sundog.queries import (
    AtLeast,
    BinaryTree,
    Cells,
    Conditional,
    GroupSums,
    Halfspaces,
    Joined,
    Marginal,
    Moments,
    Parity,
    Ranges,
    SigmoidSum,
)

FORMS: dict[type[Any], Form] = {
    Marginal: marginal.FORM,
    BinaryTree: tree.FORM,
    Cells: cells.FORM,
    Joined: joined.FORM,
    Ranges: ranges.FORM,
    Halfspaces: halfspaces.FORM,
    Conditional: conditional.FORM,
    AtLeast: at_least.FORM,
    Parity: parity.FORM,
    Moments: moments.FORM,
    GroupSums: group_sums.FORM,
    SigmoidSum: sigmoid.FORM,
}
