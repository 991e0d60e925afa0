"""Category lists in files, with parents; what is text in disguise is refused."""

import json

import pytest

from sundog.domain import Schema
from sundog.errors import UserError


def write_schema(folder, **field):
    (folder / "schema.json").write_text(json.dumps({"name": "t", "fields": [{"name": "icd", **field}]}))
    return folder / "schema.json"


CSV = "value,parent,label\nA00,A00-A09,Cholera\nA00.1,A00,\nA01,A00-A09,Typhoid\nB20,,HIV\n"


def test_a_csv_file_with_parents(tmp_path):
    (tmp_path / "icd.csv").write_text(CSV, encoding="utf-8-sig")
    schema = Schema.load(write_schema(tmp_path, categories="icd.csv"))
    column = schema.column("icd")
    assert column.labels == ("A00", "A00.1", "A01", "B20")
    assert column.parents == ("A00-A09", "A00", "A00-A09", None)
    kept = schema.to_json()["fields"][0]["categories"]
    assert kept[0] == {"value": "A00", "parent": "A00-A09", "label": "Cholera"}
    assert Schema.from_json(schema.to_json()) == schema


def test_other_files(tmp_path):
    (tmp_path / "zip.json").write_text(json.dumps([{"value": "01067", "parent": "01"}, "99999"]))
    column = Schema.load(write_schema(tmp_path, categories="zip.json")).column("icd")
    assert (column.labels, column.parents) == (("01067", "99999"), ("01", None))
    (tmp_path / "codes.csv").write_text("nace,parent\n10,1\n11,1\n")
    column = Schema.load(write_schema(tmp_path, type="integer", categories="codes.csv")).column("icd")
    assert (column.labels, column.parents) == ((10, 11), (1, 1))
    (tmp_path / "flat.csv").write_text("code\nx\ny\n")
    column = Schema.load(write_schema(tmp_path, categories="flat.csv")).column("icd")
    assert (column.labels, column.parents) == (("x", "y"), ())


@pytest.mark.parametrize(
    ("name", "content", "match"),
    [
        ("absent.csv", None, "field 'icd': its categories file 'absent.csv' does not exist"),
        ("empty.csv", b"", "needs a header line with `value`"),
        ("long.csv", b"value\na,b\n", "no longer line"),
        ("bad.json", b"{", r"is not JSON \(line 1"),
        ("object.json", b"{}", "holds no list"),
        ("bytes.csv", b"value\n\xff\n", "is not UTF-8 text; name a UTF-8 CSV or JSON file"),
    ],
)
def test_wrong_files_are_named(tmp_path, name, content, match):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(UserError, match=match):
        Schema.load(write_schema(tmp_path, categories=name))


def refused(match, **field):
    with pytest.raises(UserError, match=match):
        Schema.from_json({"fields": [{"name": "x", **field}]})


def test_circles_are_refused():
    refused("category 'a' is its own ancestor", categories=[{"value": "a", "parent": "a"}])
    circle = [{"value": "a", "parent": "b"}, {"value": "b", "parent": "a"}]
    refused("is its own ancestor; correct its parents", categories=circle)


def test_text_in_disguise_is_refused():
    refused(
        r"field 'x': the schema lists 50,001 categories.*identifier.*parent", categories=[str(k) for k in range(50_001)]
    )
    refused(r"field 'x': the schema lists a category of 201 characters.*Free text", categories=["a", "y" * 201])
    codes = [{"value": str(k), "parent": str(k // 100)} for k in range(100_000, 160_000)]
    assert Schema.from_json({"fields": [{"name": "x", "categories": codes}]}).column("x").size == 60_001
