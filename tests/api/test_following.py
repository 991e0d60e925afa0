"""Progress in a notebook is one line that changes in place; scripts see nothing."""

import sys
import types

import pytest

from sundog.api.following import following, in_notebook
from sundog.progress import listening, tell


class Display:
    """What a notebook shows: every state of every display."""

    def __init__(self):
        self.shown = []

    def __call__(self, said, *, raw, display_id):
        assert raw
        assert display_id
        self.shown.append([said])
        return types.SimpleNamespace(update=lambda said, raw: self.shown[-1].append(said))


@pytest.fixture
def notebook(monkeypatch):
    shown = Display()
    shell = types.SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setitem(sys.modules, "IPython.display", types.SimpleNamespace(display=shown))
    return shown


def test_one_line_is_updated_in_place_and_escaped(notebook):
    with following():
        tell("fitting <b>")
        tell("sampling")
    assert [[said["text/plain"] for said in line] for line in notebook.shown] == [
        ["Sundog: fitting <b>", "Sundog: sampling", "Sundog: done"]
    ]
    assert notebook.shown[0][0]["text/html"] == "<code>Sundog: fitting &lt;b&gt;</code>"


def test_whoever_listens_already_hears_instead(notebook):
    outer, given = [], []
    with listening(outer.append), following():
        tell("one")
    with following(given.append):
        tell("two")
    assert (outer, given, notebook.shown) == (["one"], ["two"], [])


def test_a_script_or_a_terminal_shell_shows_nothing(monkeypatch, capfd):
    shell = types.SimpleNamespace()  # IPython on a terminal has no kernel
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))
    assert not in_notebook()
    with following():
        tell("one")
    assert capfd.readouterr() == ("", "")
