"""Starting the studio: loopback only, a port of its own, a fresh token; a second start finds the first and opens that.

The lock is held as long as the studio runs. Beside it lies the address with its token, readable by its owner only.
"""

import contextlib
import os
import secrets
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sundog.errors import UserError
from sundog.studio.home import Home, make_folder, read_file
from sundog.studio.jobs import Job, jobs

if TYPE_CHECKING:
    from types import FrameType

    import uvicorn

HERE = "127.0.0.1"
STOP_SECONDS = 20.0
"""So long the end of the studio waits for runs to keep what was paid for."""


@dataclass(frozen=True)
class Starting:
    """How the studio is started."""

    home: Home
    port: int = 0
    opened: Callable[[str], object] | None = None
    """What opens the address in a browser; None for nothing."""


def serve(starting: Starting, say: Callable[[str], None]) -> None:
    """Serve until Ctrl-C; where the studio runs already, say where."""
    from filelock import FileLock, Timeout

    folder = make_folder(starting.home.folder)
    try:
        with FileLock(folder / "studio.lock", timeout=0, mode=0o600):
            _serve(starting, say)
    except Timeout:
        address = _first(folder)
        say(f"Sundog studio is running already: {address}")
        if starting.opened is not None:
            starting.opened(address)


def _first(folder: Path) -> str:
    """The address of the studio that holds the lock; it writes it down a moment after."""
    until = time.monotonic() + 10
    while time.monotonic() < until:
        found = read_file(folder / "studio.json")
        if found is not None and _answers(int(found["port"])):
            return str(found["address"])
        time.sleep(0.1)
    raise UserError(f"studio: another one holds {str(folder)!r} and does not answer; end it, or use another --home.")


def _answers(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection((HERE, port), timeout=1):
        return True
    return False


def _serve(starting: Starting, say: Callable[[str], None]) -> None:
    import json
    import signal

    import uvicorn

    from sundog.api.writing import write_confidential
    from sundog.studio.app import studio_app
    from sundog.studio.rendering import Studio

    token = secrets.token_urlsafe(32)
    with _listening(starting.port) as listener:
        port = int(listener.getsockname()[1])
        address = f"http://{HERE}:{port}/?token={token}"
        place = starting.home.folder / "studio.json"
        write_confidential(place, json.dumps({"address": address, "port": port, "pid": os.getpid()}))
        studio = Studio(starting.home, token)
        app = studio_app(studio, port=port)
        config = uvicorn.Config(
            app,
            log_level="critical",
            access_log=False,
            server_header=False,
            limit_concurrency=100,
            timeout_keep_alive=30,
            timeout_graceful_shutdown=3,
            h11_max_incomplete_event_size=64 * 1024,
        )
        try:
            with contextlib.suppress(KeyboardInterrupt):
                signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends like Ctrl-C
                say(f"Sundog studio: {address}\nOnly this machine can reach it. Stop it with Ctrl-C.")
                threading.Thread(target=_get_ready, args=(starting.opened, address), daemon=True).start()
                _server(config, studio.closing).run(sockets=[listener])
        finally:
            place.unlink(missing_ok=True)
            _stop_all(starting.home, say)


def _server(config: "uvicorn.Config", closing: threading.Event) -> "uvicorn.Server":
    """A server that tells its pages when it ends, so that none waits for further events."""
    import uvicorn

    class Server(uvicorn.Server):
        def handle_exit(self, sig: int, frame: "FrameType | None") -> None:
            closing.set()
            super().handle_exit(sig, frame)

    return Server(config)


@contextlib.contextmanager
def _listening(port: int) -> Iterator[socket.socket]:
    """A socket on loopback; refused where the port is taken."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((HERE, port))
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or "it is no port"
            raise UserError(f"--port: {port} cannot be used ({reason}); leave it out for a free one.") from None
        listener.listen(128)
        yield listener


def _get_ready(opened: Callable[[str], object] | None, address: str) -> None:
    """Open the browser, then load what pages will need, so that they are quick."""
    if opened is not None:
        opened(address)
    with contextlib.suppress(ImportError):
        import sundog.api.plan
        import sundog.api.synthesizer  # noqa: F401


def _stop_all(home: Home, say: Callable[[str], None]) -> None:
    """Stop the runs that go on, so that nobody spends unseen; they keep what was paid for."""
    running = [job for project in home.projects() for job in jobs(project) if job.running]
    for job in running:
        job.stop()
    if running:
        say(f"Stopping {len(running)} jobs; what was paid for is kept.")
        _wait(running)


def _wait(running: list[Job]) -> None:
    until = time.monotonic() + STOP_SECONDS
    while time.monotonic() < until and any(job.running for job in running):
        time.sleep(0.1)
