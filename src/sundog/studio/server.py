"""Starting the studio: loopback only, a port of its own, a fresh token; a second start finds the first and opens that.

The lock is held as long as the studio runs. Beside it lie the address with its token and a page that opens the studio, readable
by their owner only. A browser is started with that page and not with the address: everyone on a machine can see how programs were
started, and the page sends the token in a form, so that it does not get into the browser's history either.
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
from sundog.studio.home import Home, make_folder, read_file, refuse_shared
from sundog.studio.jobs import Job, jobs

if TYPE_CHECKING:
    from types import FrameType

    import uvicorn
    from starlette.applications import Starlette

HERE = "127.0.0.1"
DOOR = "enter.html"
DOOR_PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Sundog studio</title>
<form method="post" action="http://{here}:{port}{enter}"><input type="hidden" name="token" value="{token}"><button>Open the studio</button></form>
<script>document.forms[0].submit()</script></html>
"""
STOP_SECONDS = 20.0
"""So long the end of the studio waits for runs to keep what was paid for."""


@dataclass(frozen=True)
class Starting:
    """How the studio is started."""

    home: Home
    port: int = 0
    opened: Callable[[str], object] | None = None
    """What opens a page in a browser; None for nothing."""


def serve(starting: Starting, say: Callable[[str], None]) -> None:
    """Serve until Ctrl-C; where the studio runs already, say where."""
    from filelock import FileLock, Timeout

    folder = make_folder(starting.home.folder)
    refuse_shared(folder)
    try:
        with FileLock(folder / "studio.lock", timeout=0, mode=0o600):
            _serve(starting, say)
    except Timeout:
        address = _first(folder)
        say(f"Sundog studio is running already: {address}")
        if starting.opened is not None:
            starting.opened((folder / DOOR).as_uri())


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
    from sundog.studio.app import studio_app
    from sundog.studio.rendering import Studio

    token = secrets.token_urlsafe(32)
    with _listening(starting.port) as listener:
        port = int(listener.getsockname()[1])
        address = f"http://{HERE}:{port}/?token={token}"
        studio = Studio(starting.home, token)
        config = _config(studio_app(studio, port=port))
        try:
            with _ended_by_signals():
                _write_down(starting.home.folder, port=port, token=token, address=address)
                say(f"Sundog studio: {address}\nOnly this machine can reach it. Stop it with Ctrl-C.")
                threading.Thread(target=_get_ready, args=(starting,), daemon=True).start()
                _server(config, studio.closing).run(sockets=[listener])
        finally:
            for name in ("studio.json", DOOR):
                (starting.home.folder / name).unlink(missing_ok=True)
            _stop_all(starting.home, say)


@contextlib.contextmanager
def _ended_by_signals() -> Iterator[None]:
    """SIGTERM ends it like Ctrl-C; one that comes while a thread starts leaves a lock in disorder, which is no fault then."""
    import signal

    told = threading.Event()

    def end(_number: int, _frame: "FrameType | None") -> None:
        told.set()
        raise KeyboardInterrupt

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    try:
        yield
    except KeyboardInterrupt:
        pass
    except RuntimeError:
        if not told.is_set():
            raise


def _write_down(folder: Path, *, port: int, token: str, address: str) -> None:
    """The address for a second start, and the page that opens the studio."""
    import json

    from sundog.api.writing import write_confidential
    from sundog.studio.guard import ENTER

    write_confidential(folder / DOOR, DOOR_PAGE.format(here=HERE, port=port, enter=ENTER, token=token))
    write_confidential(folder / "studio.json", json.dumps({"address": address, "port": port, "pid": os.getpid()}))


def _config(app: "Starlette") -> "uvicorn.Config":
    """No log, no word of who answers, no trust in headers of a proxy; a bounded number of connections, for a bounded time."""
    import uvicorn

    from sundog.studio.slow_clients import TimedProtocol

    return uvicorn.Config(
        app,
        http=TimedProtocol,
        ws="none",
        log_level="critical",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=100,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=3,
        h11_max_incomplete_event_size=64 * 1024,
    )


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


def _get_ready(starting: Starting) -> None:
    """Open the browser, then load what pages will need, so that they are quick."""
    if starting.opened is not None:
        starting.opened((starting.home.folder / DOOR).as_uri())
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
    if any(job.running for job in running):
        say("They have not stopped yet and will in a while; the next start shows how they ended.")


def _wait(running: list[Job]) -> None:
    until = time.monotonic() + STOP_SECONDS
    while time.monotonic() < until and any(job.running for job in running):
        time.sleep(0.1)
