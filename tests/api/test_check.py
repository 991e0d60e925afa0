"""sundog check: how the cells were read, masked, with remedies; CONFIDENTIAL and on the ledger before anything is read."""

import json
import stat
from datetime import date

import pyarrow as pa
import pytest
from pyarrow import parquet

import hospital
import sundog
import tables
from privacy import checks
from privacy.checks import TOKEN
from privacy.stand_ins import run_command
from sundog.api.check import check_document, check_lines, verdict
from sundog.private import check as door
from sundog.sources import inspect

NUMBER = {"type": "number", "constraints": {"minimum": 0, "maximum": 1000}, "sundog": {"decimals": 2}}
DAY = {"type": "date", "constraints": {"minimum": "2020-01-01", "maximum": "2024-12-31"}}


def checked(values, field, **options):
    """The check of one column."""
    document = {"name": "t", "fields": [{"name": "x", **field}]}
    found = sundog.check_table({"x": values}, document, **options)
    return found.columns[0]


def test_shares_add_up():
    column = checked(["1.5", "", "x", "-3", "2000", "7"], {**NUMBER, "missingValues": ["", "7"]})
    assert (column.read, column.missing, column.unreadable, column.clamped) == (1 / 6, 2 / 6, 1 / 6, 2 / 6)
    assert column.unknown_label == 0
    labels = checked(["a", "b", "c", None], {"categories": ["a", "b"]})
    assert (labels.read, labels.missing, labels.unknown_label) == (0.5, 0.25, 0.25)


@pytest.mark.parametrize(
    ("values", "clamped"),
    [
        ([0, 1000], 0.0),
        ([-0.004, 1000.004], 0.0),
        ([-0.01, 1000.01], 1.0),
        ([-1e300, 1e300], 1.0),
        ([float("nan"), 5], 0.0),
    ],
)
def test_clamping_begins_one_step_outside_the_bounds(values, clamped):
    assert checked(values, NUMBER).clamped == clamped


def test_a_single_cell_below_the_bounds_is_one_below():
    (finding,) = checked([-3, -2.5, 5], NUMBER).findings
    (single,) = checked([-3, 2000, 3000, 5], NUMBER).findings
    assert "minimum" in finding.remedy
    assert "minimum" in single.remedy
    assert "maximum" in single.remedy


def test_dates_outside_their_bounds_are_clamped():
    days = [date(2019, 12, 31), date(2020, 1, 1), date(2024, 12, 31), date(2025, 1, 1)]
    assert checked(days, DAY).clamped == 0.5


@pytest.mark.parametrize(
    ("values", "field", "remedy"),
    [
        (["1,5", "2,75", "100,25"], NUMBER, 'looks like decimal commas: set decimalChar to ","'),
        (["$1,234.50", "$99.00", "$7.25"], NUMBER, "bareNumber to false"),
        (["1.234,50", "99,00"], NUMBER, 'decimalChar to ",", groupChar to "."'),
        (["12 %", "7 %"], NUMBER, "bareNumber to false"),
        (["n/a", "unknown"], NUMBER, "list them in missingValues"),
        (["31.12.2020"], NUMBER, 'looks like a date: set type to "date" and format to "%d.%m.%Y"'),
        (["abc", "def"], NUMBER, "no numbers in any way that is known"),
        (["31.12.2020", "01.02.2021"], DAY, 'set format to "%d.%m.%Y"'),
        (["12", "13"], DAY, "looks like numbers"),
        (["ja", "nein"], {"type": "boolean"}, "set trueValues and falseValues"),
        (["A", " b "], {"categories": ["a", "b"]}, "by case or spaces only"),
        (["1067", "1069"], {"categories": ["01067", "01069"]}, "by leading zeros"),
        (["M\ufffdnch"], {"categories": ["Mönch"]}, "looks like another encoding"),
        (["x", "y"], {"categories": ["a", "b"]}, "list them in categories"),
    ],
)
def test_every_finding_has_its_remedy(values, field, remedy):
    finding = checked(values * 5, field).findings[0]
    assert remedy in finding.remedy
    assert finding.share == 1.0


def test_of_a_distance_the_cell_that_cannot_be_read_gets_the_remedy():
    left = {"name": "left", **DAY, "relativeTo": "came", "offset": {"minimum": 0, "maximum": "30 days"}}
    document = {"name": "t", "fields": [{"name": "came", **DAY}, left]}
    table = {"came": ["2021-03-01", "01.03.2021", "2021-03-05"], "left": ["2021-03-04", "2021-03-04", "08.03.2021"]}
    base, offset = sundog.check_table(table, document).columns
    assert [finding.count for finding in offset.findings] == [2]
    assert "%d.%m.%Y" in base.findings[0].remedy
    assert "%d.%m.%Y" in offset.findings[0].remedy
    assert offset.findings[0].shapes == ("99.99.9999",)
    _, only_base = sundog.check_table({**table, "left": ["2021-03-04"] * 3}, document).columns
    assert only_base.findings[0].remedy.startswith("field 'came', from which it is counted, cannot be read there")
    assert only_base.findings[0].shapes == ()


def test_one_value_outside_the_bounds_may_mean_missing():
    finding = checked([1, 2, -9, -9, -9], NUMBER).findings[0]
    assert "perhaps a code for missing" in finding.remedy
    assert "widen constraints.minimum and maximum" in checked([-1, -2, 2000], NUMBER).findings[0].remedy


def test_missing_cells_of_a_required_field_are_a_finding():
    field = {**NUMBER, "constraints": {**NUMBER["constraints"], "required": True}}
    assert "drop constraints.required" in checked([1, None], field).findings[0].remedy


def test_shapes_are_masked_and_at_most_three():
    values = ["Jürgen 12.5 €", "ÄB-77", "日本 ٣", "\x07<b>", "x" * 100, "1a"]
    finding = checked(values, NUMBER).findings[0]
    assert len(finding.shapes) == 3
    shapes = {shape for value in values for shape in checked([value], NUMBER).findings[0].shapes}
    assert shapes == {"Aaaaaa 99.9 €", "AA-99", "aa 9", "?<a>", "a" * 32 + "...", "9a"}


def test_keys_and_rows_per_unit():
    table = {"x": [1] * 6, "who": ["a", "a", "a", "b", "b", "c"], "key": list("uvwxyz")}
    fields = [{"name": "x", **NUMBER}, {"name": "who", "identifier": True}, {"name": "key", "identifier": True}]
    found = sundog.check_table(table, {"name": "t", "fields": fields}, unit="who", rows_per_unit=2)
    assert [(key.name, key.findings) for key in found.keys] == [("key", ())]
    unit = found.unit.keys
    assert (unit.filled, unit.distinct, unit.repeated, unit.most, unit.within) == (6, 3, 2, 3, 5)
    assert found.unit.findings[0].count == 1
    alone = sundog.check_table(table, {"name": "t", "fields": fields})
    assert [key.name for key in alone.keys] == ["who", "key"]
    assert "the unit that is protected (--unit who" in alone.keys[0].findings[0].remedy


def test_lines_of_a_text_file(tmp_path):
    (tmp_path / "t.csv").write_bytes(b'x,y\n1,2\n\n3\n4,5,6\n"7,8\n9,"a,b"\n')
    found = sundog.check_table(tmp_path / "t.csv", {"name": "t", "fields": [{"name": "x", **NUMBER}]})
    assert (found.lines.lines, found.lines.short, found.lines.long, found.lines.blank, found.lines.unclosed) == (
        6,
        2,
        1,
        1,
        1,
    )
    assert [finding.count for finding in found.line_findings] == [2, 1, 1, 1]
    assert found.not_in_schema == 1


def test_lines_of_linked_text_files_are_counted(tmp_path):
    (tmp_path / "homes.csv").write_text("id,a\n1,x\n2\n")
    home = {"name": "id"}, {"name": "a", "categories": ["x"]}
    resource = {"name": "homes", "path": "homes.csv", "schema": {"fields": [*home], "primaryKey": "id"}}
    package = {"name": "p", "resources": [resource]}
    found = sundog.check_table(tmp_path, package, dataset="p", ledger=tmp_path / "l")
    assert [finding.count for finding in found.tables["homes"].line_findings] == [1]


def test_typed_tables_and_nested_columns(tmp_path):
    values = tables.arrow(tables.table(50)).append_column("nested", pa.array([[1]] * 50))
    parquet.write_table(values, tmp_path / "t.parquet")
    found = sundog.check_table(tmp_path / "t.parquet", tables.DOCUMENT)
    assert verdict(found) == "Every cell was understood as the schema declares."
    assert found.lines is None
    assert found.not_in_schema == 1


def test_an_empty_table_can_be_checked():
    found = sundog.check_table({"x": []}, {"name": "t", "fields": [{"name": "x", **NUMBER}]})
    assert found.rows == 0
    assert check_lines(found)


@pytest.fixture
def place(tmp_path):
    hospital.write(tmp_path / "cases.csv", 300)
    fields = [
        {"name": "Rechnung", **NUMBER},
        {"name": "Ort", "categories": ["Dresden"]},
        {"name": "Nachname", "identifier": True},
    ]
    (tmp_path / "schema.json").write_text(
        json.dumps({"name": "cases", "dialect": {"delimiter": ";", "encoding": "cp1252"}, "fields": fields})
    )
    return tmp_path


def test_the_command(place):
    outcome = run_command(place, "check", "cases.csv", "--schema", "schema.json", "-o", "check.json")
    assert outcome.code == 0, outcome.stderr
    assert outcome.stdout.startswith("CONFIDENTIAL")
    assert "To be corrected before anything is spent: Ort, Rechnung." in outcome.stdout
    assert 'set decimalChar to ",", groupChar to ".", bareNumber to false. Shapes: ' in outcome.stdout
    assert [(entry["mechanism"], entry["label"][:12]) for entry in outcome.ledger] == [("disclosed", "CONFIDENTIAL")]
    assert stat.S_IMODE((place / "check.json").stat().st_mode) == 0o600
    document = json.loads(outcome.files["check.json"])
    assert document["confidential"] is True
    again = run_command(place, "check", "cases.csv", "--schema", "schema.json", "--json")
    assert json.loads(again.stdout) == document


def test_a_table_without_the_columns_is_refused_before_the_ledger_knows(place):
    (place / "schema.json").write_text(json.dumps({"name": "cases", "fields": [{"name": "absent", **NUMBER}]}))
    outcome = run_command(place, "check", "cases.csv", "--schema", "schema.json")
    assert outcome.code == 2
    assert outcome.ledger == []


def secret_check(tmp_path):
    """The check of a table whose every text is the token, in all that it says and writes."""
    values = {"x": [TOKEN, "1.5"] * 5, "y": [TOKEN] * 10, "z": [TOKEN] * 10, "w": [f"{TOKEN}{k}" for k in range(10)]}
    tables.write_csv(tmp_path / "data.csv", values)
    fields = [{"name": "x", **NUMBER}, {"name": "y", "categories": ["a"]}, {"name": "z", **DAY}]
    fields.append({"name": "w", "identifier": True})
    (tmp_path / "schema.json").write_text(json.dumps({"name": "t", "fields": fields}))
    command = ("check", "data.csv", "--schema", "schema.json", "--unit", "w", "-o", "check.json", "--force", "--json")
    outcome = run_command(tmp_path, *command, inputs=("data.csv",))
    checks.check_no_token(outcome, 0)


def test_no_text_of_a_cell_gets_out(tmp_path):
    secret_check(tmp_path)


def test_that_test_sees_shapes_that_are_not_masked(tmp_path, monkeypatch):
    monkeypatch.setattr(inspect, "_shape", lambda text: text)
    with pytest.raises(AssertionError, match="got out"):
        secret_check(tmp_path)


def test_that_test_sees_remedies_that_quote(tmp_path, monkeypatch):
    monkeypatch.setattr(door, "remedy_unread", lambda column, texts: f"found {texts[0]}")
    with pytest.raises(AssertionError, match="got out"):
        secret_check(tmp_path)


def test_the_disclosure_comes_first(tmp_path, monkeypatch):
    """If the ledger refuses, nothing is read."""

    class Refusing(sundog.Ledger):
        def disclose(self, dataset, label):
            raise sundog.BudgetRefused("no")

    monkeypatch.setattr(door, "inspect", lambda *_: pytest.fail("rows were read"))
    with pytest.raises(sundog.BudgetRefused):
        door.check_rows(
            {"x": [1]},
            sundog.Schema.from_json({"fields": [{"name": "x", **NUMBER}]}),
            unit=sundog.api.check.PrivacyUnit(),
            dataset="t",
            ledger=Refusing(tmp_path / "l"),
        )


def test_its_words_show_no_rows():
    found = sundog.check_table({"x": ["1,5"]}, {"name": "t", "fields": [{"name": "x", **NUMBER}]})
    assert repr(found) == "TableCheck(CONFIDENTIAL, dataset='t', findings=1)"
    assert "1,5" not in json.dumps(check_document(found))
