"""Drafts that people can trust: 25 hospital columns, typed tables, dialects; nothing is left out without a word."""

import json
import stat

import numpy as np
import pandas as pd
import pytest

import hospital
import sundog
import tables
from privacy.stand_ins import run_command
from sundog.domain import Schema
from sundog.sources import open_table


@pytest.fixture(scope="module")
def hospital_draft(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hospital")
    path = hospital.write(folder / "cases.csv", 600)
    return sundog.draft_schema(path, ledger=folder / "ledger.sqlite")


def fields_of(document):
    return {field["name"]: field for field in document["fields"]}


def differs(field, wanted):
    """Whether a person would have to edit the field; bounds and lists are reviewed in any case."""
    marks = {"format", "decimalChar", "groupChar", "bareNumber", "missingValues", "trueValues", "falseValues"}
    found = {**field, "decimals": field["sundog"].get("decimals")}
    for key, value in wanted.items():
        if key == "categories" and value is None:
            if "categories" not in found:
                return True
        elif found.get(key) != value:
            return True
    surplus = {key for key in marks & found.keys() if key not in wanted} - {"missingValues"}
    return bool(surplus) or ("identifier" in found) != ("identifier" in wanted)


def test_the_hospital_table_needs_at_most_five_edits(hospital_draft):
    fields = fields_of(hospital_draft)
    assert list(fields) == list(hospital.EXPECTED), "every column is there, in order"
    edits = {name for name, wanted in hospital.EXPECTED.items() if differs(fields[name], wanted)}
    assert edits == set(hospital.EDITS)
    assert len(edits) <= 5


def test_every_field_says_why_and_is_marked(hospital_draft):
    for field in hospital_draft["fields"]:
        assert field["sundog"]["origin"] == "fromData"
        assert len(field["why"]) > 20
        assert ("Left out" in field["why"]) == bool(field.get("identifier"))
    assert "may mean missing" in fields_of(hospital_draft)["Blutdruck"]["why"]


def test_the_dialect_is_guessed_and_said(hospital_draft):
    assert hospital_draft["dialect"] == {"delimiter": ";", "encoding": "windows-1252"}
    assert "600 lines are not UTF-8, and read well as windows-1252." in hospital_draft["description"]
    assert "Cells are separated by semicolons." in hospital_draft["description"]
    assert hospital_draft["description"].startswith("CONFIDENTIAL DRAFT")


def test_a_draft_waits_for_review(hospital_draft, tmp_path):
    with pytest.raises(sundog.UserError, match="25 fields were read from the rows"):
        sundog.Synthesizer(hospital_draft, rho=0.1, dataset="h", ledger=tmp_path / "l")


def column(values, name="x", **others):
    """The drafted field of one column of a frame."""
    return fields_of(sundog.draft_schema({name: values, **others}, dataset="t"))[name]


SECONDS = {"origin": "fromData"}
MINUTES = {"resolution": 60, **SECONDS}


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        (["$1,234.50", "$99.00", "$1,000,000.25"], {"type": "number", "groupChar": ",", "bareNumber": False}),
        (["1 234,50 €", "99,00 €", "2 000 000,25 €"], {"type": "number", "decimalChar": ",", "groupChar": " "}),
        (["1'234.50", "99.10", "10'000.00"], {"type": "number", "groupChar": "'"}),
        (["12%", "7%", "100%"], {"type": "integer", "bareNumber": False}),
        (["1.5e-3", "2.25E4", "-7"], {"type": "number"}),
        (["31/12/2020", "01/02/2021", "15/03/2021"], {"type": "date", "format": "%d/%m/%Y"}),
        (["12/31/2020", "02/01/2021", "03/15/2021"], {"type": "date", "format": "%m/%d/%Y"}),
        (["20201231", "20210201", "19990315"], {"type": "date", "format": "%Y%m%d"}),
        (["3 Mar 2020", "14 Dec 2021", "1 Jan 1999"], {"type": "date", "format": "%d %b %Y"}),
        (["2020-12-31", "2021-02-01", "1999-03-15"], {"type": "date"}),
        (["2020-12-31 08:15:00", "2021-02-01 10:00:01"], {"type": "datetime", "sundog": SECONDS}),
        (["2020-12-31 08:15:00", "2021-02-01 10:01:00"], {"type": "datetime", "sundog": MINUTES}),
        (["2020-12-31T08:15", "2021-02-01T10:01"], {"type": "datetime", "sundog": MINUTES}),
        (["12/31/2020 8:15 PM", "02/01/2021 10:00 AM"], {"type": "datetime", "format": "%m/%d/%Y %I:%M %p"}),
        (["08:15", "23:59", "00:00"], {"type": "time", "format": "%H:%M", "sundog": MINUTES}),
        (["Yes", "no", "YES", "n/a"], {"type": "boolean", "trueValues": ["YES", "Yes"], "falseValues": ["no"]}),
        (["oui", "non"], {"type": "boolean"}),
        (["red", "green", "blue"], {"type": "string", "categories": ["blue", "green", "red"]}),
        (["01067", "80331", "02826"], {"type": "string", "categories": ["01067", "02826", "80331"]}),
        (["A", "NA", "B"], {"categories": ["A", "B"], "missingValues": ["", "NA"]}),
        (["unknown", "A", "B"], {"categories": ["A", "B", "unknown"]}),
        (["", "", ""], {"identifier": True}),
        ([1, 5, 3], {"type": "integer"}),
        ([True, False, None], {"type": "boolean"}),
        ([0.5, 1.25, None], {"type": "number"}),
    ],
)
def test_what_columns_are_taken_for(values, wanted):
    field = column(values * 20)
    assert {key: field.get(key) for key in wanted} == wanted


MONEY = {
    "a minus before the sign": (["-$5.00", "$7.25", "-$1,200.50"], [-5, 7.25, -1200.5]),
    "parentheses": (["(5.00)", "7.25", "1,200.50", "(1,200.50)"], [-5, 7.25, 1200.5, -1200.5]),
    "parentheses and signs": (["($5.00)", "$7.25", "$ 12.50"], [-5, 7.25, 12.5]),
    "a sign after a comma": (["5,00 €", "-7,25 €", "1.200,50 €"], [5, -7.25, 1200.5]),
    "a sign in letters": (["USD 5", "USD 12", "USD -7"], [5, 12, -7]),
    "another dollar": (["US$ 5.50", "US$ 12.25", "-US$ 7.00"], [5.5, 12.25, -7]),
}


@pytest.mark.parametrize("way", MONEY)
def test_money_is_drafted_as_numbers_and_read_as_such(way):
    texts, numbers = MONEY[way]
    field = column(texts * 20)
    assert field["type"] == ("integer" if all(number == int(number) for number in numbers) else "number")
    assert field["bareNumber"] is False
    assert ("in parentheses" in field["why"]) == way.startswith("parentheses")
    lowest, highest = min(numbers), max(numbers)
    assert field["constraints"]["minimum"] <= lowest
    assert field["constraints"]["maximum"] >= highest
    schema = Schema.from_json({"fields": [field]})
    rows = open_table({"x": texts}).read(schema)
    assert rows.to_arrow()["x"].to_pylist() == pytest.approx(numbers)


@pytest.mark.parametrize(
    ("codes", "parents"),
    [
        ([f"E{k}.{n}" for k in range(10, 40) for n in range(6)], {f"E{k}" for k in range(10, 40)}),
        (
            [f"{k:02}{n:03}" for k in range(12) for n in range(0, 100, 7)],
            {f"{k:02}{n}" for k in range(12) for n in (0,)},
        ),
        ([f"{k:02}.{n}" for k in range(1, 30) for n in range(1, 6)], {f"{k:02}" for k in range(1, 30)}),
    ],
)
def test_codes_are_grouped_by_what_they_begin_with(codes, parents):
    field = column(codes * 5, name="code")
    listed = field["categories"]
    assert {entry["value"] for entry in listed} == set(codes)
    assert {entry["parent"] for entry in listed} == parents
    assert field["sundog"]["origin"] == "fromData"
    assert f"{len(parents)} groups" in field["why"]
    (drafted,) = Schema.from_json({"fields": [field]}).columns
    assert set(drafted.parents) == parents


def test_few_codes_and_labels_have_no_parents():
    assert column(["E11.9", "E11.0", "I10.1"] * 20)["categories"] == ["E11.0", "E11.9", "I10.1"]
    words = [f"{a}{b} ward" for a in "abcdefgh" for b in "klmnopqr"]
    assert sorted(column(words * 5)["categories"]) == sorted(words)


def test_an_order_of_day_and_month_that_nothing_decides_is_said():
    field = column(["01/02/2020", "03/04/2021", "05/06/2022"] * 10)
    assert field["format"] == "%m/%d/%Y"
    assert "%d/%m/%Y reads every cell as well" in field["why"]
    field = column(["01/02/2020", "03/04/2021", "05/06/2022"] * 10, cost=["1,5", "2,25", "1.000,75"] * 10)
    assert field["format"] == "%d/%m/%Y", "decimal commas elsewhere speak for days first"


def test_a_point_that_could_part_thousands_follows_the_other_columns():
    alone = column(["1.234", "5.678", "9.999"] * 10)
    assert alone["type"] == "number"
    assert "may be read in two ways" in alone["why"]
    beside = column(["1.234", "5.678", "9.999"] * 10, cost=["1,5", "2,25", "1.000,75"] * 10)
    assert beside["type"] == "integer"
    assert beside["groupChar"] == "."


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([f"user{k}@example.org" for k in range(60)], "e-mail"),
        ([f"+49 351 {k:07d}" for k in range(60)], "telephone"),
        ([f"{k:08x}-1234-1234-1234-123456789abc" for k in range(60)], "UUID"),
        ([f"the patient came on day {k} and left" for k in range(100)], "free text"),
        (list(range(500, 600)), "running number"),
        ([f"Case {k}" for k in range(100)], "nearly every cell"),
        ([10**17 + k * 10**15 for k in range(60)] * 2, "numbers this large"),
        ([""] * 5, "every cell is empty"),
    ],
)
def test_what_cannot_be_modelled_stays_in_the_document_with_a_reason(values, words):
    field = column(values)
    assert field["identifier"] is True
    assert words in field["why"]


def test_cells_that_cannot_be_read_are_counted():
    field = column(["17"] * 120 + ["about 5", *(str(k) for k in range(80))])
    assert field["type"] == "integer"
    assert "1 cells cannot be read" in field["why"]


def test_names_of_columns_help_where_numbers_alone_do_not():
    numbers = [str(k) for k in range(500)] * 2
    assert column(numbers, name="patient_nbr")["identifier"] is True
    assert column(numbers, name="case number")["identifier"] is True
    assert column(numbers, name="number_of_visits")["type"] == "integer"
    assert column(["1", "2", "7"] * 20, name="admission_type_id")["categories"] == [1, 2, 7]
    assert column([1, 2, 7] * 20, name="admissionTypeId")["categories"] == [1, 2, 7]
    assert "categories" not in column(["1", "2", "7"] * 20, name="visits")
    assert column([f"{k}" for k in range(10000, 10040)] * 5, name="zip")["type"] == "string"


def test_codes_among_numbers_make_them_all_codes():
    field = column([f"{k / 100:.2f}" for k in range(25000, 25099)] * 20 + ["V45", "E880.1"] * 10)
    assert field["type"] == "string"
    assert len(field["categories"]) == 101


@pytest.mark.parametrize(
    ("low", "high", "bounds"),
    [
        (18, 97, (0, 100)),
        (-1, 871, (-1, 900)),
        (-8019, 102127, (-9000, 110000)),
        (1998, 2023, (1990, 2030)),
        (1, 5, (1, 5)),
    ],
)
def test_bounds_are_near_and_round(low, high, bounds):
    found = column([low, high, *range(low, high, max(1, (high - low) // 20))] * 3)["constraints"]
    assert (found["minimum"], found["maximum"]) == bounds


def test_bounds_are_round_and_outside_of_what_was_seen():
    field = column([18.25, 97.75, 44.5] * 10)
    assert field["constraints"] == {"minimum": 0.0, "maximum": 100.0, "required": True}
    field = column(["1998-05-01", "2021-02-03", ""] * 10)
    assert field["constraints"] == {"minimum": "1998-01-01", "maximum": "2021-12-31"}


def test_the_draft_of_a_typed_table_is_a_schema_that_reads_it(tmp_path):
    tables.write_parquet(tmp_path / "t.parquet", tables.table(300))
    document = sundog.draft_schema(tmp_path / "t.parquet")
    schema = Schema.from_json(document)
    assert [column.kind for column in schema.columns if hasattr(column, "kind")] == [
        "integer",
        "integer",
        "number",
        "date",
        "datetime",
    ]
    assert document["name"] == "t"
    made = sundog.Synthesizer(schema, rho=0.5, method="independent", accept_unreviewed=True)
    assert made.fit(tmp_path / "t.parquet").sample(5).num_rows == 5


def test_pandas_frames_can_be_drafted():
    frame = pd.DataFrame({"a": pd.Categorical(["x", "y"] * 30), "b": np.arange(60) / 4})
    fields = fields_of(sundog.draft_schema(frame, dataset="t"))
    assert fields["a"]["categories"] == ["x", "y"]
    assert fields["b"]["sundog"]["decimals"] == 2


def test_a_column_without_a_name_is_mentioned(tmp_path):
    (tmp_path / "t.csv").write_text("a,,b\n1,2,3\n4,5,6\n")
    document = sundog.draft_schema(tmp_path / "t.csv")
    assert list(fields_of(document)) == ["a", "b"]
    assert "without a name in the header, left out: 1" in document["description"]


def test_a_wrong_delimiter_is_refused_before_anything_is_disclosed(tmp_path):
    hospital.write(tmp_path / "cases.csv", 20)
    outcome = run_command(tmp_path, "schema", "draft", "cases.csv", "-o", "draft.json", "--delimiter", "replace")
    assert outcome.code == 2
    assert "it must be one character" in outcome.stderr
    assert outcome.ledger == []


def test_the_ledger_knows_before_anything_is_read_and_the_file_is_the_owners(tmp_path):
    hospital.write(tmp_path / "cases.csv", 300)
    outcome = run_command(tmp_path, "schema", "draft", "cases.csv", "-o", "draft.json")
    assert outcome.code == 0, outcome.stderr
    assert [entry["mechanism"] for entry in outcome.ledger] == ["disclosed"]
    assert stat.S_IMODE((tmp_path / "draft.json").stat().st_mode) == 0o600
    assert "fields: 25, left out: 7" in outcome.stdout
    for word in ("Müller", "Dresden", "01", "example.org"):
        assert word not in outcome.stdout.replace("sundog", "")
    said = json.loads(run_command(tmp_path, "schema", "draft", "cases.csv", "-o", "d2.json", "--json").stdout)
    assert said["confidential"] is True
    assert said["leftOut"] == 7
