"""A secret token in a cell, a line, a byte or a frame: it gets out nowhere, and the run ends like any other."""

import gzip
import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

import tables
from privacy import checks, worlds
from privacy.checks import TOKEN
from privacy.stand_ins import run_command
from sundog.api.synthesizer import Synthesizer
from sundog.private.curator import Curator
from sundog.private.table import PrivateTable

BUDGET = ("--rho", "0.5", "--delta", "1e-6")
MEASURE = ("measure", worlds.DATA, "--schema", worlds.SCHEMA, *BUDGET, "--method", "independent", "-o", "released.json")
SYNTHESIZE = ("synthesize", worlds.DATA, "--schema", worlds.SCHEMA, *BUDGET, "--method", "independent", "-o", "out")
COMPLETE = ("schema", "complete", worlds.DATA, "--schema", worlds.SCHEMA, *BUDGET, "-o", "full.json")
HEADER, *ROWS = worlds.lines_of(tables.table(30))
NAMES = [field["name"] for field in tables.FIELDS]
SECRET = TOKEN.encode()


def with_line(line):
    return [HEADER, *ROWS[:15], line, *ROWS[15:]]


def with_cell(name, cell):
    cells = [b"1"] * len(NAMES)
    cells[NAMES.index(name)] = cell
    return with_line(b",".join(cells))


LINES = {
    **{f"in {name}": with_cell(name, SECRET) for name in NAMES},
    "in a line too long": with_line(ROWS[0] + b"," + SECRET + b"," + SECRET),
    "in a line too short": with_line(SECRET),
    "after a stray quote": with_line(b'1,"x"' + SECRET + b",2"),
    "in an unclosed quote": with_line(b'1,"' + SECRET),
    "between NUL bytes": with_line(b"1,\x00" + SECRET + b"\x00,2"),
    "between bytes that are no text": with_line(b"1,\xff" + SECRET + b"\xfe,2"),
    "before a cut letter": with_line(SECRET + b"\xc3"),
    "in a number": with_cell("cost", b"1e" + SECRET),
    "in a date": with_cell("day", b"2020-01-01 " + SECRET),
    "in a time zone": with_cell("seen", b"2020-01-01T00:00:00 " + SECRET),
    "in an extra column": [HEADER + b",extra", *(row + b"," + SECRET for row in ROWS)],
    "in every cell of a line": with_line(b",".join([SECRET] * len(NAMES))),
    "in a very long cell": with_cell("region", b"x" * 3_000_000 + SECRET),
    "in the first line of rows": [HEADER, b",".join([SECRET] * len(NAMES)), *ROWS],
    "in binary rubbish": with_line(bytes(range(256)) + SECRET + bytes(range(255, -1, -1))),
}


@pytest.mark.parametrize("place", LINES)
def test_measuring(tmp_path, place):
    checks.check_no_token(run_command(worlds.write(tmp_path, LINES[place]), *MEASURE, inputs=(worlds.DATA,)), 0)


@pytest.mark.parametrize(
    "place",
    [
        "in every cell of a line",
        *(pytest.param(place, marks=pytest.mark.long) for place in ("in an extra column", "in binary rubbish")),
    ],
)
def test_the_whole_way(tmp_path, place):
    for options in ((), ("--neighbours", "replace", "--json", "--force", "--dataset", "other")):
        outcome = run_command(worlds.write(tmp_path, LINES[place]), *SYNTHESIZE, *options, inputs=(worlds.DATA,))
        checks.check_no_token(outcome, 0)


@pytest.mark.parametrize("place", ["in every cell of a line", "in a date", "between NUL bytes"])
def test_completing_a_schema(tmp_path, place):
    folder = worlds.write(tmp_path, LINES[place], worlds.OPEN)
    checks.check_no_token(run_command(folder, *COMPLETE, inputs=(worlds.DATA,)), 0)


def test_units_are_named_nowhere(tmp_path):
    options = ("--unit", "visit", "--rows-per-unit", "2")
    folder = worlds.write(tmp_path, with_cell("visit", SECRET))
    checks.check_no_token(run_command(folder, *MEASURE, *options, inputs=(worlds.DATA,)), 0)


def test_checking_a_schema_reads_no_row(tmp_path):
    folder = worlds.write(tmp_path, LINES["in every cell of a line"])
    outcome = run_command(folder, "schema", "check", worlds.SCHEMA, worlds.DATA, inputs=(worlds.DATA,))
    checks.check_no_token(outcome, 0)


def test_a_draft_says_on_screen_only_what_it_wrote_where(tmp_path):
    """Its file is branded CONFIDENTIAL and holds what was read; its words do not."""
    folder = worlds.write(tmp_path, [HEADER, *ROWS, *[LINES["in region"][16]] * 50])
    outcome = run_command(folder, "schema", "draft", worlds.DATA, "-o", "draft.json")
    assert outcome.code == 0
    assert TOKEN in outcome.files["draft.json"].decode()
    assert TOKEN not in outcome.stdout + outcome.stderr + json.dumps(outcome.ledger)


def test_a_file_without_a_header_line(tmp_path):
    for first in (b",".join([SECRET] * 9), b",".join([SECRET + b"%d" % k for k in range(9)])):
        outcome = run_command(worlds.write(tmp_path, [first, *ROWS]), *MEASURE, inputs=(worlds.DATA,))
        checks.check_no_token(outcome, 2)


def test_a_compressed_file_that_breaks_off(tmp_path):
    worlds.write(tmp_path, [])
    whole = gzip.compress(b"\n".join([HEADER, *(row + b"," + SECRET for row in ROWS * 3000)]))
    (tmp_path / "data.csv.gz").write_bytes(whole[: len(whole) * 2 // 3])
    outcome = run_command(tmp_path, "measure", "data.csv.gz", *MEASURE[2:], inputs=(worlds.DATA, "data.csv.gz"))
    checks.check_no_token(outcome, 2)
    assert "data.csv.gz" in outcome.stderr


def secret_table(rows=30):
    """A typed table whose every text is the token."""
    return (
        tables.arrow(tables.table(rows))
        .append_column("extra", pa.array([TOKEN] * rows))
        .set_column(2, "region", pa.array([TOKEN] * rows))
    )


@pytest.mark.parametrize("part", [0.2, 0.7, 0.98])
def test_a_parquet_file_cut_short(tmp_path, part):
    worlds.write(tmp_path, [])
    parquet.write_table(secret_table(), tmp_path / "data.parquet", compression=None)
    whole = (tmp_path / "data.parquet").read_bytes()
    assert SECRET in whole
    (tmp_path / "data.parquet").write_bytes(whole[: int(part * len(whole))])
    outcome = run_command(tmp_path, "measure", "data.parquet", *MEASURE[2:], inputs=(worlds.DATA, "data.parquet"))
    checks.check_no_token(outcome, 2)


def test_a_parquet_file_with_broken_pages(tmp_path):
    """Metadata whole, pages overwritten: the engine fails in the middle of the rows, and its text stays inside."""
    worlds.write(tmp_path, [])
    parquet.write_table(secret_table(3000), tmp_path / "data.parquet", compression=None, use_dictionary=False)
    whole = bytearray((tmp_path / "data.parquet").read_bytes())
    whole[4 : len(whole) // 2] = (SECRET * len(whole))[: len(whole) // 2 - 4]
    (tmp_path / "data.parquet").write_bytes(whole)
    outcome = run_command(tmp_path, "measure", "data.parquet", *MEASURE[2:], inputs=(worlds.DATA, "data.parquet"))
    checks.check_no_token(outcome, 2)


def test_text_in_a_parquet_file_that_is_no_text(tmp_path):
    worlds.write(tmp_path, [])
    buffers = [None, pa.py_buffer(np.array([0, len(TOKEN) + 2], np.int32)), pa.py_buffer(b"\xff\xfe" + SECRET)]
    broken = pa.Array.from_buffers(pa.string(), 1, buffers)
    parquet.write_table(tables.arrow(tables.table(1)).set_column(2, "region", broken), tmp_path / "data.parquet")
    outcome = run_command(tmp_path, "measure", "data.parquet", *MEASURE[2:], inputs=(worlds.DATA, "data.parquet"))
    checks.check_no_token(outcome, 0)


class Talkative:
    """A cell whose every method tells the secret."""

    def __str__(self):
        raise ValueError(TOKEN)

    def __eq__(self, other):
        raise ValueError(TOKEN)

    __hash__ = None
    __repr__ = __str__


CELLS = [
    TOKEN,
    TOKEN.encode(),
    TOKEN + "\ud800",
    {TOKEN: 1},
    [TOKEN],
    Talkative(),
    b"\xff" + SECRET,
    f"2020-01-01 {TOKEN}",
]


@pytest.mark.parametrize("cell", range(len(CELLS)))
@pytest.mark.parametrize("kind", ["dictionary", "pandas"])
def test_cells_of_frames(cell, kind):
    """The same odd cell in every column but the identifier."""
    values = {
        name: column if name == "visit" else [*column[:4], CELLS[cell]] for name, column in tables.table(5).items()
    }
    frame = values if kind == "dictionary" else pd.DataFrame({k: pd.Series(v, dtype=object) for k, v in values.items()})
    model = checks.check_quiet_failure(lambda: Synthesizer(tables.DOCUMENT, rho=0.5, method="independent").fit(frame))
    assert model is not None
    assert TOKEN not in json.dumps(model.released.to_json()) + repr(model)


@pytest.mark.parametrize(
    "frame",
    [
        {"visit": [TOKEN]},
        [TOKEN],
        {"visit": TOKEN, "age": [TOKEN]},
        pd.Series([TOKEN]),
        pl.Series([TOKEN]),
        pa.array([TOKEN]),
        {"age": [TOKEN], "cost": [TOKEN, TOKEN]},
        pd.DataFrame({"visit": [TOKEN]}),
    ],
)
def test_frames_that_are_refused(frame):
    assert (
        checks.check_quiet_failure(lambda: Synthesizer(tables.DOCUMENT, rho=0.5, method="independent").fit(frame))
        is None
    )


def test_a_failure_inside_the_private_zone_is_told_without_its_text(tmp_path, monkeypatch):
    def fail(*_):
        raise RuntimeError(TOKEN)

    monkeypatch.setattr(Curator, "_answers", fail)
    outcome = run_command(worlds.write(tmp_path, [HEADER, *ROWS]), *MEASURE, inputs=(worlds.DATA,))
    checks.check_no_token(outcome, 1)
    assert "an unexpected RuntimeError stopped the run" in outcome.stderr


def test_a_private_table_shows_nothing():
    table = PrivateTable({"c": [TOKEN], "n": [1]})
    shown = f"{table} {table!r} {dir(table)} {vars(type(table))}"
    assert TOKEN not in shown


WORDS = st.text(st.characters(codec="utf-8"), max_size=6)


@settings(max_examples=25)
@given(data=st.data())
def test_any_line_whatever_it_holds(tmp_path_factory, data):
    """Random rubbish around the token, as bytes: the same exit code, and no word of it."""
    pieces = data.draw(
        st.lists(st.binary(max_size=8) | WORDS.map(str.encode) | st.just(SECRET) | st.just(b","), max_size=12)
    )
    folder = worlds.write(tmp_path_factory.mktemp("fuzz"), with_line(b"".join(pieces) + SECRET))
    checks.check_no_token(run_command(folder, *MEASURE, inputs=(worlds.DATA,)), 0)
