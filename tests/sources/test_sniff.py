"""Guessing a dialect: from the bytes alone, part by part, with reasons."""

import pytest

from sundog.sources.sniff import guess_dialect

PEOPLE = "name;age\nJürgen;41\nGrete;12\nHans;77\n"


@pytest.mark.parametrize(
    ("data", "wanted"),
    [
        (b"a,b\n1,x\n2,y\n", {}),
        (PEOPLE.encode(), {"delimiter": ";"}),
        (PEOPLE.encode("cp1252"), {"delimiter": ";", "encoding": "windows-1252"}),
        (PEOPLE.encode("utf-8-sig"), {"delimiter": ";"}),
        (PEOPLE.encode("utf-16"), {"delimiter": ";", "encoding": "utf-16"}),
        (PEOPLE.encode("utf-16-le"), {"delimiter": ";", "encoding": "utf-16le"}),
        (PEOPLE.replace("ü", "\x81").encode("latin-1"), {"delimiter": ";", "encoding": "latin-1"}),
        (b"a\tb\n1,5\tx\n2,5\ty\n", {"delimiter": "\t"}),
        (b"a|b\nx|1\ny|2\n", {"delimiter": "|"}),
        (b'a;b\n"x;,,,;";1\n"y;";2\n', {"delimiter": ";"}),
        (b'a,b\n"say \\"x\\"",1\n"y",2\n', {"escapeChar": "\\"}),
        (b'a,b\n"say ""x"" \\",1\n"y",2\n', {}),
        (b'a,b\n"two\nlines",1\n"and\nmore",2\n"z",3\n', {"multiline": True}),
        (b'a,b\nan inch ",1\ntwo ",2\n3,4\n', {}),
        (b"1.5,x\n2.5,y\n3.5,z\n", {"header": False}),
        (b"country,2020,2021\nFR,1,2\nDE,3,4\n", {}),
        (b"", {}),
        (b"\n\n\n", {}),
    ],
)
def test_guesses(data, wanted):
    assert guess_dialect([data], delimiter=",").dialect == wanted


def test_an_umlaut_far_down_still_tells_the_encoding():
    lines = b"a,b\n" + b"x,y\n" * 200_000
    chunks = [lines, b"x,\xe4\n", lines]
    assert guess_dialect(chunks, delimiter=",").dialect == {"encoding": "windows-1252"}


def test_a_few_broken_lines_do_not():
    data = b"a\n" + "ä\n".encode() * 20 + b"\xe4\n"
    guess = guess_dialect([data], delimiter=",")
    assert guess.dialect == {}
    assert "except for 1 lines" in guess.why[0]


def test_chunks_may_cut_characters_and_lines():
    data = ("name,x\n" + "Jürgen,1\n" * 50).encode()
    for size in (1, 2, 3, 7):
        chunks = [data[at : at + size] for at in range(0, len(data), size)]
        assert guess_dialect(chunks, delimiter=",") == guess_dialect([data], delimiter=",")


def test_what_is_given_is_not_guessed():
    guess = guess_dialect([PEOPLE.encode("cp1252")], delimiter=",", given={"encoding": "latin-1", "delimiter": ";"})
    assert guess.dialect == {"encoding": "latin-1", "delimiter": ";"}
    assert guess.why == ()
    assert guess.columns == 2


@pytest.mark.parametrize(("data", "columns"), [(b"1,2,3\n", 3), (b"a,b,c\n1,2\n3,4\n", 3), (b"", 0)])
def test_columns_are_counted_on_the_first_line(data, columns):
    assert guess_dialect([data], delimiter=",").columns == columns


def test_two_lines_are_enough_to_see_that_there_is_no_header():
    assert guess_dialect([b"1.5,2.5\n3.5,4.5\n"], delimiter=",").dialect == {"header": False}


def test_utf_16_is_seen_where_half_of_the_letters_are_not_latin():
    data = ("имя,code\n" + "иван,abc\n" * 20).encode("utf-16-le")
    assert guess_dialect([data], delimiter=",").dialect["encoding"] == "utf-16le"
