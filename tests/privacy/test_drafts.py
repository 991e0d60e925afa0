"""Whatever a draft of the data wrote, in one table or in linked ones, is refused at every door and stays marked until it is reviewed.

One list of the kinds of fields that a draft may hold: each is tried in one table, in the root of linked tables and below it, and
keys as well. A way that loses the mark must fail.
"""

import json
from dataclasses import replace

import pytest

import sundog
from privacy.stand_ins import run_command
from studio_visits import client_of, place_of
from sundog.domain import Schema
from sundog.domain.linked.reading import declared
from sundog.domain.linked.views import LinkedSchema
from sundog.domain.unit import PrivacyUnit
from sundog.released import Guarantee, Released
from sundog.report import certificate as certificates
from sundog.report import description
from sundog.report.certificate import certificate
from sundog.report.description import data_package

BASE = [
    {"name": "own", "identifier": True},
    {"name": "a", "type": "integer", "constraints": {"minimum": 0, "maximum": 9, "required": True}},
    {"name": "b", "type": "integer", "constraints": {"minimum": 0, "maximum": 9, "required": True}},
    {
        "name": "day",
        "type": "date",
        "constraints": {"minimum": "2020-01-01", "maximum": "2020-01-09", "required": True},
    },
]
KINDS = {
    "bounds": {"type": "integer", "constraints": {"minimum": 3, "maximum": 7}},
    "labels": {"type": "string", "categories": ["m", "f"]},
    "a truth value": {"type": "boolean"},
    "a distance": {
        "type": "date",
        "relativeTo": "day",
        "offset": {"minimum": 0, "maximum": 5},
        "constraints": {"minimum": "2020-01-01", "maximum": "2020-02-01"},
    },
    "a lookup": {"type": "string", "derived": "lookup(a, 1, 'low', 2, 'high', 'other')"},
    "cut points": {"type": "string", "derived": "choose(cut(a, 3, 7), 'x', 'y', 'z')"},
    "a sum": {"type": "integer", "derived": "a + b"},
    "an identifier": {"type": "string", "identifier": True},
    "an identifier that is made anew": {"type": "string", "identifier": True, "sundog": {"regenerate": True}},
}
KEYS = ("homes.own", "persons.own", "persons.home")
NAMES = [
    *((kind, f"{place}drawn") for kind in KINDS for place in ("", "homes.", "persons.")),
    *(("a key", key) for key in KEYS),
]
ALL = pytest.mark.parametrize(("kind", "name"), NAMES, ids=[f"{kind} as {name}" for kind, name in NAMES])


def drafted(kind, name, origin="fromData"):
    """A schema in which one field is a draft's: of one table, or of linked ones where the name has a table's before it."""
    table, _, field = name.rpartition(".")
    if kind != "a key":
        given = KINDS[kind]
        own = {"name": field, **given, "sundog": {**given.get("sundog", {}), "origin": origin}}
    else:
        own = {"name": field, "identifier": True, "sundog": {"origin": origin}}
    if not table:
        return {"name": "people", "fields": [*BASE, own]}
    tables = {"homes": list(BASE), "persons": [*BASE, {"name": "home", "identifier": True}]}
    tables[table] = [*(each for each in tables[table] if each["name"] != field), own]
    return package(tables)


def package(tables):
    link = [{"fields": ["home"], "reference": {"resource": "homes", "fields": ["own"]}}]
    keys = {"primaryKey": ["own"]}
    below = {"name": "persons", "maximumPerParent": 2}
    return {
        "name": "people",
        "resources": [
            {"name": "homes", "schema": {**keys, "fields": tables["homes"]}},
            {**below, "schema": {"primaryKey": ["home", "own"], "foreignKeys": link, "fields": tables["persons"]}},
        ],
    }


def released_under(document):
    """What a run releases under a schema, but for its measurements."""
    schema = declared(document)
    unit = PrivacyUnit(column="homes.own", below=True) if isinstance(schema, LinkedSchema) else PrivacyUnit()
    return Released(schema, (), Guarantee(unit, "gaussian", 0.1), dataset="people")


def mark(descriptor, name):
    """Where a written descriptor says that a field comes from; None where it does not list the field."""
    table, _, field = name.rpartition(".")
    (schema,) = [each["schema"] for each in descriptor["resources"] if not table or each["name"] == table]
    return {each["name"]: each.get("sundog", {}).get("origin", "declared") for each in schema["fields"]}.get(field)


def check_marked(kind, name):
    """On the certificate and in its warning, in released.json as it is read again, in datapackage.json."""
    made = released_under(drafted(kind, name))
    for released in (made, Released.from_json(json.loads(json.dumps(made.to_json())))):
        said = certificate(released)
        assert said["domains"].get("fromData") == [name], "a mark was lost"
        assert f"1 columns were read from the rows without noise and not reviewed: {name}." in said["warnings"][0]
        found = mark(data_package(released, method=None, tables=["synthetic.homes.csv", "synthetic.persons.csv"]), name)
        absent = kind == "an identifier"  # the synthetic table has no such column
        assert found == (None if absent else "fromData"), "a mark was lost"


def check_refused(kind, name):
    document = drafted(kind, name)
    with pytest.raises(sundog.UserError, match=rf"nobody has reviewed them \('{name}'\)"):
        sundog.Synthesizer(document, rho=0.1)
    sundog.Synthesizer(document, rho=0.1, accept_unreviewed=True)


@ALL
def test_python_refuses_it(kind, name):
    check_refused(kind, name)


@ALL
def test_it_stays_marked(kind, name):
    check_marked(kind, name)


@ALL
def test_once_reviewed_it_is_public(kind, name):
    review = sundog.Review(drafted(kind, name))
    assert [question.name for question in review.questions] == [name]
    done = review.keep(name)
    assert done.done
    sundog.Synthesizer(done.document, rho=0.1)
    domains = certificate(released_under(done.document))["domains"]
    assert domains["reviewed"] == [name]
    assert set(domains) == {"declared", "reviewed"}


@ALL
@pytest.mark.parametrize("command", ["synthesize", "measure"])
def test_commands_refuse_it_before_anything_is_read(tmp_path, command, kind, name):
    (tmp_path / "s.json").write_text(json.dumps(drafted(kind, name)))
    run = run_command(tmp_path, command, "absent.csv", "--schema", "s.json", "--rho", "0.1", "-o", "out")
    assert run.code == 2
    assert f"('{name}')" in run.stderr
    assert run.ledger == []


@pytest.mark.parametrize("kind", KINDS)
def test_adjusting_refuses_it(kind):
    table = {"own": ["x"], "a": [1], "b": [1], "day": ["2020-01-01"], "drawn": [None]}
    with pytest.raises(sundog.UserError, match=r"nobody has reviewed them \('drawn'\)"):
        sundog.adjust(table, "marginals: a", schema=drafted(kind, "drawn"), real=table, rho=0.1)


@pytest.mark.parametrize("name", ["homes.drawn", "persons.drawn"])
@pytest.mark.parametrize("kind", ["a lookup", "an identifier"])
def test_the_studio_waits_for_the_review(tmp_path, kind, name):
    client, path = client_of(tmp_path), tmp_path / "datapackage.json"
    path.write_text(json.dumps(drafted(kind, name)))
    at = place_of(client.post("/tables", data={"data": str(path)}))
    assert "before every column of the schema is reviewed" in client.get(f"{at}/plan").text
    path.write_text(json.dumps(drafted(kind, name, origin="reviewed")))
    client.post(f"{at}/schema/again")
    assert "before every column" not in client.get(f"{at}/plan").text


def test_the_review_of_linked_tables_is_written_by_the_command(tmp_path):
    """Every answer is checked at once, and what was reviewed of one table leaves the others as they are."""
    document = drafted("a sum", "persons.drawn")
    fields = document["resources"][0]["schema"]["fields"]
    fields[1] = {**fields[1], "sundog": {"origin": "fromData"}, "why": "Whole numbers."}
    document["resources"][0]["schema"]["description"] = "CONFIDENTIAL DRAFT"
    (tmp_path / "s.json").write_text(json.dumps(document))
    first = run_command(tmp_path, "schema", "review", "s.json", "--json")
    assert [each["name"] for each in json.loads(first.stdout)["questions"]] == ["homes.a", "persons.drawn"]
    assert first.stderr == ""
    run = run_command(tmp_path, "schema", "review", "s.json", "--keep", "homes.a", "--keep", "persons.drawn", "--json")
    assert run.code == 0, run.stderr
    assert json.loads(run.stdout)["reviewed"]
    written = json.loads((tmp_path / "s.json").read_text())
    assert "CONFIDENTIAL" not in json.dumps(written)
    assert "Whole numbers." not in json.dumps(written)
    assert set(declared(written).origins.values()) == {"declared", "reviewed"}
    assert run_command(tmp_path, "schema", "review", "s.json", "--keep", "homes.b.c", "--json").code == 2
    (tmp_path / "s.json").write_text(json.dumps({"resources": [{"name": "homes"}]}))
    assert run_command(tmp_path, "schema", "review", "s.json", "--keep", "homes.a", "--json").code == 2


@pytest.mark.slow
def test_a_whole_release_of_linked_tables_says_it_everywhere(tmp_path):
    fields = [{**each, "sundog": {"origin": "fromData"}} for each in BASE]
    derived = {"name": "sum", "type": "integer", "derived": "a + b", "sundog": {"origin": "fromData"}}
    document = package({"homes": [*fields, derived], "persons": [*BASE, {"name": "home", "identifier": True}]})
    (tmp_path / "datapackage.json").write_text(json.dumps(document))
    homes = [f"{n},{n % 9},{n % 7},2020-01-0{1 + n % 9}" for n in range(60)]
    persons = [f"{n},{n % 5},{n % 3},2020-01-01,{n // 2}" for n in range(120)]
    (tmp_path / "homes.csv").write_text("\n".join(["own,a,b,day", *homes]) + "\n")
    (tmp_path / "persons.csv").write_text("\n".join(["own,a,b,day,home", *persons]) + "\n")
    budget = ("--epsilon", "1", "--delta", "1e-6", "--accept-unreviewed")
    run = run_command(tmp_path, "synthesize", "datapackage.json", *budget, "-o", "out")
    assert run.code == 0, run.stderr
    drawn = ["homes.own", "homes.a", "homes.b", "homes.day", "homes.sum"]
    sentence = f"5 columns were read from the rows without noise and not reviewed: {', '.join(drawn)}."
    assert sentence in run.stdout
    for page in ("README.txt", "report.html", "explore.html", "certificate.html", "certificate.json"):
        assert sentence in run.files[f"out/{page}"].decode(), page
    assert "its domain was read from the rows without noise" in run.files["out/explore.html"].decode()
    written = json.loads(run.files["out/datapackage.json"])
    assert [mark(written, name) for name in (*drawn, "persons.a")] == ["fromData"] * 5 + ["declared"]
    kept = Released.load(tmp_path / "out" / "released.json").schema
    assert [name for name, origin in kept.origins.items() if origin == "fromData"] == drawn


def test_packages_that_know_of_columns_alone_are_found(monkeypatch):
    make = LinkedSchema.from_package

    def columns_alone(package):
        made = make(package)
        return replace(made, origins={name: origin for name, origin in made.origins.items() if name in made.names})

    monkeypatch.setattr(LinkedSchema, "from_package", staticmethod(columns_alone))
    check_refused("bounds", "persons.drawn")
    for kind, name in (("a sum", "persons.drawn"), ("an identifier", "homes.drawn"), ("a key", "persons.home")):
        with pytest.raises(pytest.fail.Exception, match="DID NOT RAISE"):
            check_refused(kind, name)


@pytest.mark.parametrize("name", ["drawn", "persons.drawn"])
@pytest.mark.parametrize(
    ("owner", "part", "mutant"),
    [
        (certificates, "origins", lambda released: {"declared": list(released.schema.names)}),
        (description, "_marked", lambda field, schema: field),
        (Schema, "to_json", lambda schema: json.loads(json.dumps(schema.document).replace("fromData", "declared"))),
    ],
    ids=["certificates that name the columns alone", "descriptors without marks", "a document without marks"],
)
def test_a_mark_that_is_lost_is_found(monkeypatch, owner, part, mutant, name):
    monkeypatch.setattr(owner, part, mutant)
    with pytest.raises(AssertionError, match="a mark was lost"):
        check_marked("a lookup", name)
