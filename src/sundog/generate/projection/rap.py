"""RAP: relaxed projection (Aydore et al. 2021) onto the answers that some table of soft rows can give.

    D' = argmin over soft rows of  sum over all measurements of ||q(D') - a||^2 / stddev^2

One generator serves T = 1 (measure everything, project once: the projection mechanism) and T rounds of K (the rule
chooses, every earlier measurement stays in the loss). What differs from the paper and its code, and why:

- Rows lie on the product of simplices from the first step, by softmax (sparsemax as an option): the paper projects now
  and then, its Adult configuration never does, and its rows are then no distribution.
- Whole marginals, weighted by their noise, all in one loss; the squared norm; Adam as published, its moments reset only
  with the measurements; a windowed stop.
- Rows start from the one-way measurements instead of at random; a cell becomes a value by the same measurements.
- Numeric columns are held over the bins that the measurements of several columns use, cut also at the bounds of ranges; a bound
  inside a cell (there are at most `MOST_CUT` from bounds) counts the part of the cell that the column's own measurement puts there.
- Rounding is unbiased, with independent randomness for every row and column.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal, TypeVar

import numpy as np
from jaxtyping import Float

from sundog.declare import Range, check_declared
from sundog.domain import Schema
from sundog.domain.axis import Axis
from sundog.domain.rows import Rows
from sundog.estimate.bins import Leaves, leaves_of, uniform_leaves
from sundog.generate.base import check_measured
from sundog.generate.projection.adam import Descent, Params, Problem, descended
from sundog.generate.projection.features import features
from sundog.generate.projection.forms import FORMS
from sundog.generate.projection.panels import Matrix, MeasuredCells, Panel
from sundog.generate.projection.rounding import rounded
from sundog.generate.projection.soft_table import Frame, Known, SoftTable, known_of
from sundog.generate.projection.starts import carried_params, fresh_params, public_params
from sundog.queries import Query, answer
from sundog.queries.marginal import one_way_axis
from sundog.random.keys import Key, key_of
from sundog.released import Released

Fitted = TypeVar("Fitted")
Simplex = Literal["softmax", "sparsemax"]
REFERENCE_ROWS = 100_000
AT_THE_NOISE, AGREES = 1.0, 1.1
"""The loss that exact answers would have, on the average, and the most of a public table that agrees with what was measured."""
TRAPPED = 1.0
"""The loss above which rows that started from a public table are compared with rows that did not: that of the noise. With
1.5 the network kept half of what a wrong table had taught it (Adult, epsilon 1: 1.16 and 1.40, where a fresh start has .95)."""
NOTHING_KNOWN: dict[str, Leaves] = {}


@dataclass(frozen=True)
class SoftMaker:
    """Parameters to features: probabilities by softmax or sparsemax."""

    frame: Frame
    simplex: Simplex = "softmax"

    def __call__(self, params: Params, known: Known, sharpness: Any, *, hard: bool = False) -> Matrix:
        """Compute the feature matrix of the soft rows."""
        return features(params, known, sharpness, frame=self.frame, simplex=self.simplex, hard=hard)


@dataclass(frozen=True)
class RelaxedProjection:
    """`rows` soft rows (the paper's n'), on the simplex by `simplex`, moved by `descent`."""

    rows: Annotated[int, "The paper's n': how many soft rows there are.", Range(1, 10**5)] = 1000
    simplex: Annotated[Simplex, "How numbers become probabilities."] = "softmax"
    descent: Descent = field(default_factory=Descent)

    def __post_init__(self) -> None:
        check_declared(self)

    def supports(self, query: Query) -> bool:
        """Whether the projection fits this class of queries."""
        return fits_soft_cells(query)

    def init(self, key: Key, schema: Schema) -> SoftTable:
        """Rows uniform under the public bounds."""
        leaves = {column.name: uniform_leaves(column) for column in schema.columns}
        frame = Frame(schema, tuple(Axis.of(column) for column in schema.columns))
        return SoftTable(frame, fresh_params(key, frame, leaves=leaves, rows=self.rows, simplex=self.simplex), leaves)

    def init_public(self, key: Key, schema: Schema, *, public: Rows) -> SoftTable:
        """The same; fitted rows will start from those of a public table."""
        return replace(self.init(key, schema), public=public)

    def fit(self, key: Key, state: SoftTable, *, released: Released) -> SoftTable:
        """Project onto all measurements; goes on from the given rows where they were fitted before."""
        check_measured(self, released)
        frame = held_frame(released, numbers=False)

        def fitted(start: SoftTable) -> tuple[SoftTable, float]:
            table = restarted(key, start, frame, released=released, simplex=self.simplex)
            if only_columns(released):
                return table, 0.0
            maker = SoftMaker(table.frame, self.simplex)
            problem = problem_of(table, released, maker=maker)
            enough = enough_of(start, frame, params=table.params, problem=problem)
            best = descended(table.params, problem, descent=self.descent, enough=enough)
            return replace(table, params=best.params, descended=True, public=state.public), best.loss

        return not_trapped(state, fitted)

    def answer(self, state: SoftTable, query: Query) -> Float[np.ndarray, " cells"]:
        """The expected answer of the rounded rows."""
        return soft_answer(state, query, maker=SoftMaker(state.frame, self.simplex))

    def sample(self, key: Key, state: SoftTable, *, rows: int) -> Rows:
        """Randomised rounding, each soft row as often as needed."""
        return rounded(key, state, rows=rows, simplex=self.simplex)


def fits_soft_cells(query: Query) -> bool:
    """Whether a query has a form for which columns held over cells are enough."""
    return type(query) in FORMS and FORMS[type(query)].soft_cells(query)


def axes_of(query: Query, schema: Schema) -> list[Axis]:
    """The axes whose cells a query needs."""
    form = FORMS[type(query)]
    return [axis for part in form.parts(query) for axis in form.axes(part, schema)]


def cuts_of(query: Query, schema: Schema) -> list[Axis]:
    """Where a query cuts numeric columns that are held over cells."""
    form = FORMS[type(query)]
    return [axis for part in form.parts(query) for axis in form.cuts(part, schema)]


def only_columns(released: Released) -> bool:
    """Whether every measurement is of a single column: then rows that start from them are all there is to do."""
    return all(one_way_axis(measurement.query) is not None for measurement in released.measurements)


def held_frame(released: Released, *, numbers: bool) -> Frame:
    """Columns over the cells that tables of several columns tell apart; numeric ones as numbers where wanted."""
    several = [m.query for m in released.measurements if one_way_axis(m.query) is None]
    axes, cuts = ([axis for query in several for axis in of(query, released.schema)] for of in (axes_of, cuts_of))
    return Frame.of(released, axes, numbers=numbers, cuts=cuts)


def restarted(
    key: Key, state: SoftTable, frame: Frame, *, released: Released, simplex: Simplex = "softmax"
) -> SoftTable:
    """The rows as they are, over the cells that are now asked about; fresh ones where nothing was known yet."""
    leaves = leaves_of(released)
    if goes_on(state, frame):
        params = carried_params(state.params, state.frame, frame, leaves=leaves, simplex=simplex)
    elif state.public is not None:
        params = public_params(key, frame, leaves=leaves, rows=state.rows, simplex=simplex, public=state.public)
    else:
        params = fresh_params(key, frame, leaves=leaves, rows=state.rows, simplex=simplex)
    return SoftTable(frame, params, leaves, public=state.public)


def not_trapped(state: SoftTable, fitted: Callable[[SoftTable], tuple[Fitted, float]]) -> Fitted:
    """What was fitted; if it started from a public table and does not fit, what started again, if that fits better.

    Rows that are sure of a wrong label let go of it slowly, and a descent may end before: its loss, about 1 at the noise, tells.
    """
    made, loss = fitted(state)
    if state.public is None or loss <= TRAPPED:
        return made
    other, less = fitted(replace(state, public=None, descended=False, leaves=NOTHING_KNOWN))
    return other if less < loss else made


def enough_of(start: SoftTable, frame: Frame, *, params: Params, problem: Problem) -> float:
    """The loss at which a descent ends: that of the noise where it starts from a public table that agrees, else none.

    A table that does not agree is descended from to the end: a loss that is small on the average may hide one large error.
    """
    if start.public is None or goes_on(start, frame):
        return 0.0
    return AT_THE_NOISE if sum(problem.exact_losses(params).values()) <= AGREES else 0.0


def goes_on(state: SoftTable, frame: Frame) -> bool:
    """Whether rows were fitted before and numbers are held alike, so that a fit can go on from them (a warm start)."""
    known = any(part.stddev > 0 for part in state.leaves.values())
    alike = all((old is None) == (new is None) for old, new in zip(state.frame.held, frame.held, strict=True))
    return known and alike


def targets_of(released: Released) -> list[MeasuredCells]:
    """All measurements as proportions, part by part, with weights by which the loss is about 1 at the noise."""
    cells = sum(measurement.query.size for measurement in released.measurements)
    targets = []
    for measurement in released.measurements:
        values = measurement.values / released.rows
        weight = (released.rows / max(measurement.stddev, 1e-9)) ** 2 / cells
        parts = FORMS[type(measurement.query)].parts(measurement.query)
        pieces = np.split(values, np.cumsum([part.size for part in parts])[:-1])
        targets += [MeasuredCells(part, piece, weight) for part, piece in zip(parts, pieces, strict=True)]
    return targets


def panels_of(frame: Frame, targets: Sequence[MeasuredCells], *, known: Known) -> list[Panel]:
    """The panels of all measurements."""
    panels = []
    for kind, form in FORMS.items():
        own = [target for target in targets if type(target.query) is kind]
        panels += form.panels(frame, own, known=known) if own else []
    return panels


def problem_of(table: SoftTable, released: Released, *, maker: Any) -> Problem:
    """What is to be minimised for these measurements, by a maker for the table's frame."""
    targets = [target for target in targets_of(released) if not _column_of_numbers(target, table.frame)]
    axes, cuts = ([axis for t in targets for axis in of(t.query, released.schema)] for of in (axes_of, cuts_of))
    maker = replace(maker, frame=table.frame.asking(axes, cuts=cuts))
    known = known_of(maker.frame, table.leaves, rows=table.rows)
    return Problem(maker, known, panels_of(maker.frame, targets, known=known))


def _column_of_numbers(target: MeasuredCells, frame: Frame) -> bool:
    """A number column's own marginal: its rows follow it by rank, and its cells are too narrow for any sigmoid."""
    axis = one_way_axis(target.query)
    return axis is not None and frame.number(axis.column) is not None


def soft_answer(table: SoftTable, query: Query, *, maker: SoftMaker) -> Float[np.ndarray, " cells"]:
    """The answer of the rows, numbers exact, labels in expectation over their rounding; without a form it is counted."""
    form = FORMS.get(type(query))
    if form is None:
        rows = rounded(key_of(0), table, rows=REFERENCE_ROWS, simplex=maker.simplex)
        return answer(query, rows) / REFERENCE_ROWS
    return np.asarray(form.answers(table, form.parts(query), maker=maker))
