"""What the script of explore.html reads: columns, the cells they are cut into, and answers; numbers by their places in a pack."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sundog.domain import Categorical, Column, Numeric
from sundog.domain.axis import Axis
from sundog.domain.rows import Rows
from sundog.estimate.answers import quantile
from sundog.estimate.bins import coarsened
from sundog.estimate.guesses import UNSEEN, Misfit
from sundog.estimate.question import Found, cell_name
from sundog.released import Released
from sundog.report.explore.codebook import LONGEST, short
from sundog.report.explore.columns import Coded, coded
from sundog.report.explore.pack import LARGEST, Pack
from sundog.report.explore.tables import ALONE, CELLS, Table, Tables

CONFIDENCE = 0.95
SHARE = 10_000
"""Shares are kept in parts of this."""
WEIGHT = 1 << 16
"""Weights are kept in parts of the largest one."""


def document_of(released: Released, rows: Rows, *, tables: Tables | None, misfit: Misfit, pack: Pack) -> dict[str, Any]:
    """What the script needs to know, the numbers by their places in the pack."""
    cuts = {column.name: _Cuts(column, pack) for column in rows.schema.columns}
    for name, cut in cuts.items():
        measured = tables is not None and name in tables.alone
        axes = (tables.alone[name], tables.beside[name]) if tables and measured else _shown(cut.column, rows)
        cut.alone, cut.beside = (cut.number(axis) for axis in axes)
    made = [_table(table, cuts, released, pack=pack) for table in _all(tables)]
    weights = np.ones(len(rows)) if rows.weights is None else rows.weights
    total = float(weights.sum()) or 1.0
    known = float(released.rows) if released.tells_rows else total
    return {
        "dataset": released.dataset,
        "z": quantile(CONFIDENCE),
        "unseen": UNSEEN,
        "relative": misfit.relative,
        "absolute": misfit.absolute,
        "scale": known / total,
        "sampling": known * float((weights**2).sum()) / total**2 + UNSEEN * misfit.noise,
        "total": known,
        "rowsHalf": quantile(CONFIDENCE) * released.rows_stddev if released.tells_rows else 0.0,
        "rowsKnown": released.tells_rows,
        "rowsPublic": released.public_rows is not None,
        "weights": None if rows.weights is None else _weights(rows, pack),
        "columns": [cut.described(rows) for cut in cuts.values()],
        "tables": made,
        "pack": pack.shape,
    }


def _all(tables: Tables | None) -> list[Table]:
    return [] if tables is None else [*tables.columns.values(), *tables.pairs.values()]


def _shown(column: Column, rows: Rows) -> tuple[Axis, Axis]:
    """How a column is cut of which no table was released: alone, and beside another."""
    axis = Axis.of(column, CELLS) if isinstance(column, Numeric) else Axis.whole(column)
    shares = np.bincount(rows.cells(axis), minlength=axis.size) / max(len(rows), 1)
    alone, beside = (coarsened(axis, shares, column=column, most=most) for most in (ALONE, CELLS))
    return alone, beside


def _weights(rows: Rows, pack: Pack) -> dict[str, Any]:
    """Weights as whole parts of the largest one."""
    weights = np.zeros(len(rows)) if rows.weights is None else rows.weights
    most = float(weights.max(initial=0.0)) or 1.0
    return {"of": pack.add(np.rint(weights / most * WEIGHT).astype(np.int64)), "unit": most / WEIGHT}


@dataclass(eq=False)
class _Cuts:
    """One column, and the ways in which tables cut it, each numbered once."""

    column: Column
    pack: Pack
    axes: dict[Axis, int] = field(default_factory=dict)
    alone: int = 0
    beside: int = 0

    def number(self, axis: Axis) -> int:
        """The number of a way to cut the column."""
        return self.axes.setdefault(axis, len(self.axes))

    def described(self, rows: Rows) -> dict[str, Any]:
        """The column as the script reads it."""
        one = coded(self.column, rows.column(self.column.name), list(self.axes))
        return {
            "name": short(self.column.name),
            "asked": self.column.name,
            "kind": "labels" if isinstance(self.column, Categorical) else self.column.kind,
            "cut": one.cut,
            "missing": self.column.missing,
            "values": self.pack.add_sorted(one.values),
            "places": self.pack.add(one.places),
            "alone": self.alone,
            "beside": self.beside,
            "axes": [self._axis(axis, one) for axis in self.axes],
            **(_labels(self.column, one) if isinstance(self.column, Categorical) else _grid(self.column)),
        }

    def _axis(self, axis: Axis, one: Coded) -> dict[str, Any]:
        names = [_named(axis, self.column, cell) for cell in range(axis.size)]
        return {"names": names, "cells": self.pack.add(axis.cells(one.values))}


def _named(axis: Axis, column: Column, cell: int) -> str:
    """A cell in words; of merged labels that are long only the first, and how many more."""
    name = cell_name(axis, column, cell)
    if axis.groups is None or len(name) <= LONGEST:
        return short(name)
    codes = np.flatnonzero(axis.cell_of == cell)
    first = short(column.describe(int(codes[0])))
    return f"{first} and {len(codes) - 1} more" if len(codes) > 1 else first


def _labels(column: Categorical, one: Coded) -> dict[str, Any]:
    return {
        "ordered": column.ordered,
        "labels": [short(column.describe(int(code))) for code in one.values],
        "boolean": column.boolean,
    }


def _grid(column: Numeric) -> dict[str, Any]:
    return {
        "ordered": True,
        "lower": column.lower,
        "steps": column.steps,
        "decimals": column.decimals if column.kind == "number" else 0,
        "resolution": column.resolution,
    }


def _table(table: Table, cuts: dict[str, _Cuts], released: Released, *, pack: Pack) -> dict[str, Any]:
    schema = released.schema
    return {
        "columns": [schema.position(axis.column) for axis in table.axes],
        "axes": [cuts[axis.column].number(axis) for axis in table.axes],
        "count": _numbers(table.counts, pack, 1),
        "shares": [_numbers(found, pack, SHARE) for found in table.shares],
        "means": [None if found is None else _plain(found) for found in table.means],
    }


def _numbers(found: Found, pack: Pack, unit: int) -> dict[str, Any]:
    """Estimates and how far the interval reaches either side, in whole units; none beyond what a script can count."""
    ends = (
        np.rint(found.estimate.ravel() * unit),
        np.floor(found.low.ravel() * unit),
        np.ceil(found.high.ravel() * unit),
    )
    estimate, low, high = (np.clip(end, 0, LARGEST - 1).astype(np.int64) for end in ends)
    return {
        "origin": found.origin,
        "estimate": pack.add(estimate),
        "below": pack.add(np.maximum(estimate - low, 0)),
        "above": pack.add(np.maximum(high - estimate, 0)),
    }


def _plain(found: Found) -> dict[str, Any]:
    """Means, as they are."""
    parts = ((name, getattr(found, name).ravel()) for name in ("estimate", "low", "high"))
    return {"origin": found.origin, **{name: [float(f"{value:.6g}") for value in part] for name, part in parts}}
