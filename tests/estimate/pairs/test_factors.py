"""Dependence that runs through many tables is found in all of them together; noise is not."""

import numpy as np
import pytest

from sundog.domain import Categorical, Schema
from sundog.domain.axis import Axis
from sundog.estimate.pairs.factors import Excess, common_dependence

CELLS, COLUMNS = 6, 10
SCHEMA = Schema(tuple(Categorical(f"c{k}", labels=tuple(range(CELLS))) for k in range(COLUMNS)))
AXES = {column.name: Axis.whole(column) for column in SCHEMA.columns}
SHARES = {name: np.full(CELLS, 1 / CELLS) for name in AXES}
PAIRS = [(a, b) for k, a in enumerate(SCHEMA.names) for b in SCHEMA.names[k + 1 :]]


def truth(strength, *, rank=2):
    lines = {name: np.random.default_rng(k).normal(size=(CELLS, rank)) for k, name in enumerate(SCHEMA.names)}
    lines = {name: values - values.mean(axis=0) for name, values in lines.items()}
    return [strength * lines[a] @ lines[b].T for a, b in PAIRS]


def noisy(tables, stddev, *, axes=AXES):
    rng = np.random.default_rng(99)
    return [
        Excess((axes[a], axes[b]), table + rng.normal(0, stddev, table.shape), stddev)
        for (a, b), table in zip(PAIRS, tables, strict=True)
    ]


def error(found, tables):
    return np.mean([np.square(x - y).sum() for x, y in zip(found, tables, strict=True)])


def test_a_common_structure_is_told_from_noise():
    tables = truth(40.0)
    excesses = noisy(tables, 30.0)
    found = common_dependence(excesses, axes=AXES, shares=SHARES, in_order={})
    assert error(found, tables) < 0.5 * error([excess.counts for excess in excesses], tables)


def test_noise_alone_is_nearly_all_left_out():
    nothing = truth(0.0)
    excesses = noisy(nothing, 30.0)
    found = common_dependence(excesses, axes=AXES, shares=SHARES, in_order={})
    assert error(found, nothing) < 0.3 * error([excess.counts for excess in excesses], nothing)


def test_without_noise_to_speak_of_the_tables_come_back():
    tables = truth(40.0)
    found = common_dependence(noisy(tables, 0.01), axes=AXES, shares=SHARES, in_order={})
    assert error(found, tables) < 1e-3 * np.mean([np.square(table).sum() for table in tables])


def test_coarser_tables_are_sums_of_finer_ones():
    coarse = {name: Axis.grouped(SCHEMA.column(name), [0, 0, 1, 1, 2, 2]) for name in AXES}
    tables = [t.reshape(3, 2, 3, 2).sum(axis=(1, 3)) for t in truth(40.0)]
    found = common_dependence(noisy(tables, 20.0, axes=coarse), axes=AXES, shares=SHARES, in_order={})
    assert found[0].shape == (3, 3)
    assert error(found, tables) < np.mean([np.square(table).sum() for table in tables])


def test_columns_with_an_order_change_slowly_from_cell_to_cell():
    along = np.linspace(-1, 1, CELLS)
    tables = [15.0 * np.outer(along, along**3 - (along**3).mean()) for _ in PAIRS]
    excesses = noisy(tables, 30.0)
    with_order, without = (
        common_dependence(excesses, axes=AXES, shares=SHARES, in_order=dict.fromkeys(AXES, cells))
        for cells in (CELLS, 0)
    )
    assert error(with_order, tables) < 0.9 * error(without, tables)


def test_one_table_of_two_cells():
    schema = Schema((Categorical("a", labels=(0, 1)), Categorical("b", labels=(0, 1))))
    axes = {column.name: Axis.whole(column) for column in schema.columns}
    table = np.array([[5.0, -5.0], [-5.0, 5.0]])
    found = common_dependence(
        [Excess((axes["a"], axes["b"]), table, 1.0)],
        axes=axes,
        shares={name: np.full(2, 0.5) for name in axes},
        in_order=dict.fromkeys(axes, 2),
    )
    assert found[0].shape == (2, 2)
    assert found[0] == pytest.approx(found[0].T, abs=1e-6)
