"""Graphical model (PGM): the distribution of greatest entropy among those that fit the noisy marginals best.

McKenna, Sheldon, Miklau 2019 (Private-PGM); the generator of MST, AIM and MWEM+PGM. With measurements y_m of marginals,

    minimise over distributions p   sum_m || A_m p - y_m ||^2 / (2 stddev_m^2),    p(x) ~ exp(sum_C theta_C(x_C)),

by mirror descent on the potentials theta, one table for each measured clique of columns. What differs from mbi, the authors'
library (an oracle in the tests):

- It compiles its descent again for every graph (6-10 CPU s for 14 columns, against 0.1 s of computing). Here messages are
  passed by one kernel for all graphs (message_passing.py), and the descent is a few lines of numpy (descent.py).
- Always double precision: in float32 the descent stalls at large n.
- A tree that holds all that is measured is kept; a fitted model takes in a further measurement in few steps.
- Numbers: a model cell is a bin; values inside it follow the finer one-way measurement (bins.py). Measurements may have
  different bins: the model's axis refines those of all measured tables.
- A public table, where given, is the starting point: its tree of strongest relations joins the model, and what was not
  measured keeps the public relation.
- Rows are drawn by explicit keys, systematically, and shuffled within groups (mbi's sampler uses global randomness).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

import numpy as np
from jaxtyping import Bool, Float

from sundog.declare import Range, check_declared
from sundog.domain import Numeric, Schema
from sundog.domain.axis import Axis
from sundog.domain.conditions import Condition
from sundog.domain.rows import Rows
from sundog.estimate.bins import Leaves, leaves_of, uniform_leaves
from sundog.generate.base import Ending, Fits, check_measured, in_registry
from sundog.generate.graphical.calibrated import CalibratedTree, Clique
from sundog.generate.graphical.elimination import elimination_order, neighbours
from sundog.generate.graphical.junction_tree import junction_tree
from sundog.generate.graphical.message_passing import MessagePassing, Potentials
from sundog.generate.graphical.mirror_descent import MeasuredTable, descend
from sundog.generate.graphical.public import public_edges
from sundog.generate.graphical.size_limit import cliques_within, single_columns
from sundog.generate.graphical.targets import model_axes, targets_of, transfer
from sundog.generate.narrowing import box
from sundog.queries import Marginal, Query, answer
from sundog.random.keys import Key, key_of, split
from sundog.released import Released

FITS: Fits = {Marginal: math.inf}
CELL_MEGABYTES = 8 / 2**20
REFERENCE_ROWS = 100_000
LEAST_SHARE = 1e-9
"""What has less than this share of the model's rows, it does not hold: its tables are never quite empty."""
FAINTEST = 1e-7
"""The least proportion from which a cell can still grow: the descent is multiplicative."""


@dataclass(frozen=True, eq=False)
class GraphicalState:
    """Each column's leaves and model axis, the potentials, and the calibrated tree they amount to."""

    schema: Schema
    leaves: tuple[Leaves, ...]
    axes: tuple[Axis, ...]
    tree: CalibratedTree
    potentials: Potentials = field(default_factory=dict)
    public: Rows | None = None
    left_out: int = 0
    """Measured tables that the model is too small for."""


@dataclass(frozen=True)
class Graphical:
    """The size of the model and the effort of its descent."""

    megabytes: Annotated[float, "The largest junction tree.", Range(1, 10**5)] = 32.0
    iterations: Annotated[int, "The most steps of the descent.", Range(1, 10**7)] = 1000
    refit_iterations: Annotated[
        int, "The same for a fitted model that is to take in another measurement.", Range(1, 10**7)
    ] = 200
    tolerance: Annotated[float, "The descent ends when 50 steps gain less than this part of the loss.", Range(0, 1)] = (
        1e-3
    )

    def __post_init__(self) -> None:
        check_declared(self)

    def supports(self, query: Query) -> bool:
        """Whether the query is a marginal."""
        return in_registry(FITS, query)

    def init(self, key: Key, schema: Schema) -> GraphicalState:
        """Every column uniform and independent."""
        return _independent(schema, [uniform_leaves(column) for column in schema.columns])

    def init_public(self, key: Key, schema: Schema, *, public: Rows) -> GraphicalState:
        """The public table's columns, and later its strongest relations."""
        leaves = [_public_leaves(uniform_leaves(column), public) for column in schema.columns]
        return replace(_independent(schema, leaves), public=public)

    def fit(self, key: Key, state: GraphicalState, *, released: Released) -> GraphicalState:
        """Descend from the given state, as far as its axes still hold, else from independent columns."""
        check_measured(self, released)
        known = leaves_of(released)
        leaves = [known[one.column.name] if known[one.column.name].stddev > 0 else one for one in state.leaves]
        axes = model_axes(released, leaves)
        sizes = [axis.size for axis in axes]
        targets, edges, left_out = self._held(targets_of(released, axes), public_edges(state.public, axes), sizes)
        cliques = _maximal([*(target.clique for target in targets), *edges, *((k,) for k in range(len(axes)))])
        nodes, parents = _junction_tree(sizes, cliques, earlier=state)
        start = _start(cliques, state=state, axes=axes, leaves=leaves, edges=edges)
        potentials, tables = descend(
            start,
            targets,
            calibrate=MessagePassing.over(sizes, nodes, parents=parents, potentials=cliques).calibrate,
            nodes=nodes,
            iterations=self.refit_iterations if state.potentials else self.iterations,
            tolerance=self.tolerance,
        )
        tree = CalibratedTree(nodes, parents, tables)
        return GraphicalState(state.schema, tuple(leaves), tuple(axes), tree, potentials, state.public, left_out)

    def _held(
        self, targets: list[MeasuredTable], edges: dict[Clique, Any], sizes: list[int]
    ) -> tuple[list[MeasuredTable], dict[Clique, Any], int]:
        """The targets and public relations that a model of this size can hold, and how many targets it cannot."""
        cells = self.megabytes / CELL_MEGABYTES
        kept = cliques_within(sizes, [target.clique for target in targets], cells=cells)
        held = [part for target in targets for part in ([target] if target.clique in kept else single_columns(target))]
        both = cliques_within(sizes, [*kept, *edges], cells=cells, first=kept)
        relations = {edge: table for edge, table in edges.items() if edge in both}
        return held, relations, sum(target.clique not in kept for target in targets)

    def ending(self, state: GraphicalState) -> Ending:
        """Whether the model holds all that was measured."""
        if not state.left_out:
            return Ending()
        return Ending(
            note=f"Measured tables that a model of {self.megabytes:g} MB cannot hold: {state.left_out}; only their single columns "
            "are used. Raise the setting 'megabytes', or generate by another method at no cost."
        )

    def answer(self, state: GraphicalState, query: Query) -> Float[np.ndarray, " cells"]:
        """Exact for marginals, on any axes; other queries are counted on sampled rows."""
        if not isinstance(query, Marginal):
            return answer(query, self.sample(key_of(0), state, rows=REFERENCE_ROWS)) / REFERENCE_ROWS
        places = [state.schema.position(name) for name in query.columns]
        table = state.tree.marginal(tuple(places))
        for axis, place in zip(query.axes, places, strict=True):
            table = np.tensordot(table, transfer(state.leaves[place], state.axes[place], axis), axes=(0, 0))
        return table.ravel()

    def sample(self, key: Key, state: GraphicalState, *, rows: int) -> Rows:
        """Cells down the tree, then values inside the cells."""
        draw, *inside = split(key, 1 + len(state.axes))
        cells = state.tree.sample(draw, len(state.axes), rows=rows)
        columns = zip(inside, state.leaves, state.axes, cells, strict=True)
        return Rows(state.schema, tuple(leaves.decode(k, axis, cells=cell) for k, leaves, axis, cell in columns))

    def narrowed(self, state: GraphicalState, condition: Condition) -> GraphicalState | None:
        """The tree given that every column lies in a cell that can satisfy a condition."""
        tree, share = state.tree.given(box(condition, state.schema, axes=state.axes))
        return replace(state, tree=tree) if share > LEAST_SHARE else None

    def megabytes_with(self, state: GraphicalState, queries: Sequence[Query]) -> list[float]:
        """The size of the junction tree if this or that query were measured too."""
        sizes = [axis.size for axis in state.axes]
        near = neighbours(len(sizes), state.potentials)
        return [self._megabytes_with(state, query, near, sizes) for query in queries]

    def megabytes_of(self, schema: Schema, queries: Sequence[Query], *, cells: int | None) -> float:
        """The size of the junction tree of all of them, on their own axes or, numbers, on at most `cells` cells."""
        sizes = [1] * len(schema.columns)
        for axis in (axis for query in queries for axis in query.axes):  # type: ignore[attr-defined]
            k = schema.position(axis.column)
            most = cells if cells is not None and isinstance(schema.columns[k], Numeric) else axis.size
            sizes[k] = max(sizes[k], min(axis.size, most))
        cliques = [tuple(schema.position(name) for name in query.columns) for query in queries]
        return CELL_MEGABYTES * elimination_order(neighbours(len(sizes), cliques), sizes)[1]

    @staticmethod
    def _megabytes_with(
        state: GraphicalState, query: Query, near: Bool[np.ndarray, "columns columns"], sizes: list[int]
    ) -> float:
        """Nothing more, if a clique of the tree holds the query's columns on its very axes."""
        axes = {state.schema.position(axis.column): axis for axis in query.axes}  # type: ignore[attr-defined]
        if all(state.axes[place] == axis for place, axis in axes.items()) and state.tree.holds(tuple(axes)):
            return _megabytes(sizes, state.tree.cliques)
        joined = near | neighbours(len(sizes), [tuple(axes)])
        cells = elimination_order(joined, [axes[k].size if k in axes else size for k, size in enumerate(sizes)])[1]
        return CELL_MEGABYTES * cells


def _independent(schema: Schema, leaves: list[Leaves]) -> GraphicalState:
    singles = tuple((k,) for k in range(len(leaves)))
    parents = tuple(range(-1, len(leaves) - 1))
    tree = CalibratedTree(singles, parents, tuple(one.proportions for one in leaves))
    return GraphicalState(schema, tuple(leaves), tuple(one.axis for one in leaves), tree)


def _public_leaves(leaves: Leaves, public: Rows) -> Leaves:
    """Proportions of the public table, with half a row added to every leaf."""
    counts = np.bincount(public.cells(leaves.axis), minlength=leaves.axis.size) + 0.5
    return replace(leaves, proportions=counts / counts.sum())


def _start(
    cliques: list[Clique], *, state: GraphicalState, axes: list[Axis], leaves: list[Leaves], edges: dict[Clique, Any]
) -> Potentials:
    """Potentials of the earlier model where its axes still hold, of the public tree, and of independent columns else."""
    same = {k for k, axis in enumerate(axes) if state.axes[k] == axis}
    terms = {clique: table for clique, table in state.potentials.items() if same.issuperset(clique)}
    terms |= {edge: table for edge, table in edges.items() if not any({*edge} <= {*clique} for clique in terms)}
    covered = {column for clique in terms for column in clique}
    for k in set(range(len(axes))) - covered:
        terms[(k,)] = np.log(np.maximum(leaves[k].shares(axes[k]), FAINTEST))
    start = {clique: np.zeros([axes[k].size for k in clique]) for clique in cliques}
    for clique, table in terms.items():
        home = next(home for home in cliques if {*clique} <= {*home})
        start[home] = start[home] + table[tuple(slice(None) if k in clique else None for k in home)]
    return start


def _maximal(cliques: Sequence[Clique]) -> list[Clique]:
    """The cliques that lie in no other one, in a fixed order."""
    unique = sorted(set(cliques), key=lambda clique: (-len(clique), clique))
    kept: list[Clique] = []
    for clique in unique:
        if not any({*clique} <= {*other} for other in kept):
            kept.append(clique)
    return sorted(kept)


def _megabytes(sizes: Sequence[int], cliques: Sequence[Clique]) -> float:
    return CELL_MEGABYTES * sum(math.prod(sizes[k] for k in clique) for clique in cliques)


def _junction_tree(
    sizes: Sequence[int], cliques: list[Clique], *, earlier: GraphicalState
) -> tuple[tuple[Clique, ...], tuple[int, ...]]:
    """The tree's cliques, parents first, with each one's parent; the earlier tree where it holds all cliques."""
    same = list(sizes) == [axis.size for axis in earlier.axes]
    if same and earlier.potentials and all(earlier.tree.holds(clique) for clique in cliques):
        return earlier.tree.cliques, earlier.tree.parents
    near = neighbours(len(sizes), cliques)
    return junction_tree(near, elimination_order(near, sizes)[0])
