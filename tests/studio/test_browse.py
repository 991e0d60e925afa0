"""Folders to pick from: tables and folders that one can read, and patterns of several files."""

import pytest

from sundog.errors import UserError
from sundog.studio.browse import listing


def test_tables_folders_and_patterns(tmp_path):
    for name in ("a.csv", "b.csv", "c.parquet", "notes.md", ".hidden.csv", "d.csv.gz"):
        (tmp_path / name).write_text("")
    (tmp_path / "more").mkdir()
    (tmp_path / "broken.csv").symlink_to(tmp_path / "nowhere")
    found = listing(str(tmp_path))
    assert [name for name, _ in found.tables] == ["a.csv", "b.csv", "c.parquet", "d.csv.gz"]
    assert [name for name, _ in found.folders] == ["more"]
    assert found.patterns == (("all 2 .csv files as one table", str(tmp_path / "*.csv")),)
    assert found.parent == str(tmp_path.parent)


def test_the_top_has_nothing_above():
    assert listing("/").parent is None


def test_what_cannot_be_read_is_told(tmp_path):
    with pytest.raises(UserError, match="cannot be read"):
        listing(str(tmp_path / "nowhere"))
