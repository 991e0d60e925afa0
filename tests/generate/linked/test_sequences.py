"""Sequences keep within their bounds, by exchanging gaps first and by cutting the longest ones last."""

import numpy as np

from linked_tables import schema
from sundog.generate.linked.rows import TableRows, values_of
from sundog.generate.linked.sequences import begun, paced
from sundog.random.keys import key_of

TABLE = schema(visits=6).package.table("visits")
ROWS = 5
GROUPS = 400


def made(gaps):
    """Sequences of five visits from day 1 on, days 0 to 9."""
    parent = np.repeat(np.arange(GROUPS), ROWS)
    begins = np.tile(np.arange(ROWS) == 0, GROUPS)
    columns = {
        "visits.#gap": np.where(begins, 10, gaps),
        "visits.kind": np.zeros(len(parent), dtype=np.int64),
    }
    above = TableRows({"homes.#visits.#first": np.ones(GROUPS, dtype=np.int64)}, np.arange(GROUPS))
    return TableRows(columns, parent), begins, above


def test_gaps_stay_what_they_are_where_there_is_room_elsewhere():
    gaps = np.random.default_rng(0).choice([0, 1, 4], p=[0.35, 0.45, 0.2], size=GROUPS * ROWS)
    rows, begins, above = made(gaps)
    found = paced(key_of(1), TABLE, rows, above=above, limits=None)
    assert (np.bincount(rows.parent, weights=np.where(begins, 0, gaps)) > 8).any()  # some are too long
    np.testing.assert_array_equal(np.sort(found.columns["visits.#gap"]), np.sort(rows.columns["visits.#gap"]))
    days = values_of(TABLE, found)["visits.day"].reshape(GROUPS, ROWS)
    assert (
        np.diff(days, axis=1) == found.columns["visits.#gap"].reshape(GROUPS, ROWS)[:, 1:]
    ).all()  # none was cut off
    np.testing.assert_array_equal(found.columns["visits.day"], np.where(begins, 1, 10))


def test_only_the_longest_gaps_are_cut_where_there_is_none():
    rows, _, above = made(np.tile([0, 1, 1, 2, 9], GROUPS))
    found = paced(key_of(1), TABLE, rows, above=above, limits=None)
    gaps = found.columns["visits.#gap"].reshape(GROUPS, ROWS)[:, 1:]
    np.testing.assert_array_equal(gaps, np.tile([1, 1, 2, 4], (GROUPS, 1)))


def test_limits_hold():
    rows, _, above = made(np.tile([0, 1, 1, 2, 9], GROUPS))
    limits = np.full(GROUPS * ROWS, 3), np.full(GROUPS * ROWS, 7)
    name = "homes.#visits.#first"
    firsts = begun(key_of(2), TABLE, above.columns[name], parent=rows.parent, limits=limits)
    begins = TableRows({name: firsts}, above.parent)
    days = values_of(TABLE, paced(key_of(1), TABLE, rows, above=begins, limits=limits))["visits.day"]
    days = days.reshape(GROUPS, ROWS)
    assert days.min() == 3
    assert days.max() <= 7
    assert (np.diff(days, axis=1) >= 0).all()


def test_sequences_begin_where_parents_say_and_nowhere_else():
    parent = np.array([0, 0, 1, 3, 4, 4])
    given = np.array([2, 10, 5, 9, 10])  # the second and the last have rows and do not say; the third has none
    found = begun(key_of(1), TABLE, given, parent=parent, limits=None)
    assert found[[0, 2, 3]].tolist() == [2, 10, 9]
    assert set(found[[1, 4]]) <= {2, 9}  # the values of others
    low, high = np.array([4, 4, 0, 0, 5, 5]), np.array([9, 9, 1, 9, 8, 8])
    found = begun(key_of(1), TABLE, given, parent=parent, limits=(low, high))
    assert found.tolist() == [9, 1, 10, 9, 8]  # from others within the limits, else the nearest


def test_no_parent_says_where_a_sequence_begins():
    parent = np.arange(3)
    assert begun(key_of(1), TABLE, np.full(3, 10), parent=parent, limits=None).tolist() == [0, 0, 0]
