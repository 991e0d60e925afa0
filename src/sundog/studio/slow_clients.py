"""A client that does not send its request in time is let go, so that idle connections of others cannot keep ours out.

uvicorn ends connections that are idle between requests, and waits forever for the head of one that was begun. Bodies are timed in guard.py.
"""

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_SECONDS = 10.0
"""So long the head of a request may take."""


class TimedProtocol(H11Protocol):
    """HTTP as uvicorn speaks it, with a time for the head of every request."""

    _due: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as there
        """Count from the first moment."""
        super().connection_made(transport)
        self._count()

    def data_received(self, data: bytes) -> None:
        """Go on counting while the head is not whole."""
        super().data_received(data)
        if self.conn.their_state is h11.IDLE:
            self._count()
        elif self._due is not None:
            self._due.cancel()
            self._due = None

    def _count(self) -> None:
        if self._due is None:
            self._due = self.loop.call_later(HEAD_SECONDS, self._late)

    def _late(self) -> None:
        self._due = None
        if self.conn.their_state is h11.IDLE and self.timeout_keep_alive_task is None:
            self.transport.close()
