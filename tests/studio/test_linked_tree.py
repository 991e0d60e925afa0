"""Linked tables in the studio: the package as a picture, and the whole way to a verified release."""

import json
import random

import pytest

from studio_visits import BUDGET, charge, place_of, spent
from sundog.domain.linked.package import Package
from sundog.private.ledger import Ledger
from sundog.studio.linked_tree import tree_of

pytestmark = pytest.mark.usefixtures("at_once")
NUMBER = {"type": "integer", "constraints": {"minimum": 0, "maximum": 9, "required": True}}


def package(**persons):
    """Homes, their persons, the persons' visits, and a public table of codes."""
    link = {"fields": ["home"], "reference": {"resource": "homes", "fields": ["home"]}}
    deeper = {"fields": ["person"], "reference": {"resource": "persons", "fields": ["person"]}}
    key = {"type": "string", "identifier": True}
    return {
        "name": "homes",
        "resources": [
            {
                "name": "homes",
                "path": "homes.csv",
                "schema": {"primaryKey": ["home"], "fields": [{"name": "home", **key}, {"name": "<b>rooms", **NUMBER}]},
            },
            {
                "name": "persons",
                "path": "persons.csv",
                "maximumPerParent": 3,
                "schema": {
                    "primaryKey": ["person"],
                    "foreignKeys": [link],
                    "fields": [{"name": "person", **key}, {"name": "home", **key}, {"name": "age", **NUMBER}],
                },
                **persons,
            },
            {
                "name": "visits",
                "path": "visits.csv",
                "maximumPerParent": 2,
                "schema": {"foreignKeys": [deeper], "fields": [{"name": "person", **key}, {"name": "cost", **NUMBER}]},
            },
            {"name": "codes", "public": True, "schema": {"fields": [{"name": "code", **NUMBER}]}},
        ],
    }


@pytest.fixture
def place(tmp_path):
    draw = random.Random(1)
    homes = [f"h{n},{draw.randrange(10)}" for n in range(60)]
    persons = [f"p{n}-{k},h{n},{draw.randrange(10)}" for n in range(60) for k in range(draw.randrange(3))]
    visits = [f"{person.split(',')[0]},{draw.randrange(10)}" for person in persons]
    for name, header, lines in (
        ("homes", "home,<b>rooms", homes),
        ("persons", "person,home,age", persons),
        ("visits", "person,cost", visits),
    ):
        (tmp_path / f"{name}.csv").write_text("\n".join([header, *lines]) + "\n")
    (tmp_path / "datapackage.json").write_text(json.dumps(package()))
    return tmp_path


def test_the_tree_says_keys_and_bounds():
    document = package(minimumPerParent=1)
    tree = tree_of(Package.from_json(document), document)
    assert [table.name for table in tree.all] == ["homes", "persons", "visits"]
    persons = tree.below[0]
    assert (persons.bounds, persons.key) == ("1 to 3 rows of one homes", "key person; home names homes.home")
    assert persons.below[0].bounds == "0 to 2 rows of one persons, so at most 6 of one homes"
    assert [row.name for row in persons.fields] == ["person", "home", "age"]


@pytest.mark.parametrize("named", ["datapackage.json", ""])
def test_a_package_is_shown_as_a_picture(client, place, named):
    at = place_of(client.post("/tables", data={"data": str(place / named)}))
    page = client.get(f"{at}/schema").text
    assert page.index("tree-table") < page.index("0 to 3 rows of one homes") < page.index("at most 6 of one homes")
    assert "public and not read: codes" in page
    assert "&lt;b&gt;rooms" in page
    assert "<b>rooms" not in page
    assert "CONFIDENTIAL" not in page
    assert "datapackage.json" in client.post("/browse", data={"folder": str(place)}).text


def test_the_whole_way_of_linked_tables(client, place, tmp_path):
    at = place_of(client.post("/tables", data={"data": str(place / "datapackage.json")}))
    assert "The studio checks one table at a time" in client.get(f"{at}/check").text
    plan = {key: value for key, value in BUDGET.items() if key != "method"} | {"folder": str(tmp_path / "out")}
    assert "Spent after" in client.post(f"{at}/plan/try", data=plan).text
    client.post(f"{at}/plan", data=plan)
    client.post(f"{at}/run", data=charge(client, at))
    release = str(client.get(f"{at}/release").url)
    page = client.get(release).text
    assert all(f"synthetic.{name}.csv" in page for name in ("homes", "persons", "visits"))
    assert client.get(f"{release}/files/synthetic.persons.csv").text.startswith('"person","home","age"')
    client.post(f"{release}/verify")
    assert "Nothing differs" in client.get(release).text
    assert Ledger(tmp_path / "ledger.sqlite").account("homes").rho > 0
    assert spent(tmp_path) == 0


def test_a_package_is_changed_in_its_file(client, place):
    at = place_of(client.post("/tables", data={"data": str(place / "datapackage.json")}))
    for path in ("schema/draft", "schema/load", "schema/fields/0", "schema/constraints/add", "schema/whole"):
        assert client.post(f"{at}/{path}", data={"file": "x"}).status_code == 422
    (place / "datapackage.json").write_text(json.dumps(package(maximumPerParent=7)))
    assert "0 to 7 rows of one homes" in client.post(f"{at}/schema/again").text
    (place / "datapackage.json").write_text(json.dumps(package(maximumPerParent=-1)))
    refused = client.post(f"{at}/schema/again")
    assert refused.status_code == 422
    assert "0 to 7 rows of one homes" in refused.text


def test_an_unreviewed_package_is_confidential_and_cannot_be_planned(client, place):
    document = package()
    document["resources"][1]["schema"]["fields"][2]["sundog"] = {"origin": "fromData"}
    (place / "datapackage.json").write_text(json.dumps(document))
    at = place_of(client.post("/tables", data={"data": str(place / "datapackage.json")}))
    assert "<title>CONFIDENTIAL" in client.get(f"{at}/schema").text
    assert "before every column of the schema is reviewed" in client.get(f"{at}/plan").text


def test_what_is_no_package_is_told(client, place):
    (place / "other.json").write_text('{"fields": []}')
    assert "is no Data Package" in client.post("/tables", data={"data": str(place / "other.json")}).text
    dropped = client.post("/tables/drop", files={"file": ("datapackage.json", json.dumps(package()).encode())})
    assert "by its path" in dropped.text
