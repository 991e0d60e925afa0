"""Pooled search: clean the measured tables against each other, then search for rows that have them all at once.

1. Pool (sundog.estimate.pairs.pool): margins from everything that was measured, tables cleaned of noise.
2. Search (genetic_search) over rows that hold one cell per column, from a start along the strongest tables (tree_start), by
   changes of single cells; tables weigh by the precision they were measured with, margins a few times as much. Columns that
   follow from others are tied to them (ties); labels beside tables of joined cells are held on all labels (spread).
3. Decode every cell to a value through the one-way leaves (sundog.estimate.bins), so that numbers come out as fine as they were
   measured; inside its cells a column follows the one that it follows most closely (sundog.estimate.pairs.within), or lies
   evenly beside the others (parts).

The search of Private-GSD is what makes overlapping tables agree in rows; pooling first is what keeps it from fitting noise.
"""

import math
from dataclasses import dataclass, field, replace
from typing import Annotated

import numpy as np
from jaxtyping import Float, Int

from sundog.declare import Range, check_declared
from sundog.domain import Categorical, Schema
from sundog.domain.axis import Axis
from sundog.domain.conditions import Condition
from sundog.domain.rows import Rows
from sundog.estimate.bins import Leaves, leaves_of, uniform_leaves
from sundog.estimate.pairs.determined import dependencies
from sundog.estimate.pairs.pool import Pooled, pool
from sundog.estimate.pairs.public import public_pairs, with_columns
from sundog.estimate.pairs.within import followers, positions
from sundog.generate.base import Ending, Fits, check_measured, in_registry
from sundog.generate.genetic.search import Effort, Search
from sundog.generate.independent import systematic
from sundog.generate.narrowing import may_hold
from sundog.generate.pooled.parts import parts_of, positions_in
from sundog.generate.pooled.spread import spread
from sundog.generate.pooled.ties import Ties
from sundog.generate.pooled.tree_start import along_tree
from sundog.queries import Joined, Marginal, Query, answer
from sundog.random.draws import evenly
from sundog.random.keys import Key, integer_seed, permutation, split, uniforms
from sundog.released import Released

FITS: Fits = {Marginal: math.inf, Joined: 4}
MOST_ROWS = 200_000
NEAR = 10.0
"""How many times its precision a table of labels that all but fix a target weighs, at most: noise elsewhere must not put rows where
none are."""
BLURRED = 0.006
"""Less, in proportion, where the noise of a count is below this share of the rows."""
MARGINS = 3.0
"""How much a margin weighs, in tables of average precision."""
UNFITTED_ROWS = 1000
STOPPED = "The search was ended by Ctrl-C; the best rows so far are used."
"""Without its loss: that is the distance to tables from which the noise was taken off, and has no floor to compare it with."""

Wanted = tuple[Marginal | Joined, Float[np.ndarray, " cells"], float]
"""A table, its counts, and their noise or how much they weigh."""


@dataclass(frozen=True, eq=False)
class PooledState:
    """Rows of cells, the axes they are cells of, and the leaves that turn cells into values."""

    schema: Schema
    axes: tuple[Axis, ...]
    leaves: tuple[Leaves, ...]
    cells: tuple[Int[np.ndarray, " rows"], ...]
    ending: Ending = field(default_factory=Ending)
    positions: tuple[Float[np.ndarray, " rows"] | None, ...] = ()
    """Where inside its cell each row lies, column by column; None where its part alone is given. Empty: in all columns."""
    parts: tuple[Int[np.ndarray, " rows"] | None, ...] = ()
    """Which part of its cell each row lies in, column by column; None where it may lie anywhere. Empty: anywhere."""
    public: Rows | None = None
    """The public table to start from."""


@dataclass(frozen=True)
class PooledSearch:
    """The settings of the search."""

    rows: Annotated[
        int | None,
        "How many rows the search holds; by default as many as the table has, at most 200,000.",
        Range(1, 10**7),
    ] = None
    passes: Annotated[
        int, "How many times as many candidates are tried as there are cells, at most.", Range(1, 10**6)
    ] = 80
    tolerance: Annotated[
        float, "The search ends when a pass lowers the loss by less than this part of it.", Range(0, 1)
    ] = 0.005
    crossover: Annotated[float, "The share of candidates that take their value from another row.", Range(0, 1)] = 0.7

    def __post_init__(self) -> None:
        check_declared(self)

    def supports(self, query: Query) -> bool:
        """Marginals, and joined cells of up to four columns."""
        return in_registry(FITS, query)

    def init(self, key: Key, schema: Schema) -> PooledState:
        """A state in which every column is uniform."""
        leaves = tuple(uniform_leaves(column) for column in schema.columns)
        cells = _start(key, [leaf.proportions for leaf in leaves], rows=UNFITTED_ROWS)
        return PooledState(schema, tuple(leaf.axis for leaf in leaves), leaves, cells)

    def init_public(self, key: Key, schema: Schema, *, public: Rows) -> PooledState:
        """A state that holds the public table: its tables of pairs are pooled with measured ones, by what they are worth."""
        return replace(self.init(key, schema), public=public)

    def fit(self, key: Key, state: PooledState, *, released: Released) -> PooledState:
        """Pool, start along the strongest tables, search; of the earlier state only the public table is used."""
        check_measured(self, released)
        released = with_columns(released, state.public)
        leaves, public = leaves_of(released), public_pairs(released, state.public)
        pooled = pool(released, leaves, public=public)
        names = released.schema.names
        count = min(released.rows, MOST_ROWS) if self.rows is None else self.rows
        start, tree, search, inside, dealing = split(key, 5)
        cells, ending = _start(start, [pooled.margins[name] for name in names], rows=count), Ending()
        if pooled.tables or pooled.wider or pooled.joined:
            cells = along_tree(tree, pooled, start=dict(zip(names, cells, strict=True)))
            cells, ending = self._searched(search, pooled, cells=cells, released=released)
        axes = tuple(pooled.axes[name] for name in names)
        held = dict(zip(names, cells, strict=True))
        lie = positions(
            inside,
            followers(released.with_measurements((*released.measurements, *public)), pooled, leaves),
            axes=pooled.axes,
            cells=held,
        )
        dealt = parts_of(dealing, released.schema, pooled, cells=held, placed=lie)
        return PooledState(
            released.schema,
            axes,
            tuple(leaves[name] for name in names),
            cells,
            ending,
            tuple(lie.get(name) for name in names),
            tuple(dealt.get(name) for name in names),
            state.public,
        )

    def _searched(
        self, key: Key, pooled: Pooled, *, cells: tuple[Int[np.ndarray, " rows"], ...], released: Released
    ) -> tuple[tuple[Int[np.ndarray, " rows"], ...], Ending]:
        """The cells that fit, and how the search ended: that it used up its passes is no news."""
        schema = _cell_schema(released.schema, pooled)
        ties = Ties.of(dependencies(released), pooled.axes)
        start = ties.applied(dict(zip(schema.names, cells, strict=True)))
        scale = len(cells[0]) / released.rows
        wanted = _wanted(pooled, released)
        coded = [(ties.coded(schema, table, values * scale), weight / scale**2) for table, values, weight in wanted]
        fitted = [(*found, weight) for found, weight in coded if found is not None]
        queries, targets, weights = zip(*fitted, strict=True)
        search = Search(Rows(schema, tuple(start.values())), queries, targets=np.concatenate(targets), weights=weights)
        outcome = search.run(integer_seed(key), self._effort(len(cells[0]) * len(cells)))
        found = ties.applied(dict(zip(schema.names, search.rows().codes, strict=True)))
        return tuple(found.values()), Ending(True, STOPPED) if outcome.interrupted else Ending()

    def _effort(self, cells: int) -> Effort:
        """One pass, as many candidates as cells, is a window of generations of 100 candidates."""
        window = max(1, cells // 100)
        crossovers = round(100 * self.crossover)
        return Effort(
            operator="every improvement",
            mutations=100 - crossovers,
            crossovers=crossovers,
            elite_size=1,
            changes=1,
            generations=self.passes * window,
            window=window,
            tolerance=self.tolerance,
            seconds=None,
            stop_at_noise=False,
        )

    def ending(self, state: PooledState) -> Ending:
        """Whether the user stopped the search."""
        return state.ending

    def answer(self, state: PooledState, query: Query) -> Float[np.ndarray, " cells"]:
        """Counted on the rows, decoded always in the same way."""
        from sundog.random.keys import key_of

        rows = _decoded(key_of(0), state)
        return answer(query, rows) / len(rows)

    def sample(self, key: Key, state: PooledState, *, rows: int) -> Rows:
        """The rows, decoded; another number of them by repeating or leaving out rows as evenly as possible."""
        choose, decode = split(key, 2)
        chosen = evenly(choose, len(state.cells[0]), rows=rows)
        return _decoded(decode, _chosen(state, chosen))

    def narrowed(self, state: PooledState, condition: Condition) -> PooledState | None:
        """The rows whose cells can satisfy a condition."""
        kept = np.flatnonzero(may_hold(condition, state.schema, axes=state.axes, cells=state.cells))
        return _chosen(state, kept) if len(kept) else None


def _start(key: Key, margins: list[Float[np.ndarray, " cells"]], *, rows: int) -> tuple[Int[np.ndarray, " rows"], ...]:
    """Independent columns that have the margins, give or take one row a cell."""
    columns = []
    for each, margin in zip(split(key, len(margins)), margins, strict=True):
        offset, order = split(each, 2)
        drawn = systematic(margin / margin.sum(), rows, offset=float(uniforms(offset, 1)[0]))
        columns.append(drawn[permutation(order, rows)])
    return tuple(columns)


def _wanted(pooled: Pooled, released: Released) -> list[Wanted]:
    """What the rows are to have, and how much it weighs: what is known of columns alone, and all tables by their precision."""
    tables: list[Wanted] = [*spread(pooled, released.schema).tables, *pooled.wider, *pooled.joined]
    heavy = MARGINS * float(np.mean([1 / stddev**2 for _, _, stddev in tables]))
    alone = {name for m in released.measurements if isinstance(m.query, Marginal) for name in m.query.columns}
    told = alone.union(*(query.columns for query, _, _ in pooled.tables))
    wanted = [(Marginal((axis,)), pooled.margins[name], heavy) for name, axis in pooled.axes.items() if name in told]
    near = {query: _near(sd / released.rows) for query, _, sd in tables if query.columns in pooled.near}
    return [*wanted, *((query, counts, near.get(query, 1.0) / stddev**2) for query, counts, stddev in tables)]


def _near(noise: float) -> float:
    """How many times its precision a table of labels that all but fix a target weighs; `noise` is a share of the rows."""
    return max(NEAR * min(noise / BLURRED, 1.0), 1.0)


def _cell_schema(schema: Schema, pooled: Pooled) -> Schema:
    """A schema whose codes are the cells of the pooled axes."""
    columns = [Categorical(name, labels=tuple(range(pooled.axes[name].size))) for name in schema.names]
    return Schema(tuple(columns))


def _chosen(state: PooledState, chosen: Int[np.ndarray, " rows"]) -> PooledState:
    """The state with these of its rows."""
    lie = tuple(None if places is None else places[chosen] for places in state.positions)
    dealt = tuple(None if parts is None else parts[chosen] for parts in state.parts)
    return replace(state, cells=tuple(column[chosen] for column in state.cells), positions=lie, parts=dealt)


def _decoded(key: Key, state: PooledState) -> Rows:
    """Values for the cells."""
    nowhere = (None,) * len(state.cells)
    keys, lie, dealt = split(key, len(state.cells)), state.positions or nowhere, state.parts or nowhere
    columns = zip(keys, state.leaves, state.axes, state.cells, lie, dealt, strict=True)
    codes = []
    for each, leaves, axis, cells, places, parts in columns:
        dealing, inside = split(each, 2)
        given = places if parts is None else positions_in(dealing, cells, parts, size=axis.size)
        codes.append(leaves.decode(inside, axis, cells=cells, positions=given))
    return Rows(state.schema, tuple(codes))
