"""Times of day: declared, read from every source, written as they were."""

import datetime as dt

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tables
from sundog import Synthesizer
from sundog.domain import Schema
from sundog.domain.rows import Rows
from sundog.domain.values import code_of
from sundog.errors import UserError


def schema_of(**field):
    return Schema.from_json({"fields": [{"name": "t", "type": "time", **field}]})


MINUTES = schema_of(sundog={"resolution": 60})
CELLS = [dt.time(0, 0), dt.time(12, 30, 59), dt.time(23, 59, 59, 999_999), None]
CODES = [0, 750, 1439, 1440]


@pytest.mark.parametrize(
    "frame",
    [
        {"t": CELLS},
        pa.table({"t": pa.array(CELLS, pa.time64("ns"))}),
        pa.table({"t": pa.array([0, 45_059, 86_399, None], pa.int32()).cast(pa.time32("s"))}),
        pl.DataFrame({"t": CELLS}),
        pd.DataFrame({"t": CELLS}),
        {"t": ["00:00:00", "12:30:59", "23:59", ""]},
        {"t": ["00:00:00.0", "2020-05-01T12:30:59", "23:59:59", "noon"]},
        {"t": [dt.datetime(2020, 1, 1), dt.datetime(1, 1, 1, 12, 30), dt.datetime(9999, 1, 1, 23, 59), None]},
        {"t": [dt.timedelta(0), dt.timedelta(hours=12, minutes=30), dt.timedelta(hours=23.99), dt.timedelta(days=2)]},
        {"t": [0.0, 45_059.5, 86_399.9, 86_400.0]},
    ],
    ids=str,
)
def test_every_source(frame):
    assert tables.encoded(frame, MINUTES) == [CODES]


def test_text_files_and_formats(tmp_path):
    (tmp_path / "t.csv").write_text("t\n00:00\n12:30:59\n23:59:59\n25:00:00\n")
    assert tables.encoded(tmp_path / "t.csv", MINUTES) == [CODES]
    clock = schema_of(format="%I:%M %p", sundog={"resolution": 60})
    assert tables.encoded({"t": ["12:00 AM", "12:30 PM", "11:59 PM", "13:00 PM"]}, clock) == [CODES]


def test_values_come_back_as_they_were():
    table = Rows(MINUTES, (pa.array(CODES).to_numpy(),)).to_arrow()
    assert table["t"].to_pylist() == [dt.time(0, 0), dt.time(12, 30), dt.time(23, 59), None]
    text = Rows(MINUTES, (pa.array(CODES).to_numpy(),)).to_text()
    assert text["t"].to_pylist() == ["00:00:00", "12:30:00", "23:59:00", None]
    clock = schema_of(format="%H.%M Uhr", sundog={"resolution": 60})
    assert Rows(clock, (pa.array(CODES).to_numpy(),)).to_text()["t"].to_pylist() == [
        "00.00 Uhr",
        "12.30 Uhr",
        "23.59 Uhr",
        None,
    ]
    column = MINUTES.column("t")
    assert [column.describe(code) for code in (0, 750, 1440)] == ["00:00:00", "12:30:00", "missing"]
    assert code_of(column, "12:30:00", said="here") == 750


def test_bounds_may_be_declared_and_are_the_day_else():
    shift = schema_of(
        constraints={"minimum": "08:00", "maximum": "16:00:00", "required": True}, sundog={"resolution": 3600}
    )
    assert (shift.column("t").lower, shift.column("t").upper) == (8, 16)
    assert tables.encoded({"t": ["07:00", "09:30", "22:00", "?"]}, shift) == [[0, 1, 8, 0]]
    assert schema_of().column("t").steps == 86_400
    with pytest.raises(UserError, match=r"bound 'noon' is not an ISO time such as 23:59:59"):
        schema_of(constraints={"minimum": "noon"})


def test_times_are_synthesized(own_ledger):
    values = {"t": [dt.time(9, k % 60) for k in range(2000)]}
    model = Synthesizer(MINUTES, rho=1.0, method="independent", seed=1, dataset="times").fit(values).model
    found = model.sample(500)["t"].to_pylist()
    assert sum(value is not None and value.hour == 9 for value in found) > 400
