"""Progress: whoever works for long tells how far it is; whoever shows it (a command, a notebook) listens.

A context variable, so that pure functions need no extra argument for it; nothing depends on what is told.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_listener: ContextVar[Callable[[str], None] | None] = ContextVar("listener", default=None)


@contextmanager
def listening(report: Callable[[str], None]) -> Iterator[None]:
    """Inside the block, `tell` reaches this function."""
    token = _listener.set(report)
    try:
        yield
    finally:
        _listener.reset(token)


def tell(message: str) -> None:
    """Say how far the work is, in a few public words."""
    report = _listener.get()
    if report is not None:
        report(message)
