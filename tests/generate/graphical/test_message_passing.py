"""Our message passing against the joint distribution and against mbi's."""

import warnings

import numpy as np
import pytest

from sundog.generate.graphical.elimination import elimination_order, neighbours
from sundog.generate.graphical.junction_tree import junction_tree
from sundog.generate.graphical.message_passing import MessagePassing
from sundog.random.keys import key_of, uniforms

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import mbi

SIZES = (2, 3, 4, 2, 5, 3, 2)
GRAPHS = {
    "tree": [(0, 1), (1, 2), (1, 3), (3, 4), (4, 5), (5, 6)],
    "circle": [(0, 1), (1, 2), (2, 3), (3, 4), (0, 4), (5,), (6,)],
    "triples": [(0, 1, 2), (2, 3), (3, 4, 5), (5, 6), (1, 6)],
    "alone": [(k,) for k in range(7)],
}


def tree_of(cliques):
    near = neighbours(len(SIZES), cliques)
    return junction_tree(near, elimination_order(near, SIZES)[0])


def potentials_of(cliques, *, scale=3.0):
    shapes = {clique: [SIZES[k] for k in clique] for clique in cliques}
    draws = {c: uniforms(key_of(k), int(np.prod(shape))) for k, (c, shape) in enumerate(shapes.items())}
    return {clique: scale * (2 * draws[clique].reshape(shapes[clique]) - 1) for clique in cliques}


def joint_of(potentials):
    """The whole distribution, cell by cell."""
    total = np.zeros(SIZES)
    for clique, table in potentials.items():
        total = total + table.reshape([size if k in clique else 1 for k, size in enumerate(SIZES)])
    joint = np.exp(total - total.max())
    return joint / joint.sum()


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("scale", [3.0, 100.0])
def test_proportions_are_those_of_the_joint_distribution(graph, scale):
    cliques = GRAPHS[graph]
    nodes, parents = tree_of(cliques)
    potentials = potentials_of(cliques, scale=scale)
    tables = MessagePassing.over(SIZES, nodes, parents=parents, potentials=cliques).calibrate(potentials)
    joint = joint_of(potentials)
    for node, table in zip(nodes, tables, strict=True):
        rest = tuple(k for k in range(len(SIZES)) if k not in node)
        assert np.allclose(table, joint.sum(axis=rest), atol=1e-12)


def test_mbi_agrees():
    import jax

    cliques = GRAPHS["triples"]
    nodes, parents = tree_of(cliques)
    potentials = potentials_of(cliques)
    tables = MessagePassing.over(SIZES, nodes, parents=parents, potentials=cliques).calibrate(potentials)
    domain = mbi.Domain(tuple(range(len(SIZES))), SIZES)
    with jax.enable_x64(True):
        factors = {c: mbi.Factor(domain.project(c), jax.numpy.asarray(table)) for c, table in potentials.items()}
        vector = mbi.CliqueVector(domain, tuple(cliques), factors).expand(nodes)
        theirs = mbi.marginal_oracles.message_passing_stable(vector, 1.0)
        for node, table in zip(nodes, tables, strict=True):
            assert np.allclose(table, np.asarray(theirs[node].values), atol=1e-12)
