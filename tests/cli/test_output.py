"""What is printed for a person cannot steer the terminal, whoever wrote the names and labels in it."""

import pytest

from sundog.cli.output import tell, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b]0;owned\x07red", r"\x1b]0;owned\x07red"),
        ("a\rb\x00", r"a\rb\x00"),
        ("x\u202eevil\u2028", r"x\u202eevil\u2028"),
        ("two\nlines\tand a tab, \u00fc, \u65e5\u672c, na\u00a0me, \u0645\u06cc\u200c\u062e", None),
    ],
    ids=["escape", "control", "direction", "plain"],
)
def test_hidden_characters_are_shown_as_escapes(text, shown, capsys):
    assert visible(text) == (text if shown is None else shown)
    tell(text, err=True)
    assert capsys.readouterr().err == visible(text) + "\n"
