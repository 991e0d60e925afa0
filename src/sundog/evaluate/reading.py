"""Synthetic tables from files and frames, also other tools' : columns in any order, values outside the declared domain.

What does not fit the schema is put where the schema says (clamped, the fallback label, missing), like real rows, and
counted: another tool's table is judged as it is, and the notes say what it got wrong. To tell an unknown label from a
missing one, the table is read once by a schema with one more code for each, which is then folded back.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Int

from sundog.domain import Categorical, Column, Numeric, Schema
from sundog.domain.dialect import STANDARD
from sundog.domain.rows import Rows
from sundog.errors import UserError
from sundog.sources import Source, open_table

UNKNOWN_LABEL = "\u2063not declared\u2063"

Codes = Int[np.ndarray, " rows"]


@dataclass(frozen=True, eq=False)
class SyntheticTable:
    """A table that is free to look at, its rows as the schema encodes them, and what did not fit."""

    name: str
    rows: Rows
    notes: tuple[str, ...]


def open_synthetic(data: Any, schema: Schema) -> Source:
    """The source of a synthetic table: a text file as Sundog writes it, or in the dialect that the schema declares.

    It is free to look at, so its labels may hold line ends.
    """
    declared, written = (replace(dialect, header=True, multiline=True) for dialect in (schema.dialect, STANDARD))
    if declared != written:
        with suppress(UserError):
            source = open_table(data, dialect=written)
            if not set(schema.fields).isdisjoint(source.columns):
                return source
    return open_table(data, dialect=declared)


def restricted(schema: Schema, names: Sequence[str]) -> Schema:
    """The schema with what can be read from these fields of a table only."""
    kept = tuple(column for column in schema.columns if set(column.fields) <= set(names))
    if not kept:
        raise UserError("the tables have no column of the schema in common; check the column names.")
    there = {column.name for column in kept}
    targets = tuple(target for target in schema.targets if target in there)
    rules = tuple(rule for rule in schema.constraints if set(rule.columns) <= there)
    return replace(schema, columns=kept, identifiers=(), targets=targets, field_order=(), constraints=rules)


def check_synthetic(source: Source, schema: Schema, *, name: str) -> None:
    """Refuse a table that lacks columns."""
    lacking = [column for column in schema.fields if column not in source.columns]
    if lacking:
        more = f" and {len(lacking) - 3} more" if lacking[3:] else ""
        raise UserError(
            f"synthetic table {name!r} lacks the column{'s' if lacking[1:] else ''} "
            f"{', '.join(map(repr, lacking[:3]))}{more} of the schema. Add them, or compare only the columns that all "
            "tables have with --common-columns (common_columns=True in Python)."
        )


def read_synthetic(source: Source, schema: Schema, *, name: str, empty: bool = False) -> SyntheticTable:
    """The rows, and a note for each thing that does not fit the schema; a table without rows is refused unless it may be `empty`."""
    check_synthetic(source, schema, name=name)
    rows, notes = as_declared(source, schema)
    if not len(rows) and not empty:
        raise UserError(f"synthetic table {name!r} has no rows; there is nothing to compare.")
    return SyntheticTable(name, rows, notes)


def as_declared(source: Source, schema: Schema) -> tuple[Rows, tuple[str, ...]]:
    """The rows as the schema has them, and a note for each thing that did not fit."""
    raw = source.read(replace(schema, columns=tuple(_probe(column) for column in schema.columns)))
    folded = [_fold(column, codes) for column, codes in zip(schema.columns, raw.codes, strict=True)]
    known = {*schema.fields, *(one.name for one in schema.identifiers), *(one.name for one in schema.derived)}
    surplus = [column for column in source.columns if column not in known]
    notes = [note for _, found in folded for note in found]
    if surplus:
        notes.append(f"not in the schema, so left out: {', '.join(surplus[:8])}{' ...' if surplus[8:] else ''}")
    return Rows(schema, tuple(codes for codes, _ in folded)), tuple(notes)


def _probe(column: Column) -> Column:
    """The column with a code of its own for what lies outside its domain, and one for missing."""
    if isinstance(column, Numeric):
        return replace(column, lower=column.lower - 1, upper=column.upper + 1, nullable=True)
    return replace(column, labels=(*column.labels, UNKNOWN_LABEL), fallback=len(column.labels), nullable=True)


def _fold(column: Column, codes: Codes) -> tuple[Codes, list[str]]:
    """The column's own codes, and notes on what did not fit."""
    whole = codes.astype(np.int64)
    if isinstance(column, Categorical):
        outside, missing = whole == len(column.labels), whole == len(column.labels) + 1
        own = np.where(outside, column.fallback, np.where(missing, column.null_code, whole))
        where = f"label not declared; counted as {column.describe(column.fallback)!r}"
    else:
        outside, missing = (whole == 0) | (whole == column.steps + 1), whole == column.steps + 2
        own = np.where(missing, column.null_code, np.clip(whole - 1, 0, column.steps - 1))
        where = "outside the declared bounds; clamped"
    notes = [_note(column, int(outside.sum()), len(codes), where)] if outside.any() else []
    if missing.any() and not column.nullable:
        notes.append(_note(column, int(missing.sum()), len(codes), "missing, though the schema requires a value"))
    return own.astype(np.min_scalar_type(column.size)), notes


def _note(column: Column, count: int, rows: int, what: str) -> str:
    return f"column {column.name!r}: {count} of {rows} values ({100 * count / rows:.2g} %): {what}"
