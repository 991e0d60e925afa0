"""Private tables of the package in packages.py: small sound ones whose cells and keys carry a secret, nasty ones, and files of every kind."""

import contextlib
import csv
import gzip
import io
import sqlite3
from decimal import Decimal

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from fuzz.inputs import odd_column
from fuzz.mutations import mutate_bytes
from fuzz.packages import TABLES
from fuzz.promises import SECRET, SECRET_NUMBER

KEYS = {"patients": ("id",), "visits": ("number", "patient"), "tests": ("patient", "visit"), "kin": ("patient",)}
NASTY_KEYS = (
    *(
        None,
        "",
        " ",
        "NA",
        "NaN",
        "nan",
        "null",
        "-1",
        "1",
        "1.0",
        " 1",
        "1 ",
        "01",
        "+1",
        "1e0",
        "\uff11",
        "-0.0",
        "0",
    ),
    *(
        f"{SECRET}\n1",
        f'{SECRET}"',
        f"{SECRET}'; --",
        f"{SECRET},1",
        f"{SECRET}\u0000",
        f"\ufeff{SECRET}",
        SECRET * 20_000,
    ),
    *(
        SECRET.upper(),
        SECRET,
        f"{SECRET} ",
        f"{SECRET}\u200b",
        "\U0001f600" * 99,
        str(SECRET_NUMBER),
        f"{SECRET_NUMBER}.0",
    ),
)
NASTY_CELLS = (
    None,
    "",
    SECRET,
    f"{SECRET}\n",
    str(SECRET_NUMBER),
    f"-{SECRET_NUMBER}e400",
    "NaN",
    "inf",
    "2024-13-01",
    "\x00",
)
NUMBER_KEYS = (None, 0, -0.0, 1, 1.0, 1.5, float("nan"), float("inf"), 2**53 + 1, 10**18, float(SECRET_NUMBER), -1)


def sound(draw, *, patients=5):
    """Tables by name, each its columns of texts: every unit has rows below it, and every table a secret."""
    ids = [f"{SECRET}-{k}" for k in range(patients)]
    days = [f"2024-01-{1 + draw.randrange(20):02}" for _ in range(40)]
    visits = [(f"{SECRET}:{n}", ids[n % patients], draw.choice(days)) for n in range(draw.randrange(1, 9))]
    return {
        "patients": {
            "id": ids,
            "sex": [draw.choice("fm") for _ in ids],
            "born": [draw.choice([*days, ""]) for _ in ids],
        },
        "visits": {
            "number": [number for number, _, _ in visits],
            "patient": [patient for _, patient, _ in visits],
            "day": [day for *_, day in visits],
            "left": [draw.choice([day, ""]) for *_, day in visits],
            "fee": [draw.choice(["1.5", "0", "", str(SECRET_NUMBER)]) for _ in visits],
        },
        "tests": {
            "patient": [patient for _, patient, _ in visits],
            "visit": [number for number, _, _ in visits],
            "kind": [draw.choice(["blood", "scan", SECRET]) for _ in visits],
            "good": [draw.choice(["true", "false", "", SECRET]) for _ in visits],
        },
        "kin": {
            "patient": [draw.choice(ids) for _ in range(6)],
            "age": [str(draw.randrange(10)) for _ in range(6)],
            "role": [draw.choice(["head", "other", SECRET]) for _ in range(6)],
        },
    }


def nasty(draw, made):
    """A few of these: keys and cells of every kind, rows twice, columns gone, renamed, twice or added, tables without rows."""
    made = {name: {column: list(cells) for column, cells in table.items()} for name, table in made.items()}
    for _ in range(draw.randint(1, 3)):
        name = draw.choice([name for name in TABLES if name in made])
        draw.choice(CHANGES)(draw, name, made[name])
    return made


def _keys(draw, name, table):
    column = draw.choice([each for each in KEYS[name] if each in table] or [None])
    if column is not None:
        few = draw.sample(NASTY_KEYS, draw.choice([1, 2, 5]))
        table[column] = [draw.choice(few) if draw.random() < 0.6 else cell for cell in table[column]]


def _number_keys(draw, name, table):
    """Keys that are numbers, so that a frame or a typed file has them as floats."""
    for column in KEYS[name]:
        if column in table:
            table[column] = [draw.choice(NUMBER_KEYS) for _ in table[column]]


def _cells(draw, name, table):
    column = draw.choice(list(table))
    table[column] = [draw.choice(NASTY_CELLS) if draw.random() < 0.5 else cell for cell in table[column]]


def _rows(draw, name, table):
    times = draw.choice([0, 0, 2, 40])
    for column in table:
        table[column] = table[column] * times


def _columns(draw, name, table):
    column = draw.choice(list(table))
    cells = table.pop(column)
    renamed = draw.choice(
        [column.upper(), f" {column}", f"{column} ", f"\ufeff{column}", SECRET, "", f'{column}"', "#unit"]
    )
    if draw.random() < 0.7:
        table[renamed] = cells
    if draw.random() < 0.3:
        table[column] = cells
    if not table:
        table["nothing"] = cells


def _no_header(draw, name, table):
    """The first record where the names should be: the names found are then cells of a person."""
    cells = list(table.values())
    table.clear()
    table |= {str(each[0]) if each else "": each[1:] for each in cells}


def _ragged(draw, name, table):
    column = draw.choice(list(table))
    table[column] = table[column][: draw.randrange(3)]


CHANGES = (_keys, _keys, _keys, _number_keys, _cells, _cells, _rows, _columns, _no_header, _ragged)


def csv_bytes(table):
    """A table as text, its columns beside each other for as long as any lasts."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(table)
    length = max(map(len, table.values()), default=0)
    for k in range(length):
        writer.writerow([cells[k] for cells in table.values() if k < len(cells)])
    return out.getvalue().encode("utf-8", errors="replace")


def write_csv(draw, path, table, *, damaged=False):
    """A text file; damaged: other bytes, another encoding, another separator, compressed or only called so."""
    content = csv_bytes(table)
    if damaged:
        content = draw.choice(
            [
                lambda: mutate_bytes(draw, content, changes=20),
                lambda: content.replace(b",", b";"),
                lambda: content.decode().encode(draw.choice(["utf-16", "utf-8-sig", "utf-32"])),
                lambda: content.replace(b"\n", draw.choice([b"\r", b"\r\n", b"\n\n", b"\x00\n", b',"\n'])),
                lambda: gzip.compress(content),
                lambda: content.partition(b"\n")[2],
                lambda: b"",
                lambda: bytes(draw.randrange(256) for _ in range(500)),
            ]
        )()
    path.write_bytes(content)


def arrow_table(draw, table):
    """The columns as Arrow has them: texts, or the types of what they hold; at times one of any type. As long as the longest."""
    rows = max(map(len, table.values()), default=0)
    made = {name: _typed(draw, [*cells, *[None] * (rows - len(cells))]) for name, cells in table.items()}
    if draw.random() < 0.3 and made:
        made[draw.choice(list(made))] = odd_column(draw, rows)
    return pa.table(made)


def _typed(draw, cells):
    if any(isinstance(cell, float | int) for cell in cells):
        numbers = [
            np.nan if cell is None else float(cell) if isinstance(cell, float | int) else np.nan for cell in cells
        ]
        kinds = [pa.float64(), pa.float64(), pa.float32()]
        return pa.array(numbers, draw.choice(kinds), from_pandas=draw.random() < 0.5)
    texts = pa.array([None if cell is None else str(cell) for cell in cells], pa.string())
    return draw.choice([texts, texts, texts.dictionary_encode(), texts.cast(pa.large_string()), _binary(texts)])


def _binary(texts):
    return pa.array([None if each is None else each.encode() for each in texts.to_pylist()], pa.binary())


def write_parquet(draw, path, table, *, damaged=False):
    """A Parquet file; damaged: other bytes, cut short, or a text that is called so."""
    try:
        parquet.write_table(arrow_table(draw, table), path, compression=draw.choice(["snappy", "none", "zstd"]))
    except pa.ArrowException:  # what Arrow itself cannot write: a file of nothing
        path.write_bytes(b"PAR1")
    if damaged:
        content = path.read_bytes()
        changed = draw.choice([mutate_bytes(draw, content), content[: len(content) // 2], csv_bytes(table), b""])
        path.write_bytes(changed)


def write_duckdb(draw, path, tables, *, damaged=False):
    """A DuckDB file of all tables; damaged: a table gone or a view that fails while it is read, quoting a cell; or other bytes."""
    import duckdb

    with duckdb.connect(str(path)) as connection:
        for name, table in tables.items():
            try:
                connection.register("given", _writable(arrow_table(draw, table)))
            except duckdb.Error:  # a type that it does not take
                connection.register("given", pa.table({"id": [SECRET]}))
            connection.execute(f'CREATE TABLE "{name}" AS SELECT * FROM given')
            connection.unregister("given")
            if draw.random() < 0.2:
                with contextlib.suppress(duckdb.Error):  # its keys are not unique
                    connection.execute(f'ALTER TABLE "{name}" ADD PRIMARY KEY ("{next(iter(table))}")')
        if damaged:
            _spoil(draw, connection, list(tables), failing=f"CAST('{SECRET}' || random() AS INTEGER)")
    if damaged and draw.random() < 0.4:
        path.write_bytes(_few_bytes(draw, path.read_bytes()))


def _few_bytes(draw, content):
    """A page or two changed: the file is of hundreds of kilobytes, mostly zeros."""
    made = bytearray(content[: draw.choice([len(content), len(content), len(content) // 2, 100])])
    for _ in range(draw.choice([1, 20])):
        made[draw.randrange(len(made))] = draw.randrange(256)
    return bytes(made)


def _writable(table):
    """Without names that differ in case only, or are empty: the database itself refuses those."""
    names = [name or "nothing" for name in table.column_names]
    return table.rename_columns(
        [f"{name}{k}" if name.lower() in map(str.lower, names[:k]) else name for k, name in enumerate(names)]
    )


def _spoil(draw, connection, names, *, failing):
    name = draw.choice(names)
    columns = ", ".join(
        f'{failing} AS "{column}"' for column in ("id", "number", "patient", "visit", "day", "sex", "kind")
    )
    connection.execute(f'DROP TABLE "{name}"')
    if draw.random() < 0.7:
        connection.execute(
            f'CREATE VIEW "{name}" AS SELECT {columns} FROM "{next(each for each in names if each != name)}"'
        )


def write_sqlite(draw, path, tables, *, damaged=False):
    """An SQLite file of all tables, whose columns hold any type; damaged as DuckDB's."""
    connection = sqlite3.connect(path, isolation_level=None)
    for name, table in tables.items():
        columns = list(dict.fromkeys(column.lower().replace('"', "") or "nothing" for column in table))
        kinds = [draw.choice(["TEXT", "INTEGER", "REAL", "BLOB", "", "DATE"]) for _ in columns]
        kinds[0] += draw.choice(
            ["", "", " PRIMARY KEY", " UNIQUE NOT NULL", " UNIQUE"]
        )  # which NULL, 1 and '1' may satisfy
        declared = ", ".join(f'"{column}" {kind}' for column, kind in zip(columns, kinds, strict=True))
        connection.execute(f'CREATE TABLE "{name}" ({declared})')
        rows = max(map(len, table.values()), default=0)
        cells = [[*each, *[None] * (rows - len(each))] for each in list(table.values())[: len(columns)]]
        for row in zip(*cells, strict=True):
            marks = ", ".join("?" for _ in row)
            with contextlib.suppress(sqlite3.IntegrityError):  # a text in INTEGER PRIMARY KEY
                held = [_storable(draw, cell) for cell in row]
                connection.execute(f'INSERT OR IGNORE INTO "{name}" VALUES ({marks})', held)
    if damaged:
        _spoil(draw, connection, list(tables), failing=f"abs(-9223372036854775808) || '{SECRET}'")
    connection.close()
    if damaged and draw.random() < 0.4:
        path.write_bytes(_few_bytes(draw, path.read_bytes()))


def _storable(draw, cell):
    if isinstance(cell, str) and draw.random() < 0.1:
        return cell.encode(errors="replace")
    return float(cell) if isinstance(cell, Decimal) else cell


def write_folder(draw, folder, tables, *, damaged=False):
    """Every table as a text or Parquet file of its name; damaged: one of them broken, missing, double, a folder or a link."""
    victim = draw.choice(list(tables)) if damaged else None
    for name, table in tables.items():
        write, ending = draw.choice([(write_csv, "csv"), (write_csv, "csv"), (write_parquet, "parquet")])
        if name != victim or draw.random() < 0.6:
            write(draw, folder / f"{name}.{ending}", table, damaged=name == victim)
        else:
            draw.choice([_doubled, _put_elsewhere])(draw, folder, name, table)


def _doubled(draw, folder, name, table):
    for ending in ("csv", draw.choice(["tsv", "csv.bak", "txt", "CSV"])):
        write_csv(draw, folder / f"{name}.{ending}", table)


def _put_elsewhere(draw, folder, name, table):
    path = folder / f"{name}.{draw.choice(['csv', 'parquet'])}"
    what = draw.choice(["folder", "nowhere", "itself", "nothing"])
    if what == "folder":
        path.mkdir()
    elif what != "nothing":
        path.symlink_to("nothing" if what == "nowhere" else path.name)
