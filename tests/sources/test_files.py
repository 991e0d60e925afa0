"""Text files as they come: marks, line ends, ragged and broken lines, wrong bytes. No line can stop a run."""

import bz2
import gzip
import resource
import zipfile

import pyarrow as pa
import pytest

import tables
from sundog.domain import Dialect, Schema
from sundog.errors import UserError
from sundog.sources import lines as lines_module
from sundog.sources import open_table, streams

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
        (b'a,n,text\nx,1,"a ""b"" c, d"\ny,2,\n', [(X, 1), (Y, 2)]),
        (b"a,n\nx,1\n\n\r\ny,2\n", [(X, 1), (UNKNOWN, MISSING), (UNKNOWN, MISSING), (Y, 2)]),
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
        (b"\xff\xfe,2", [(UNKNOWN, 2)]),
        (b"x,\xc3", [(X, MISSING)]),
        (b"", [(UNKNOWN, MISSING)]),
        (b'"x,1', [(UNKNOWN, MISSING)]),
        (b'x,"1', [(X, MISSING)]),
        (b'x,"1\\"', [(X, MISSING)]),
        (b'x\\",1', [(UNKNOWN, 1)]),
        (b'"x"y,1', [(UNKNOWN, 1)]),
        (b'"x",1"', [(X, MISSING)]),
        (b"x\r,1\r2", [(UNKNOWN, MISSING)]),
        (b"\xef\xbb\xbfx,1", [(UNKNOWN, 1)]),
        (b"x," + b"9" * 3_000_000, [(X, 100)]),
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


def test_an_unclosed_quote_stays_in_its_line(tmp_path):
    body = b"x,1\n" + b'"y,2\n' + b"z,3\n" * 1_300_000  # over many blocks
    found = rows(file(tmp_path, b"a,n\n" + body))
    assert found[:3] == [(X, 1), (UNKNOWN, MISSING), (Z, 3)]
    assert len(found) == 1_300_002


def test_a_file_that_turns_out_binary(tmp_path):
    found = rows(file(tmp_path, b"a,n\nx,1\n" + bytes(range(256)) * 100 + b"\ny,2\n"))
    assert found == [(X, 1), *[(UNKNOWN, MISSING)] * 101, (Y, 2)]


@pytest.mark.parametrize(
    ("content", "match"),
    [
        (b"", "'.*t.csv' is empty; it needs a header line"),
        (b"\n\n", "is empty; it needs a header line"),
        (b"a,n,n\nx,1,2\n", "columns 2 and 3 have the same name.*unique"),
        (b"\xff\xfe,n\nx,1\n", "its header line is not utf-8 text; declare its encoding"),
        (b"a;n\nx;1\n", "lacks the column 'a' and 1 more.*--delimiter"),
        (
            b"A,N\nx,1\n",
            "lacks the column 'a' and 1 more; columns found: 2. Names must agree in every letter and in case",
        ),
        (b"x,1\ny,2\n", "lacks the column 'a'.*needs a header line"),
        (b'a,"n\nx,1\n', "header line has a quote that is not closed.*--multiline"),
        (b"a," + b"n" * (1 << 20) + b"\nx,1\n", "first line is longer than 1 MB"),
    ],
)
def test_wrong_files_are_named(tmp_path, content, match):
    with pytest.raises(UserError, match=match):
        rows(file(tmp_path, content))


def test_a_file_without_a_header_line_has_no_row_quoted(tmp_path):
    for content in (b"Alice Smith,7.77\nBob,12\n", b"7.77,7.77\n1,2\n", b"A,Alice Smith\n7.77,1\n"):
        with pytest.raises(UserError) as caught:
            rows(file(tmp_path, content))
        assert "Alice" not in str(caught.value)
        assert "7.77" not in str(caught.value)
        assert "'A'" not in str(caught.value), "a cell that comes near a column's name is a cell"


def test_other_separators(tmp_path):
    assert rows(file(tmp_path, b"a\tn\nx\t1\n", "t.tsv")) == [(X, 1)]
    assert rows(file(tmp_path, b"a;n\nx;1\n"), delimiter=";") == [(X, 1)]
    assert rows(file(tmp_path, b"a\xc2\xa7n\nx\xc2\xa71\n"), delimiter="§") == [(X, 1)]
    with pytest.raises(UserError, match="delimiter: found '::'; it must be one character"):
        rows(file(tmp_path, b"a::n\n"), delimiter="::")


def test_files_without_a_header_line_have_the_schemas_columns(tmp_path):
    schema = Schema.from_json({"fields": SCHEMA.document["fields"], "dialect": {"header": False}})
    path = file(tmp_path, b"x,1\ny,2\n")
    assert list(zip(*tables.encoded(path, schema, dialect=schema.dialect), strict=True)) == [(X, 1), (Y, 2)]
    with pytest.raises(UserError, match="columns are named by a schema"):
        rows(path, header=False)


SPARK = b'a,n\n"x",1\n"say \\"x\\", y",2\n"z\\\\",3\n"z",4\n'


def test_quotes_that_are_escaped_as_spark_does(tmp_path):
    labels = {"fields": [{"name": "a", "categories": ["x", 'say "x", y', "z\\", "z"]}, SCHEMA.document["fields"][1]]}
    spark = file(tmp_path, SPARK)
    assert rows(spark, Schema.from_json(labels), escapeChar="\\") == [(0, 1), (1, 2), (2, 3), (3, 4)]
    assert rows(spark, Schema.from_json(labels))[1] != (1, 2), "without it the quote is closed too early"
    assert rows(file(tmp_path, b"a|n\nx\\||1\n"), quoteChar=None, escapeChar="\\", delimiter="|") == [(UNKNOWN, 1)]
    assert rows(file(tmp_path, b"a,n\n'x',1\n\"x\",1\n"), quoteChar="'") == [(X, 1), (UNKNOWN, 1)]


UMLAUTS = Schema.from_json({"fields": [{"name": "a", "categories": ["Männlich", "Weiblich", "10 €"]}]})


@pytest.mark.parametrize(
    ("encoding", "codec"),
    [
        ("utf-8", "utf-8"),
        ("latin-1", "latin-1"),
        ("windows-1252", "cp1252"),
        ("utf-16", "utf-16"),
        ("utf-16le", "utf-16-le"),
        ("utf-16be", "utf-16-be"),
        ("iso-8859-15", "iso-8859-15"),
    ],
)
def test_encodings(tmp_path, encoding, codec):
    third = "10 €" if codec != "latin-1" else "Weiblich"
    text = "a\nMännlich\r\nWeiblich\n" + third
    found = rows(file(tmp_path, text.encode(codec)), UMLAUTS, encoding=encoding)
    assert found == [(0,), (1,), (2 if codec != "latin-1" else 1,)]


def test_a_latin_1_file_read_as_utf_8_loses_no_row(tmp_path):
    """3,000 rows in, 1,560 out, all "Weiblich": so it was."""
    lines = ["Männlich", "Weiblich"] * 1500
    path = file(tmp_path, ("a\n" + "\n".join(lines) + "\n").encode("latin-1"))
    wrong = rows(path, UMLAUTS)
    assert wrong == [(3,), (1,)] * 1500, "unknown labels, each in its own row"
    assert rows(path, UMLAUTS, encoding="latin-1") == [(0,), (1,)] * 1500


def test_utf_16_without_a_mark_is_named(tmp_path):
    with pytest.raises(UserError, match="no byte order mark; declare utf-16le"):
        rows(file(tmp_path, "a\nWeiblich\n".encode("utf-16-le")), UMLAUTS, encoding="utf-16")


def test_broken_utf_16_stays_in_its_line(tmp_path):
    lines = ["a", "Männlich", "X", "Weiblich", "Männlich"]
    whole = "\n".join(lines).encode("utf-16-le").replace(b"X\0", b"\x00\xd8")  # half a pair of surrogates
    assert rows(file(tmp_path, whole), UMLAUTS, encoding="utf-16le") == [(0,), (3,), (1,), (0,)]


def test_records_that_span_lines_are_declared(tmp_path):
    path = file(tmp_path, b'a,n,"long\nname"\nx,1,"two\r\nlines, ""and"" more"\ny,2,z\n"z",3\n')
    assert rows(path, multiline=True) == [(X, 1), (Y, 2), (Z, 3)]
    far = b'a,n,t\nx,1,"' + b"long\n" * 700_000 + b'"\ny,2,\n' + b'z,3,"q\nq"\n' * 200_000
    assert rows(file(tmp_path, far), multiline=True) == [(X, 1), (Y, 2), *[(Z, 3)] * 200_000]
    open_quote = file(tmp_path, b'a,n\nx,1\n"y,2\nz,3\n')
    assert rows(open_quote, multiline=True) == [(X, 1), (UNKNOWN, MISSING)]
    assert rows(open_quote) == [(X, 1), (UNKNOWN, MISSING), (Z, 3)]


def test_a_line_longer_than_memory_allows_is_cut_and_counts(tmp_path, monkeypatch):
    monkeypatch.setattr(lines_module, "LONGEST", 1000)
    monkeypatch.setattr(streams, "CHUNK", 300)
    long = b"y,7," + b"q" * 5000
    found = rows(file(tmp_path, b"a,n,t\nx,1,\n" + long + b"\nz,3,\n" + b"z," + b"4" * 3000 + b"\nx,5,"))
    assert found == [(X, 1), (Y, 7), (Z, 3), (Z, 100), (X, 5)]


def test_compressed_files(tmp_path):
    packed = gzip.compress(b"a,n\nx,1\ny,2\n")
    assert rows(file(tmp_path, packed, "t.csv.gz")) == [(X, 1), (Y, 2)]
    assert rows(file(tmp_path, gzip.compress(b"a\tn\nx\t1\n"), "t.tsv.gz")) == [(X, 1)]
    assert rows(file(tmp_path, packed + gzip.compress(b"z,3\n"), "two.csv.gz")) == [(X, 1), (Y, 2), (Z, 3)]
    assert rows(file(tmp_path, bz2.compress(b"a,n\nx,1\ny,2\n"), "t.csv.bz2")) == [(X, 1), (Y, 2)]
    assert rows(file(tmp_path, pa.compress(b"a,n\nx,1\n", codec="zstd", asbytes=True), "t.csv.zst")) == [(X, 1)]
    for wrong in (b"a,n\nx,1\n", packed[:8], b""):
        with pytest.raises(UserError, match=r"cannot be read; check that it is complete|is empty"):
            rows(file(tmp_path, wrong, "wrong.csv.gz"))


def test_zip_archives(tmp_path):
    one, two = tmp_path / "one.zip", tmp_path / "two.zip"
    for path, names in ((one, ["in/t.csv"]), (two, ["a.csv", "b.tsv"])):
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name in names:
                archive.writestr(name, b"a\tn\ny\t2\n" if name.endswith("tsv") else b"a,n\nx,1\n")
    assert rows(one) == [(X, 1)]
    assert rows(f"{one}/in/t.csv") == rows(f"{two}/a.csv") == [(X, 1)]
    assert rows(f"{two}/b.tsv") == [(Y, 2)]
    with pytest.raises(UserError, match=r"holds 2 files; name one of them, such as '.*two.zip/a.csv'"):
        rows(two)
    with pytest.raises(UserError, match="holds 2 files"):
        rows(f"{two}/c.csv")
    with pytest.raises(UserError, match="cannot be read"):
        rows(file(tmp_path, b"PK no archive", "no.zip"))


def test_a_bomb_in_the_header_is_bounded(tmp_path):
    """Two gigabytes without a line end in two megabytes of gzip."""
    packed = gzip.compress(b"a" * (1 << 24)) * 128
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(UserError, match="first line is longer than 1 MB"):
        rows(file(tmp_path, packed, "bomb.csv.gz"))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 * 1024


def test_a_compressed_file_cut_short_is_named_and_nothing_is_quoted(tmp_path):
    whole = gzip.compress(b"a,n\n" + b"".join(b"secret%d,%d\n" % (k, k * 7919) for k in range(100_000)))
    path = file(tmp_path, whole[: len(whole) // 2], "cut.csv.gz")
    with pytest.raises(UserError, match=r"cut.csv.gz' cannot be read; check that it is complete") as caught:
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
