"""The studio in a real browser: the whole way by keyboard, refusals, crashes, two tabs, attacks, and axe on every page."""

import http.server
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from studio_browser import BROWSER, browsing, started
from studio_visits import write_table
from sundog.private.ledger import Ledger

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(BROWSER is None, reason="needs playwright and a Chromium browser (make browser)"),
]
AXE = Path(__file__).parent / "axe" / "axe.min.js"
WAIT = 180_000
LONG = {"seconds": "60", "generations": "1000000", "window": "1000000"}
"""Settings of private-gsd with which it fits for a minute."""


@pytest.fixture(scope="module")
def browser():
    with browsing() as opened:
        yield opened


@pytest.fixture
def studio(tmp_path):
    running = started(tmp_path / "studio")
    yield running
    running.end(signal.SIGKILL)


@pytest.fixture
def page(browser, studio):
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    opened = context.new_page()
    opened.set_default_timeout(WAIT)
    opened.troubles = []
    opened.on("dialog", lambda dialog: (opened.troubles.append(f"dialog {dialog.message}"), dialog.dismiss()))
    opened.on("pageerror", lambda error: opened.troubles.append(str(error)))
    opened.on("console", lambda message: opened.troubles.append(message.text) if message.type == "error" else None)
    opened.goto(studio.address)
    opened.wait_for_selector("h1")
    yield opened
    context.close()


def drafted(page, data):
    page.fill("input[name=data]", str(data))
    page.keyboard.press("Enter")
    page.click("text=Draft the schema")
    page.wait_for_selector("table.fields")
    return re.search(r"/t/[0-9a-f]{12}", page.url)[0]


def reviewed(page, data):
    at = drafted(page, data)
    page.check("[data-all]")
    page.fill("input[name=because]", "the codebook lists it")
    page.click("text=Keep as declared")
    page.wait_for_selector("text=all reviewed or declared")
    return at


def planned(page, studio, data, *, method="independent", settings=None):
    at = reviewed(page, data)
    page.goto(studio.base + at + "/plan")
    page.fill("input[name=rows_about]", "400")
    page.select_option("select[name=method]", method)
    if settings:
        page.click("summary:text('Finer points')")
    for name, value in (settings or {}).items():
        page.fill(f"input[name='set:{name}']", value)
    page.fill("input[name=folder]", str(studio.folder / "out"))
    page.wait_for_selector("text=What it buys")
    page.click("text=Go on: see the charge")
    page.wait_for_selector(".spend")
    return at


def charged(studio):
    return Ledger(studio.ledger).account("visits").rho


def accessible(page):
    """What axe finds on the page as it stands: nothing."""
    page.evaluate(AXE.read_text(encoding="utf-8") + ";undefined")
    found = page.evaluate(
        "axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']})"
    )
    told = [(each["id"], [node["html"][:160] for node in each["nodes"]][:3]) for each in found["violations"]]
    assert told == [], f"{page.url}: {told}"


def test_the_whole_way_from_a_table_with_surprises_to_a_verified_release(page, studio, tmp_path):
    data = write_table(tmp_path / "visits.csv")
    at = drafted(page, data)
    assert "CONFIDENTIAL" in page.title()
    accessible(page)
    page.click("table.fields a >> nth=0")
    page.fill("input[name=maximum]", "-5")
    page.wait_for_selector("#said .problem")
    page.fill("input[name=maximum]", "120")
    page.fill("input[name=because]", "known to everyone")
    page.wait_for_selector("#said .fine")
    accessible(page)
    page.click("text=Right and public: back to the schema")
    page.check("[data-all]")
    page.fill("input[name=because]", "the codebook lists it")
    page.click("text=Keep as declared")
    page.wait_for_selector("text=all reviewed or declared")
    assert "CONFIDENTIAL" not in page.title()
    page.click("text=Fill in")
    page.wait_for_selector("#constraint form")
    accessible(page)
    page.select_option("#constraint select[name=left]", "age")
    page.select_option("#constraint select[name=right]", "paid")
    page.wait_for_selector("#constraint-said .fine")
    page.click("text=Go on to the check")
    accessible(page)
    page.click("text=Check the table")
    page.wait_for_selector("text=Findings")
    assert "CONFIDENTIAL" in page.title()
    accessible(page)
    page.click("text=Go on to the plan")
    page.fill("input[name=rows_about]", "400")
    page.fill("input[name=folder]", str(studio.folder / "out"))
    page.wait_for_selector("text=What it buys")
    accessible(page)
    page.click("text=Go on: see the charge")
    accessible(page)
    page.click(".spend")
    page.wait_for_selector("text=The last run is done")
    accessible(page)
    page.click("text=its release")
    page.click("button:text('Verify')")
    page.wait_for_selector("text=Nothing differs")
    accessible(page)
    with page.expect_download() as download:
        page.click("text=Download all as zip")
    assert download.value.suggested_filename == "visits.zip"
    with page.expect_popup() as popup:
        page.click("a:text-is('Report')")
    popup.value.wait_for_selector("h1")
    page.click("text=Ledger")
    page.wait_for_selector("text=Set a limit")
    accessible(page)
    page.click("text=Tables")
    page.click("text=Browse")
    page.wait_for_selector(".browser")
    accessible(page)
    page.emulate_media(color_scheme="dark")
    for path in ("/", f"{at}/schema", f"{at}/check", f"{at}/plan", f"{at}/run", "/ledger"):
        page.goto(studio.base + path)
        accessible(page)
    assert page.troubles == []


def test_the_demo_table_by_keyboard_alone(page, studio, tmp_path):
    """Every step with Tab, Enter and typing; what a person needs for it stays far below three minutes."""
    example = Path(__file__).parents[2] / "examples" / "clinic_visits.py"
    made = ["--rows", "2000", "--seed", "1", "--out", str(tmp_path)]
    subprocess.run([sys.executable, str(example), *made], check=True, stdout=subprocess.DEVNULL)
    data = tmp_path / "clinic_visits.csv"
    keys = 0

    def press(*names):
        nonlocal keys
        for name in names:
            page.keyboard.press(name)
            keys += 1

    def type_in(text):
        nonlocal keys
        page.keyboard.type(text)
        keys += len(text)

    def tab_to(selector, most=60):
        for _ in range(most):
            if page.evaluate("selector => document.activeElement.matches(selector)", selector):
                return
            press("Tab")
        raise AssertionError(f"{selector} cannot be reached by keyboard")

    page.wait_for_selector("input:focus")  # the page puts the cursor there
    type_in(str(data))
    press("Enter")
    page.wait_for_selector("text=Draft the schema")
    press("Enter")
    page.wait_for_selector("table.fields")
    tab_to("[data-all]")
    press("Space")
    tab_to("input[name=because]", 80)
    type_in("the codebook lists it")
    press("Enter")
    page.wait_for_selector("text=all reviewed or declared")
    tab_to("a.button[href$='/plan']")
    press("Enter")
    page.wait_for_selector("text=What to spend")
    tab_to("input[name=rows_about]", 10)
    type_in("2000")
    press("Enter")
    page.wait_for_selector(".spend")
    press("Enter")
    page.wait_for_selector("text=The last run is done")
    tab_to("a[href*='/release/']", 20)
    press("Enter")
    page.wait_for_selector("button:text('Verify')")
    tab_to("form[action$='/verify'] button", 20)
    press("Enter")
    page.wait_for_selector("text=Nothing differs")
    path = len(str(data))
    assert keys - path < 200, f"{keys} keys"  # at two keys per second, well below three minutes
    assert page.troubles == []


def test_two_tabs_spend_once(page, studio, tmp_path):
    at = planned(page, studio, write_table(tmp_path / "visits.csv"))
    other = page.context.new_page()
    other.goto(page.url)
    other.wait_for_selector(".spend")
    page.click(".spend")
    page.wait_for_selector("text=The last run is done")
    once = charged(studio)
    other.click(".spend")
    other.wait_for_selector("text=The last run is done")
    assert charged(studio) == once > 0
    assert at in other.url


def test_a_closed_browser_does_not_stop_a_run(browser, studio, tmp_path):
    context = browser.new_context()
    page = context.new_page()
    page.set_default_timeout(WAIT)
    page.goto(studio.address)
    at = planned(page, studio, write_table(tmp_path / "visits.csv"))
    page.click(".spend")
    page.wait_for_selector("text=You may close this page")
    context.close()
    again = browser.new_context().new_page()
    again.set_default_timeout(WAIT)
    again.goto(studio.address)
    again.wait_for_selector("h1")
    again.goto(studio.base + at + "/run")
    again.wait_for_selector("text=The last run is done")


def test_the_page_survives_the_crash_of_its_worker(page, studio, tmp_path):
    planned(page, studio, write_table(tmp_path / "visits.csv"), method="private-gsd")
    page.click(".spend")
    page.wait_for_selector("text=You may close this page")
    worker = next(path for path in studio.folder.rglob("pid") if "run" in (path.parent / "request.json").read_text())
    os.kill(int(worker.read_text()), signal.SIGKILL)
    page.wait_for_selector("text=The last run crashed")
    assert "What it charged stays charged" in page.text_content(".error")
    assert page.is_visible(".spend")


def measured(studio, seconds=300):
    """Wait until the run has measured: from then on stopping it leaves something to make rows from."""
    until = time.monotonic() + seconds
    while not (studio.folder / "out" / "released.json").exists():
        assert time.monotonic() < until, "nothing was measured"
        time.sleep(0.1)


def test_stopping_keeps_what_was_paid_for(page, studio, tmp_path):
    """The fit takes a minute, so that there is a time to stop it at, however slow the machine is."""
    planned(page, studio, write_table(tmp_path / "visits.csv"), method="private-gsd", settings=LONG)
    page.click(".spend")
    measured(studio)
    page.click("button:text('Stop')")
    page.wait_for_selector("text=/The last run (was stopped|is done)/")
    paid = charged(studio)  # not before: a run measures, and pays, in several steps
    assert paid > 0
    if page.is_visible("text=The last run was stopped"):  # else the method itself went on with the best rows so far
        page.click("text=Make the rows from it, at no further cost")
        page.wait_for_selector("text=The last run is done")
    assert charged(studio) == paid
    assert (studio.folder / "out" / "certificate.json").exists()


def test_a_refusal_is_told_in_the_words_of_the_command_line(page, studio, tmp_path):
    at = planned(page, studio, write_table(tmp_path / "visits.csv"))
    Ledger(studio.ledger).set_limit("visits", epsilon=0.2, delta=1e-9)
    page.click(".spend")
    page.wait_for_selector("[role=alert]")
    assert "Ask for less, or have the owner of the data raise the limit." in page.text_content("main")
    page.goto(studio.base + at + "/run")
    assert page.query_selector(".spend") is None
    assert charged(studio) == 0


def test_ctrl_c_ends_the_studio_and_keeps_what_was_paid_for(page, studio, tmp_path):
    planned(page, studio, write_table(tmp_path / "visits.csv"), method="private-gsd", settings=LONG)
    page.click(".spend")
    measured(studio)
    assert studio.end(signal.SIGINT) == 0
    run = next(path.parent for path in studio.folder.rglob("request.json") if '"run"' in path.read_text())
    until = time.monotonic() + 120  # on a slow machine the worker ends a while after the studio
    while not (run / "outcome.json").exists() and time.monotonic() < until:
        time.sleep(0.1)
    told = (run / "outcome.json").read_text()
    assert '"stopped"' in told or "Ctrl-C" in told  # the latter where the method went on with the best rows so far
    assert (studio.folder / "out" / "released.json").exists()


def test_the_page_that_opens_a_browser_enters_without_the_token_in_any_address(browser, studio):
    context = browser.new_context()
    page, seen = context.new_page(), []
    page.set_default_timeout(WAIT)
    page.on("framenavigated", lambda frame: seen.append(frame.url))
    page.goto((studio.folder / "home" / "enter.html").as_uri())
    page.wait_for_selector("h1:text('Tables')")
    token = studio.address.partition("token=")[2]
    assert seen[-1] == studio.base + "/"
    assert not any(token in address for address in seen)
    context.close()


def test_a_server_on_another_port_gets_no_cookie(page, studio, tmp_path):
    (tmp_path / "index.html").write_text('<a href="/index.html">again</a>')
    with serving(tmp_path) as server:
        page.goto(f"http://127.0.0.1:{server.port}/index.html")
        with page.expect_navigation():
            page.click("text=again")
    assert len(server.cookies) >= 2
    assert set(server.cookies) == {None}
    page.goto(studio.base + "/")
    page.wait_for_selector("h1:text('Tables')")


def test_linked_tables_are_a_picture(page, studio, tmp_path):
    number = {"type": "integer", "constraints": {"minimum": 0, "maximum": 9}}
    key = {"name": "home", "type": "string", "identifier": True}
    homes = {"primaryKey": ["home"], "fields": [key, {"name": "<img src=x onerror=alert(4)>", **number}]}
    link = {"fields": ["home"], "reference": {"resource": "homes", "fields": ["home"]}}
    persons = {"foreignKeys": [link], "fields": [key, {"name": "age", **number}]}
    resources = [{"name": "homes", "schema": homes}, {"name": "persons", "maximumPerParent": 3, "schema": persons}]
    (tmp_path / "datapackage.json").write_text(json.dumps({"name": "homes", "resources": resources}))
    page.fill("input[name=data]", str(tmp_path))
    page.keyboard.press("Enter")
    page.wait_for_selector(".tree-table >> text=0 to 3 rows of one homes")
    accessible(page)
    page.click("text=Go on to the plan")
    page.click("summary:text('Finer points')")
    page.wait_for_selector("text=Settings of the method")
    accessible(page)
    assert page.troubles == []


def test_markup_from_files_never_runs(page, studio, tmp_path):
    evil = tmp_path / "<img src=x onerror=alert(3)>.csv"
    at = drafted(page, write_table(evil))
    page.goto(studio.base + at + "/schema/fields/1")
    page.goto(studio.base + at + "/schema/fields/2")
    page.goto(studio.base + "/")
    page.click("text=Browse")
    page.wait_for_selector(".browser")
    page.wait_for_timeout(300)
    assert page.troubles == []
    assert "alert(3)" in page.text_content("main")


def test_other_names_and_other_pages_get_nothing(page, studio, browser, tmp_path):
    """DNS rebinding, a form and a fetch from another port of this machine, where cookies are sent along."""
    stranger = browser.new_context().new_page()
    answer = stranger.goto(f"http://evil.example:{studio.port}/?{studio.address.partition('?')[2]}")
    assert answer.status == 421
    target = f"http://127.0.0.1:{studio.port}"
    (tmp_path / "index.html").write_text(
        f'<form method="post" action="{target}/tables"><input name="data" value="/etc/passwd"><button>go</button></form>'
    )
    with serving(tmp_path) as server:
        page.goto(f"http://127.0.0.1:{server.port}/index.html")
        read = page.evaluate(f"fetch('{target}/', {{credentials: 'include'}}).then(a => a.text(), () => 'blocked')")
        assert read == "blocked"
        with page.expect_navigation() as done:
            page.click("button")
        assert done.value.status == 403
    assert list((studio.folder / "home" / "tables").iterdir()) == []


class serving:  # noqa: N801
    """Another server on this machine."""

    def __init__(self, folder):
        self.cookies = cookies = []

        class Quiet(http.server.SimpleHTTPRequestHandler):
            def __init__(self, *args):
                super().__init__(*args, directory=str(folder))

            def do_GET(self):
                cookies.append(self.headers.get("cookie"))
                super().do_GET()

            def log_message(self, *args):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Quiet)

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.port = self.server.server_address[1]
        return self

    def __exit__(self, *args):
        self.server.shutdown()
        self.server.server_close()
