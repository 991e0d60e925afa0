"""The R script for readers of a release gives every cell of the rows its declared type. Skipped where R or its package jsonlite is missing.

Stata is not free software, so nothing here runs the script for Stata.
"""

import csv
import datetime as dt
import json
import shutil
import subprocess

import pyarrow as pa
import pyarrow.parquet
import pytest

from markdown_pages import ROOT, blocks, run_sundog

ROWS = 240
MOMENT = dt.datetime(2020, 5, 1, 3, 4, 5)
BIG = 9_000_000_000
FIELDS = {
    "code": {"type": "string", "categories": ["01", "02", 'a, "b"', "Zürich\nWest"]},
    "level": {"type": "string", "categories": ["low", "NA", "high"], "categoriesOrdered": True},
    "group": {"type": "integer", "categories": [1, 100_000, BIG]},
    "visits": {"type": "integer", "constraints": {"minimum": 0, "maximum": 10}},
    "account": {"type": "integer", "constraints": {"minimum": 0, "maximum": 2 * BIG}},
    "body mass": {"type": "number", "constraints": {"minimum": 0, "maximum": 1}, "sundog": {"decimals": 2}},
    "smoker": {"type": "boolean"},
    "day": {"type": "date", "constraints": {"minimum": "2020-01-01", "maximum": "2020-12-31"}},
    "moment": {"type": "datetime", "constraints": {"minimum": "2020-01-01T00:00:00", "maximum": "2020-12-31T00:00:00"}},
    "clock": {"type": "time", "constraints": {"minimum": "00:00:00", "maximum": "23:59:59"}},
}
CELLS = {
    "code": ["01", "02", 'a, "b"', "Zürich\nWest"],
    "level": ["low", "NA", "high", None],
    "group": [1, 100_000, BIG, None],
    "visits": [1, 2, 3, None],
    "account": [BIG, BIG, 1, None],
    "body mass": [0.25, 0.5, 0.75, None],
    "smoker": [True, False, True, None],
    "day": [dt.date(2020, 5, 1), dt.date(2020, 7, 1), dt.date(2020, 12, 31), None],
    "moment": [MOMENT, MOMENT, MOMENT, None],
    "clock": [dt.time(3, 4, 5), dt.time(0, 0, 0), dt.time(12, 0, 0), None],
}
CLASSES = {
    "code": "factor",
    "level": "ordered",
    "group": "factor",
    "visits": "integer",
    "account": "numeric",
    "body mass": "numeric",
    "smoker": "logical",
    "day": "Date",
    "moment": "POSIXct",
    "clock": "character",
}
SPELLED = {"smoker": str.upper, "body mass": float}
"""How R writes what the file writes otherwise."""
TOLD = """
cells <- function(column) if (inherits(column, "POSIXct")) format(column, "%Y-%m-%dT%H:%M:%S") else as.character(column)
told <- function(column) list(class = class(column)[1], cells = I(cells(column)), levels = I(as.character(levels(column))))
cat(jsonlite::toJSON(lapply(read_release("release"), told), na = "null", auto_unbox = TRUE))
"""


def r(code, folder):
    """What R prints; warnings are errors."""
    if shutil.which("Rscript") is None:
        pytest.skip("R is not installed: make r")
    if subprocess.run(["Rscript", "-e", "library(jsonlite)"], check=False, capture_output=True).returncode != 0:
        pytest.skip("R has no package jsonlite: make r")
    (folder / "told.R").write_text("options(warn = 2)\n" + code, encoding="utf-8")
    done = subprocess.run(["Rscript", "told.R"], cwd=folder, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("reader")
    pyarrow.parquet.write_table(
        pa.table({name: cells * (ROWS // 4) for name, cells in CELLS.items()}), place / "t.parquet"
    )
    fields = [{"name": name, **field} for name, field in FIELDS.items()]
    (place / "schema.json").write_text(json.dumps({"name": "odd cells", "fields": fields}), encoding="utf-8")
    places = {"--schema": "schema.json", "--ledger": "ledger.sqlite", "-o": "release"}
    named = [word for option, name in places.items() for word in (option, str(place / name))]
    budget = ["--epsilon", "5", "--delta", "1e-9", "--method", "independent"]
    code, out, err = run_sundog(["synthesize", str(place / "t.parquet"), *named, *budget])
    assert code == 0, out + err
    shutil.copy(ROOT / "examples" / "read_release.R", place)
    return place


def test_every_cell_has_its_declared_type_in_r(folder):
    told = json.loads(r('source("read_release.R")\n' + TOLD, folder))
    assert {name: column["class"] for name, column in told.items()} == CLASSES
    with (folder / "release" / "synthetic.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) > ROWS / 2
    for name, column in told.items():
        spelled = SPELLED.get(name, str)
        written = [spelled(row[name]) if row[name] else None for row in rows]
        read = [float(cell) if cell and name == "body mass" else cell for cell in column["cells"]]
        assert read == written, name
    assert told["level"]["levels"] == ["low", "NA", "high"]
    assert told["group"]["levels"] == ["1", "100000", str(BIG)]


def test_the_snippet_of_the_page_runs_in_r(folder):
    page = ROOT / "docs" / "how-to" / "read-a-release.md"
    (snippet,) = [block.text for block in blocks(page) if block.language == "r"]
    assert "NA's" in r(snippet + "print(summary(visits))\n", folder)
