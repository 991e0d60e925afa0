"""The check of plain English sees each pattern in added lines alone, and lets good sentences pass."""

import pytest

import english

DIFF = """\
diff --git a/docs/page.md b/docs/page.md
--- a/docs/page.md
+++ b/docs/page.md
@@ -3,0 +4,2 @@ heading
+A plain line.
+{line}
@@ -9 +11 @@
-Whoever wrote this removed it.
"""
BAD = (
    "This is no table.", "Whoever reads it", "as the user is told", "how one comes by it", "little of use here", "it is let go",
    "a letter stands for a column", "so many rows", "it stops by itself", "a likeness of a table",
)  # fmt: skip
GOOD = (
    "This is not a table.", "It is no longer read.", "cannot be told apart", "so many rows that memory is short",
    "There is no more than one.", "Use of memory", 'old = "likeness"  # plain: ignore',
)  # fmt: skip


@pytest.mark.parametrize(("line", "pattern"), list(zip(BAD, english.PLAIN, strict=True)))
def test_a_wording_is_found_with_its_place(line, pattern):
    ((place, found, by),) = english.faults(DIFF.format(line=line))
    assert (place, by) == ("docs/page.md:5", pattern)
    assert found.lower() in line.lower()


@pytest.mark.parametrize("line", GOOD)
def test_good_sentences_pass(line):
    assert not list(english.faults(DIFF.format(line=line)))
