"""Tables with one public schema and very different rows: what a run lets out must not depend on which one it read."""

import json

import pyarrow as pa
from pyarrow import parquet

import extreme_cells
import tables

SCHEMA = "schema.json"
DATA = "data.csv"
TYPED = ("data.parquet", "data.duckdb")


def lines_of(values):
    """The lines of a CSV file, header first, as bytes."""
    cells = zip(*([tables.text(value) for value in column] for column in values.values()), strict=True)
    quoted = (",".join('"' + cell.replace('"', '""') + '"' if cell else "" for cell in row) for row in cells)
    return [",".join(values).encode(), *(row.encode() for row in quoted)]


def changed(values, **columns):
    """The same table with some columns given again, by a value or a list."""
    rows = len(values["age"])
    return values | {name: column if isinstance(column, list) else [column] * rows for name, column in columns.items()}


def ragged(values):
    """Lines too short, too long, with stray quotes, NUL bytes and nonsense in every cell; as many rows as before."""
    header, *rows = lines_of(values)
    rows[0] = b'"1"'
    rows[1] += b',"surplus",,"cells"'
    rows[2] = b",,,,,,,,"
    rows[3] = rows[3].replace(b'"', b"", 1).replace(b",", b'x"y,', 1)
    rows[4] = b",".join([b"non\x00sense"] * 9)
    rows[5] = b",".join([b"1e999"] * 9)
    rows[6] = b",".join(['"😀\r"'.encode()] * 9)
    return [header, *rows]


def odd_lines(values):
    """Lines that a parser could lose, join or divide; as many as there were rows."""
    header, *rows = lines_of(values)
    odd = [
        b'"',
        b"",
        b"\r",
        b"\xff\xfe,\xc3",
        b'1,"\\"',
        b"\x00" * 40,
        b"\xef\xbb\xbf1,true",
        b"a\rb\rc",
        b'"a"b"c',
        b"," * 500,
    ]
    return [header, *odd, *rows[len(odd) : -1], b'"' + rows[-1]]


def same_size(rows=40):
    """Tables of equally many rows: neighbours many times removed where the number of rows is public."""
    base = tables.table(rows, seed=3)
    return {
        "base": lines_of(base),
        "other rows": lines_of(tables.table(rows, seed=4)),
        "new categories": lines_of(changed(base, region="never seen", grade="top", parity=77, smoker="perhaps")),
        "outliers": lines_of(changed(base, age=10**9, cost=[1e9] * (rows - 1) + [-1e300], seen="9999-12-31T00:00:00")),
        "all null": lines_of(changed(base, region=None, cost=None, day=None, smoker=None, grade=None, age=None)),
        "all equal": lines_of(changed(base, region="01", grade="low", parity=0, age=0, smoker=True)),
        "malformed cells": ragged(base),
        "odd lines": odd_lines(base),
        "unreadable": lines_of(changed(base, age="?", cost="n/a", day="31st of May", seen="noon", parity="one")),
    }


def any_size():
    """Tables of any size, and files whose very lines are broken."""
    base = tables.table(40, seed=3)
    header, *rows = lines_of(base)
    return same_size() | {
        "no rows": [header],
        "one row": [header, rows[0]],
        "more rows": lines_of(tables.table(300, seed=5)),
        "bytes that are no text": [header, *rows[:20], b"\xff\xfe,\xff", b"\x80" * 50, *rows[20:]],
        "an unclosed quote": [header, *rows[:20], b'"' + rows[20].replace(b'"', b""), *rows[21:]],
        "binary": [header, *rows[:3], bytes(range(256)) * 20, *rows[3:]],
        "blank lines": [header, b"", *rows[:5], b"", b"", *rows[5:], b""],
    }


def typed_files(folder, kinds=None):
    """Typed tables of equally many rows, and their schema: ordinary cells, and the extreme cells of every type."""
    rows, roles = extreme_cells.ODD + 2, extreme_cells.STORED
    kinds = kinds or extreme_cells.writable(parquet.write_table, folder / "probe")

    def file(odd):
        table = extreme_cells.wide(kinds, odd, roles)
        whole = pa.concat_tables([table] * rows).slice(0, rows)
        return lambda place: parquet.write_table(whole, place / TYPED[0])

    worlds = {"ordinary cells": file(0), "extreme cells": file(extreme_cells.ODD)}
    return worlds, extreme_cells.wide_schema(kinds, roles)


def typed_databases():
    """The same for databases."""
    kinds, roles = list(extreme_cells.DUCK), extreme_cells.STORED

    def database(odd):
        return lambda place: extreme_cells.write_duckdb(place / TYPED[1], kinds, odd=odd, roles=roles)

    worlds = {"ordinary cells": database(False), "extreme cells": database(True)}
    return worlds, extreme_cells.wide_schema(kinds, roles)


def few(every):
    """The most different ones, for variants of a command."""
    return {name: every[name] for name in ("base", "new categories", "malformed cells", "odd lines", list(every)[-2])}


def write(folder, lines, document=None):
    """The data (lines, or a function that writes them) and the schema as files of one name."""
    folder.mkdir(parents=True, exist_ok=True)
    if callable(lines):
        lines(folder)
    else:
        (folder / DATA).write_bytes(b"\n".join(lines) + b"\n")
    (folder / SCHEMA).write_text(json.dumps(document or tables.DOCUMENT), encoding="utf-8")
    return folder


OPEN_FIELDS = [
    {key: value for key, value in field.items() if key not in ("categories", "constraints", "sundog")}
    for field in tables.FIELDS
]
OPEN = {"name": "clinic", "fields": OPEN_FIELDS}
"""The same table with nothing declared: for `schema complete`."""
