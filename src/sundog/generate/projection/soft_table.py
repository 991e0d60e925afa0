"""Soft tables: synthetic rows that a gradient can move, written as one matrix of features (RAP, RAP++, GEM).

A column is held over the cells of an axis (each row has a probability for each cell) or, in RAP++, as a number in [0, 1]
with a probability of being missing. `Frame` says how, and which further axes the measurements ask about; `features.py`
writes everything the queries need as one matrix (features x rows), so that a query only ever picks rows of it:

    probabilities of held cells | place, value, value for halfspaces, missing | cells of further axes | 1 | 0

The number of a column that was measured alone is its rank u: its value is the quantile Q(u) of that measurement, so that
spikes are wide and thresholds lie where rows are. For gradients Q is averaged over u +- h, h = SMOOTH / sharpness, which
leaves no flat places; a threshold t becomes F(t). The number of any other column is its position between its bounds.

Cells of an axis other than the held one are reached by P(cell | held cell), taken from the released one-way measurement, as
rows are when their values are drawn; on a number they are differences of sigmoids of the given sharpness. With `hard`, the matrix says what a table made of
these rows answers, in expectation over the rounding of its labels: ranks are evenly spaced, thresholds exact, and the
rows most likely to be missing are.
Float32: a grid finer than about 2^22 steps is distinguished only to that precision.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from sundog.domain import Numeric, Schema
from sundog.domain.axis import Axis
from sundog.domain.rows import Rows
from sundog.estimate.bins import Leaves, coarsened, leaves_of
from sundog.lazy_jax import Array, jax, jnp
from sundog.released import Released

Params = dict[str, Any]
"""`logits`: one array (cells, rows) per held column; `numbers` and `absent`: (rows,) per number column."""
PAD = 64
MOST_CUT = 256
"""Into how many cells the bounds of ranges cut a numeric column, at most."""


@dataclass(frozen=True)
class Frame:
    """How rows are held: an axis a column (None: a number), and the further axes that are asked about."""

    schema: Schema
    held: tuple[Axis | None, ...]
    further: tuple[Axis, ...] = ()

    @staticmethod
    def of(released: Released, axes: Sequence[Axis], *, numbers: bool, cuts: Sequence[Axis] = ()) -> "Frame":
        """Columns over the coarsest cells that tell all axes apart, numeric ones as numbers where wanted.

        Cells are also cut at `cuts`; where those are many, at as many of them as `MOST_CUT` allows, evenly by mass.
        """
        held: list[Axis | None] = []
        for column in released.schema.columns:
            asked = [axis for axis in axes if axis.column == column.name]
            asked += [_thinned(cut, released) for cut in _joined(cuts) if cut.column == column.name]
            number = numbers and isinstance(column, Numeric) and column.steps > 1
            held.append(None if number else asked[0].refine(*asked[1:]) if asked else Axis.of(column))
        return Frame(released.schema, tuple(held))

    def asking(self, axes: Sequence[Axis], *, cuts: Sequence[Axis] = ()) -> "Frame":
        """The same rows, asked about these axes, and about the cuts that the held cells do not have."""
        lacking = [axis for axis in _joined(cuts) if self._crosses(axis)]
        further = [axis for axis in dict.fromkeys((*axes, *lacking)) if axis not in self.held]
        return Frame(self.schema, self.held, tuple(further))

    def _crosses(self, cut: Axis) -> bool:
        held = self.held[self.schema.position(cut.column)]
        return held is not None and not held.refines(cut)

    def axes_on(self, name: str) -> list[Axis]:
        """The axes of one column whose cells are features, the held one first."""
        return [axis for axis in (*self.held, *self.further) if axis is not None and axis.column == name]

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """Where each column's features begin, then each further axis's, then the constant one."""
        sizes = [4 if axis is None else axis.size for axis in self.held] + [axis.size for axis in self.further]
        return tuple(np.cumsum([0, *sizes]).tolist())

    @property
    def one(self) -> int:
        """The feature that is 1."""
        return self.starts[-1]

    @property
    def zero(self) -> int:
        """The feature that is 0."""
        return self.starts[-1] + 1

    @property
    def size(self) -> int:
        """The number of features, rounded up so that few shapes exist."""
        return -(-(self.starts[-1] + 2) // PAD) * PAD

    def cells(self, axis: Axis) -> Int[np.ndarray, " cells"]:
        """The features that hold an axis's cells."""
        place = self.schema.position(axis.column)
        start = self.starts[place if self.held[place] == axis else len(self.held) + self.further.index(axis)]
        return np.arange(start, start + axis.size)

    def number(self, name: str) -> int | None:
        """The first feature of a column that is held as a number, else None."""
        place = self.schema.position(name)
        return self.starts[place] if self.held[place] is None else None


def _joined(cuts: Sequence[Axis]) -> list[Axis]:
    """One axis per column, cut wherever one of these is."""
    found: dict[str, Axis] = {}
    for cut in dict.fromkeys(cuts):
        found[cut.column] = found[cut.column].refine(cut) if cut.column in found else cut
    return list(found.values())


def _thinned(cut: Axis, released: Released) -> Axis:
    leaves = leaves_of(released)[cut.column]
    return coarsened(cut, leaves.shares(cut), column=leaves.column, most=MOST_CUT)


@dataclass(frozen=True, eq=False)
class SoftTable:
    """The rows: how they are held, the parameters, and the leaves by which a cell becomes a value.

    descended: whether they were moved towards anything but single columns. public: a public table to start from.
    """

    frame: Frame
    params: Params
    leaves: dict[str, Leaves]
    descended: bool = False
    public: Rows | None = None

    @property
    def rows(self) -> int:
        """How many soft rows there are."""
        return jax.tree.leaves(self.params)[0].shape[-1]


class Known(NamedTuple):
    """What the one-way measurements say: how to reach each further axis, number columns' values, and shares missing."""

    further: tuple[Any, ...] = ()
    quantiles: dict[str, Any] = {}  # noqa: RUF012 (never changed)
    missing: dict[str, Any] = {}  # noqa: RUF012


def known_of(frame: Frame, leaves: dict[str, Leaves], *, rows: int) -> Known:
    """P(cell | held cell) or the cuts between a number's cells for every further axis; quantiles of measured columns."""
    names = [column.name for column, axis in zip(frame.schema.columns, frame.held, strict=True) if axis is None]
    measured = [leaves[name] for name in names if leaves[name].stddev > 0]
    known = Known(
        quantiles={part.column.name: _quantiles(part, rows) for part in measured},
        missing={part.column.name: missing_share(part) for part in measured if part.column.nullable},
    )
    further = (transfer_of(frame, axis, leaves[axis.column], known) for axis in frame.further)
    return known._replace(further=tuple(jnp.asarray(part, jnp.float32) for part in further))


def place_of(frame: Frame, name: str, known: Known, starts: Any) -> Any:
    """Where the cut below a code lies among a column's numbers: F of the value half a step below it."""
    column = frame.schema.column(name)
    cut = (np.asarray(starts) - 0.5) / max(column.size - column.nullable - 1, 1)
    if name not in known.quantiles:
        return cut
    values = np.asarray(known.quantiles[name], dtype=np.float64)
    return np.searchsorted(values, cut) / len(values)


def missing_share(leaves: Leaves) -> float:
    """The share of rows in which a column is missing."""
    return float(leaves.shares(Axis.cut(leaves.column, [0]))[-1])


def _quantiles(leaves: Leaves, rows: int) -> Float[Array, " rows"]:
    """The values of a column that is there, as positions, at equally spaced ranks."""
    column = leaves.column
    starts = leaves.axis.run_starts()
    there = starts != (column.missing if column.nullable else -1)
    share = leaves.proportions[there] + 1e-12
    ends = np.cumsum(share) / share.sum()
    ranks = (np.arange(rows) + 0.5) / rows
    place = np.minimum(np.searchsorted(ends, ranks, side="right"), len(ends) - 1)
    inside = 1 - (ends[place] - ranks) / (share[place] / share.sum())
    width = leaves.axis.widths[there][place]
    codes = starts[there][place] + np.clip(np.floor(inside * width), 0, width - 1)
    return jnp.asarray(codes / max(column.size - column.nullable - 1, 1), jnp.float32)


def transfer_of(frame: Frame, axis: Axis, leaves: Leaves, known: Known) -> Float[np.ndarray, "..."]:
    """P(cell of an axis | held cell), or the cuts between the cells of a number."""
    column, held = frame.schema.column(axis.column), frame.held[frame.schema.position(axis.column)]
    if held is None:
        starts = axis.run_starts()
        inner = starts[(starts > 0) & (starts != (column.missing if column.nullable else -1))]
        return place_of(frame, axis.column, known, inner)
    fine = leaves.within(axis).within(held)
    matrix = np.zeros((axis.size, held.size))
    np.add.at(matrix, (fine.cells(axis), fine.cells(held)), fine.proportions + 1e-9)
    return matrix / matrix.sum(axis=0, keepdims=True)
