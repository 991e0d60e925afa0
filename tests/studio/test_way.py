"""The whole way from a table with surprises to a verified release, page by page, as a browser asks for them."""

import html
import io
import json
import re
import zipfile
from pathlib import Path

import pytest

from studio_visits import (
    AGE,
    BUDGET,
    SECRET,
    charge,
    drafted,
    open_places,
    place_of,
    planned,
    ran,
    reviewed,
    spent,
    write_table,
)
from sundog.private.ledger import Ledger
from sundog.studio import worker

pytestmark = pytest.mark.usefixtures("at_once")


def test_a_draft_is_confidential_until_every_column_is_reviewed(client, data):
    at = drafted(client, data)
    draft = client.get(f"{at}/schema").text
    assert "<title>CONFIDENTIAL" in draft
    assert draft.count("needs review") == 5
    assert 'aria-label="CONFIDENTIAL"' in draft
    assert 'filename="CONFIDENTIAL' in client.get(f"{at}/schema/document").headers["content-disposition"]
    ticked = {"place": open_places(draft), "answer": "keep", "because": ""}
    assert "say why these domains are public" in client.post(f"{at}/schema/review", data=ticked).text
    done = client.post(f"{at}/schema/review", data=ticked | {"because": "the codebook lists it"}).text
    assert "CONFIDENTIAL" not in done
    assert done.count("the codebook lists it") == 4
    assert 'filename="schema.json"' in client.get(f"{at}/schema/document").headers["content-disposition"]


def test_nothing_can_be_planned_or_spent_before_the_review(client, data):
    at = drafted(client, data)
    for step in ("plan", "run"):
        assert "before every column of the schema is reviewed" in client.get(f"{at}/{step}").text
    assert client.post(f"{at}/plan", data=BUDGET).status_code == 422
    assert client.post(f"{at}/run", data={"run": "0" * 12}).status_code in (200, 422)


def test_markup_in_columns_labels_and_names_is_escaped_everywhere(client, tmp_path, data):
    evil = tmp_path / "<img src=x onerror=alert(3)>.csv"
    evil.write_bytes(data.read_bytes())
    at = drafted(client, evil)
    release = None
    ticked = {
        "place": open_places(client.get(f"{at}/schema").text),
        "answer": "keep",
        "because": "<script>alert(4)</script>",
    }
    client.post(f"{at}/schema/review", data=ticked)
    client.post(f"{at}/check", data={"unit": "", "rows_per_unit": "1"})
    client.post(
        f"{at}/plan", data={**BUDGET, "folder": str(tmp_path / "<b>out"), "purpose": "<script>alert(5)</script>"}
    )
    client.post(f"{at}/run", data=charge(client, at))
    release = str(client.get(f"{at}/release").url)
    pages = [
        "/",
        at,
        f"{at}/schema",
        f"{at}/schema/fields/1",
        f"{at}/schema/fields/2",
        f"{at}/check",
        f"{at}/plan",
        f"{at}/run",
    ]
    for path in [*pages, release, "/ledger", f"{release}/files/report.html", f"{release}/files/certificate.html"]:
        answer = client.get(path)
        text = answer.text
        assert answer.status_code == 200, text
        assert "alert(" in text or path.endswith((".html", "plan", "run", "ledger")), path
        assert not re.search(r"<script>alert|<img src=x|<b>out", text), path
    listing = client.post("/browse", data={"folder": str(tmp_path)}, headers={"hx-request": "true"}).text
    assert "&lt;img src=x onerror=alert(3)" in listing
    assert "<img" not in listing


def test_the_check_is_confidential_and_recorded(client, data, tmp_path):
    at = reviewed(client, data)
    client.post(f"{at}/check", data={"unit": "name", "rows_per_unit": "1"})
    page = client.get(f"{at}/check").text
    assert "<title>CONFIDENTIAL" in page
    assert "400 rows" in page
    assert SECRET not in page
    labels = [entry.label for entry in Ledger(tmp_path / "ledger.sqlite").account("visits").entries]
    assert len([label for label in labels if "checked against its schema" in label]) == 1


def test_the_whole_way(client, data, tmp_path):
    at, release = ran(client, data, tmp_path, purpose="teaching")
    page = client.get(release).text
    assert "differential privacy" in page
    assert "CONFIDENTIAL" in page  # the way to an evaluation; the page itself is not
    assert "<title>CONFIDENTIAL" not in page
    client.post(f"{release}/verify")
    assert "Nothing differs" in client.get(release).text
    archive = zipfile.ZipFile(io.BytesIO(client.get(f"{release}/zip").content))
    names = {name.partition("/")[2] for name in archive.namelist()}
    assert names == {path.name for path in (tmp_path / "out").iterdir()}
    assert not any(SECRET.encode() in archive.read(name) for name in archive.namelist())
    report = client.get(f"{release}/files/report.html")
    assert "sandbox" in report.headers["content-security-policy"]
    assert client.get(f"{release}/files/released.json").headers["content-disposition"].startswith("attachment")
    assert "teaching" in client.get(f"{release}/files/certificate.html").text
    assert "independent: teaching" in client.get("/ledger").text
    assert not list(Path(tmp_path / "home").rglob("*.zip"))
    assert at in str(client.get(f"{at}/release").url)


def test_only_files_of_the_release_are_served(client, data, tmp_path):
    _, release = ran(client, data, tmp_path)
    (tmp_path / "out" / "notes.txt").write_text("no part of it")
    (tmp_path / "out" / "explore.csv").symlink_to(data)
    for name in ("notes.txt", "explore.csv", "../visits.csv", "..%2fvisits.csv", "%2e%2e%2fvisits.csv", "/etc/passwd"):
        assert client.get(f"{release}/files/{name}").status_code == 404
    client.post(f"{release}/verify")
    assert "The release differs from what was certified" in client.get(release).text
    assert "notes.txt" not in str(zipfile.ZipFile(io.BytesIO(client.get(f"{release}/zip").content)).namelist())


def test_a_second_click_and_another_tab_spend_nothing_more(client, data, tmp_path):
    at = planned(client, data, tmp_path)
    tab = charge(client, at)
    assert charge(client, at) == tab
    client.post(f"{at}/run", data=tab)
    once = spent(tmp_path)
    assert once > 0
    for _ in range(3):
        client.post(f"{at}/run", data=tab)
    client.get(f"{at}/run")
    client.post(f"{at}/run", data=tab)
    assert spent(tmp_path) == once


def test_a_second_click_before_the_first_has_charged_starts_nothing(client, data, tmp_path, monkeypatch):
    at = planned(client, data, tmp_path)
    tab, begun = charge(client, at), []
    monkeypatch.setattr("sundog.studio.jobs._spawn", begun.append)
    for _ in range(3):
        client.post(f"{at}/run", data=tab)
    assert len(begun) == 1


def test_a_charge_other_than_the_one_shown_is_not_made(client, data, tmp_path):
    at = planned(client, data, tmp_path)
    tab = charge(client, at)
    client.post(f"{at}/plan", data={**BUDGET, "epsilon": "2", "folder": str(tmp_path / "out")})
    answer = client.post(f"{at}/run", data=tab)
    assert answer.status_code == 409
    assert "the charge is not the one that the page showed" in answer.text
    assert spent(tmp_path) == 0


def test_a_refused_budget_says_so_before_the_click(client, data, tmp_path):
    at = planned(client, data, tmp_path)
    client.post("/ledger/limit", data={"dataset": "visits", "epsilon": "0.5", "delta": "1e-9"})
    page = client.get(f"{at}/run").text
    assert "Would be refused" in page
    assert "Ask for less, or have the owner of the data raise the limit." in page
    assert 'name="shown"' not in page
    tried = client.post(f"{at}/plan/try", data={**BUDGET, "folder": str(tmp_path / "out")}).text
    assert "Would be refused" in tried
    assert spent(tmp_path) == 0


def test_an_odd_budget_needs_a_tick(client, data, tmp_path):
    at = reviewed(client, data)
    odd = {**BUDGET, "epsilon": "50", "folder": str(tmp_path / "out")}
    refused = client.post(f"{at}/plan", data=odd)
    assert refused.status_code == 422
    assert str(client.post(f"{at}/plan", data={**odd, "confirmed": "yes"}).url).endswith("/run")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"epsilon": "one"}, "epsilon: found &#39;one&#39;"),
        ({"rows_about": "many"}, "rows: found &#39;many&#39;"),
        ({"method": "magic"}, "magic"),
        ({"epsilon": "-1"}, "epsilon"),
    ],
)
def test_wrong_answers_are_told_in_the_words_of_the_command_line(client, data, tmp_path, wrong, said):
    at = reviewed(client, data)
    answer = client.post(f"{at}/plan", data={**BUDGET, "folder": str(tmp_path / "out"), **wrong})
    assert answer.status_code == 422
    assert said in answer.text
    assert said in client.post(f"{at}/plan/try", data={**BUDGET, **wrong}).text


def test_a_stopped_run_keeps_what_was_paid_for(client, data, tmp_path, monkeypatch):
    at = planned(client, data, tmp_path)

    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("sundog.methods.loop.fit_released", interrupted, raising=False)
        patched.setattr("sundog.generate.independent.Independent.fit", interrupted)
        client.post(f"{at}/run", data=charge(client, at))
    page = client.get(f"{at}/run").text
    assert "The last run was stopped" in page
    assert "Make the rows from it, at no further cost" in page
    assert (tmp_path / "out" / "released.json").exists()
    once = spent(tmp_path)
    assert once > 0
    job = re.search(r"/release/([0-9a-f]{12})/remake", page)[1]
    client.post(f"{at}/release/{job}/remake")
    release = str(client.get(f"{at}/release").url)
    client.post(f"{release}/verify")
    assert "Nothing differs" in client.get(release).text
    assert spent(tmp_path) == once


# What is killed, and what the page then offers: (where it happens, whether rows can be made from what was measured).
STAGES = {
    "before the charge": ("sundog.api.synthesizer.curator_for", False),
    "between charge and measurement": ("sundog.private.noise.add_gaussian", False),
    "in fitting": ("sundog.generate.independent.Independent.fit", True),
    "in sampling": ("sundog.api.model.Model.rows", True),
    "in writing": ("sundog.api.making.write_table", True),
    "in the certificate": ("sundog.api.making.finish_release", True),
}


@pytest.mark.parametrize(
    ("stage", "how"),
    [
        ("between charge and measurement", KeyboardInterrupt),
        ("in fitting", SystemExit),
        pytest.param("before the charge", KeyboardInterrupt, marks=pytest.mark.long),
        pytest.param("between charge and measurement", SystemExit, marks=pytest.mark.long),
        pytest.param("in sampling", KeyboardInterrupt, marks=pytest.mark.long),
        pytest.param("in writing", SystemExit, marks=pytest.mark.long),
        pytest.param("in the certificate", KeyboardInterrupt, marks=pytest.mark.long),
    ],
)
def test_whenever_a_run_ends_the_page_says_what_is_left(client, data, tmp_path, monkeypatch, *, stage, how):
    place, measured = STAGES[stage]
    at = planned(client, data, tmp_path)

    def ended(*args, **kwargs):
        raise how

    with monkeypatch.context() as patched:
        patched.setattr(place, ended)
        if how is SystemExit:  # the worker is killed: nothing more of its own is written
            patched.setattr("sundog.studio.jobs.Job.end", lambda *args, **kwargs: None)
        client.post(f"{at}/run", data=charge(client, at))
    page = client.get(f"{at}/run").text
    paid = spent(tmp_path)
    assert ("The last run was stopped" if how is KeyboardInterrupt else "The last run crashed") in page
    assert f"stands at rho {paid:.4g} now" in page
    assert (paid > 0) == (stage != "before the charge")
    assert ("nothing to make rows from" in page) == (not measured)
    assert ("never given back, also where it bought nothing" in page) == (paid > 0 and not measured)
    remake = re.search(r"/release/([0-9a-f]{12})/remake", page)
    assert (remake is not None) == measured
    if remake:
        client.post(f"{at}/release/{remake[1]}/remake")
        release = str(client.get(f"{at}/release").url)
        client.post(f"{release}/verify")
        assert "Nothing differs" in client.get(release).text
        assert spent(tmp_path) == paid


def test_measurements_of_an_earlier_release_are_not_taken_for_those_of_a_stopped_run(
    client, data, tmp_path, monkeypatch
):
    at, _ = ran(client, data, tmp_path)

    def stopped(*args, **kwargs):
        raise KeyboardInterrupt

    client.post(f"{at}/plan", data={**BUDGET, "folder": str(tmp_path / "out"), "replace": "yes"})
    monkeypatch.setattr("sundog.api.synthesizer.curator_for", stopped)
    client.post(f"{at}/run", data=charge(client, at))
    page = client.get(f"{at}/run").text
    assert "The last run was stopped" in page
    assert "remake" not in page


def test_a_stopped_remake_can_be_made_again(client, data, tmp_path, monkeypatch):
    at = planned(client, data, tmp_path)

    def stopped(*args, **kwargs):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("sundog.api.model.Model.rows", stopped)
        client.post(f"{at}/run", data=charge(client, at))
        first = re.search(r"/release/([0-9a-f]{12})/remake", client.get(f"{at}/run").text)[0]
        client.post(f"{at}{first}")
    second = re.search(r"/release/([0-9a-f]{12})/remake", client.get(f"{at}/run").text)[0]
    assert second != first
    client.post(f"{at}{second}")
    assert "The last run is done" in client.get(f"{at}/run").text


def test_what_other_pages_change_after_the_click_does_not_reach_the_run(client, data, tmp_path, monkeypatch):
    at = planned(client, data, tmp_path)
    other = write_table(tmp_path / "other.csv", rows=50)
    begun = []
    monkeypatch.setattr("sundog.studio.jobs._spawn", begun.append)
    client.post(f"{at}/run", data=charge(client, at))
    client.post(f"{at}/change", data={"data": str(other), "dataset": "another account"})
    worker.main(begun[0])
    ledger = Ledger(tmp_path / "ledger.sqlite")
    assert ledger.account("visits").rho > 0
    assert ledger.account("another account").rho == 0


@pytest.mark.parametrize("changed", ["method", "folder", "schema", "table"])
def test_a_run_of_something_else_than_was_shown_is_not_started(client, data, tmp_path, changed):
    """The charge is the same, but it would buy something else."""
    at = planned(client, data, tmp_path)
    tab = charge(client, at)
    plan = {**BUDGET, "folder": str(tmp_path / "out")}
    if changed == "method":
        client.post(f"{at}/plan", data={**plan, "method": "mst"})
    elif changed == "folder":
        client.post(f"{at}/plan", data={**plan, "folder": str(tmp_path / "elsewhere")})
    elif changed == "schema":
        client.post(f"{at}/schema/fields/0", data={**AGE, "maximum": "110"})
    else:
        other = write_table(tmp_path / "other.csv", rows=50)
        client.post(f"{at}/change", data={"data": str(other), "dataset": "visits"})
    assert client.post(f"{at}/run", data=tab).status_code == 409
    assert spent(tmp_path) == 0


def test_trouble_with_a_draft_is_confidential(client, data):
    """The words may name a label that was read from the rows."""
    at = drafted(client, data)
    trouble = client.post(f"{at}/check", data={"rows_per_unit": "many"})
    assert trouble.status_code == 422
    assert "<title>CONFIDENTIAL" in trouble.text
    assert "<title>CONFIDENTIAL" not in client.get("/nowhere").text


def test_an_unexpected_error_is_told_without_its_text(client, data, tmp_path, monkeypatch):
    at = planned(client, data, tmp_path)

    def broken(*args, **kwargs):
        raise ZeroDivisionError(SECRET)

    monkeypatch.setattr("sundog.api.making.fit_or_keep", broken)
    client.post(f"{at}/run", data=charge(client, at))
    page = client.get(f"{at}/run").text
    assert "an unexpected ZeroDivisionError stopped the run" in page
    assert SECRET not in page
    assert not any(SECRET in path.read_text() for path in Path(tmp_path / "home").rglob("outcome.json"))


def test_an_evaluation_is_confidential_and_needs_a_tick(client, tmp_path):
    data = write_table(tmp_path / "visits.csv", rows=80)
    _, release = ran(client, data, tmp_path)
    assert client.post(f"{release}/evaluate").status_code == 422
    assert client.get(f"{release}/evaluation").status_code == 404
    client.post(f"{release}/evaluate", data={"sure": "yes"})
    page = client.get(f"{release}/evaluation")
    assert "CONFIDENTIAL" in page.text
    assert "sandbox" in page.headers["content-security-policy"]
    assert "evaluation" in str(Ledger(tmp_path / "ledger.sqlite").account("visits").entries[-1].label)


def test_a_dropped_table_is_a_private_copy_that_goes_with_its_entry(client, data, tmp_path):
    answer = client.post("/tables/drop", files={"file": ("../../visits.csv", data.read_bytes())})
    at = place_of(answer)
    copies = list((tmp_path / "home").rglob("visits.csv"))
    assert [oct(path.stat().st_mode & 0o777) for path in copies] == ["0o600"]
    assert copies[0].parent.name == "dropped"
    assert client.post(f"{at}/remove").status_code == 422
    client.post(f"{at}/remove", data={"sure": "yes"})
    assert not list((tmp_path / "home").rglob("visits.csv"))
    assert data.exists()
    assert client.post("/tables/drop", files={"file": ("..", b"x")}).status_code == 422
    assert client.post("/tables/drop", data={"file": ""}).status_code == 422


def test_everything_that_the_studio_keeps_is_for_its_owner_alone(client, data, tmp_path):
    ran(client, data, tmp_path)
    for path in (tmp_path / "home").rglob("*"):
        assert path.stat().st_mode & 0o077 == 0, path


def test_unknown_tables_and_jobs_are_not_found(client, data):
    at = drafted(client, data)
    for path in (
        "/t/000000000000",
        "/t/%2e%2e",
        f"{at}/release/000000000000",
        f"{at}/schema/fields/99",
        f"{at}/nowhere",
    ):
        assert client.get(path).status_code == 404
    assert client.post(f"{at}/jobs/000000000000/stop").status_code == 404


def test_missing_files_are_told(client, tmp_path):
    for wrong in ("", "nowhere.csv", str(tmp_path), "a\0b"):
        answer = client.post("/tables", data={"data": wrong})
        assert answer.status_code == 422
    broken = tmp_path / "table.xyz"
    broken.write_text("x")
    at = place_of(client.post("/tables", data={"data": str(broken)}))
    client.post(f"{at}/schema/draft")
    assert "unknown kind" in client.get(f"{at}/schema").text


def test_a_worker_that_finds_an_outcome_does_nothing(client, data, tmp_path):
    """Started twice on the same folder, a run spends once, also where its release may be replaced."""
    ran(client, data, tmp_path, replace="yes")
    once = spent(tmp_path)
    for request in (tmp_path / "home").rglob("request.json"):
        worker.main(request.parent)
    assert spent(tmp_path) == once


def test_a_database_with_a_query(client, data, tmp_path):
    import duckdb

    with duckdb.connect(str(tmp_path / "clinic.duckdb")) as made:
        made.execute("CREATE TABLE visits AS SELECT range % 90 AS age, 'f' AS sex FROM range(50)")
        made.execute("CREATE TABLE other AS SELECT 1 AS x")
    place = {"data": str(tmp_path / "clinic.duckdb"), "dataset": "clinic"}
    at = place_of(client.post("/tables", data=place))
    client.post(f"{at}/schema/draft")
    assert "say which with --sql" in client.get(f"{at}/schema").text
    client.post(f"{at}/change", data={**place, "sql": "SELECT age FROM visits"})
    client.post(f"{at}/schema/draft")
    assert client.get(f"{at}/schema").text.count("needs review") == 1


@pytest.mark.parametrize("kind", ["duckdb", "sqlite"])
def test_a_table_of_a_database_is_picked_from_a_list(client, tmp_path, kind):
    import sqlite3

    import duckdb

    place = tmp_path / f"clinic.{kind}"
    with sqlite3.connect(place) if kind == "sqlite" else duckdb.connect(str(place)) as made:
        made.execute('CREATE TABLE "<b>visits" (age INTEGER)')
        made.execute("CREATE TABLE other (x INTEGER)")
        made.execute('INSERT INTO "<b>visits" VALUES (30), (40)')
    made.close()
    at = place_of(client.post("/tables", data={"data": str(place)}))
    assert "List the tables" in client.get(at).text
    for headers in ({"hx-request": "true"}, {}):
        listed = client.post(f"{at}/tables", headers=headers).text
        assert "<b>visits" not in listed
        queries = [html.unescape(each) for each in re.findall(r'name="picked_sql" value="([^"]*)"', listed)]
        assert queries == ['SELECT * FROM "<b>visits"', 'SELECT * FROM "other"']
    client.post(f"{at}/change", data={"data": str(place), "dataset": "clinic", "picked_sql": queries[0]})
    client.post(f"{at}/schema/draft")
    assert client.get(f"{at}/schema").text.count("needs review") == 1


def test_the_address_of_a_database_is_kept_without_a_password(client, tmp_path):
    assert "holds a password" in client.post("/tables", data={"data": "postgresql://me:pass@host/clinic"}).text
    at = place_of(client.post("/tables", data={"data": "postgresql://me@127.0.0.1:1/clinic", "dataset": "clinic"}))
    assert "postgresql://me@127.0.0.1:1/clinic" in client.get(at).text
    client.post(f"{at}/schema/draft")
    page = client.get(f"{at}/schema").text
    assert "no connection to the database" in page or "pip install" in page
    assert not any(b"me:pass" in path.read_bytes() for path in (tmp_path / "home").rglob("*") if path.is_file())


def test_several_files_as_one_table(client, tmp_path):
    for name in ("one", "two"):
        write_table(tmp_path / f"{name}.csv", rows=30)
    listed = client.post("/browse", data={"folder": str(tmp_path)}).text
    assert "all 2 .csv files as one table" in listed
    at = place_of(client.post("/tables", data={"picked": str(tmp_path / "*.csv"), "dataset": "both"}))
    client.post(f"{at}/schema/draft")
    assert client.get(f"{at}/schema").text.count("needs review") == 5


def test_a_schema_file_and_its_constraints(client, data, tmp_path):
    at = place_of(client.post("/tables", data={"data": str(data)}))
    assert "draft one with" in client.post(f"{at}/schema/load", data={"file": str(tmp_path / "none.json")}).text
    number = {"type": "integer", "constraints": {"minimum": 0, "maximum": 99}}
    fields = [{"name": "age", **number}, {"name": "paid", **number, "note": "mine"}]
    (tmp_path / "schema.json").write_text(json.dumps({"name": "visits", "fields": fields}))
    page = client.post(f"{at}/schema/load", data={"file": str(tmp_path / "schema.json")}).text
    assert "CONFIDENTIAL" not in page
    assert "does not know these keys" in page
    compare = {"kind": "compare", "left": "paid", "operator": "<=", "right": "age"}
    assert "not a modelled field" in client.post(f"{at}/schema/constraints/add", data={**compare, "left": "x"}).text
    assert "paid &lt;= age" in client.post(f"{at}/schema/constraints/add", data=compare).text
    assert "paid &lt;= age" not in client.post(f"{at}/schema/constraints/0/remove").text
    told = client.post(f"{at}/schema/whole", data={"missing_values": "NA\r\n-"})
    assert "NA" in told.text
    form = client.post(f"{at}/schema/constraints/form", data={"kind": "sum"})
    assert "<h1>Constraint</h1>" in form.text


def test_no_page_but_the_confidential_ones_depends_on_the_rows(client, tmp_path):
    """Two tables of one schema, other rows, other lengths: up to the run, pages are the same but for names of folders."""
    number = {"type": "integer", "constraints": {"minimum": 0, "maximum": 99}}
    (tmp_path / "schema.json").write_text(json.dumps({"fields": [{"name": "age", **number}]}))
    seen = []
    for name, rows in (("table-a", 30), ("table-b", 300)):
        place = tmp_path / name
        place.mkdir()
        (place / "t.csv").write_text("age\n" + "".join(f"{rows % 97}\n" for _ in range(rows)))
        at = place_of(client.post("/tables", data={"data": str(place / "t.csv"), "dataset": name}))
        client.post(f"{at}/schema/load", data={"file": str(tmp_path / "schema.json")})
        client.post(f"{at}/check", data={"unit": "", "rows_per_unit": "1"})
        pages = [client.get(f"{at}{step}").text for step in ("", "/schema", "/plan")]
        pages.append(client.post(f"{at}/plan", data={**BUDGET, "folder": str(place / "out")}).text)
        plain = re.sub(r'value="[0-9a-f]{12,16}"', "", "".join(pages))
        seen.append(plain.replace(at, "AT").replace(str(place), "PLACE").replace(name, "NAME"))
        assert f"{rows} rows" in client.get(f"{at}/check").text
    assert seen[0] == seen[1]


def test_a_check_of_an_earlier_schema_says_so(client, data):
    at = reviewed(client, data)
    client.post(f"{at}/check", data={"unit": "", "rows_per_unit": "1"})
    assert "The schema has changed since" not in client.get(f"{at}/check").text
    client.post(f"{at}/schema/fields/0", data={**AGE, "maximum": "110"})
    assert "The schema has changed since" in client.get(f"{at}/check").text


def test_the_steps_of_a_job_are_sent_as_events(client, data, tmp_path):
    at, release = ran(client, data, tmp_path)
    address = f"{at}/jobs/{release.rpartition('/')[2]}/events"
    told = client.get(address)
    assert told.headers["content-type"].startswith("text/event-stream")
    assert told.text.startswith("id: 1\nevent: step\ndata: starting\n\n")
    assert told.text.endswith("event: ended\ndata: done\n\n")
    assert "data: starting" not in client.get(address, headers={"last-event-id": "1"}).text
    assert client.get(f"{at}/jobs/000000000000/events").status_code == 404


def test_troubles_within_a_page_take_the_place_of_the_piece(client, tmp_path):
    asked = client.post("/browse", data={"folder": str(tmp_path / "nowhere")}, headers={"hx-request": "true"})
    assert (asked.status_code, "cannot be read" in asked.text, "<html" in asked.text) == (200, True, False)


def test_an_account_that_looks_like_another_is_opened_only_where_that_is_said(client, tmp_path, data):
    ledger = Ledger(tmp_path / "ledger.sqlite")
    ledger.disclose("visits1", "a look")
    given = {"data": str(data), "dataset": "visitsl"}
    refused = client.post("/tables", data=given)
    assert refused.status_code == 422
    assert "looks like that of &#39;visits1&#39;" in refused.text
    at = place_of(client.post("/tables", data=given | {"new_account": "yes"}))
    client.post(f"{at}/schema/draft")
    assert ledger.accounts() == ["visits1", "visitsl"]
    other = place_of(client.post("/tables", data={"data": str(data), "dataset": "visits1"}))
    changed = client.post(f"{other}/change", data={"data": str(data), "dataset": "Visits1"})
    assert changed.status_code == 422
    assert "looks like that of &#39;visits1&#39;" in changed.text
