"""Sequences keep within their bounds, by exchanging gaps first and by cutting the longest ones last."""

import numpy as np

from linked_tables import schema
from sundog.generate.linked.rows import TableRows, values_of
from sundog.generate.linked.sequences import paced
from sundog.random.keys import key_of

TABLE = schema(visits=6).package.table("visits")
ROWS = 5
GROUPS = 400


def made(gaps):
    """Sequences of five visits from day 1 on, days 0 to 9."""
    parent = np.repeat(np.arange(GROUPS), ROWS)
    begins = np.tile(np.arange(ROWS) == 0, GROUPS)
    columns = {
        "visits.day": np.where(begins, 1, 10),
        "visits.#gap": np.where(begins, 10, gaps),
        "visits.kind": np.zeros(len(parent), dtype=np.int64),
    }
    return TableRows(columns, parent), begins


def test_gaps_stay_what_they_are_where_there_is_room_elsewhere():
    gaps = np.random.default_rng(0).choice([0, 1, 4], p=[0.35, 0.45, 0.2], size=GROUPS * ROWS)
    rows, begins = made(gaps)
    found = paced(key_of(1), TABLE, rows, None)
    assert (np.bincount(rows.parent, weights=np.where(begins, 0, gaps)) > 8).any()  # some are too long
    np.testing.assert_array_equal(np.sort(found.columns["visits.#gap"]), np.sort(rows.columns["visits.#gap"]))
    days = values_of(TABLE, found)["visits.day"].reshape(GROUPS, ROWS)
    assert (
        np.diff(days, axis=1) == found.columns["visits.#gap"].reshape(GROUPS, ROWS)[:, 1:]
    ).all()  # none was cut off
    np.testing.assert_array_equal(found.columns["visits.day"], rows.columns["visits.day"])


def test_only_the_longest_gaps_are_cut_where_there_is_none():
    rows, _ = made(np.tile([0, 1, 1, 2, 9], GROUPS))
    found = paced(key_of(1), TABLE, rows, None)
    gaps = found.columns["visits.#gap"].reshape(GROUPS, ROWS)[:, 1:]
    np.testing.assert_array_equal(gaps, np.tile([1, 1, 2, 4], (GROUPS, 1)))


def test_limits_hold():
    rows, _ = made(np.tile([0, 1, 1, 2, 9], GROUPS))
    limits = np.full(GROUPS * ROWS, 3), np.full(GROUPS * ROWS, 7)
    days = values_of(TABLE, paced(key_of(1), TABLE, rows, limits))["visits.day"].reshape(GROUPS, ROWS)
    assert days.min() == 3
    assert days.max() <= 7
    assert (np.diff(days, axis=1) >= 0).all()
