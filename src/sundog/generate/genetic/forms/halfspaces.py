"""Halfspaces in the genetic search: thresholds that the row's product with a direction passes.

Every row's product with every direction is held; a change of one cell changes it by multiples of two coefficients.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Int
from numba.np.unsafe.ndarray import to_fixed_tuple

from sundog.domain import Numeric, Schema
from sundog.generate.genetic.atoms import Atoms, Cut, level_cuts
from sundog.generate.genetic.calls import kernel, opened
from sundog.generate.genetic.forms.base import Asked, Form, Ints, Lists, flat
from sundog.generate.genetic.forms.members import (
    Member,
    Places,
    counted,
    member,
    places_of,
    relabelled,
    unlabelled,
)
from sundog.queries import Halfspaces
from sundog.queries.halfspace import GRID, width


class Planes(NamedTuple):
    """Threshold k (of direction d: direction[d] <= k < direction[d + 1]) holds where the row's product is at most it.

    The product's part of an atom is factor[atom] times the directions' coefficients of feature[atom], which stand in
    theta[feature * directions + d]. lowest and highest are each direction's outer thresholds.
    """

    queries: int
    directions: int
    first: Ints
    direction: Ints
    threshold: Ints
    owner: Ints
    feature: Ints
    factor: Ints
    touched: Ints
    theta: Ints
    lowest: Ints
    highest: Ints
    places: Any  # Places


@kernel
def planes(p: int, h: int, i: int, j: int, a: int, b: int, update: bool) -> float:  # pragma: no cover (compiled)
    """Thresholds between the row's old and new products; members whose label is column j.

    The last row of what is held belongs to no synthetic row: it is room to note directions in.
    """
    L, S, W, rows, held, R = opened(p)
    f = Planes(*to_fixed_tuple(L[h : h + 13], 13))
    places = Places(*to_fixed_tuple(L[f.places : f.places + 8], 8))
    change, number, products = 0.0, f.directions, held[i]
    if L[f.touched + j]:
        before, after = L[f.first + j] + a, L[f.first + j] + b
        less, more = np.int32(L[f.factor + before]), np.int32(L[f.factor + after])
        gone = S[f.theta + L[f.feature + before] * number :][:number]
        come = S[f.theta + L[f.feature + after] * number :][:number]
        lowest, highest = S[f.lowest : f.lowest + number], S[f.highest : f.highest + number]
        found, noted = 0, held[held.shape[0] - 1]
        for d in range(number):  # gather the directions with a threshold in between, without branching
            old = products[d]
            new = old + more * come[d] - less * gone[d]
            noted[found] = d
            found += (max(old, new) > lowest[d]) & (min(old, new) <= highest[d])
        for c in range(found):
            d = noted[c]
            old = products[d]
            new = old + more * come[d] - less * gone[d]
            for k in range(L[f.direction + d], L[f.direction + d + 1]):
                cut = L[f.threshold + k]
                if min(old, new) <= cut < max(old, new):
                    change += member(L, W, places, rows, R, i, k, 1.0 if new <= cut else -1.0, update)
        if update:
            for d in range(number):
                products[d] += more * come[d] - less * gone[d]
    for e in range(L[places.label + j], L[places.label + j + 1]):
        k = L[places.label_query + e]
        if products[L[f.owner + k]] <= L[f.threshold + k]:
            change += relabelled(L, W, places, R, k, a, b, update)
    return change


@kernel
def count_planes(p: int, h: int) -> None:  # pragma: no cover (compiled)
    """Every row's product with every direction, and every row added to the answers."""
    L, S, W, rows, held, R = opened(p)
    f = Planes(*to_fixed_tuple(L[h : h + 13], 13))
    places = Places(*to_fixed_tuple(L[f.places : f.places + 8], 8))
    for i in range(rows.shape[0]):
        held[i] = 0
        for j in range(rows.shape[1]):
            atom = L[f.first + j] + rows[i, j]
            feature, factor = L[f.feature + atom], L[f.factor + atom]
            if factor:
                for d in range(f.directions):
                    held[i, d] += factor * S[f.theta + feature * f.directions + d]
    for q in range(f.queries):
        for i in range(rows.shape[0]):
            counted(L, W, places, rows, R, i, q, held[i, L[f.owner + q]] <= L[f.threshold + q])


def plane_cuts(schema: Schema, queries: Sequence[Halfspaces]) -> Iterator[Cut]:
    """Numbers are rounded to the grid of the embedding."""
    return (level_cuts(schema.column(name), GRID) for name in {name for query in queries for name in query.columns})


def plane_lists(atoms: Atoms, asked: Sequence[Member]) -> Lists:
    """Every threshold under its direction; equal directions are one."""
    widths = [width(column) for column in atoms.schema.columns]
    parts = [np.repeat(_embedded(atoms.schema, each.query), each.query.thresholds.shape[1], axis=0) for each in asked]
    theta = np.concatenate([np.empty((0, sum(widths)), np.int16), *parts])
    directions, owner = np.unique(theta, axis=0, return_inverse=True) if len(theta) else (theta, np.empty(0, int))
    cuts = flat([each.query.thresholds.ravel() for each in asked])
    order = np.lexsort((cuts, owner.ravel()))
    columns = np.split(np.arange(sum(widths)), np.cumsum(widths)[:-1])
    features, factors = zip(*(_features(atoms, k, int(own[0])) for k, own in enumerate(columns)), strict=True)
    direction = np.searchsorted(owner.ravel()[order], np.arange(len(directions) + 1))
    touched = np.array([bool((directions[:, own] != 0).any()) for own in columns])
    places = places_of(atoms, asked, order)
    fields = Planes(
        queries=len(theta),
        directions=len(directions),
        first=atoms.first,
        direction=direction,
        threshold=cuts[order],
        owner=owner.ravel()[order].astype(np.int64),
        feature=flat(features),
        factor=flat(factors),
        touched=touched.astype(np.int64),
        theta=np.ascontiguousarray(directions.T.astype(np.int32)),
        lowest=cuts[order][direction[:-1]].astype(np.int32),
        highest=cuts[order][direction[1:] - 1].astype(np.int32),
        places=places,
    )
    return Lists(fields, touched | (np.diff(places.label) > 0), held=len(directions))


def _embedded(schema: Schema, query: Halfspaces) -> Int[np.ndarray, "directions features"]:
    """A query's directions over the embedding of all columns."""
    widths = [width(column) for column in schema.columns]
    starts = dict(zip(schema.names, np.cumsum([0, *widths[:-1]]).tolist(), strict=True))
    theta = np.zeros((len(query.theta), sum(widths)), dtype=np.int16)
    held = 0
    for name, wide in zip(query.columns, query.widths, strict=True):
        theta[:, starts[name] : starts[name] + wide] = query.theta[:, held : held + wide]
        held += wide
    return theta


def _features(atoms: Atoms, place: int, first: int) -> tuple[Ints, Ints]:
    """Each atom's place in the embedding and what stands there (see queries.halfspace.embed)."""
    column, codes = atoms.schema.columns[place], atoms.axes[place].firsts
    if not isinstance(column, Numeric):
        return first + codes, np.full(len(codes), GRID)
    last, absent = max(column.steps - 1, 1), codes == column.steps
    return first + absent, np.where(absent, GRID, (2 * GRID * codes + last) // (2 * last))


def directions_of(queries: Sequence[Halfspaces]) -> int:
    """How many products there are per row, at most."""
    return sum(len(query.theta) for query in queries)


def _lists(atoms: Atoms, asked: Sequence[Asked]) -> Lists:
    return plane_lists(atoms, unlabelled(asked))


FORM = Form(plane_cuts, _lists, planes, count_planes, directions_of)
