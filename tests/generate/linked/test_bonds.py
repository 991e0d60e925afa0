"""What is declared across tables stays true in every step of the search, and who satisfies a condition can change."""

import numpy as np
import pytest

from generate.linked.test_linked_search import counted, problem, unbound
from sundog.domain.axis import Axis
from sundog.domain.linked.rules import Counted
from sundog.errors import UserError
from sundog.generate.linked import moves
from sundog.generate.linked.allowed import Allowed, together
from sundog.generate.linked.counts import Counts, dealt
from sundog.generate.linked.nearness import packed_near
from sundog.random.keys import key_of

AXES = {name: Axis(name, size=3, codes=3) for name in ("t.a", "t.b")}
ONE = Counted("one", "t", ("t.a",), (((0, 1),),), 1, 1)
FEW = Counted("few", "t", ("t.a", "t.b"), (((1, 3),), ((2, 3),)), 0, 1)


def dealt_problem(seed, rules=(ONE, FEW)):
    cells, tables, family = problem(seed=seed)
    parent = np.sort(np.random.default_rng(seed).integers(0, 20, size=cells.shape[1]))  # as in problem()
    counts = Counts.of(rules, AXES, parent=parent)
    made = dealt(key_of(seed), cells, counts=counts, allowed=unbound(cells)[0], margins=[np.ones(3), np.ones(3)])
    return made, counts, tables, family


def right(counts, cells):
    there = np.bincount(counts.parent) > 0
    for number, rule in enumerate(counts.rules):
        tally = counts.tally(number, cells)[there]
        if not ((tally >= rule.least) & (tally <= rule.most)).all():
            return False
    return True


@pytest.mark.parametrize("seed", range(4))
def test_counts_hold_at_the_start_and_after_every_pass(seed):
    cells, counts, tables, family = dealt_problem(seed)
    assert right(counts, cells)
    allowed = unbound(cells)[0]
    bonds = (allowed.place, allowed.flat, *counts.packed(cells))
    packed, totals = counted(cells, tables, family)
    before = cells.copy()
    ties = (family.row_weight, family.pair_weight, *family.after, *family.before)
    movable = np.ones(cells.shape, dtype=bool)
    state = np.array([seed], dtype=np.uint64)
    choices = (np.array([3, 3]), *packed_near({}, 2))
    moves.run_pass(state, cells, packed.arrays, ties, bonds, totals, movable, choices, 3000)
    assert right(counts, cells)
    np.testing.assert_allclose(totals, counted(cells, tables, family)[1], atol=1e-9)
    np.testing.assert_array_equal(bonds[5], [counts.tally(0, cells), counts.tally(1, cells)])
    assert (counts.holds(0, before) != counts.holds(0, cells)).any()  # another row of the parent is the one


def test_counts_that_cannot_hold_are_told():
    none = Counted("none", "t", ("t.a",), (((0, 1),),), 0, 0)
    with pytest.raises(UserError, match="cannot satisfy all of them"):
        dealt_problem(0, rules=(ONE, none))


def test_lines_of_one_column_allow_what_all_allow():
    first = np.array([0, 1, 1]), np.array([[True, True, False], [True, True, True]])
    second = np.array([0, 0, 1]), np.array([[False, True, True], [True, True, True]])
    line = together([first, second])
    allowed = Allowed.of([line], sizes=[3], rows=3)
    found = [[bool(allowed.fits(0, np.array([cell]), np.array([row]))[0]) for cell in range(3)] for row in range(3)]
    assert found == [[False, True, False], [False, True, True], [True, True, True]]
    assert together([]) is None
