"""Notes of changes are well formed, and end up in the changelog once each, where they belong."""

import runpy

import pytest

from markdown_pages import ROOT

collect = runpy.run_path(str(ROOT / "news" / "collect.py"))
OPEN = "# Changelog\n\n## [2.0.0] - unreleased\n\n### Added\n\n- One.\n\n### Fixed\n\n- Two.\n\n## [1.0.0]\n\n- Old.\n"
RELEASED = OPEN.replace("unreleased", "2026-01-01")


def test_the_notes_of_this_tree_are_well_formed(capsys):
    assert collect["main"](["--check"]) == 0, capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "text", "fault"),
    [
        ("toml.added.md", "Schemas may be TOML.\n", None),
        ("toml.new.md", "Schemas may be TOML.", "SUBJECT.KIND.md"),
        ("TOML.added.md", "Schemas may be TOML.", "small letters"),
        ("toml.added.md", "Schemas may be TOML", "full stop"),
        ("toml.added.md", "Schemas may\nbe TOML.", "one line"),
        ("toml.added.md", " \n", "one line"),
        ("toml.added.md", f"{'x' * 400}.", "at most 400"),
        ("toml.added.md", "- Schemas may be TOML.", "bullet"),
    ],
)
def test_what_is_wrong_with_a_note_is_named(name, text, fault):
    found = collect["fault_of"](name, text)
    assert found is None if fault is None else fault in found


def test_notes_follow_the_entries_of_their_kind():
    made = collect["collected"](OPEN, {"a.fixed.md": "Three.\n", "b.security.md": "Four.", "c.added.md": "Five."})
    assert made == (
        "# Changelog\n\n## [2.0.0] - unreleased\n\n### Added\n\n- One.\n- Five.\n\n### Fixed\n\n- Two.\n- Three.\n\n"
        "### Security\n\n- Four.\n\n## [1.0.0]\n\n- Old.\n"
    )


def test_after_a_release_a_new_section_is_begun():
    made = collect["collected"](RELEASED, {"a.fixed.md": "Three."})
    assert made == RELEASED.replace("## [2.0.0]", "## Unreleased\n\n### Fixed\n\n- Three.\n\n## [2.0.0]")
