"""Progress: whoever works for long tells how far it is; whoever shows it (a command, a notebook, the studio) listens.

A context variable, so that pure functions need no extra argument for it; nothing depends on what is told. A phase is told
once, the share of it that is done as often as one likes: listeners hear it at most five times per second, with the time that is
left at this pace ("up to", since a fit may end early). The same goes to the logger `sundog`, phases as INFO and shares as
DEBUG; it is quiet unless a program sets it up. What is told are a few public words, never a number from the rows.
"""

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

LOGGER = logging.getLogger("sundog")
LOGGER.addHandler(logging.NullHandler())
PAUSE = 0.2
"""Shares of a phase are passed on at most every this many seconds."""
PATIENCE = 1.0
"""The time left is told once a phase has gone on for this many seconds."""


class _Listener:
    """A function that hears words, and when the phase that it hears of began."""

    def __init__(self, report: Callable[[str], None]) -> None:
        self._report = report
        self._phase, self._began, self._first, self._told = "working", 0.0, 0.0, -PAUSE

    def phase(self, message: str) -> None:
        self._phase, self._began, self._told = message, 0.0, -PAUSE
        self._report(message)

    def share(self, share: float, detail: str) -> None:
        now = time.monotonic()
        if not self._began or share < self._first:
            self._began, self._first = now, share
        if now - self._told >= PAUSE:
            self._told = now
            self._report(f"{self._phase}: {share:.0%}{self._left(share, now - self._began)}{detail and f', {detail}'}")

    def _left(self, share: float, gone: float) -> str:
        if gone < PATIENCE or share <= self._first:
            return ""
        return f", up to {in_words(gone * (1 - share) / (share - self._first))} left"


_listener: ContextVar[_Listener | None] = ContextVar("listener", default=None)


@contextmanager
def listening(report: Callable[[str], None]) -> Iterator[None]:
    """Inside the block, what is told reaches this function."""
    token = _listener.set(_Listener(report))
    try:
        yield
    finally:
        _listener.reset(token)


def is_heard() -> bool:
    """Whether anyone listens to the progress."""
    return _listener.get() is not None


def tell(message: str) -> None:
    """Say what is done now, in a few public words."""
    LOGGER.info(message)
    listener = _listener.get()
    if listener is not None:
        listener.phase(message)


def tell_share(share: float, detail: str = "") -> None:
    """Say how much of it is done, between 0 and 1; it may end earlier."""
    listener = _listener.get()
    if listener is not None:
        listener.share(min(max(share, 0.0), 1.0), detail)
    LOGGER.debug("%.0f %% done%s", 100 * share, detail and f", {detail}")


def in_words(seconds: float) -> str:
    """A duration as people say it.

    >>> in_words(8.4), in_words(200), in_words(7000)
    ('8 s', '3 min', '2 h')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.0f} h"
