"""Ties: tables speak of the column that is searched, chains are followed, columns are set by their roots."""

import numpy as np

from sundog.domain import Categorical, Schema
from sundog.domain.axis import Axis
from sundog.estimate.pairs.determined import Dependency
from sundog.generate.pooled.ties import Ties
from sundog.queries import Joined, Marginal

SIZES = {"city": 6, "region": 3, "country": 2, "age": 4}
SCHEMA = Schema(tuple(Categorical(name, labels=tuple(range(size))) for name, size in SIZES.items()))
AXES = {column.name: Axis.whole(column) for column in SCHEMA.columns}
REGION, COUNTRY = np.array([0, 0, 1, 1, 2, 2]), np.array([0, 0, 1])
CHAIN = [
    Dependency(AXES["region"], AXES["country"], COUNTRY),
    Dependency(AXES["city"], AXES["region"], REGION),
]


def test_columns_are_set_by_their_roots():
    cells = {name: np.zeros(6, dtype=int) for name in SIZES} | {"city": np.arange(6)}
    made = Ties.of(CHAIN, AXES).applied(cells)
    assert made["region"].tolist() == REGION.tolist()
    assert made["country"].tolist() == COUNTRY[REGION].tolist()
    assert list(made) == list(SIZES)


def test_a_table_of_a_tied_column_is_one_of_its_root():
    values = np.arange(8.0)
    table, counts = Ties.of(CHAIN, AXES).coded(SCHEMA, Marginal((AXES["country"], AXES["age"])), values)
    assert table.columns == ("city", "age")
    assert table.axes[0].groups == (0, 0, 0, 0, 1, 1)
    assert counts.tolist() == values.tolist()


def test_cells_that_no_root_leads_to_are_left_out():
    never = [Dependency(AXES["city"], AXES["region"], np.array([0, 0, 0, 2, 2, 2]))]
    table, counts = Ties.of(never, AXES).coded(SCHEMA, Marginal((AXES["region"],)), np.array([30.0, 1.0, 30.0]))
    assert table.axes[0].groups == (0, 0, 0, 1, 1, 1)
    assert counts.tolist() == [30.0, 30.0]


def test_a_table_of_columns_with_one_root_needs_no_fitting():
    assert Ties.of(CHAIN, AXES).coded(SCHEMA, Marginal((AXES["region"], AXES["country"])), np.ones(6)) is None


def test_a_map_onto_coarser_cells_ties_nothing():
    coarse = Axis.grouped(SCHEMA.column("region"), [0, 0, 1])
    ties = Ties.of([Dependency(AXES["city"], coarse, np.array([0, 0, 0, 0, 1, 1]))], AXES)
    assert not ties.roots
    table, _ = ties.coded(SCHEMA, Marginal((AXES["region"],)), np.ones(3))
    assert table.axes[0] == AXES["region"]


def test_joined_cells_of_a_tied_column_are_joined_cells_of_its_root():
    joined = Joined(Marginal((AXES["region"], AXES["age"])), (0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5))
    never = [Dependency(AXES["city"], AXES["region"], np.array([0, 0, 0, 2, 2, 2]))]
    table, counts = Ties.of(never, AXES).coded(SCHEMA, joined, np.arange(6.0))
    assert table.columns == ("city", "age")
    assert table.groups == (0, 0, 1, 1) * 3 + (2, 2, 3, 3) * 3
    assert counts.tolist() == [0.0, 1.0, 4.0, 5.0]
