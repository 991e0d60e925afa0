"""Spreadsheets, files of statistics packages, and queries on files, each with a real file made by another tool."""

import datetime as dt
import shutil
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import tables
from sundog.domain import Schema
from sundog.errors import UserError
from sundog.sources import open_table

SCHEMA = Schema.from_json(
    {
        "fields": [
            {"name": "sex", "categories": ["male", "female"]},
            {"name": "town", "categories": ["Jörgen", "b"]},
            {"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 100}},
            {"name": "day", "type": "date", "constraints": {"minimum": "2020-01-01", "maximum": "2020-12-31"}},
            {
                "name": "seen",
                "type": "datetime",
                "constraints": {"minimum": "2020-01-01T00:00:00", "maximum": "2020-12-31T23:59:59"},
                "sundog": {"resolution": 3600},
            },
        ]
    }
)
FRAME = pd.DataFrame(
    {
        "sex": [1.0, 2.0, 9.0, None],
        "town": ["Jörgen", "b", "elsewhere", "b"],
        "age": [5.0, 100.0, 1e300, None],
        "day": [dt.date(2020, 1, 5), dt.date(2020, 12, 31), dt.date(9000, 1, 1), None],
        "seen": [dt.datetime(2020, 1, 1, 5), dt.datetime(2020, 1, 2), dt.datetime(9000, 1, 1), None],
    }
)


def to_seconds(days):
    """Dates as moments of whole seconds: nanoseconds, pandas 2's own unit, do not reach the year 9000."""
    return pd.Series(np.array([None if pd.isna(day) else day for day in days], dtype="datetime64[s]"))


LABELS = {"sex": {1: "male", 2: "female"}}
LAST = SCHEMA.column("seen").steps - 1
CODES = [[0, 1, 2, 2], [0, 1, 2, 1], [5, 100, 100, 101], [4, 365, 365, 366], [5, 24, LAST, LAST + 1]]


def coded(path, **options):
    return tables.encoded(path, SCHEMA, **options)


# --- statistics packages --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["sav", "zsav", "dta", "xpt"])
def test_files_of_statistics_packages(tmp_path, ending):
    pyreadstat = pytest.importorskip("pyreadstat")
    path, frame = tmp_path / f"t.{ending}", FRAME
    if ending == "xpt":  # holds no labels, and no number as large as 1e300
        frame = FRAME.assign(sex=["male", "female", "?", ""], age=[5.0, 100.0, 1e60, None])
        pyreadstat.write_xport(frame, str(path))
    elif ending == "dta":
        pyreadstat.write_dta(frame, str(path), variable_value_labels=LABELS)
    else:
        pyreadstat.write_sav(frame, str(path), variable_value_labels=LABELS, compress=ending == "zsav")
    assert coded(path) == CODES


@pytest.mark.skipif(int(pd.__version__.split(".")[0]) < 3, reason="pandas 2 cannot write the year 9000 to a Stata file")
def test_a_stata_file_written_by_pandas(tmp_path):
    frame = FRAME.assign(sex=pd.Categorical(["male", "female", "other", None]), day=to_seconds(FRAME["day"])).drop(
        columns="seen"
    )
    frame.to_stata(tmp_path / "t.dta", write_index=False, convert_dates={"day": "td"}, version=118)
    schema = Schema.from_json({"fields": [field for field in SCHEMA.to_json()["fields"] if field["name"] != "seen"]})
    assert tables.encoded(tmp_path / "t.dta", schema) == CODES[:4]


@pytest.mark.parametrize("ending", ["sav", "dta", "xpt"])
def test_bytes_that_are_no_text_are_an_unknown_label(tmp_path, ending):
    """The package itself stops at such a cell."""
    pyreadstat = pytest.importorskip("pyreadstat")
    path, frame = tmp_path / f"t.{ending}", FRAME[["town", "age"]].assign(town=["b", "b", "QQQQQ", "b"])
    write = {"sav": pyreadstat.write_sav, "dta": pyreadstat.write_dta, "xpt": pyreadstat.write_xport}[ending]
    write(frame.assign(age=[1.0, 2.0, 3.0, 4.0]), str(path))
    whole = path.read_bytes()
    assert b"QQQQQ" in whole
    path.write_bytes(whole.replace(b"QQQQQ", b"QQ\xff\xfeQ"))
    schema = Schema.from_json({"fields": [field for field in SCHEMA.to_json()["fields"] if field["name"] in frame]})
    assert tables.encoded(path, schema) == [[1, 1, 2, 1], [1, 2, 3, 4]]


@pytest.mark.parametrize("ending", ["sav", "dta", "xpt"])
def test_numbers_that_are_no_dates_are_clamped_or_missing(tmp_path, ending):
    pyreadstat = pytest.importorskip("pyreadstat")
    from sundog.sources import statistics

    for _, clock in statistics.CLOCKS[{"sav": "spss", "dta": "stata", "xpt": "sas"}[ending]]:
        cells = [0.0, 1e300, -1e300, float("inf"), float("nan"), None, "text"]
        assert len(statistics._moments(cells, clock)) == len(cells)
    path = tmp_path / f"t.{ending}"
    write = {"sav": pyreadstat.write_sav, "dta": pyreadstat.write_dta, "xpt": pyreadstat.write_xport}[ending]
    formats = {"sav": {"day": "DATE11"}, "dta": {"day": "%td"}, "xpt": {"day": "DATE9."}}[ending]
    write(pd.DataFrame({"day": [1e12, -1e12, 22000.0]}), str(path), variable_format=formats)
    schema = Schema.from_json({"fields": [SCHEMA.to_json()["fields"][3]]})
    codes = tables.encoded(path, schema)[0]
    assert codes[:2] == [365, 0] if ending != "sav" else len(codes) == 3


def test_many_rows_come_in_batches(tmp_path, monkeypatch):
    pyreadstat = pytest.importorskip("pyreadstat")
    from sundog.sources import statistics

    pyreadstat.write_sav(pd.DataFrame({"age": np.arange(25.0)}), str(tmp_path / "t.sav"))
    schema = Schema.from_json({"fields": [SCHEMA.to_json()["fields"][2]]})
    for batch in (4, 5, 25, 100):
        monkeypatch.setattr(statistics, "BATCH", batch)
        assert tables.encoded(tmp_path / "t.sav", schema) == [list(range(25))]


@pytest.mark.parametrize("name", ["t.sav", "t.dta", "t.sas7bdat", "t.xpt", "t.xlsx", "t.orc", "t.feather", "t.ods"])
def test_files_of_another_kind_are_refused(tmp_path, name):
    for content in (b"", b"no such file\n" * 500):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(UserError, match="cannot be read; check that it is"):
            open_table(tmp_path / name)


@pytest.mark.parametrize(("name", "package"), [("t.sav", "pyreadstat"), ("t.xlsx", "python_calamine")])
def test_a_package_that_is_not_installed_is_named(tmp_path, monkeypatch, name, package):
    (tmp_path / name).write_bytes(b"")
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(UserError, match=r"need another package; install it with: pip install 'sundog\[readers\]'"):
        open_table(tmp_path / name)


# --- spreadsheets ---------------------------------------------------------------------------------------------------

SHEET = FRAME.assign(
    sex=["male", "female", "?", None], seen=FRAME["seen"].astype(object).where(FRAME["seen"].notna(), None)
)


def write_sheet(path, **sheets):
    pytest.importorskip("python_calamine")
    engine = pytest.importorskip("openpyxl").__name__
    with pd.ExcelWriter(path, engine=engine) as writer:
        for name, frame in sheets.items():
            frame.to_excel(writer, sheet_name=name, index=False)
    return path


def test_a_spreadsheet_written_by_pandas(tmp_path):
    assert coded(write_sheet(tmp_path / "t.xlsx", Sheet1=SHEET)) == CODES


def test_a_spreadsheet_written_by_libreoffice(tmp_path):
    office = shutil.which("soffice") or shutil.which("libreoffice")
    if office is None:
        pytest.skip("LibreOffice is not installed")
    SHEET.to_csv(tmp_path / "t.csv", index=False)
    command = [office, "--headless", "--convert-to", "xlsx", "--outdir", str(tmp_path), str(tmp_path / "t.csv")]
    subprocess.run(command, check=True, timeout=120)
    assert coded(tmp_path / "t.xlsx")[:3] == CODES[:3]


def test_sheets_are_named(tmp_path):
    path = write_sheet(tmp_path / "t.xlsx", notes=pd.DataFrame({"x": ["secret"]}), people=SHEET)
    with pytest.raises(UserError, match=r"has the sheets 'notes', 'people'; say which: .*t.xlsx#notes"):
        coded(path)
    assert coded(f"{path}#people") == CODES
    with pytest.raises(UserError, match="has no sheet 'absent'"):
        coded(f"{path}#absent")


ODD_CELLS = [
    "text",
    1e300,
    -1,
    True,
    dt.datetime(1900, 1, 1),
    dt.time(12),
    dt.timedelta(days=10_000),
    "#N/A",
]


@pytest.mark.parametrize("cell", ODD_CELLS, ids=str)
def test_an_odd_cell_of_a_sheet_changes_no_other_row(tmp_path, cell):
    sheet = SHEET.astype(object)
    odd = pd.concat([sheet, pd.DataFrame({name: [cell] for name in SHEET}, dtype=object), sheet], ignore_index=True)
    found = coded(write_sheet(tmp_path / "t.xlsx", Sheet1=odd))
    assert [column[:4] for column in found] == [column[5:] for column in found] == CODES


def test_sheets_that_are_no_tables(tmp_path):
    with pytest.raises(UserError, match="its sheet is empty"):
        coded(write_sheet(tmp_path / "t.xlsx", Sheet1=pd.DataFrame()))
    twice = pd.DataFrame([["secret", "secret"]], columns=["x", "x"])
    with pytest.raises(UserError, match="columns 1 and 2 have the same name") as caught:
        coded(write_sheet(tmp_path / "t.xlsx", Sheet1=twice))
    assert "secret" not in str(caught.value)


# --- queries on files -----------------------------------------------------------------------------------------------

SQL = "SELECT a.sex, a.town, TRY_CAST(a.age AS DOUBLE) AS age, a.day, a.seen FROM data a, (SELECT 1) WHERE true"


def test_queries_on_every_kind_of_file(tmp_path):
    pyreadstat = pytest.importorskip("pyreadstat")
    typed = SHEET.assign(day=to_seconds(SHEET["day"]), seen=FRAME["seen"])
    paths = {name: tmp_path / name for name in ("t.parquet", "t.feather", "t.csv", "t.sav", "t.xlsx")}
    typed.to_parquet(paths["t.parquet"])
    typed.to_feather(paths["t.feather"])
    SHEET.to_csv(paths["t.csv"], index=False)
    pyreadstat.write_sav(FRAME, str(paths["t.sav"]), variable_value_labels=LABELS)
    write_sheet(paths["t.xlsx"], Sheet1=SHEET)
    for name, path in paths.items():
        assert coded(path, sql=SQL) == CODES, name
        assert coded(path, sql="SELECT * FROM data WHERE sex = 'male'") == [[column[0]] for column in CODES], name
        with pytest.raises(UserError, match=r"the query on '.*' cannot be read"):
            coded(path, sql="SELECT * FROM elsewhere")


def test_a_sheet_is_text_for_queries_so_that_no_cell_decides_a_type(tmp_path):
    for cells in ([1, 2], [1, "text"]):
        path = write_sheet(tmp_path / "t.xlsx", Sheet1=pd.DataFrame({"age": cells}))
        source = open_table(path, sql="SELECT * FROM data")
        assert [raw.type for raw in source.raw.values()] == ["VARCHAR"]
