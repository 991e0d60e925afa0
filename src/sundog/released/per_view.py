"""One view of a linked release, as if it were a release of one flat table. Post-processing: released values only.

In a view each root counts as one, so a measurement of weights divided by the weight of a root is a marginal over roots; all
that estimates, rules and generators do with flat tables then holds for the view.
"""

from dataclasses import replace
from typing import TypeGuard

import numpy as np

from sundog.domain import Schema
from sundog.domain.linked.views import SECOND, LinkedSchema, View, has_value, is_count
from sundog.errors import UserError
from sundog.queries import Marginal, Query, Shared
from sundog.released.measurement import Measurement, Scores
from sundog.released.released import Released


def shared(query: Query, view: View) -> Shared:
    """A marginal as it is measured on a view."""
    if not isinstance(query, Marginal):
        raise UserError(f"linked tables: only marginals can be measured, and {query.describe()!r} is none.")
    return Shared(query, view.shares, view.most, every=view.root)


def linked_schema(released: Released) -> LinkedSchema:
    """The schema of a release of linked tables."""
    if not isinstance(released.schema, LinkedSchema):
        raise UserError("released: these are measurements of one table, not of linked ones.")
    return released.schema


def of_view(released: Released, view: View) -> Released:
    """The measurements and scores of a view, per root.

    Columns of the parent that were not measured on the view are taken from the parent's own, where every parent has a row
    in it; the second of two siblings is like the first where pairs are looked at in both orders, so a table of one column with
    itself is the mean of both orders, with about half the variance.
    """
    schema = linked_schema(released)
    own = [_per_root(m, m.query) for m in released.measurements if _is_of(m.query, view)]
    if view.siblings and not view.ordered:
        own = [_symmetric(m) for m in own]
        own += [_renamed(m) for m in own if len(m.query.columns) == 1 and m.query.columns[0] in view.own]
    scores = tuple(_scores_per_root(s) for s in released.scores if _is_of(s.candidates[0], view))
    flat = replace(released, schema=schema.of_view(view), measurements=tuple(own), scores=scores, adjustments=())
    given = [m for m in _given(released, view, known={m.query.columns for m in own}) if own]
    return replace(flat, measurements=(*own, *(_scaled(m, flat) for m in given)))


def by_table(released: Released) -> list[Released]:
    """The release of every table, with its declared columns and numbers of children alone; itself where there is one table."""
    if not isinstance(released.schema, LinkedSchema):
        return [released]
    return [_own_columns(of_view(released, view), view) for view in released.schema.views if view.siblings is None]


def _own_columns(flat: Released, view: View) -> Released:
    names = [name for name in view.own if is_count(name) or (has_value(name) and not name.endswith(".#gap"))]
    known = [m for m in flat.measurements if len(m.query.columns) == 1 and m.query.columns[0] in names]
    return replace(flat, schema=Schema(tuple(flat.schema.column(name) for name in names)), measurements=tuple(known))


def same_parents(schema: LinkedSchema, view: View) -> bool:
    """Whether every root has rows in the view, and its parents' columns there are those of the root."""
    table = schema.package.table(view.table)
    return bool(view.given) and table.parent == schema.package.root.name and table.least > 0


def _given(released: Released, view: View, *, known: set[tuple[str, ...]]) -> list[Measurement]:
    schema = linked_schema(released)
    if not same_parents(schema, view):
        return []
    above = of_view(released, schema.view(schema.package.root.name))
    one_way = [m for m in above.measurements if len(m.query.columns) == 1 and m.query.columns not in known]
    return [m for m in one_way if m.query.columns[0] in view.given]


def _scaled(measurement: Measurement, flat: Released) -> Measurement:
    """A measurement of the parents, which are as many as the roots in the view."""
    factor = flat.rows / max(float(measurement.values.sum()), 1.0)
    return replace(measurement, values=np.rint(measurement.values * factor).astype(np.int64))


def _is_of(query: Query, view: View) -> TypeGuard[Shared]:
    return isinstance(query, Shared) and query.shares == view.shares


def _per_root(measurement: Measurement, query: Shared) -> Measurement:
    values = np.rint(measurement.values / query.scale).astype(np.int64)
    return replace(measurement, query=query.marginal, values=values, stddev=measurement.stddev / query.scale)


def _scores_per_root(scores: Scores) -> Scores:
    marginals = tuple(each.marginal for each in scores.candidates if isinstance(each, Shared))
    scale = scores.candidates[0].scale
    return Scores(marginals, np.rint(scores.values / scale).astype(np.int64), scores.stddev / scale, scores.receipt)


def _symmetric(measurement: Measurement) -> Measurement:
    """A table of a column of both siblings without what tells one from the other; its mean variance. Others as they are.

    Of a cells per side, those on the diagonal keep their variance and all others have half of it.
    """
    first, *others = measurement.query.axes  # type: ignore[attr-defined]
    if not others or others[0] != replace(first, column=f"{first.column}{SECOND}"):
        return measurement
    table = measurement.values.reshape(first.size, first.size)
    values = np.rint((table + table.T) / 2).astype(np.int64).ravel()
    return replace(measurement, values=values, stddev=measurement.stddev * ((first.size + 1) / (2 * first.size)) ** 0.5)


def _renamed(measurement: Measurement) -> Measurement:
    """A measurement of the first sibling as one of the second."""
    (axis,) = measurement.query.axes  # type: ignore[attr-defined]
    return replace(measurement, query=Marginal((replace(axis, column=f"{axis.column}{SECOND}"),)))
