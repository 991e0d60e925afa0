"""Text files as a table: the bytes of one line can change that line's own row, and no other.

The law that this file stands for: adding, removing or changing one physical line of a text file adds, removes or changes
that line's own row. The engine's CSV reader cannot promise it (a stray quote swallows the lines after it), so lines are cut
out and split here (sources.split), and the engine receives columns of text, which it encodes like any other text.

A blank line is a row whose cells are all missing. The header line is public, and read first; of a file without one, nothing
is read before its rows are.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from sundog.domain.dialect import Dialect
from sundog.errors import UserError
from sundog.sources.base import check_names
from sundog.sources.duck import DuckTable, connect
from sundog.sources.encode import RawColumn
from sundog.sources.lines import LONGEST_HEADER, blocks, header_and_rest
from sundog.sources.split import Block, Marks, split_records
from sundog.sources.streams import UNREADABLE, text_chunks

VIEW = "lines"
SENTINEL = "\x00end"


@dataclass
class TextFiles:
    """Files of one table. The engine asks for a new Arrow stream whenever it reads them."""

    paths: tuple[str, ...]
    marks: Marks
    encoding: str
    header: bool
    columns: int
    failure: BaseException | None = None

    @property
    def schema(self) -> pa.Schema:
        """All columns are text, known by number."""
        return pa.schema([(f"c{k}", pa.string_view()) for k in range(self.columns)])

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """All rows, from the beginning."""
        self.failure = None
        return pa.RecordBatchReader.from_batches(self.schema, self._batches()).__arrow_c_stream__(requested_schema)

    def take_failure(self) -> BaseException | None:
        """What stopped the last stream, told once: kept here, it would keep the engine alive."""
        failure, self.failure = self.failure, None
        return failure

    def _batches(self) -> Iterator[pa.RecordBatch]:
        try:
            for path in self.paths:
                for columns in self._columns(path):
                    yield pa.RecordBatch.from_arrays(columns, schema=self.schema)
        except (Exception, KeyboardInterrupt) as error:
            self.failure = error
            raise

    def _columns(self, path: str) -> Iterator[list[pa.Array]]:
        chunks = text_chunks(path, self.encoding)
        if self.header:
            _, chunks = header_and_rest(chunks, self.marks)
        for block in blocks(chunks, self.marks):
            yield from (records.columns for records in split_records(block, self.marks, columns=self.columns))


def open_text(paths: list[str], dialect: Dialect, *, delimiter: str) -> DuckTable:
    """The table in text files, which all have the same header line."""
    marks = Marks.of(dialect, delimiter)
    names = _header(paths[0], dialect, marks) if dialect.header else list(dialect.names)
    for path in paths[1:] if dialect.header else paths:
        if dialect.header and _header(path, dialect, marks) != names:
            raise UserError(f"{path!r} has another header line than {paths[0]!r}; files of one table must agree.")
        next(text_chunks(path, dialect.encoding), None)  # whether it can be opened is told before anything is spent
    if not names:
        raise UserError(f"data file {paths[0]!r} has no header line; its columns are named by a schema (--schema).")
    files = TextFiles(tuple(paths), marks, dialect.encoding, dialect.header, len(names))
    connection = connect()
    connection.register(VIEW, files)
    raw = {name: RawColumn(f"c{k}", "VARCHAR") for k, name in enumerate(names)}
    return DuckTable(connection, VIEW, raw, label=f"data file {paths[0]!r}", stream=files)


def _header(path: str, dialect: Dialect, marks: Marks) -> list[str]:
    line, _ = header_and_rest(text_chunks(path, dialect.encoding), marks)
    if line is None:
        raise UserError(f"data file {path!r}: its first line is longer than {LONGEST_HEADER >> 20} MB; is it text?")
    if not line.strip(b"\r\n"):
        raise UserError(f"data file {path!r} is empty; it needs a header line with the column names.")
    names = _names(line, marks)
    if names is None:
        raise UserError(
            f"data file {path!r}: its header line has a quote that is not closed; if records span lines, declare it "
            "(--multiline)."
        )
    if any(UNREADABLE in name for name in names):
        raise UserError(
            f"data file {path!r}: its header line is not {dialect.encoding} text; declare its encoding (--encoding)."
        )
    check_names(names, f"data file {path!r}", blank=True)
    return names


def _names(line: bytes, marks: Marks) -> list[str] | None:
    """The cells of the header line; a last cell is added to see where they end. None where a quote is not closed."""
    delimiter = marks.bytes.delimiter.tobytes()
    block = Block.of([line.removesuffix(b"\r"), delimiter, SENTINEL.encode()])
    record = next(split_records(block, marks, columns=line.count(delimiter) + 2))
    cells = [column[0].as_py() or "" for column in record.columns]
    return cells[: cells.index(SENTINEL)] if SENTINEL in cells else None
