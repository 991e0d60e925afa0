"""Form: how the genetic search uses one class of queries. One file per class, one line in FORMS (forms/__init__.py).

With residuals R = counts(synthetic) - N' * noisy proportion, weights w, and an answer that changes by s,

    loss = sum over answers of w R^2,      change of loss = sum over touched answers of w (2 s R + s^2).

A form says where its queries tell numbers apart (`cuts`), lists for every column what a change in that column can touch
(`lists`), and has a kernel that walks through these lists for one change. A change costs what it touches, never all answers.

All answers stand in one flat vector. All lists are packed into one vector of integers L, one of small integers S and one of
weights W, and each field of a form becomes the place where its list begins: plain numbers, so that shapes never enter a
type and nothing is compiled again for another workload, round or size.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from sundog.domain import Schema
from sundog.generate.genetic.atoms import Atoms, Cut

Ints = Int[np.ndarray, " any"]
Floats = Float[np.ndarray, " any"]


class Asked(NamedTuple):
    """A query, where its answers begin among all, and the weight of each."""

    query: Any
    start: int
    weight: float


@dataclass(frozen=True, eq=False)
class Lists:
    """A form's `fields` (lists, numbers, or such tuples), the `columns` in which a change touches it, numbers held per row."""

    fields: tuple[Any, ...]
    columns: Bool[np.ndarray, " columns"]
    held: int = 0


@dataclass(frozen=True)
class Form:
    """What the search needs of one class of queries.

    cuts: where some queries of the class tell the codes of their columns apart.
    lists: their flat lists.
    kernel: kernel(p, h, i, j, a, b, update), compiled: the change of loss, or with `update` the change itself (calls.py).
    begin: begin(p, h), compiled: count the rows, and fill what is held of them; None: the queries count themselves.
    held: how many numbers some queries hold per row, at most.
    """

    cuts: Callable[[Schema, Sequence[Any]], Iterable[Cut]]
    lists: Callable[[Atoms, Sequence[Asked]], Lists]
    kernel: Any
    begin: Any = None
    held: Callable[[Sequence[Any]], int] = lambda queries: 0


def pointers(
    keys: Int[np.ndarray, " entries"], number: int
) -> tuple[Int[np.ndarray, " n"], Int[np.ndarray, " entries"]]:
    """Where each key's entries begin once sorted by key, and the order that sorts them."""
    order = np.argsort(keys, kind="stable")
    return np.searchsorted(keys[order], np.arange(number + 1)), order


def flat(parts: Sequence[Any], kind: type = np.int64) -> Any:
    """Some arrays or numbers as one array of a fixed type."""
    return (
        np.concatenate([np.atleast_1d(np.asarray(part)) for part in parts]).astype(kind) if parts else np.empty(0, kind)
    )


def begins(lists: Sequence[Ints]) -> Ints:
    """Where each list begins if all stand one after the other."""
    return np.cumsum([0, *(len(each) for each in lists)])[:-1]


def starts_and_weights(asked: Sequence[Asked]) -> dict[str, Any]:
    """The fields `start` and `weight` of a form with one of each per query."""
    return {"start": flat([each.start for each in asked]), "weight": flat([each.weight for each in asked], np.float64)}


def members(atoms: Atoms, asked: Sequence[Asked]) -> tuple[Ints, Ints]:
    """The columns of all queries, one after the other, and where each query's begin."""
    columns = flat([atoms.schema.position(name) for each in asked for name in each.query.columns])
    return columns, np.cumsum([0, *(len(each.query.columns) for each in asked)])


def entries(atoms: Atoms, asked: Sequence[Asked]) -> dict[str, Any]:
    """The fields of a form that lists every column of every query: under each column its queries, under each query its columns."""
    columns, sizes = members(atoms, asked)
    column, order = pointers(columns, len(atoms.axes))
    query = np.searchsorted(sizes, order, side="right") - 1
    return {"column": column, "entry_query": query, "entry_axis": order, "axis": sizes, "axis_column": columns}


def strided(atoms: Atoms, asked: Sequence[Asked]) -> list[Ints]:
    """For every axis of every query that is made of a marginal's cells: what each atom adds to the place of a row's cell."""
    tables = [each.query.marginal for each in asked]
    return [
        atoms.cells(axis) * math.prod(table.shape[place + 1 :])
        for table in tables
        for place, axis in enumerate(table.axes)
    ]


def combinations(atoms: Atoms, asked: Sequence[Asked]) -> dict[str, Any]:
    """The same, with the cells of every axis, of a form whose answers are combinations of a marginal's cells."""
    cells = [atoms.cells(axis) for each in asked for axis in each.query.marginal.axes]
    shapes = [each.query.marginal.shape for each in asked]
    strides = [[math.prod(shape[k + 1 :]) for k in range(len(shape))] for shape in shapes]
    axes = {"size": flat(shapes), "stride": flat(strides), "offset": begins(cells), "cells": flat(cells)}
    return entries(atoms, asked) | axes | starts_and_weights(asked)


def mask(atoms: Atoms, columns: Ints) -> Bool[np.ndarray, " columns"]:
    """Which columns are among these."""
    return np.isin(np.arange(len(atoms.axes)), columns)


class Packing:
    """Collects lists into three vectors, by their types."""

    def __init__(self) -> None:
        self._parts: dict[Any, list[Any]] = {np.dtype(kind): [] for kind in (np.int64, np.int32, np.float64)}
        self._sizes = dict.fromkeys(self._parts, 0)

    def place(self, value: Any) -> int:
        """Where a list begins, or where the fields of a tuple stand; a number is itself."""
        if isinstance(value, int):
            return value
        if isinstance(value, tuple):
            value = np.array([self.place(part) for part in value], dtype=np.int64)
        start, kind = self._sizes[value.dtype], value.dtype
        self._parts[kind].append(value.ravel())
        self._sizes[kind] += value.size
        return start

    def vectors(self) -> tuple[Ints, Ints, Floats]:
        """L, S and W."""
        integers, smalls, weights = (np.concatenate([np.empty(0, kind), *parts]) for kind, parts in self._parts.items())
        return integers, smalls, weights
