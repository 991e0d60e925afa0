"""Server-sent events: the steps of a job as its worker tells them, then that it has ended. The page shows them as text."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from threading import Event

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from sundog.studio.guard import plain
from sundog.studio.jobs import Job, job_of
from sundog.studio.rendering import Studio

SECONDS = 0.4
"""How often the worker's files are looked at."""


def events(studio: Studio) -> Callable[[Request], Awaitable[Response]]:
    """The endpoint; a browser that comes back goes on after the last step that it saw."""

    async def endpoint(request: Request) -> Response:
        try:
            job = job_of(studio.home.project(request.path_params["table"]), request.path_params["job"])
        except LookupError:
            return plain(404, "There is no such job.")
        seen = request.headers.get("last-event-id", "0")
        start = int(seen) if seen.isascii() and seen.isdigit() and len(seen) < 9 else 0
        return StreamingResponse(_stream(job, start, studio.closing), media_type="text/event-stream")

    return endpoint


async def _stream(job: Job, told: int, closing: Event) -> AsyncIterator[str]:
    while not closing.is_set():
        running = await run_in_threadpool(lambda: job.running)
        steps = await run_in_threadpool(lambda: job.steps)
        for number, step in enumerate(steps[told:], start=told + 1):
            yield f"id: {number}\nevent: step\ndata: {step}\n\n"
        told = max(told, len(steps))
        if not running:
            yield f"event: ended\ndata: {job.state}\n\n"
            return
        yield ": still at work\n\n"
        await asyncio.sleep(SECONDS)
