"""Every request passes here: only this machine, only this start's token, only our own pages, only a bounded number of bytes, in a bounded time.

    Host            must be the address that the studio printed: a page elsewhere whose name was pointed at this machine
                    (DNS rebinding) names another one
    token           a random one per start; from the address that was printed, or from the form that opens the browser, it goes
                    into a cookie that no script can read and no other site can send (HttpOnly, SameSite=Strict)
    root            all pages lie below a path that nobody can guess, and the cookie is for that path alone: cookies are shared by
                    all ports of a machine, so a server of somebody else on another port would be sent one for every path
    Origin,         what changes something must come from our own page, and so must every request of a browser that says where
    Sec-Fetch-Site  it comes from
    form token      a second secret in every form of ours
    Content-Length  and the bytes themselves: a limit for forms, a larger one for a dropped table; bytes must keep coming

Answers say that nothing may be loaded from elsewhere, no inline script runs, no other page may frame them, nothing is kept.
"""

import asyncio
import hashlib
import hmac
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

FORM_BYTES = 1 << 20
DROPPED_BYTES = 4 << 30
ENTER_BYTES = 4096
PATH_CHARACTERS = 1000
BODY_SECONDS = 30.0
"""So long a request may send nothing before it is whole."""
DROP = "/tables/drop"
ENTER = "/enter"
CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "frame-ancestors 'none'; base-uri 'none'"
)
HEADERS = {
    "Content-Security-Policy": CSP,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
ENTERED = '<!doctype html><html lang="en"><meta charset="utf-8"><title>Sundog studio</title><link rel="icon" href="{root}/static/mark.svg"><meta http-equiv="refresh" content="0; url={root}/"><p><a href="{root}/">Go on to the studio</a></p></html>'
"""Not a redirect: a cookie that no other site can send is not sent on a redirect that another page began."""
ELSEWHERE = "This request comes from another page."
TOO_LARGE = "The request is too large."
TOO_SLOW = "The request took too long to arrive."
STRANGER = "This address needs the token of the start: open the address that `sundog studio` printed in its terminal.\n"


class TooLarge(Exception):
    """A request has more bytes than it may; the app answers it with 413."""


class TooSlow(Exception):
    """A request stopped in its middle; the app answers it with 408."""


class Guard:
    """The middleware through which every request passes."""

    def __init__(self, app: ASGIApp, *, token: str, port: int) -> None:
        self.app = app
        self.token = token
        self.root = root_of(token)
        self.hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
        self.cookie = f"sundog-studio-{port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse, or hand on with a count of the bytes."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        answer = self._misdirected(scope) or await self._answer(scope, receive)
        if answer is not None:
            await answer(scope, receive, _with_headers(send))
            return
        below = {**scope, "root_path": self.root}
        await self.app(below, _counted(receive, self._limit(scope)), _with_headers(send))

    def _misdirected(self, scope: Scope) -> Response | None:
        """What to say to a request for another host, or for an address that is none of ours."""
        if Headers(scope=scope).get("host", "").lower() not in self.hosts:
            return plain(421, "This is not the address of the studio.")
        return plain(414, "The address is too long.") if len(scope["path"]) > PATH_CHARACTERS else None

    async def _answer(self, scope: Scope, receive: Receive) -> Response | None:
        """What to say instead of the page; None where the request may pass."""
        headers = Headers(scope=scope)
        given = await _given_token(scope, receive)
        if given is not None and same(given, self.token):
            return self._entered()
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            return plain(403, ELSEWHERE)
        if not any(same(found, self.token) for found in _cookies(headers, self.cookie)):
            return plain(403, STRANGER)
        if not scope["path"].startswith(f"{self.root}/"):
            return plain(404, "There is no such page.")
        return None if scope["method"] in ("GET", "HEAD") else self._changing(scope, headers)

    def _entered(self) -> Response:
        """The token becomes a cookie, for our own pages alone."""
        entered = HTMLResponse(ENTERED.format(root=self.root))
        entered.set_cookie(self.cookie, self.token, httponly=True, samesite="strict", path=self.root)
        return entered

    def _changing(self, scope: Scope, headers: Headers) -> Response | None:
        """What to say to a request that may change something."""
        if headers.get("origin") != f"http://{headers['host'].lower()}":
            return plain(403, ELSEWHERE)
        size = headers.get("content-length", "")
        if not size.isdigit() and "transfer-encoding" not in headers:
            return plain(411, "The request does not say its length.")
        return plain(413, TOO_LARGE) if size.isdigit() and int(size) > self._limit(scope) else None

    def _limit(self, scope: Scope) -> int:
        return DROPPED_BYTES if scope["path"] == self.root + DROP else FORM_BYTES


def same(given: str, secret: str) -> bool:
    """Whether a secret was given, compared in a time that does not depend on it."""
    return hmac.compare_digest(given.encode(), secret.encode())


def root_of(token: str) -> str:
    """The path that all pages lie below."""
    return "/" + hmac.new(token.encode(), b"root", hashlib.sha256).hexdigest()[:16]


def form_token(token: str) -> str:
    """The secret of forms, from that of the start."""
    return hmac.new(token.encode(), b"forms", hashlib.sha256).hexdigest()


def _cookies(headers: Headers, name: str) -> list[str]:
    """All cookies of a name: other ports of this machine may set further ones, of any shape."""
    pairs = [pair.strip().partition("=") for line in headers.getlist("cookie") for pair in line.split(";")]
    return [value for key, _, value in pairs if key == name]


async def _given_token(scope: Scope, receive: Receive) -> str | None:
    """The token of a request that wants to enter: in the printed address, or in the form that opens the browser."""
    if scope["path"] == "/" and scope["method"] == "GET":
        return _token_in(scope.get("query_string", b""))
    if scope["path"] != ENTER or scope["method"] != "POST":
        return None
    try:
        return _token_in(await Request(scope, _counted(receive, ENTER_BYTES)).body())
    except (TooLarge, TooSlow, ClientDisconnect):
        return None


def _token_in(query: bytes) -> str | None:
    try:
        return parse_qs(query.decode("latin-1"), max_num_fields=20).get("token", [None])[0]
    except ValueError:
        return None


def plain(status: int, text: str) -> Response:
    """An answer without a page."""
    return PlainTextResponse(text, status_code=status)


def _counted(receive: Receive, most: int) -> Receive:
    seen, whole = 0, False

    async def counted() -> Message:
        nonlocal seen, whole
        if whole:  # what follows is that the browser went away
            return await receive()
        try:
            message = await asyncio.wait_for(receive(), BODY_SECONDS)
        except TimeoutError:
            raise TooSlow from None
        seen += len(message.get("body", b""))
        whole = not message.get("more_body", False)
        if seen > most:
            raise TooLarge
        return message

    return counted


def _with_headers(send: Send) -> Send:
    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return sent
