"""Graphical model (PGM): the distribution of greatest entropy among those that fit the noisy marginals best.

McKenna, Sheldon, Miklau 2019 (Private-PGM); the generator of MST, AIM and MWEM+PGM. With measurements y_m of marginals,

    minimise over distributions p   sum_m || A_m p - y_m ||^2 / (2 stddev_m^2),    p(x) ~ exp(sum_C theta_C(x_C)),

by mirror descent on the potentials theta, one table for each measured clique of columns. mbi triangulates the graph and
passes messages on the junction tree (the only file that imports it). What differs:

- mbi compiles its whole descent anew for every graph (6-10 CPU s for 14 columns, against 0.1 s of computing). Here only
  its message passing is compiled; the descent, with momentum and restarts, is a few lines of numpy.
- Always double precision, only inside this file: in float32 the descent stalls at large n.
- Numbers: a model cell is a bin; values inside it follow the finer one-way measurement (bins.py). Measurements may have
  different bins: the model's axis refines those of all measured tables.
- A public table, where given, is the starting point: its tree of strongest relations joins the model, and what was not
  measured keeps the public relation.
- Rows are drawn by explicit keys, systematically, and shuffled within groups (mbi's sampler uses global randomness).
"""

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np
from jaxtyping import Float

from sundog.axis import Axis
from sundog.bins import Leaves, leaves_of, uniform_leaves
from sundog.errors import UserError
from sundog.generate.calibrated import CalibratedTree, Clique
from sundog.generate.descent import Potentials, descend
from sundog.generate.public import public_edges
from sundog.generate.targets import model_axes, targets_of, transfer
from sundog.keys import Key, key_of, split
from sundog.queries import Marginal, Query, answer
from sundog.released import Released
from sundog.rows import Rows
from sundog.schema import Schema

CELL_MEGABYTES = 8 / 2**20
REFERENCE_ROWS = 100_000
QUICK_MEGABYTES = 0.5
"""Smaller models are compiled without optimisation: that takes half the time, and more than running them."""
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


@dataclass(frozen=True)
class Graphical:
    """`megabytes` bounds the junction tree; `iterations` and `tolerance` (relative gain of 50 steps) the descent."""

    megabytes: float = 32.0
    iterations: int = 1000
    tolerance: float = 1e-3

    def supports(self, query: Query) -> bool:
        """Marginals."""
        return isinstance(query, Marginal)

    def init(self, key: Key, schema: Schema) -> GraphicalState:
        """Every column uniform and independent."""
        return _independent(schema, [uniform_leaves(column) for column in schema.columns])

    def init_public(self, key: Key, schema: Schema, *, public: Rows) -> GraphicalState:
        """The public table's columns, and later its strongest relations."""
        leaves = [_public_leaves(uniform_leaves(column), public) for column in schema.columns]
        return replace(_independent(schema, leaves), public=public)

    def fit(self, key: Key, state: GraphicalState, *, released: Released) -> GraphicalState:
        """Descend from the given state, as far as its axes still hold, else from independent columns."""
        known = leaves_of(released)
        leaves = [known[one.column.name] if known[one.column.name].stddev > 0 else one for one in state.leaves]
        axes = model_axes(released, leaves)
        targets = targets_of(released, axes)
        edges = public_edges(state.public, axes)
        cliques = _maximal([*(target.clique for target in targets), *edges, *((k,) for k in range(len(axes)))])
        order = _junction_tree([axis.size for axis in axes], cliques, limit=self.megabytes)
        start = _start(cliques, state=state, axes=axes, leaves=leaves, edges=edges)
        calibrate = _message_passing(tuple(axis.size for axis in axes), tuple(cliques), order=order)
        potentials, tables = descend(
            start,
            targets,
            calibrate=calibrate,
            nodes=order[0],
            iterations=self.iterations,
            tolerance=self.tolerance,
        )
        return GraphicalState(
            state.schema, tuple(leaves), tuple(axes), CalibratedTree(*order, tables), potentials, state.public
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

    def megabytes_with(self, state: GraphicalState, queries: Sequence[Query]) -> float:
        """The size of the junction tree if these queries were measured too."""
        sizes = [axis.size for axis in state.axes]
        if all(self._holds(state, query) for query in queries):
            return _megabytes(sizes, list(state.tree.cliques))
        cliques = [*state.potentials, *((k,) for k in range(len(sizes)))]
        for query in queries:
            for axis in query.axes:  # type: ignore[attr-defined]
                sizes[state.schema.position(axis.column)] = axis.size
            cliques.append(tuple(sorted(state.schema.position(name) for name in query.columns)))
        return _megabytes(sizes, _tree_cliques(sizes, _maximal(cliques))[0])

    @staticmethod
    def _holds(state: GraphicalState, query: Query) -> bool:
        """Whether a clique of the tree holds the query's columns on its very axes: then it costs no more."""
        places = {state.schema.position(name) for name in query.columns}
        same = all(state.axes[state.schema.position(axis.column)] == axis for axis in query.axes)  # type: ignore[attr-defined]
        return same and any(places <= {*clique} for clique in state.tree.cliques)


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


def _mbi() -> Any:
    """The library, without the two warnings it gives at import: precision is set here, and no compilation cache is written."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="JAX is running in float32 mode")
        warnings.filterwarnings("ignore", message="JAX persistent compilation cache is enabled")
        import mbi
    return mbi


def _domain(sizes: Sequence[int]) -> Any:
    return _mbi().Domain(tuple(range(len(sizes))), tuple(sizes))


def _tree_cliques(sizes: Sequence[int], cliques: list[Clique]) -> tuple[list[Clique], Any]:
    tree = _mbi().junction_tree.make_junction_tree(_domain(sizes), cliques)[0]
    return [tuple(clique) for clique in tree.nodes], tree


def _megabytes(sizes: Sequence[int], cliques: list[Clique]) -> float:
    return CELL_MEGABYTES * sum(math.prod(sizes[k] for k in clique) for clique in cliques)


def _junction_tree(
    sizes: Sequence[int], cliques: list[Clique], *, limit: float
) -> tuple[tuple[Clique, ...], tuple[int, ...]]:
    """The tree's cliques, parents first, with each one's parent; separate parts are joined by empty separators."""
    nodes, tree = _tree_cliques(sizes, cliques)
    if (size := _megabytes(sizes, nodes)) > limit:
        raise UserError(
            f"graphical model: these measurements need a junction tree of {size:.0f} MB; at most {limit:g} are allowed. "
            "Choose a method that needs none, such as independent, or measure fewer or coarser tables."
        )
    order: list[Clique] = []
    parents: list[int] = []
    waiting: list[tuple[Clique, int]] = []
    for node in nodes:
        waiting.append((node, len(order) - 1))
        while waiting:
            clique, parent = waiting.pop()
            if clique not in order:
                order.append(clique)
                parents.append(parent)
                waiting += [(other, len(order) - 1) for other in tree.neighbors(clique) if other not in order]
    return tuple(order), tuple(parents)


@lru_cache(maxsize=4)
def _message_passing(
    sizes: tuple[int, ...], cliques: tuple[Clique, ...], *, order: tuple[tuple[Clique, ...], tuple[int, ...]]
) -> Callable[[Potentials], tuple[Float[np.ndarray, "..."], ...]]:
    """Message passing by mbi for one graph, compiled: from potentials to the proportions of the tree's cliques."""
    import jax

    mbi, domain, nodes = _mbi(), _domain(sizes), order[0]
    tree = mbi.junction_tree.make_junction_tree(domain, list(cliques))[0]

    def calibrate(tables: list[Any]) -> list[Any]:
        factors = {c: mbi.Factor(domain.project(c), table) for c, table in zip(cliques, tables, strict=True)}
        beliefs = mbi.CliqueVector(domain, cliques, factors).expand(nodes)
        marginals = mbi.marginal_oracles.message_passing_hugin(beliefs, 1.0, tree)
        return [marginals[node].values for node in nodes]

    small = _megabytes(sizes, list(nodes)) < QUICK_MEGABYTES
    compiled = jax.jit(calibrate, compiler_options={"xla_backend_optimization_level": 0} if small else None)

    def run(potentials: Potentials) -> tuple[Float[np.ndarray, "..."], ...]:
        with jax.enable_x64(True):
            return tuple(np.asarray(table) for table in compiled([potentials[c] for c in cliques]))

    return run
