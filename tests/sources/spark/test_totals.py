"""Totals of tasks: each counts once, however often it arrives and in whatever sums; one that is absent is noticed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sundog.sources.spark import totals
from sundog.sources.spark.totals import CLOSERS, PIECE, merge, tree_total

SIZES = st.sampled_from([0, 1, 5, PIECE, PIECE + 3])


class Collected:
    """A frame whose rows are here, in place of Spark's: partitions are lists of batches."""

    def __init__(self, partitions):
        self.partitions = partitions

    def repartition(self, number, *keys):
        (span,) = {key[1] for key in keys if key[0] == "first"}
        made = [[] for _ in range(number)]
        for batch in (batch for partition in self.partitions for batch in partition):
            row = batch.to_pylist()[0]
            made[hash((row["first"] // span, row["piece"])) % number].append(batch)
        return Collected(made)

    def mapInArrow(self, step, types):
        assert types == totals.TYPES
        return Collected([list(step(partition)) for partition in self.partitions])

    def collect(self):
        return [row for partition in self.partitions for batch in partition for row in batch.to_pylist()]


@pytest.fixture(autouse=True)
def plain_keys(monkeypatch):
    monkeypatch.setattr(totals, "_keys", lambda frame, span: [("first", span), ("piece", None)])


def as_task(number, tell):
    """What a step tells when it runs as the task of this number."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(totals, "task_number", lambda: number)
        return [*tell()]


def told(task, vector):
    return as_task(task, lambda: totals.told(vector))


def closers(tasks, number=CLOSERS):
    return [as_task(tasks + k, lambda: totals._close([])) for k in range(number)]


def vectors(tasks, size):
    return [(np.arange(size, dtype=np.int64) + 3) * (task + 7) % 1001 - 3 for task in range(tasks)]


@given(tasks=st.integers(1, 40), size=SIZES, again=st.lists(st.integers(0, 39), max_size=5))
def test_every_task_counts_once(tasks, size, again):
    """Also where tasks were run again and told their totals twice."""
    parts = vectors(tasks, size)
    twice = [told(task, parts[task]) for task in again if task < tasks]
    frame = Collected([*(told(task, part) for task, part in enumerate(parts)), *twice, *closers(tasks)])
    assert np.array_equal(tree_total(frame, tasks, size=size), sum(parts))


def test_many_tasks_are_added_in_levels(monkeypatch):
    levels = []
    monkeypatch.setattr(totals, "_merging", lambda span: levels.append(span) or (lambda b: merge(b, span=span)))
    parts = vectors(300, 5)
    frame = Collected([*(told(task, part) for task, part in enumerate(parts)), *closers(300)])
    assert np.array_equal(tree_total(frame, 300, size=5), sum(parts))
    assert levels == [16, 256]


@pytest.mark.parametrize("absent", range(4))
def test_a_task_that_is_absent_is_noticed(absent):
    parts = vectors(4, 5)
    frame = Collected([*(told(task, part) for task, part in enumerate(parts) if task != absent), *closers(4)])
    with pytest.raises(RuntimeError, match="did not arrive"):
        tree_total(frame, 4, size=5)


@pytest.mark.parametrize("present", range(CLOSERS))
def test_tasks_behind_the_others_that_are_absent_are_noticed(present):
    frame = Collected([told(0, vectors(1, 5)[0]), *closers(1, present)])
    with pytest.raises(RuntimeError, match="did not arrive"):
        tree_total(frame, 1, size=5)


def test_no_task_at_all_counts_nothing():
    """A plan of which Spark knows that it is empty has no tasks, and must not be told from one without rows."""
    assert tree_total(Collected(closers(0)), 4, size=5).tolist() == [0] * 5


def test_copies_of_a_task_that_differ_are_noticed():
    a, b = vectors(2, 5)
    with pytest.raises(RuntimeError, match="have counted other rows"):
        tree_total(Collected([told(0, a), told(0, b), *closers(1)]), 1, size=5)


def test_a_piece_that_is_absent_is_noticed():
    frame = Collected([told(0, vectors(1, PIECE + 1)[0])[:1], *closers(1)])
    with pytest.raises(RuntimeError, match="did not arrive"):
        tree_total(frame, 1, size=PIECE + 1)


def test_sums_that_share_a_task_are_not_added():
    a, b, c = vectors(3, 4)
    first = [*merge([*told(0, a), *told(1, b)], span=16)]
    second = [*merge([*told(1, b), *told(2, c)], span=16)]
    with pytest.raises(RuntimeError, match="two different sums"):
        tree_total(Collected([first, second, *closers(3)]), 3, size=4)
