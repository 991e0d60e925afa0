"""Our junction trees against their definition and against mbi's, on random graphs."""

import warnings

import numpy as np
import pytest

from sundog.generate.graphical.elimination import elimination_order, neighbours
from sundog.generate.graphical.junction_tree import junction_tree
from sundog.random.keys import key_of, permutation, split, uniforms

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import mbi

COLUMNS = 12


def random_cliques(seed, *, edges):
    """Pairs and triples of columns, from a nearly empty graph to a dense one."""
    parts = split(key_of(seed), edges)
    return [
        tuple(sorted(permutation(part, COLUMNS)[: 2 + (number % 3 == 0)].tolist())) for number, part in enumerate(parts)
    ]


def tree_of(cliques, sizes):
    near = neighbours(len(sizes), cliques)
    order, _ = elimination_order(near, sizes)
    return junction_tree(near, order), order


def separators(nodes, parents):
    return [len({*node} & {*nodes[parent]}) for node, parent in zip(nodes, parents, strict=True) if parent >= 0]


CASES = [(seed, edges) for edges in (0, 3, 8, 16, 30) for seed in range(4)]


@pytest.mark.parametrize(("seed", "edges"), CASES)
def test_a_tree_holds_every_clique_and_hangs_together(seed, edges):
    cliques = random_cliques(seed, edges=edges)
    (nodes, parents), _ = tree_of(cliques, [2 + k % 5 for k in range(COLUMNS)])
    assert parents[0] == -1
    assert all(0 <= parent < place for place, parent in enumerate(parents) if place)
    assert all(any({*clique} <= {*node} for node in nodes) for clique in [*cliques, *((k,) for k in range(COLUMNS))])
    assert not any({*a} <= {*b} for a in nodes for b in nodes if a != b)
    for column in range(COLUMNS):
        tops = [
            place for place, node in enumerate(nodes) if column in node and not _above(column, nodes, parents[place])
        ]
        assert len(tops) == 1


def _above(column, nodes, parent):
    return parent >= 0 and column in nodes[parent]


@pytest.mark.parametrize(("seed", "edges"), CASES)
def test_cliques_and_separators_are_those_of_mbi(seed, edges):
    cliques = random_cliques(seed, edges=edges)
    sizes = np.floor(2 + 5 * uniforms(key_of(seed), COLUMNS)).astype(int).tolist()
    (nodes, parents), order = tree_of(cliques, sizes)
    domain = mbi.Domain(tuple(range(COLUMNS)), tuple(sizes))
    theirs, _ = mbi.junction_tree.make_junction_tree(domain, cliques, [int(k) for k in order])
    assert sorted(nodes) == sorted(theirs.nodes)
    shared = sorted(len({*a} & {*b}) for a, b in theirs.edges)
    assert sorted(size for size in separators(nodes, parents) if size) == shared
