"""The size that elimination predicts, against the tree that is built and against mbi's."""

import warnings

import numpy as np
import pytest

from generate.graphical.test_message_passing import GRAPHS, SIZES, tree_of
from sundog.generate.graphical.elimination import elimination_order, neighbours

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import mbi


@pytest.mark.parametrize("graph", GRAPHS)
def test_the_size_that_is_foretold_is_that_of_the_tree_and_no_larger_than_mbis(graph):
    nodes, _ = tree_of(GRAPHS[graph])
    _, cells = elimination_order(neighbours(len(SIZES), GRAPHS[graph]), SIZES)
    assert cells == sum(int(np.prod([SIZES[k] for k in node])) for node in nodes)
    domain = mbi.Domain(tuple(range(len(SIZES))), SIZES)
    assert cells * 8 / 2**20 <= mbi.junction_tree.hypothetical_model_size(domain, GRAPHS[graph]) + 1e-12


def test_trees_stay_trees():
    nodes, _ = tree_of(GRAPHS["tree"])
    assert sorted(nodes) == sorted(GRAPHS["tree"])
