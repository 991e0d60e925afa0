"""Every request passes here: only this machine, only this start's token, only our own pages, only so many bytes.

    Host            must be the address that the studio printed: a page elsewhere whose name was pointed at this machine
                    (DNS rebinding) names another one
    token           a random one per start, in the address that the studio opens; from there it goes into a cookie that no
                    script can read and no other site can send (HttpOnly, SameSite=Strict)
    Origin,         what changes something must come from our own page, and so must every request of a browser that says where
    Sec-Fetch-Site  it comes from: cookies are shared by all ports of a machine
    form token      a second secret in every form of ours
    Content-Length  and the bytes themselves: a limit for forms, a larger one for a dropped table

Answers say that nothing may be loaded from elsewhere, no inline script runs, no other page may frame them, nothing is kept.
"""

import hashlib
import hmac
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

FORM_BYTES = 1 << 20
DROPPED_BYTES = 4 << 30
DROP = "/tables/drop"
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
ENTER = '<!doctype html><html lang="en"><meta charset="utf-8"><title>Sundog studio</title><meta http-equiv="refresh" content="0; url=/"><p><a href="/">Go on to the studio</a></p></html>'
"""Not a redirect: a cookie that no other site can send is not sent on a redirect that another page began."""
ELSEWHERE = "This request comes from another page."
TOO_LARGE = "The request is too large."
STRANGER = "This address needs the token of the start: open the address that `sundog studio` printed in its terminal.\n"


class TooLarge(Exception):
    """A request has more bytes than it may; the app answers it with 413."""


class Guard:
    """The middleware."""

    def __init__(self, app: ASGIApp, *, token: str, port: int) -> None:
        self.app = app
        self.token = token
        self.hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
        self.cookie = f"sundog-studio-{port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse, or hand on with a count of the bytes."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        answer = self._answer(scope)
        if answer is not None:
            await answer(scope, receive, _with_headers(send))
            return
        await self.app(scope, _counted(receive, _limit(scope)), _with_headers(send))

    def _answer(self, scope: Scope) -> Response | None:
        """What to say instead of the page; None where the request may pass."""
        headers = Headers(scope=scope)
        if headers.get("host", "").lower() not in self.hosts:
            return plain(421, "This is not the address of the studio.")
        if scope["path"] == "/" and scope["method"] == "GET" and self._same(_given_token(scope)):
            entered = HTMLResponse(ENTER)
            entered.set_cookie(self.cookie, self.token, httponly=True, samesite="strict", path="/")
            return entered
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            return plain(403, ELSEWHERE)
        if not self._same(self._cookie_token(headers)):
            return plain(403, STRANGER)
        return None if scope["method"] in ("GET", "HEAD") else _changing(scope, headers)

    def _cookie_token(self, headers: Headers) -> str:
        try:
            found = SimpleCookie(headers.get("cookie", "")).get(self.cookie)
        except CookieError:
            return ""
        return found.value if found is not None else ""

    def _same(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), self.token.encode())


def _changing(scope: Scope, headers: Headers) -> Response | None:
    """The same for a request that may change something."""
    if headers.get("origin") != f"http://{headers['host'].lower()}":
        return plain(403, ELSEWHERE)
    size = headers.get("content-length", "")
    if not size.isdigit() and "transfer-encoding" not in headers:
        return plain(411, "The request does not say its length.")
    return plain(413, TOO_LARGE) if size.isdigit() and int(size) > _limit(scope) else None


def form_token(token: str) -> str:
    """The secret of forms, from that of the start."""
    return hmac.new(token.encode(), b"forms", hashlib.sha256).hexdigest()


def _given_token(scope: Scope) -> str:
    try:
        given = parse_qs(scope.get("query_string", b"").decode("latin-1"), max_num_fields=20)
    except ValueError:
        return ""
    return given.get("token", [""])[0]


def _limit(scope: Scope) -> int:
    return DROPPED_BYTES if scope["path"] == DROP else FORM_BYTES


def plain(status: int, text: str) -> Response:
    """An answer without a page."""
    return PlainTextResponse(text, status_code=status)


def _counted(receive: Receive, most: int) -> Receive:
    seen = 0

    async def counted() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
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
