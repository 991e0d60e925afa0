import numpy as np
import pytest

from audit.people import SCHEMA, population
from sundog.audit import nearness
from sundog.domain.rows import Rows


def test_distances_by_hand(monkeypatch):
    monkeypatch.setattr(nearness, "CELLS", 5)  # several parts
    rows = Rows(SCHEMA, (*(np.array([0, 1, 2]) for _ in range(5)), np.array([0, 999, 1000])))
    found = np.concatenate(list(nearness.distances(rows, rows, [0, 5])))
    assert found == pytest.approx(np.array([[0, 2, 2], [2, 0, 2], [2, 2, 0]]))
    assert next(nearness.distances(rows, rows, [5]))[0, 1] == pytest.approx(1.0)


@pytest.mark.parametrize("count", [1, 4])
def test_the_nearest_are_the_nearest(count):
    targets, rows = population(20, seed=1), population(70, seed=2)
    every = np.concatenate(list(nearness.distances(targets, rows, range(6))))
    found = nearness.nearest(targets, rows, range(6), count=count)
    chosen = np.sort(np.take_along_axis(every, found, axis=1), axis=1)
    assert chosen == pytest.approx(np.sort(every, axis=1)[:, :count])
