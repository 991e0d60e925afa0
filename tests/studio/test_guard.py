"""Who may ask, from where, and how much: every way around the guard is tried."""

import asyncio

import pytest

from studio_visits import ENTRY, HERE, PORT, TOKEN, client_of
from sundog.studio import guard
from sundog.studio.app import DONE, SHOWN


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", f"evil.example:{PORT}", "127.0.0.1:1", "", "localhost"])
def test_dns_rebinding_is_refused(client, host):
    answer = client.get("/", headers={"host": host})
    assert answer.status_code == 421
    assert "Tables" not in answer.text


def test_the_other_name_of_this_machine_has_a_cookie_of_its_own(client):
    assert client.get("/", headers={"host": f"localhost:{PORT}"}).status_code == 200


def test_without_the_token_there_is_no_page(tmp_path):
    stranger = client_of(tmp_path, signed_in=False)
    for path in [*SHOWN, "/static/studio.css", "/t/000000000000/jobs/000000000000/events"]:
        assert stranger.get(path).status_code == 403
    assert stranger.get("/", params={"token": "wrong"}).status_code == 403
    assert stranger.get("/?" + "&".join(f"a{n}=1" for n in range(50))).status_code == 403
    assert stranger.get("/", headers={"cookie": f"sundog-studio-{PORT}=wrong"}).status_code == 403


def test_the_token_becomes_a_strict_cookie_and_leaves_the_address(tmp_path):
    stranger = client_of(tmp_path, signed_in=False)
    answer = stranger.get(ENTRY)
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert "domain" not in cookie
    assert TOKEN not in answer.text
    assert stranger.get("/").status_code == 200


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", f"http://127.0.0.1:{PORT + 1}", f"https://127.0.0.1:{PORT}", None]
)
def test_posts_from_elsewhere_are_refused(client, origin):
    headers = {name: value for name, value in client.headers.items() if name != "origin"}
    client.headers.clear()
    client.headers.update(headers | ({"origin": origin} if origin else {}))
    for path in DONE:
        assert client.post(path.replace("{place:int}", "0"), data={"data": "x"}).status_code == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_browser_that_says_it_comes_from_elsewhere_is_refused(client, site):
    """Cookies are shared by all ports of a machine: a page on another port is `same-site`, and sends them."""
    assert client.get("/", headers={"sec-fetch-site": site}).status_code == 403
    assert client.get("/", headers={"sec-fetch-site": "same-origin"}).status_code == 200


def test_a_link_in_a_terminal_that_is_a_page_still_enters(tmp_path):
    stranger = client_of(tmp_path, signed_in=False)
    assert stranger.get(ENTRY, headers={"sec-fetch-site": "cross-site"}).status_code == 200


def test_forms_need_their_own_secret(client):
    for wrong in ("", "x", TOKEN):
        client.headers["x-sundog-form"] = wrong
        assert client.post("/tables", data={"data": "x"}).status_code == 403
    secret = guard.form_token(TOKEN)
    client.headers.pop("x-sundog-form")
    assert client.post("/tables", data={"data": "x", "form_token": secret}).status_code == 422


def test_every_answer_says_what_it_may_load(client, tmp_path):
    stranger = client_of(tmp_path, signed_in=False)
    for answer in (client.get("/"), client.get("/nowhere"), stranger.get("/"), client.post("/tables", data={})):
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"


def test_pages_have_no_inline_script_or_style(client):
    text = client.get("/").text
    assert "<script>" not in text
    assert "style=" not in text
    assert " onclick" not in text


def test_too_large_requests_are_refused_before_they_are_read(client):
    large = b"x" * (guard.FORM_BYTES + 1)
    assert client.post("/tables", content=large).status_code == 413

    def pieces():
        for _ in range(40):
            yield b"data=" + b"x" * (guard.FORM_BYTES // 30)

    kind = {"content-type": "application/x-www-form-urlencoded"}
    assert client.post("/tables", content=pieces(), headers=kind).status_code == 413


def test_only_our_own_files_are_served(client):
    assert client.get("/static/htmx.min.js").status_code == 200
    assert client.get("/static/style.css").headers["content-type"].startswith("text/css")
    for name in ("../app.py", "..%2fapp.py", "%2e%2e/app.py", "htmx.LICENSE.txt", "/etc/passwd", "studio.css%00"):
        assert client.get(f"/static/{name}").status_code == 404


def test_other_methods_change_nothing(client):
    for method in ("PUT", "DELETE", "PATCH", "OPTIONS"):
        assert client.request(method, "/tables", content=b"x").status_code == 405


def test_a_server_on_another_port_is_never_sent_the_cookie(client):
    """Cookies are shared by all ports of a machine. Ours is for a path that nobody else can guess."""
    sent = [
        client.build_request("GET", f"http://127.0.0.1:{PORT + 1}{path}") for path in ("/", "/t/0", "/ledger", "/enter")
    ]
    assert [request.headers.get("cookie") for request in sent] == [None] * 4
    assert TOKEN in client.build_request("GET", "/ledger").headers["cookie"]


@pytest.mark.parametrize(
    "before", ["a=b", 'x="unclosed', "{}[]=1; =; ;;", f"sundog-studio-{PORT}=tossed", "\u00e4=\u00f6"]
)
def test_cookies_of_other_ports_neither_enter_nor_keep_out(client, tmp_path, before):
    good = f"sundog-studio-{PORT}={TOKEN}"
    stranger = client_of(tmp_path, signed_in=False)
    for line in (f"{before}; {good}", f"{good}; {before}"):
        assert stranger.get("/", headers={"cookie": line.encode()}).status_code == 200
    assert stranger.get("/", headers={"cookie": before.encode()}).status_code == 403


def test_the_form_that_opens_a_browser_enters_without_the_token_in_an_address(tmp_path):
    stranger = client_of(tmp_path, signed_in=False)
    origin = {"origin": "null", "sec-fetch-site": "cross-site"}
    for wrong in ({"token": "wrong"}, {}, {"token": "x" * 10_000}, {"other": TOKEN}):
        assert stranger.post(f"{HERE}/enter", data=wrong, headers=origin).status_code == 403
    entered = stranger.post(f"{HERE}/enter", data={"token": TOKEN}, headers=origin)
    assert (entered.status_code, TOKEN in entered.text) == (200, False)
    assert stranger.get("/").status_code == 200


def test_pages_lie_nowhere_else(client):
    cookie = {"cookie": f"sundog-studio-{PORT}={TOKEN}"}
    for path in ("/", "/ledger", "/static/studio.css", "/0123456789abcdef/ledger"):
        assert client.get(HERE + path, headers=cookie).status_code == 404


def test_long_addresses_are_refused(client):
    assert client.get("/t/000000000000/schema/fields/" + "9" * 5000).status_code == 414


def test_a_request_that_stops_in_its_middle_is_let_go(monkeypatch):
    monkeypatch.setattr(guard, "BODY_SECONDS", 0.05)

    async def never():
        await asyncio.sleep(5)

    received = guard._counted(never, 10)
    with pytest.raises(guard.TooSlow):
        asyncio.run(received())
