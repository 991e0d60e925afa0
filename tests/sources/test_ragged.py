"""Counting lines: the same whatever the chunks, and as the reader sees them."""

import pytest

from sundog.domain.dialect import Dialect
from sundog.sources.ragged import Lines, count_lines
from sundog.sources.split import Marks

COMMA = Marks.of(Dialect(), ",")
ESCAPED = Marks.of(Dialect(escape="\\"), ",")
UNQUOTED = Marks.of(Dialect(quote=None), ",")
WIDE = Marks.of(Dialect(), "\u00a6")


@pytest.mark.parametrize(
    ("data", "marks", "wanted"),
    [
        (b"a,b\n1,2\n3,4\n", COMMA, Lines(2, 0, 0, 0, 0)),
        (b"a,b\r\n1,2\r\n\r\n3\r\n", COMMA, Lines(3, 1, 0, 1, 0)),
        (b"a,b\n1,2,3\n4,5", COMMA, Lines(2, 0, 1, 0, 0)),
        (b'a,b\n"1,2",3\n"4"",""",5\n', COMMA, Lines(2, 0, 0, 0, 0)),
        (b'a,b\n"1,2\n3,4\n', COMMA, Lines(2, 1, 0, 0, 1)),
        (b'a,b\nx"1,2\n3,4"\n', COMMA, Lines(2, 0, 0, 0, 0)),
        (b'a,b\n"1\\",2",3\n', ESCAPED, Lines(1, 0, 0, 0, 0)),
        (b'a,b\n"1,2\n', UNQUOTED, Lines(1, 0, 0, 0, 0)),
        ("a\u00a6b\n1\u00a62\u00a63\n4\n\n".encode(), WIDE, Lines(3, 1, 1, 1, 0)),
        (b"", COMMA, Lines(0, 0, 0, 0, 0)),
        (b"a,b", COMMA, Lines(0, 0, 0, 0, 0)),
    ],
)
def test_lines(data, marks, wanted):
    for size in (1, 2, 3, len(data) + 1):
        chunks = (data[at : at + size] for at in range(0, len(data), size))
        assert count_lines(chunks, marks, width=2, header=True) == wanted


def test_without_a_header_the_first_line_counts():
    assert count_lines(iter([b"1,2\n3\n"]), COMMA, width=2, header=False) == Lines(2, 1, 0, 0, 0)
