from itertools import combinations, permutations

import numpy as np
import pytest

from sundog.generate.graphical.calibrated import CalibratedTree
from sundog.random.keys import key_of, uniforms


def chain() -> tuple[CalibratedTree, np.ndarray]:
    """A tree with a clique of three columns and a part of its own, and its whole joint distribution."""
    first = uniforms(key_of(1), 24).reshape(2, 3, 4)
    second = uniforms(key_of(2), 12).reshape(4, 3)
    third = uniforms(key_of(3), 6).reshape(3, 2)
    alone = uniforms(key_of(4), 3)
    joint = np.einsum("abc,cd,de,f->abcdef", first, second, third, alone)
    joint /= joint.sum()
    cliques = ((0, 1, 2), (2, 3), (3, 4), (5,))
    tables = tuple(joint.sum(axis=tuple(k for k in range(6) if k not in clique)) for clique in cliques)
    return CalibratedTree(cliques, (-1, 0, 1, 2), tables), joint


@pytest.mark.parametrize("columns", [c for k in (1, 2, 3) for c in combinations(range(6), k)])
def test_every_marginal_equals_that_of_the_joint_distribution(columns):
    tree, joint = chain()
    expected = joint.sum(axis=tuple(k for k in range(6) if k not in columns))
    assert np.allclose(tree.marginal(columns), expected, atol=1e-12)


def test_axes_come_in_the_order_asked_for():
    tree, joint = chain()
    for order in permutations((0, 3, 5)):
        assert np.allclose(
            tree.marginal(order), np.einsum("abcdef->adf", joint).transpose(np.argsort(np.argsort(order)))
        )


def test_rows_follow_the_joint_distribution():
    tree, joint = chain()
    rows = 200_000
    cells = tree.sample(key_of(7), 6, rows=rows)
    counted = np.bincount(np.ravel_multi_index(cells, joint.shape), minlength=joint.size) / rows
    assert np.abs(counted - joint.ravel()).sum() < 0.06
    assert np.abs(counted.reshape(joint.shape).sum(axis=(3, 4, 5)) - tree.tables[0]).max() < 1e-4
