"""Text files as they come: marks, line ends, ragged and broken lines, wrong bytes. No line can stop a run."""

import gzip

import pytest

import tables
from sundog.domain import Dialect, Schema
from sundog.errors import UserError
from sundog.sources import open_table

SCHEMA = Schema.from_json(
    {
        "fields": [
            {"name": "a", "categories": ["x", "y", "z"]},
            {"name": "n", "type": "integer", "constraints": {"minimum": 0, "maximum": 100}},
        ]
    }
)
X, Y, Z, UNKNOWN, MISSING = 0, 1, 2, 3, 101


def rows(path, schema=SCHEMA, **dialect):
    return list(zip(*tables.encoded(path, schema, dialect=Dialect.of(dialect)), strict=True))


def file(tmp_path, content, name="t.csv"):
    path = tmp_path / name
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"a,n\nx,1\ny,2\n", [(X, 1), (Y, 2)]),
        (b"a,n\nx,1\ny,2", [(X, 1), (Y, 2)]),
        (b"\xef\xbb\xbfa,n\nx,1\ny,2\n", [(X, 1), (Y, 2)]),
        (b"a,n\r\nx,1\r\ny,2\r\n", [(X, 1), (Y, 2)]),
        (b"n,other,a\n1,?,x\n2,?,y\n", [(X, 1), (Y, 2)]),
        (b'"a","n"\n"x","1"\n"y","2"\n', [(X, 1), (Y, 2)]),
        (b'a,n,"long\nname"\nx,1,5\ny,2,5\n', [(X, 1), (Y, 2)]),
        (b'a,n,text\nx,1,"two\nlines"\ny,2,"a ""b"" c, d"\n', [(X, 1), (Y, 2)]),
        (b"a,n\nx,1\n\n\ny,2\n", [(X, 1), (Y, 2)]),
        (b"a,n\n", []),
        (b"a,n", []),
    ],
)
def test_good_files(tmp_path, content, expected):
    assert rows(file(tmp_path, content)) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b"x", [(X, MISSING)]),
        (b"x,", [(X, MISSING)]),
        (b",", [(UNKNOWN, MISSING)]),
        (b"x,1,7,8,9", [(X, 1)]),
        (b"nonsense,nonsense", [(UNKNOWN, MISSING)]),
        (b"x,1e400", [(X, 100)]),
        (b"x,0x10", [(X, MISSING)]),
        (b'x"y,2', [(UNKNOWN, 2)]),
        (b"x\x00,2", [(UNKNOWN, 2)]),
        (b"\x00,\x00", [(UNKNOWN, MISSING)]),
        (b"\xff\xfe,2", []),  # a line that is not text is no row
        (b"x,\xc3", []),
    ],
)
@pytest.mark.parametrize("place", ["first", "last", "late"])
def test_odd_lines_never_stop_a_run_and_never_touch_other_lines(tmp_path, line, expected, place):
    many = [b"y,5"] * (20_000 if place == "late" else 2)
    lines = [line, *many, b"z,6"] if place == "first" else [*many, line, b"z,6"]
    found = rows(file(tmp_path, b"a,n\n" + b"\n".join(lines) + b"\n"))
    assert sorted(found) == sorted([*expected, *[(Y, 5)] * len(many), (Z, 6)])


def test_cells_that_cannot_be_read_are_missing_whatever_columns_are_asked_for(tmp_path):
    """The engine must not move the reading of numbers into its CSV reader, which would drop the line."""
    path = file(tmp_path, b"d,n,m\n2020-01-01,1,1.5\nfoo,bar,baz\n2020-02-30,1,1\n")
    day = {"name": "d", "type": "date", "constraints": {"minimum": "2020-01-01", "maximum": "2020-01-31"}}
    whole = {"name": "n", "type": "integer", "constraints": {"minimum": 0, "maximum": 5}}
    number = {"name": "m", "type": "number", "constraints": {"minimum": 0, "maximum": 5}, "sundog": {"decimals": 1}}
    codes = {"d": [0, 31, 31], "n": [1, 6, 1], "m": [15, 51, 10]}
    for fields in ([day], [whole], [number], [day, whole], [whole, number], [day, whole, number]):
        found = tables.encoded(path, Schema.from_json({"fields": fields}))
        assert found == [codes[field["name"]] for field in fields]


def test_an_unclosed_quote_takes_what_follows_it_and_no_more(tmp_path):
    body = b"x,1\n" + b'"y,2\n' + b"z,3\n" * 1_300_000  # about 5 MB in one cell
    found = rows(file(tmp_path, b"a,n\n" + body))
    assert found[0] == (X, 1)
    assert len(found) <= 2


def test_a_file_that_turns_out_binary(tmp_path):
    found = rows(file(tmp_path, b"a,n\nx,1\n" + bytes(range(256)) * 100 + b"\ny,2\n"))
    assert (X, 1) in found
    assert set(found) <= {(X, 1), (Y, 2), (UNKNOWN, MISSING)}


@pytest.mark.parametrize(
    ("content", "match"),
    [
        (b"", "'.*t.csv' is empty; it needs a header line"),
        (b"\n\n", "is empty; it needs a header line"),
        (b"a,n,n\nx,1,2\n", "columns 2 and 3 have the same name.*unique"),
        (b"\xff\xfe,n\nx,1\n", "its header is not UTF-8 text; convert"),
        (b"a;n\nx;1\n", "lacks the column 'a' and 1 more.*--delimiter"),
        (b"A,N\nx,1\n", "lacks the column 'a' and 1 more; columns found: 2, of which 'A' comes near"),
        (b"x,1\ny,2\n", "lacks the column 'a'.*needs a header line"),
    ],
)
def test_wrong_files_are_named(tmp_path, content, match):
    with pytest.raises(UserError, match=match):
        rows(file(tmp_path, content))


def test_a_file_without_a_header_line_has_no_row_quoted(tmp_path):
    for content in (b"Alice Smith,77\nBob,12\n", b"77,77\n1,2\n"):
        with pytest.raises(UserError) as caught:
            rows(file(tmp_path, content))
        assert "Alice" not in str(caught.value)
        assert "77" not in str(caught.value)


def test_other_separators(tmp_path):
    assert rows(file(tmp_path, b"a\tn\nx\t1\n", "t.tsv")) == [(X, 1)]
    assert rows(file(tmp_path, b"a;n\nx;1\n"), delimiter=";") == [(X, 1)]
    assert rows(file(tmp_path, b"a\xc2\xa7n\nx\xc2\xa71\n"), delimiter="§") == [(X, 1)]
    with pytest.raises(UserError, match="delimiter: found '::'; it must be one character"):
        rows(file(tmp_path, b"a::n\n"), delimiter="::")


def test_compressed_files(tmp_path):
    packed = gzip.compress(b"a,n\nx,1\ny,2\n")
    assert rows(file(tmp_path, packed, "t.csv.gz")) == [(X, 1), (Y, 2)]
    assert rows(file(tmp_path, gzip.compress(b"a\tn\nx\t1\n"), "t.tsv.gz")) == [(X, 1)]
    for wrong in (b"a,n\nx,1\n", packed[:8], b""):
        with pytest.raises(UserError, match=r"cannot be read; check that it is complete|is empty"):
            rows(file(tmp_path, wrong, "wrong.csv.gz"))


def test_a_compressed_file_cut_short_is_named_and_nothing_is_quoted(tmp_path):
    whole = gzip.compress(b"a,n\n" + b"".join(b"secret%d,%d\n" % (k, k * 7919) for k in range(100_000)))
    path = file(tmp_path, whole[: len(whole) // 2], "cut.csv.gz")
    with pytest.raises(UserError, match=r"cut.csv.gz': the engine failed.*complete") as caught:
        rows(path)
    assert "secret" not in str(caught.value) + str(caught.value.__context__)


def test_globs_are_one_table(tmp_path):
    file(tmp_path, b"a,n\nx,1\n", "part1.csv")
    file(tmp_path, b"a,n\ny,2\n", "part2.csv")
    assert sorted(rows(tmp_path / "part*.csv")) == [(X, 1), (Y, 2)]
    file(tmp_path, b"n,a\n3,z\n", "part3.csv")
    with pytest.raises(UserError, match=r"part3.csv' has another header line than '.*part1.csv'"):
        rows(tmp_path / "part*.csv")
    file(tmp_path, b"", "part4.parquet")
    with pytest.raises(UserError, match="files of several kinds"):
        rows(tmp_path / "part*")


@pytest.mark.parametrize("name", ["a[1].csv", "a*.csv", "a?.csv", "it's.csv", "a{1,2}.csv", "größe 😀.csv", "-o.csv"])
def test_names_are_names_and_no_patterns(tmp_path, name):
    for other in ("a1.csv", "ab.csv", "a2.csv"):
        file(tmp_path, b"a,n\ny,2\n", other)
    assert rows(file(tmp_path, b"a,n\nx,1\n", name)) == [(X, 1)]


@pytest.mark.parametrize(
    ("name", "match"),
    [
        ("absent.csv", "does not exist; check the path"),
        ("absent*.csv", "does not exist"),
        (".", "is a folder; name a file or a glob"),
        ("t.docx", "unknown kind '.docx'; allowed are .csv"),
        ("noending", "unknown kind '.no ending.'"),
    ],
)
def test_wrong_paths_are_named(tmp_path, name, match):
    file(tmp_path, b"", "t.docx")
    file(tmp_path, b"", "noending")
    with pytest.raises(UserError, match=match):
        open_table(tmp_path / name)
