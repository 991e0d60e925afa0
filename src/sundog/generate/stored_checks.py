"""What a stored state must hold before it is used: its arrays come from a file, and generators draw by them without looking.

One check per class, of kinds, shapes and ranges. A check answers False, or fails at a part that is of another kind; either way
the state is not used.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from sundog.domain import Schema
from sundog.domain.axis import Axis
from sundog.domain.linked.views import table_columns
from sundog.domain.rows import Rows
from sundog.estimate.bins import Leaves
from sundog.generate.base import Ending
from sundog.generate.genetic.private_gsd import GeneticState
from sundog.generate.genetic.search import Outcome
from sundog.generate.graphical.calibrated import CalibratedTree
from sundog.generate.graphical.private_pgm import GraphicalState
from sundog.generate.independent import ColumnModel, IndependentState
from sundog.generate.linked.linked_search import LinkedState
from sundog.generate.linked.rows import TableRows
from sundog.generate.particles.embedding import Embedding, Place
from sundog.generate.particles.privpgd import ParticleState
from sundog.generate.polished import PolishedState
from sundog.generate.pooled.parts import PARTS
from sundog.generate.pooled.pooled_search import PooledState
from sundog.generate.projection.gem import NetworkState
from sundog.generate.projection.soft_table import Frame, SoftTable

MOST_WEIGHT = 2.0**60
"""More than any count of rows."""


def numbers(array: Any, *shape: int | None) -> bool:
    """Whether this is an array of finite floats of this shape (None: any length but none)."""
    fits = len(array.shape) == len(shape) and all(
        n == m or (m is None and n > 0) for n, m in zip(array.shape, shape, strict=True)
    )
    return fits and array.dtype.kind == "f" and bool(np.isfinite(array).all())


def proportions(array: Any, *shape: int) -> bool:
    """Whether these are proportions, or weights like them: none negative, not all zero, none so large that sums overflow."""
    return numbers(array, *shape) and bool((array >= 0).all()) and 0 < float(array.max(initial=0.0)) <= MOST_WEIGHT


def axes_of(axes: Sequence[Axis], schema: Schema) -> bool:
    """Whether there is one axis per column of the schema, in its order, made for it."""
    columns = zip(axes, schema.columns, strict=True)
    return all(axis.column == column.name and axis.codes == column.size for axis, column in columns)


def _whole(*values: Any) -> bool:
    return all(type(value) is int for value in values)


def _leaves(leaves: Leaves) -> bool:
    fits = leaves.axis.column == leaves.column.name and leaves.axis.codes == leaves.column.size
    return (
        fits
        and proportions(leaves.proportions, leaves.axis.size)
        and math.isfinite(leaves.stddev)
        and leaves.stddev >= 0
    )


def _ending(ending: Ending) -> bool:
    return all(isinstance(each, bool) for each in (ending.interrupted, ending.timed_out)) and isinstance(
        ending.note, str
    )


def _outcome(outcome: Outcome) -> bool:
    figures = all(isinstance(value, int | float) for value in (outcome.loss, outcome.noise_floor))
    return figures and _whole(outcome.generations, outcome.accepted) and isinstance(outcome.stop, str)


def _independent(state: IndependentState) -> bool:
    return axes_of([model.axis for model in state.columns], state.schema)


def _genetic(state: GeneticState) -> bool:
    rows = isinstance(state.rows, Rows) and len(state.rows) > 0 and isinstance(state.public, Rows | None)
    return rows and isinstance(state.outcome, Outcome | None)


def _tree(tree: CalibratedTree) -> bool:
    """Every parent comes before its child, and only the first clique has none."""
    cliques = zip(tree.cliques, tree.parents, tree.tables, strict=True)
    return all(
        _whole(parent, *clique)
        and list(clique) == sorted({*clique})
        and (0 <= parent < k if k else parent == -1)
        and proportions(table, *table.shape)
        for k, (clique, parent, table) in enumerate(cliques)
    )


def _graphical(state: GraphicalState) -> bool:
    sizes = [axis.size for axis in state.axes]
    held = {column for clique in state.tree.cliques for column in clique}
    tables = [*zip(state.tree.cliques, state.tree.tables, strict=True), *state.potentials.items()]
    return (
        axes_of(state.axes, state.schema)
        and axes_of([leaves.axis for leaves in state.leaves], state.schema)
        and held == set(range(len(sizes)))
        and all(numbers(table, *(sizes[k] for k in clique)) for clique, table in tables)
        and isinstance(state.public, Rows | None)
        and _whole(state.left_out)
    )


def _place(place: Place) -> bool:
    if not _whole(place.first, place.dimensions):
        return False
    if place.points is None:
        return place.dimensions in (1, place.axis.size)
    return len(place.points) == place.axis.size and all(len(point) == place.dimensions for point in place.points)


def _embedding(embedding: Embedding) -> bool:
    firsts = np.cumsum([0, *(place.dimensions for place in embedding.places)])
    return [place.first for place in embedding.places] == firsts[:-1].tolist()


def _particles(state: ParticleState) -> bool:
    axes = [place.axis for place in state.embedding.places]
    return (
        axes_of(axes, state.schema)
        and axes_of([leaves.axis for leaves in state.leaves], state.schema)
        and numbers(state.positions, state.embedding.coordinates, None)
        and _whole(state.fits)
    )


def _frame(frame: Frame) -> bool:
    held = [
        Axis.of(column) if axis is None else axis for axis, column in zip(frame.held, frame.schema.columns, strict=True)
    ]
    return axes_of(held, frame.schema)


def _soft(table: SoftTable) -> bool:
    """One array per column, of as many rows each: logits of cells, or numbers and, where it may be missing, chances of that."""
    rows = table.rows
    for column, axis in zip(table.frame.schema.columns, table.frame.held, strict=True):
        own = table.leaves[column.name]
        if not isinstance(own, Leaves) or own.column != column:
            return False
        if axis is not None:
            good = numbers(table.params["logits"][column.name], axis.size, rows)
        else:
            good = numbers(table.params["numbers"][column.name], rows)
            good = good and (not column.nullable or numbers(table.params["absent"][column.name], rows))
        if not good:
            return False
    return rows > 0 and isinstance(table.descended, bool) and isinstance(table.public, Rows | None)


def _network(state: NetworkState) -> bool:
    return isinstance(state.table, SoftTable) and _finite(state.weights)


def _finite(tree: Any) -> bool:
    if isinstance(tree, Mapping):
        return all(map(_finite, tree.values()))
    if isinstance(tree, tuple | list):
        return all(map(_finite, tree))
    return numbers(tree, *tree.shape)


def _polished(state: PolishedState) -> bool:
    return isinstance(state.table, SoftTable) and isinstance(state.search, GeneticState)


def _pooled(state: PooledState) -> bool:
    """Cells are drawn from without looking: none may lie outside its axis."""
    rows = len(state.cells[0])
    return (
        rows > 0
        and axes_of(state.axes, state.schema)
        and axes_of([leaves.axis for leaves in state.leaves], state.schema)
        and isinstance(state.ending, Ending)
        and all(
            cells.dtype.kind in "iu" and cells.shape == (rows,) and 0 <= cells.min() <= cells.max() < axis.size
            for cells, axis in zip(state.cells, state.axes, strict=True)
        )
        and _inside(state.positions, state.schema, rows)
        and len(state.parts) in (0, len(state.schema.columns))
        and all(parts is None or _codes(parts, rows, PARTS) for parts in state.parts)
        and isinstance(state.public, Rows | None)
    )


def _inside(positions: Sequence[Any], schema: Schema, rows: int) -> bool:
    """Whether these are positions inside cells: none, or one line or None per column."""
    return len(positions) in (0, len(schema.columns)) and all(
        places is None or (numbers(places, rows) and places.min() >= 0 and places.max() < 1) for places in positions
    )


def _codes(array: Any, length: int, size: int) -> bool:
    """Whether these are this many codes of a column of this size."""
    whole = array.dtype.kind in "iu" and array.shape == (length,)
    return whole and (not length or bool(array.min() >= 0 and array.max() < size))


def _table_rows(table: TableRows) -> bool:
    return _codes(table.parent, len(table.parent), 2**40) and bool((table.parent[1:] >= table.parent[:-1]).all())


def _linked(state: LinkedState) -> bool:
    """Every table of the package, codes in their domains, parents in range and sorted, as many children as declared."""
    package = state.schema.package
    if list(state.tables) != [table.name for table in package.tables]:
        return False
    for table in package.tables:
        held = state.tables[table.name]
        above = len(held) if table.parent is None else len(state.tables[table.parent])
        columns = {column.name: column for column in table_columns(package, table)}
        fits = set(held.columns) == set(columns) and _codes(held.parent, len(held), above)
        if not fits or not all(_codes(codes, len(held), columns[name].size) for name, codes in held.columns.items()):
            return False
        if np.bincount(held.parent, minlength=1).max() > table.most:
            return False
    return len(state.tables[package.root.name]) > 0


CHECKS: dict[type, Callable[[Any], bool]] = {
    LinkedState: _linked,
    TableRows: _table_rows,
    CalibratedTree: _tree,
    ColumnModel: lambda model: proportions(model.proportions, model.axis.size),
    Embedding: _embedding,
    Ending: _ending,
    Frame: _frame,
    GeneticState: _genetic,
    GraphicalState: _graphical,
    IndependentState: _independent,
    Leaves: _leaves,
    NetworkState: _network,
    Outcome: _outcome,
    ParticleState: _particles,
    Place: _place,
    PolishedState: _polished,
    PooledState: _pooled,
    SoftTable: _soft,
}
"""One check per class that may be rebuilt."""
