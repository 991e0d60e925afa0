"""Who hears of progress in Python: the function that was given, or else a line in the notebook, if this is one.

The line is one display that is updated in place, as plain text and as HTML; it needs nothing but the notebook itself. In a
script nothing is shown; the logger `sundog` has it.
"""

import html
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from sundog.progress import is_heard, listening


@contextmanager
def following(report: Callable[[str], None] | None = None) -> Iterator[None]:
    """Inside the block, progress reaches `report`, or whoever listens already, or a line in the notebook."""
    if report is not None:
        with listening(report):
            yield
    elif is_heard() or not in_notebook():
        yield
    else:
        line = _Line()
        with listening(line.show):
            try:
                yield
            finally:
                line.show("done")


def in_notebook() -> bool:
    """Whether this runs in a notebook's kernel, where displays can be updated."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return getattr(shell, "kernel", None) is not None


class _Line:
    """One line of output, changed in place."""

    def __init__(self) -> None:
        self._handle: Any = None

    def show(self, words: str) -> None:
        from IPython.display import display

        said = {"text/plain": f"Sundog: {words}", "text/html": f"<code>Sundog: {html.escape(words)}</code>"}
        if self._handle is None:
            self._handle = display(said, raw=True, display_id=True)
        else:
            self._handle.update(said, raw=True)
