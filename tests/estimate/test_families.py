"""Rare labels stand under their parents, level by level, and come back as codes under them."""

import numpy as np

from sundog.domain import Schema
from sundog.domain.axis import Axis
from sundog.estimate.bins import Bins, Leaves
from sundog.estimate.families import families
from sundog.random.keys import key_of

LIST = [
    {"value": "A00", "parent": "A"},
    {"value": "A00.1", "parent": "A00"},
    {"value": "A00.2", "parent": "A00"},
    {"value": "A01", "parent": "A"},
    {"value": "B20", "parent": "B"},
    {"value": "B21", "parent": "B"},
    {"value": "C1", "parent": "C"},
    {"value": "D1"},
    {"value": "D2"},
    {"value": "E"},
]
COLUMN = Schema.from_json({"fields": [{"name": "icd", "categories": LIST}]}).columns[0]


def shares(**given):
    return np.array([given.get(str(label).replace(".", "_"), 0.001) for label in COLUMN.labels] + [0.0])


def groups_of(share, least=0.01):
    found = families(COLUMN, share, rare=share < least, least=least)
    return [[COLUMN.labels[code] for code in codes] for codes in found]


def test_siblings_that_are_heavy_together_are_one_cell():
    share = shares(A00_1=0.006, A00_2=0.006, B20=0.005, B21=0.006, E=0.9)
    assert groups_of(share) == [["A00", "A00.1", "A00.2"], ["B20", "B21"]]


def test_what_is_too_light_goes_one_level_higher():
    share = shares(A00_1=0.004, A00_2=0.004, A01=0.004, E=0.9)
    assert groups_of(share) == [["A00", "A00.1", "A00.2", "A01"]]


def test_what_is_heavy_stands_alone():
    share = shares(A00_1=0.3, A00_2=0.006, A00=0.005, E=0.6)
    assert groups_of(share) == [["A00", "A00.2"]]


def test_the_axis_has_a_cell_per_parent_and_a_remainder():
    share = shares(A00_1=0.3, A00_2=0.006, A00=0.006, B20=0.006, B21=0.006, E=0.6)
    axis = Bins(rare=0.01).axis(Leaves(COLUMN, Axis.whole(COLUMN), share, 1e-6))
    cell = dict(zip([*COLUMN.labels, None], axis.cell_of, strict=True))
    assert cell["A00"] == cell["A00.2"] != cell["A00.1"]
    assert cell["B20"] == cell["B21"] not in (cell["A00"], cell["C1"])
    assert cell["A01"] == cell["C1"] == cell["D1"] == cell["D2"]
    assert len({cell["E"], cell[None], cell["A00.1"], cell["A00"], cell["B20"], cell["C1"]}) == axis.size == 6


def test_codes_come_back_under_their_parent_by_what_was_measured():
    share = shares(A00_2=0.008, A00=0.002, B20=0.006, B21=0.006, E=0.9)
    leaves = Leaves(COLUMN, Axis.whole(COLUMN), share, 1e-6)
    axis = Bins(rare=0.01).axis(leaves)
    cell = axis.cell_of[COLUMN.labels.index("A00.2")]
    codes = leaves.decode(key_of(1), axis, cells=np.full(1000, cell))
    found = {COLUMN.labels[code]: int((codes == code).sum()) for code in np.unique(codes)}
    assert set(found) <= {"A00", "A00.1", "A00.2"}
    assert found["A00.2"] > 3 * found["A00"] > 0


def test_without_parents_nothing_changes():
    flat = Schema.from_json({"fields": [{"name": "icd", "categories": [item["value"] for item in LIST]}]}).columns[0]
    share = shares(A00_1=0.3, A00_2=0.006, A00=0.006, E=0.6)
    axis = Bins(rare=0.01).axis(Leaves(flat, Axis.whole(flat), share, 1e-6))
    assert axis.size == 4
