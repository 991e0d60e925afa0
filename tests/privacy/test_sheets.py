"""One row of a spreadsheet is one record: it decides neither whether the sheet can be read nor how many rows others have."""

import functools
import re
import zipfile

import pandas as pd
import pytest

import tables
from sundog.domain import Schema
from sundog.domain.unit import PrivacyUnit
from sundog.sources import sheet_area, spreadsheet

pytest.importorskip("python_calamine")
SCHEMA = Schema.from_json(
    {"fields": [{"name": "x", "type": "integer", "constraints": {"minimum": 0, "maximum": 9}}, {"name": "y", "categories": ["a", "b"]}]}
)  # fmt: skip
SHEET = pd.DataFrame({"x": [1, 2, 3], "y": ["a", "b", "a"]})
ERRORS = ["#DIV/0!", "#N/A", "#SPILL!", "#CALC!", "#FIELD!", "#GETTING_DATA", "#NEW_IN_2031!"]


def write(folder, cells):
    """The sheet with some cells more, as Excel writes them."""
    SHEET.to_excel(folder / "plain.xlsx", index=False)
    with zipfile.ZipFile(folder / "plain.xlsx") as old, zipfile.ZipFile(folder / "t.xlsx", "w") as new:
        for name in old.namelist():
            part = old.read(name).decode()
            new.writestr(
                name, part.replace("</sheetData>", f"{cells}</sheetData>") if name.endswith("sheet1.xml") else part
            )
    return folder / "t.xlsx"


def rows(path):
    return tables.code_rows(path, SCHEMA, PrivacyUnit())


def check_one_more(folder, cells, expected):
    assert rows(write(folder, cells)) == sorted([*rows(folder / "plain.xlsx"), expected]), "another row changed"


def error_row(error, formula="<f>1/0</f>"):
    return f'<row r="5"><c r="A5" t="e">{formula}<v>{error}</v></c><c r="B5" t="str"><v>b</v></c></row>'


@pytest.mark.parametrize("error", ERRORS)
def test_an_error_is_a_missing_cell_whatever_its_name(tmp_path, error):
    for formula in ("", "<f>1/0</f>", '<f t="shared" si="0"/>'):
        check_one_more(tmp_path, error_row(error, formula), (10, 1))


FAR = '<row r="1048576"><c r="B1048576" t="str"><v>b</v></c></row>'


@pytest.mark.long
def test_a_cell_far_below_adds_one_row(tmp_path):
    check_one_more(tmp_path, FAR, (10, 1))


@pytest.mark.parametrize("error", ERRORS)
def test_a_row_of_errors_is_a_record(tmp_path, error):
    check_one_more(tmp_path, f'<row r="5"><c r="A5" t="e"><v>{error}</v></c></row>', (10, 2))


RIGHT = '<row r="5"><c r="A5"><v>3</v></c><c r="B5" t="str"><v>b</v></c>{}</row>'
FAR_RIGHT = RIGHT.format('<c r="C5" s="0"/><c t="str" r="XFD5"><v>stray</v></c>')


def test_a_cell_far_to_the_right_widens_no_other_row(tmp_path):
    check_one_more(tmp_path, FAR_RIGHT, (3, 1))
    check_narrow(tmp_path)


def check_narrow(folder):
    """The reader holds every cell of the area in use."""
    import python_calamine

    write(folder, FAR_RIGHT)
    book = spreadsheet.within_header(str(folder / "t.xlsx"))
    sheet = python_calamine.load_workbook(book).get_sheet_by_index(0)
    assert sheet.width <= 3, "one cell widened every row"


def test_a_reader_that_holds_all_columns_is_found(monkeypatch, tmp_path):
    monkeypatch.setattr(spreadsheet, "within_header", lambda path: path)
    with pytest.raises(AssertionError, match="one cell widened every row"):
        check_narrow(tmp_path)


@pytest.mark.parametrize("column", ["A", "O", "Z", "AB", "AZ", "ZZ", "XFC"])
def test_columns_behind_another_one(column):
    def number(letters):
        return functools.reduce(lambda found, letter: found * 26 + ord(letter) - 64, letters, 0)

    after = sheet_area._cell_after(column.encode())
    for other in ("A", "B", "P", "Z", "AA", "AC", "BA", "ZZ", "AAA", "XFC", "XFD"):
        found = after.fullmatch(f'<x:c s="1" r="{other}7"><x:v>1</x:v></x:c>'.encode()) is not None
        assert found == (number(other) > number(column)), other


def test_a_blank_row_is_no_record(tmp_path):
    assert rows(write(tmp_path, '<row r="9"><c r="A9" s="0"/></row>')) == rows(tmp_path / "plain.xlsx")


def test_a_reader_that_stops_at_an_error_is_found(monkeypatch, tmp_path):
    monkeypatch.setattr(spreadsheet, "ERROR_CELL", re.compile(rb"(never)$^"))
    with pytest.raises(Exception, match="cannot be read"):
        check_one_more(tmp_path, error_row("#SPILL!"), (10, 1))


def test_a_reader_that_drops_rows_of_errors_is_found(monkeypatch, tmp_path):
    monkeypatch.setattr(spreadsheet, "ZIPPED", ())
    with pytest.raises(AssertionError, match="another row changed"):
        check_one_more(tmp_path, '<row r="5"><c r="A5" t="e"><v>#N/A</v></c></row>', (10, 2))


def test_a_reader_that_counts_the_rows_between_is_found(monkeypatch, tmp_path):
    monkeypatch.setattr(spreadsheet, "_holds_a_cell", lambda row: True)
    with pytest.raises(AssertionError, match="another row changed"):
        check_one_more(tmp_path, FAR.replace("1048576", "50"), (10, 1))
