"""The one door through which a custodian learns how the cells were read. CONFIDENTIAL: exact counts, without noise.

The disclosure is written into the ledger first, durably; only then are the rows read. What leaves are counts, masked shapes
(at most three per finding) and remedies, which name keys and never a text.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sundog.domain import Categorical, Column, Schema
from sundog.domain.drafting.remedies import remedy_clamped, remedy_unread
from sundog.domain.unit import PrivacyUnit
from sundog.private.ledger import Ledger
from sundog.private.table import PrivateTable, open_whole
from sundog.sources.duck import DuckTable
from sundog.sources.files import text_files
from sundog.sources.inspect import SHAPES, Cells, Keys, inspect, inspect_keys
from sundog.sources.ragged import Lines, count_lines
from sundog.sources.split import Marks
from sundog.sources.streams import text_chunks

BRAND = "CONFIDENTIAL: counted on real rows without noise, outside every privacy guarantee. Do not release."


@dataclass(frozen=True)
class Finding:
    """Something to look at: what, in how many cells, shapes of what was found (masked), and what to do about it."""

    what: str
    count: int
    share: float
    remedy: str
    shapes: tuple[str, ...] = ()


@dataclass(frozen=True)
class ColumnCheck:
    """One column: the shares of its cells that were read, are missing, and were read as something else than they say."""

    name: str
    kind: str
    read: float
    missing: float
    unreadable: float
    unknown_label: float
    clamped: float
    findings: tuple[Finding, ...]


@dataclass(frozen=True)
class KeyCheck:
    """A column that names rows or people."""

    name: str
    keys: Keys
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True)
class TableCheck:
    """CONFIDENTIAL: all that was found."""

    dataset: str
    rows: int
    columns: tuple[ColumnCheck, ...]
    keys: tuple[KeyCheck, ...]
    unit: KeyCheck | None
    lines: Lines | None
    line_findings: tuple[Finding, ...]
    not_in_schema: int

    @property
    def findings(self) -> list[tuple[str, Finding]]:
        """Everything to look at, with the column it is about; empty names are about lines."""
        parts: list[ColumnCheck | KeyCheck] = [*self.columns, *self.keys, *([self.unit] if self.unit else [])]
        about = [(part.name, finding) for part in parts for finding in part.findings]
        return [*(("", finding) for finding in self.line_findings), *about]

    def __repr__(self) -> str:
        return f"TableCheck(CONFIDENTIAL, dataset={self.dataset!r}, findings={len(self.findings)})"


def check_rows(
    data: Any, schema: Schema, *, unit: PrivacyUnit, dataset: str, ledger: Ledger, sql: str | None = None
) -> TableCheck:
    """How the cells were read, after the disclosure is on the ledger. A table that lacks a column is refused before."""
    table = PrivateTable(data, dialect=schema.dialect, sql=sql)
    source = open_whole(table)
    source.check(schema.fields, unit=unit.column)
    ledger.disclose(dataset, "CONFIDENTIAL: table checked against its schema, exact counts without noise")
    cells = inspect(source, schema)
    columns = tuple(_column(column, cells[column.name]) for column in schema.columns)
    names = [one.name for one in schema.identifiers if one.name != unit.column and source.readable(one.name)]
    lines = _lines(data, schema, width=len(source.columns))
    known = {*schema.fields, *(one.name for one in schema.identifiers), *(one.name for one in schema.derived)}
    return TableCheck(
        dataset,
        next(iter(cells.values())).rows,
        columns,
        tuple(_key(name, inspect_keys(source, name, most=1)) for name in names),
        _unit(unit, source),
        lines,
        tuple(_line_findings(lines)) if lines else (),
        sum(name not in known for name in source.columns),
    )


def _column(column: Column, cells: Cells) -> ColumnCheck:
    label = isinstance(column, Categorical)
    share = _shares(cells.rows)
    clamped = cells.below + cells.above
    return ColumnCheck(
        column.name,
        "boolean" if isinstance(column, Categorical) and column.boolean else "labels" if label else column.kind,  # type: ignore[union-attr]
        read=share(cells.rows - cells.missing - cells.unread - clamped),
        missing=share(cells.missing),
        unreadable=0.0 if label else share(cells.unread),
        unknown_label=share(cells.unread) if label else 0.0,
        clamped=share(clamped),
        findings=tuple(_findings(column, cells)),
    )


def _findings(column: Column, cells: Cells) -> Iterator[Finding]:
    share = _shares(cells.rows)
    if cells.unread:
        what = "not in the list" if isinstance(column, Categorical) else "cannot be read"
        remedy = remedy_unread(column, cells.texts)
        yield Finding(what, cells.unread, share(cells.unread), remedy, cells.shapes[:SHAPES])
    if cells.below or cells.above:
        count, remedy = cells.below + cells.above, remedy_clamped(cells.ends, low=cells.below > 0, high=cells.above > 0)
        yield Finding("outside the bounds, so counted as a bound", count, share(count), remedy)
    if cells.broken:
        remedy = "set dialect.encoding (--encoding), such as windows-1252, or repair the file"
        yield Finding("holds characters that could not be decoded", cells.broken, share(cells.broken), remedy)
    if cells.missing and not column.nullable:
        remedy = "drop constraints.required: here missing cells count as a value"
        yield Finding("missing in a required field", cells.missing, share(cells.missing), remedy)
    if cells.rows and cells.missing == cells.rows:
        yield Finding("missing in every row", cells.missing, 1.0, "check the column, or leave it out")


def _key(name: str, keys: Keys) -> KeyCheck:
    if not keys.repeated:
        return KeyCheck(name, keys)
    remedy = f"if it names people, make it the unit that is protected (--unit {name} --rows-per-unit K); if it should be a key, look for duplicates"
    found = Finding("values occur in several rows", keys.repeated, keys.repeated / max(keys.distinct, 1), remedy)
    return KeyCheck(name, keys, (found,))


def _unit(unit: PrivacyUnit, source: DuckTable) -> KeyCheck | None:
    if unit.column is None:
        return None
    keys = inspect_keys(source, unit.column, most=unit.rows)
    lost = keys.filled - keys.within
    if not lost:
        return KeyCheck(unit.column, keys)
    remedy = f"--rows-per-unit {unit.rows} leaves them out; more rows per unit keep them, at more noise"
    return KeyCheck(unit.column, keys, (Finding("rows beyond those of a unit", lost, lost / keys.filled, remedy),))


def _lines(data: Any, schema: Schema, *, width: int) -> Lines | None:
    """The lines of text files whose records are lines; None for all else."""
    dialect = schema.dialect
    paths, delimiter = text_files(data) if isinstance(data, str | Path) else ([], "")
    if not paths or dialect.multiline:
        return None
    marks = Marks.of(dialect, dialect.delimiter or delimiter)
    counted = [
        count_lines(text_chunks(path, dialect.encoding), marks, width=width, header=dialect.header) for path in paths
    ]
    return Lines(*(sum(values) for values in zip(*(vars(each).values() for each in counted), strict=True)))


def _line_findings(lines: Lines) -> Iterator[Finding]:
    share = _shares(lines.lines)
    found = (
        (
            "lines with too few cells, filled with missing",
            lines.short,
            "check the separator (--delimiter) and the quotes",
        ),
        (
            "lines with too many cells, of which the last were dropped",
            lines.long,
            "quote cells that hold the separator",
        ),
        ("blank lines, read as rows of missing cells", lines.blank, "remove them"),
        (
            "lines with a quote that is not closed",
            lines.unclosed,
            "if cells hold line ends: --multiline; else --escape, --quote",
        ),
    )
    for what, count, remedy in found:
        if count:
            yield Finding(what, count, share(count), remedy)


def _shares(rows: int) -> Any:
    return lambda count: count / rows if rows else 0.0
