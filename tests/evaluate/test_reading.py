import pytest

from related_tables import SCHEMA
from sundog.errors import UserError
from sundog.evaluate.reading import open_synthetic, read_synthetic, restricted
from sundog.sources import open_table

GOOD = {"a": ["p", None, "r"], "b": ["u", "v", "v"], "x": [0, 50, 99], "z": [0.0, None, 1.0], "y": [True, False, True]}


def read(table):
    return read_synthetic(open_synthetic(table, SCHEMA), SCHEMA, name="theirs")


def test_a_table_that_fits_reads_like_any_other_and_has_no_notes():
    found, plain = read(GOOD), open_table(GOOD).read(SCHEMA)
    assert found.notes == ()
    assert all((ours == theirs).all() for ours, theirs in zip(found.rows.codes, plain.codes, strict=True))


def test_columns_in_another_order_and_surplus_ones():
    found = read({"other": [1, 2, 3], **{name: GOOD[name] for name in reversed(GOOD)}})
    assert [codes.tolist() for codes in found.rows.codes] == [codes.tolist() for codes in read(GOOD).rows.codes]
    assert found.notes == ("not in the schema, so left out: other",)


def test_what_does_not_fit_is_placed_as_the_schema_says_and_counted():
    bad = {
        "a": ["p", "new", "r"],
        "b": ["u", None, "w"],
        "x": [-5, 50, 2000],
        "z": [0.0, 7.0, None],
        "y": [True, False, None],
    }
    found = read(bad)
    plain = open_table(bad).read(SCHEMA)
    assert [codes.tolist() for codes in found.rows.codes] == [codes.tolist() for codes in plain.codes]
    assert found.rows.column("x").tolist() == [0, 50, 99]
    text = "\n".join(found.notes)
    assert "column 'a': 1 of 3 values (33 %): label not declared" in text
    assert "column 'b': 1 of 3 values (33 %): missing, though the schema requires a value" in text
    assert "column 'x': 2 of 3 values (67 %): outside the declared bounds; clamped" in text
    assert "column 'z': 1 of 3 values (33 %): outside the declared bounds; clamped" in text


def test_a_csv_file_of_another_tool(tmp_path):
    path = tmp_path / "theirs.csv"
    path.write_text("y,x,z,b,a\nTrue,3.0,0.251,u,p\nFalse,12,,v,\n", encoding="utf-8")
    rows = read(path).rows
    assert rows.to_text().to_pydict() == {
        "a": ["p", None],
        "b": ["u", "v"],
        "x": ["3", "12"],
        "z": ["0.25", None],
        "y": ["true", "false"],
    }


def test_lacking_columns_and_empty_tables_are_refused_in_words():
    with pytest.raises(UserError, match=r"'theirs' lacks the columns 'b', 'z' of the schema.*--common-columns"):
        read({name: GOOD[name] for name in ("a", "x", "y")})
    with pytest.raises(UserError, match="has no rows"):
        read({name: values[:0] for name, values in GOOD.items()} | {"a": []})


def test_a_restricted_schema_keeps_the_targets_it_can():
    assert restricted(SCHEMA, ["x", "a"]).names == ("a", "x")
    assert restricted(SCHEMA, ["x", "a"]).targets == ()
    assert restricted(SCHEMA, ["y", "a"]).targets == ("y",)
    with pytest.raises(UserError, match="no column of the schema in common"):
        restricted(SCHEMA, ["nothing"])
