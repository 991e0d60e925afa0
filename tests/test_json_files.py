"""JSON from files that anyone may have written: size before reading, a sentence for every failure."""

import pytest

from sundog import UserError, sizes
from sundog.json_files import read_json


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"[" * 100_000 + b"]" * 100_000, "nested too deep"),
        (b'{"a": ' + b"9" * 10_000 + b"}", "a number is too long"),
        (b"\xff\xfe{}", "is not UTF-8 text"),
        (b"{", "is not JSON .line 1, column 2"),
        (b"3", "found a int, expected an object"),
        (b'{"a": ["\\ud800"]}', "half of a character"),
    ],
)
def test_what_cannot_be_read_is_said(tmp_path, content, message):
    (tmp_path / "f.json").write_bytes(content)
    with pytest.raises(UserError, match=message):
        read_json(tmp_path / "f.json", what="file")


def test_folders_devices_and_absent_files_are_no_files(tmp_path):
    for path, message in (
        (tmp_path, "is no file; look"),
        ("/dev/zero", "is no file"),
        (tmp_path / "x", "does not exist; look"),
        ("a\0b", "its name holds a zero byte"),
    ):
        with pytest.raises(UserError, match=message):
            read_json(path, what="file", absent="look elsewhere")


def test_a_file_beyond_memory_is_refused_unread(tmp_path, monkeypatch):
    with (tmp_path / "f.json").open("wb") as file:
        file.truncate(10**9)  # a hole: it takes no space
    monkeypatch.setattr(sizes, "memory", lambda: 10**9)
    with pytest.raises(UserError, match="would need 16 GB of memory"):
        read_json(tmp_path / "f.json", what="file")


def test_both_halves_make_a_character(tmp_path):
    (tmp_path / "f.json").write_bytes(b'{"a": "\\ud83d\\ude00"}')
    assert read_json(tmp_path / "f.json", what="file") == {"a": "\U0001f600"}


def test_a_byte_order_mark_does_not_matter(tmp_path):
    (tmp_path / "f.json").write_bytes(b'\xef\xbb\xbf{"a": 1}')
    assert read_json(tmp_path / "f.json", what="file") == {"a": 1}
