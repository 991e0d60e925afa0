"""Flat forms of the queries that add up numbers: moments, sums by group, soft thresholds (see genetic_sum_kernels)."""

from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Int

from sundog.domain.axis import Axis
from sundog.generate.genetic.atoms import Atoms
from sundog.generate.genetic.forms import GroupSums, Products, Sigmoids
from sundog.generate.genetic.members import flat, pointers
from sundog.queries import GroupSums as GroupSumsQuery
from sundog.queries import Moments, Query, SigmoidSum
from sundog.queries.moment import centred_codes
from sundog.queries.sigmoid import COARSE, positions

Cells = Callable[[Axis], Int[np.ndarray, " atoms"]]


def product_forms(atoms: Atoms, asked: Sequence[tuple[Moments, int, float]]) -> Products | None:
    """Moments that begin at some answers and have some weights."""
    if not asked:
        return None
    columns, sizes = _members(atoms, [query for query, _, _ in asked])
    column, order = pointers(columns, len(atoms.starts))
    owner = np.searchsorted(sizes, np.arange(len(columns)), side="right") - 1
    ranges = [range_ for query, _, _ in asked for range_ in query.ranges]
    values = [
        centred_codes(atoms.schema.columns[place], atoms.starts[place], range_)
        for place, range_ in zip(columns, ranges, strict=True)
    ]
    return Products(
        column=column,
        entry_query=owner[order],
        entry_place=(np.arange(len(columns)) - sizes[owner])[order],
        member=sizes,
        member_column=columns,
        member_value=_starts(values),
        start=flat([start for _, start, _ in asked]),
        weight=flat([weight for _, _, weight in asked], np.float64),
        value=flat(values),
    )


def group_sum_forms(atoms: Atoms, asked: Sequence[tuple[GroupSumsQuery, int, float]], cells: Cells) -> GroupSums | None:
    """Sums by group; `cells` gives the group of every atom of an axis's column."""
    if not asked:
        return None
    columns, _ = _members(atoms, [query for query, _, _ in asked])
    column, order = pointers(columns, len(atoms.starts))
    values = [centred_codes(atoms.schema.columns[place], atoms.starts[place]) for place in columns[1::2]]
    lists = [part for (query, _, _), value in zip(asked, values, strict=True) for part in (cells(query.group), value)]
    return GroupSums(
        column=column,
        entry_query=order // 2,
        group_column=columns[::2],
        value_column=columns[1::2],
        cell=_starts(lists)[::2],
        value=_starts(lists)[1::2],
        start=flat([start for _, start, _ in asked]),
        weight=flat([weight for _, _, weight in asked], np.float64),
        cells=flat(lists),
    )


def sigmoid_forms(atoms: Atoms, asked: Sequence[tuple[SigmoidSum, int, float]]) -> Sigmoids | None:
    """Soft thresholds."""
    if not asked:
        return None
    columns, sizes = _members(atoms, [query for query, _, _ in asked])
    column, order = pointers(columns, len(atoms.starts))
    weights = [weight for query, _, _ in asked for weight in query.whole_weights]
    at = [positions(atoms.schema.columns[place], atoms.starts[place]) for place in columns]
    parts = [weight * position for weight, position in zip(weights, at, strict=True)]
    tables = [query.table for query, _, _ in asked]
    begins = _starts([*parts, *tables])
    return Sigmoids(
        column=column,
        entry_query=(np.searchsorted(sizes, np.arange(len(columns)), side="right") - 1)[order],
        entry_member=order,
        member=sizes,
        member_column=columns,
        part=begins[: len(parts)],
        table=begins[len(parts) :] - flat([query.least for query, _, _ in asked]),
        shift=np.array([COARSE]),
        start=flat([start for _, start, _ in asked]),
        weight=flat([weight for _, _, weight in asked], np.float64),
        parts=flat([*parts, *tables]),
    )


def _members(
    atoms: Atoms, queries: Sequence[Query]
) -> tuple[Int[np.ndarray, " members"], Int[np.ndarray, " queries+1"]]:
    """The columns of all queries, one after the other, and where each query's begin."""
    columns = flat([atoms.schema.position(name) for query in queries for name in query.columns])
    return columns, np.cumsum([0, *(len(query.columns) for query in queries)])


def _starts(lists: Sequence[Int[np.ndarray, " any"]]) -> Int[np.ndarray, " lists"]:
    """Where each list begins if all stand one after the other."""
    return np.cumsum([0, *(len(each) for each in lists)])[:-1]
