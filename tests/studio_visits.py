"""A small table with surprises, and a studio in the same process: what the tests of the pages share."""

import csv
import random
import re
import time

from starlette.testclient import TestClient

from sundog.private.ledger import Ledger
from sundog.studio.app import studio_app
from sundog.studio.guard import root_of
from sundog.studio.home import Home
from sundog.studio.rendering import Studio

TOKEN, PORT = "a-token-of-the-tests", 8765
SECRET = "zz-secret-cell"
HERE = f"http://127.0.0.1:{PORT}"
ENTRY = f"{HERE}/?token={TOKEN}"

AGE = {"role": "modelled", "type": "integer", "minimum": "0", "maximum": "120", "because": "known to everyone"}
BUDGET = {"epsilon": "1", "delta": "1e-9", "rows_about": "400", "method": "independent"}


def write_table(path, rows=400, header=("age", "sex", "<script>alert(1)</script>", "paid", "name")):
    """Semicolons, decimal commas, a label and a column that are markup, free text, missing cells, an outlier."""
    draw = random.Random(7)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=";")
        writer.writerow(header)
        for number in range(rows):
            sex = draw.choice(["f", "m", "<img src=x onerror=alert(2)>"])
            paid = "" if number % 17 == 0 else f"{draw.randrange(0, 9000) / 100:.2f}".replace(".", ",")
            age = 970 if number == 3 else draw.randrange(0, 97)
            writer.writerow([age, sex, draw.choice(["yes", "no"]), paid, f"{SECRET} {number} {draw.random()}"])
    return path


def client_of(tmp_path, *, signed_in=True):
    """A browser, as it were."""
    studio = Studio(Home(tmp_path / "home", str(tmp_path / "ledger.sqlite")), TOKEN)
    client = TestClient(studio_app(studio, port=PORT), base_url=HERE + root_of(TOKEN), follow_redirects=True)
    if signed_in:
        assert client.get(ENTRY).status_code == 200
        client.headers["origin"] = HERE
        client.headers["x-sundog-form"] = studio.form_token
    return client


def place_of(answer):
    """The address of the table that an answer is about."""
    return re.search(r"/t/[0-9a-f]{12}", str(answer.url) + answer.text)[0]


def waited(client, address, seconds=600):
    """The page after its job has ended."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        answer = client.get(address)
        if "data-events" not in answer.text:
            return answer
        time.sleep(0.2)
    raise AssertionError("the job did not end")


def open_places(text):
    """The places of the columns that wait for review."""
    return re.findall(r'name="place" value="(\d+)"', text)


def drafted(client, data):
    """A table with its draft."""
    at = place_of(client.post("/tables", data={"data": str(data)}))
    client.post(f"{at}/schema/draft")
    return at


def reviewed(client, data):
    """The same with every column reviewed."""
    at = drafted(client, data)
    client.post(f"{at}/schema/fields/0", data=AGE)
    ticked = {
        "place": open_places(client.get(f"{at}/schema").text),
        "answer": "keep",
        "because": "the codebook lists it",
    }
    assert client.post(f"{at}/schema/review", data=ticked).status_code == 200
    return at


def planned(client, data, tmp_path, **more):
    """The same with a plan."""
    at = reviewed(client, data)
    answer = client.post(f"{at}/plan", data={**BUDGET, "folder": str(tmp_path / "out"), **more})
    assert str(answer.url).endswith("/run")
    return at


def charge(client, at):
    """What the page of the run carries."""
    return dict(re.findall(r'name="(run|shown)" value="([^"]*)"', client.get(f"{at}/run").text))


def ran(client, data, tmp_path, **more):
    """The whole way to a release."""
    at = planned(client, data, tmp_path, **more)
    client.post(f"{at}/run", data=charge(client, at))
    return at, str(client.get(f"{at}/release").url)


def spent(tmp_path):
    """What the account has spent."""
    return Ledger(tmp_path / "ledger.sqlite").account("visits").rho
