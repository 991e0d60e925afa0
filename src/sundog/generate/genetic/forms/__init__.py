"""The classes of queries that the genetic search can use. A further one is one file and one line here."""

from typing import Any

from sundog.generate.genetic.forms import (
    at_least,
    conditional,
    group_sums,
    halfspaces,
    marginal,
    moments,
    ranges,
    sigmoid,
    tree,
)
from sundog.generate.genetic.forms.base import Form
from sundog.queries import (
    AtLeast,
    BinaryTree,
    Conditional,
    GroupSums,
    Halfspaces,
    Marginal,
    Moments,
    Ranges,
    SigmoidSum,
)

FORMS: dict[type[Any], Form] = {
    Marginal: marginal.FORM,
    BinaryTree: tree.FORM,
    Ranges: ranges.FORM,
    Halfspaces: halfspaces.FORM,
    Conditional: conditional.FORM,
    AtLeast: at_least.FORM,
    Moments: moments.FORM,
    GroupSums: group_sums.FORM,
    SigmoidSum: sigmoid.FORM,
}
