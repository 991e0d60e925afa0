"""Packages of linked tables: a small sound one, and what a mistaken or hostile hand makes of its document or of its text."""

import copy
import json

from fuzz.mutations import mutate, mutate_bytes
from linked_tables import below, key, label, number

DAYS = {"minimum": "2024-01-01", "maximum": "2024-01-20"}
TABLES = ("patients", "visits", "tests", "kin")
"""The private tables; tests lie below visits."""
BOUNDS = (
    0, 1, 2, 4, 8, 9, 20, 21, 50, 10_000, 10_001, 10**30, -1, 1.5, 3.0, "3", True, None, [3], float("nan"), 1e308,
)  # fmt: skip
ORDERS = (
    "day", ["day"], ["number", "day"], ["fee", "day"], "left", ["sex"], ["elder"], ["id"], "nothing", [], "", None, 4,
    ["day"] * 9, [["day"]], "age", "good",
)  # fmt: skip
PATHS = (
    "", ".", "..", "/", "/dev/null", "*.csv", "[", "visits.csv", "patients.csv", "nothing.csv", "datapackage.json", "a\x00b",
    "a" * 300, "a/" * 3000, ["visits.csv"], 3, None, "visits.txt", "visits.csv.gz", "~", "patients.csv#x",
)  # fmt: skip
SPELLINGS = (
    ["", "-1"], [None], [1], "NA", {"delimiter": ";"}, {"delimiter": "\n"}, {"encoding": "utf-7"}, {"header": False},
    {"quoteChar": None}, ["sex", "nothing"], [{"value": "NA"}], [["a"]], {},
)  # fmt: skip


def sound(*, paths=True):
    """A tree of four tables with all that a package can declare, and a reference table."""
    resources = [_patients(), _visits(), _tests(), _kin(), _wards()]
    for resource in resources if paths else []:
        resource["path"] = f"{resource['name']}.csv"
    return {"name": "ward", "privacyUnit": "patients", "resources": resources, "constraints": _rules()}


def _patients():
    fields = [key("id", "string"), label("sex", "f", "m"), {"name": "born", "type": "date", "constraints": DAYS}]
    return {"name": "patients", "schema": {"primaryKey": ["id"], "missingValues": ["", "NA", "-1"], "fields": fields}}


def _visits():
    day = {"name": "day", "type": "date", "constraints": {**DAYS, "required": True}}
    left = {
        "name": "left",
        "type": "date",
        "relativeTo": "day",
        "offset": {"minimum": 0, "maximum": 5},
        "constraints": DAYS,
    }
    fee = {"name": "fee", "type": "number", "constraints": {"minimum": 0, "maximum": 5}, "sundog": {"decimals": 1}}
    fields = [key("number", "string"), key("patient", "string"), day, left, fee]
    schema = {"primaryKey": "number", "foreignKeys": below("patients", "patient"), "fields": fields}
    return {"name": "visits", "maximumPerParent": 3, "minimumPerParent": 0, "orderBy": ["day"], "schema": schema}


def _tests():
    fields = [key("visit", "string"), label("kind", "blood", "scan"), {"name": "good", "type": "boolean"}]
    keys = below("visits", "visit", "number")
    keys += [{"fields": ["kind"], "reference": {"resource": "wards", "fields": ["code"]}}]
    return {"name": "tests", "maximumPerParent": 2, "schema": {"foreignKeys": keys, "fields": fields}}


def _kin():
    elder = {"name": "elder", "type": "boolean", "derived": "age >= 5"}
    fields = [key("patient", "string"), number("age", 0, 9), label("role", "head", "other"), elder]
    impossible = {"kind": "impossible", "where": {"role": "head", "age": {"maximum": 1}}}
    schema = {"foreignKeys": below("patients", "patient"), "fields": fields, "constraints": [impossible]}
    return {"name": "kin", "maximumPerParent": 2, "schema": schema}


def _wards():
    return {"name": "wards", "public": True, "schema": {"fields": [{"name": "code", "type": "string"}]}}


def _rules():
    return [
        {"name": "late", "kind": "compare", "left": "visits.day", "operator": ">=", "right": "patients.born"},
        {"name": "head", "kind": "count", "table": "kin", "where": {"role": "head"}, "maximum": 1},
        {"name": "odd", "kind": "impossible", "where": {"tests.kind": "scan", "patients.sex": "m"}},
    ]


def bare(*, paths=True):
    """The same with a root that has nothing but its key."""
    document = sound(paths=paths)
    root = document["resources"][0]
    root["schema"]["fields"] = root["schema"]["fields"][:1]
    root.pop("path", None)
    document["constraints"] = document["constraints"][1:2]
    return document


def carried(*, paths=True, composite=True):
    """The same with the root's key in every row, by keys of two fields or by a field that is named so."""
    document = sound(paths=paths)
    visits, tests = document["resources"][1:3]
    tests["schema"]["fields"].insert(0, key("patient", "string"))
    if composite:
        visits["schema"]["primaryKey"] = ["patient", "number"]
        reference = {"resource": "visits", "fields": ["patient", "number"]}
        tests["schema"]["foreignKeys"] = [{"fields": ["patient", "visit"], "reference": reference}]
    else:
        tests["unitKey"] = "patient"
    return document


def any_of(draw, *, paths=True):
    """One of the sound packages."""
    made = draw.choice([sound, sound, sound, bare, carried, lambda paths: carried(paths=paths, composite=False)])
    return made(paths=paths)


def is_bare(document):
    """Whether the root has no table of its own."""
    return len(document["resources"][0]["schema"]["fields"]) == 1


def malformed(draw, document):
    """A copy with wrong keys, references, bounds, names or constraints, or with anything at any place."""
    if draw.random() < 0.4:
        return mutate(draw, document)
    made = copy.deepcopy(document)
    for _ in range(draw.randint(1, 2)):
        draw.choice(CHANGES)(draw, made, draw.choice(made.get("resources") or [{"name": "nothing"}]))
    return mutate(draw, made, changes=1) if draw.random() < 0.2 else made


def text_of(draw, document):
    """Its JSON as bytes: in another encoding, with keys twice, cut, nested too deep, with signs that no text has."""
    text = json.dumps(document)
    return draw.choice(
        [
            lambda: text.encode(draw.choice(["utf-8-sig", "utf-16", "utf-16-le", "utf-32", "latin-1", "cp1252"])),
            lambda: text.replace("visits", draw.choice(["vísits", "\ufeffvisits", "v\u202eisits"])).encode(
                draw.choice(["utf-8", "latin-1", "utf-16"]), errors="replace"
            ),
            lambda: mutate_bytes(draw, text.encode()),
            lambda: _twice(draw, text).encode(),
            lambda: text.replace('"ward"', draw.choice(['"\\ud800"', '"\\u0000"', "[" * 5000, "1" * 5000])).encode(),
            lambda: text.replace("3", draw.choice(["NaN", "Infinity", "1e999", "-0", "9" * 400, "3.0"])).encode(),
            lambda: b"\x00" * draw.choice([1, 1000]) + text.encode() * draw.choice([0, 1]),
            lambda: text.encode() + draw.choice([b"}", b"\x00", text.encode(), b"//"]),
        ]
    )()


def _twice(draw, text):
    """A key that an object has already, with another value."""
    name = draw.choice(["resources", "fields", "primaryKey", "name", "maximumPerParent", "schema"])
    place = draw.choice([k for k in range(len(text)) if text.startswith("{", k)]) + 1
    return f'{text[:place]}"{name}": {draw.choice(["[]", "1", "null", json.dumps("visits")])}, {text[place:]}'


def _schema(resource):
    """The schema of a resource that may already have been changed."""
    schema = resource.get("schema")
    return schema if isinstance(schema, dict) else {}


def _names(resource):
    return [field["name"] for field in _schema(resource).get("fields", ())] or ["nothing"]


def _primary(draw, document, resource):
    names = _names(resource)
    _schema(resource)["primaryKey"] = draw.choice(
        [None, [], "", names, names[:2], names[-1:], names[:1] * 2, ["nothing"], "nothing", [names[:1]], 3, {"a": 1}]
    )


def _foreign(draw, document, resource):
    """Circles, tables that are not there, public ones, twice the same, several fields, fields that do not match."""
    other = draw.choice([*TABLES, "wards", "nothing", "", resource["name"]])
    names = _names(resource)
    fields = draw.choice([names[:1], names[:2], names[0], [], ["nothing"], names[:1] * 2, None, [None], 7])
    target = draw.choice([["id"], ["number"], "number", ["id", "number"], [], ["nothing"], None, names[:2]])
    link = {"fields": fields, "reference": draw.choice([{"resource": other, "fields": target}] * 5 + [None, other, []])}
    keys = _schema(resource).get("foreignKeys", [])
    _schema(resource)["foreignKeys"] = draw.choice([[link], [*keys, link], keys * 2, [], link, None, [link, link]])


def _composite(draw, document, resource):
    """Keys of several fields, of which some fit."""
    _schema(resource)["primaryKey"] = ["patient", "number"]
    for child in document["resources"]:
        if child["name"] == "tests" and draw.random() < 0.8:
            _schema(child).setdefault("fields", []).insert(0, key("patient", "string"))
            reference = {"resource": "visits", "fields": draw.choice([["patient", "number"], ["number", "patient"]])}
            fields = draw.choice([["patient", "visit"], ["visit", "patient"], ["visit"], ["patient", "patient"]])
            _schema(child)["foreignKeys"] = [{"fields": fields, "reference": reference}]


def _unit_key(draw, document, resource):
    names = _names(resource)
    _schema(resource)["unitKey"] = resource["unitKey"] = draw.choice(
        ["patient", ["patient"], ["id"], names[:2], "nothing", [], None, 5, ["patient", "patient"], {"a": "b"}]
    )


def _bounds(draw, document, resource):
    name = draw.choice(["maximumPerParent", "minimumPerParent"])
    resource[name] = draw.choice(BOUNDS)


def _absent(draw, document, resource):
    holder = draw.choice([resource, _schema(resource), document])
    if holder:
        holder.pop(draw.choice(list(holder)))
        holder.setdefault("resources", []) if holder is document else None
        if holder is resource:
            holder.setdefault("name", "nothing")


def _ordered(draw, document, resource):
    resource["orderBy"] = draw.choice(ORDERS)


def _unit(draw, document, resource):
    document["privacyUnit"] = draw.choice([*TABLES, "wards", "nothing", "", None, 3, ["patients"], {}, "Patients"])


def _double(draw, document, resource):
    document["resources"].insert(draw.randrange(6), copy.deepcopy(resource))
    if draw.random() < 0.5:
        document["resources"][0]["name"] = draw.choice(
            ["VISITS", "visits ", "v\u0131sits", "#visits", "a" * 65, "x.y", ""]
        )


def _public(draw, document, resource):
    resource["public"] = draw.choice([True, False, "yes", None, 1, []])


def _named(draw, document, resource):
    fields = _schema(resource).get("fields")
    if fields:
        name = draw.choice(["#x", "a.#b", "x@2", "x@-", "", "a.b", "\u202e", "a" * 5000, "id", "ID", "day", "'", "a,b"])
        draw.choice(fields)["name"] = name


def _path(draw, document, resource):
    resource["path"] = draw.choice(PATHS)


def _ruled(draw, document, resource):
    """Constraints that contradict each other, the schema or the structure."""
    rules = [
        {"kind": "count", "table": "kin", "where": {"role": "head"}, "minimum": 2, "maximum": 1},
        {"kind": "count", "table": "kin", "where": {"role": "head"}, "minimum": 1},
        {"kind": "count", "table": "kin", "where": {"role": "head"}, "maximum": 0},
        {"kind": "count", "table": "patients", "where": {"sex": "f"}, "maximum": 0},
        {"kind": "count", "table": "kin", "where": {"age": {"minimum": 10**30}}, "maximum": 1},
        {"kind": "compare", "left": "visits.day", "operator": "<", "right": "patients.born"},
        {"kind": "compare", "left": "visits.day", "operator": "==", "right": "patients.born", "offset": "9999 weeks"},
        {"kind": "compare", "left": "visits.day", "operator": ">", "right": "kin.age"},
        {"kind": "sum", "weights": {"kin.age": 1, "patients.id": 10**400}, "minimum": 5},
        {"kind": "sum", "weights": {"visits.fee": 1e308, "patients.born": 1e308}, "maximum": 0},
        {"kind": "ratio", "numerator": "visits.fee", "denominator": "patients.born", "minimum": 0},
        {"kind": "impossible", "where": {"tests.good": True, "patients.sex": ["f", "m"]}},
        {"kind": "impossible", "where": {"kin.role": ["head", "other"], "patients.sex": ["f", "m"]}},
        {"kind": "impossible", "where": {"kin.elder": True, "patients.sex": "f"}},
        {"kind": "impossible", "where": {}},
        {"kind": "determines", "by": ["patients.sex"], "column": "kin.role"},
        {"kind": "protected", "weights": {"kin.age": 1}, "threshold": 0.5},
    ]
    chosen = draw.sample(rules, draw.randint(1, 3))
    holder = document if draw.random() < 0.8 else _schema(resource)
    held = holder.get("constraints")
    holder["constraints"] = [*(held if isinstance(held, list) else []), *chosen] * draw.choice([1, 1, 1, 50])


def _columns(draw, document, resource):
    """Columns that are huge, tiny, of one value, or strange."""
    fields = _schema(resource).setdefault("fields", [])
    more = draw.choice(
        [
            {"name": "n", "type": "integer", "constraints": {"minimum": 0, "maximum": 10**18}},
            {"name": "n", "type": "number", "constraints": {"minimum": 0, "maximum": 1}, "sundog": {"decimals": 300}},
            {"name": "n", "type": "number", "constraints": {"minimum": -1e308, "maximum": 1e308}},
            {"name": "n", "type": "integer", "constraints": {"minimum": 1, "maximum": 1, "required": True}},
            {"name": "n", "type": "string", "categories": [f"c{k}" for k in range(draw.choice([1, 700, 20_000]))]},
            {"name": "n", "type": "string", "categories": ["a"], "constraints": {"required": True}},
            {"name": "n", "type": "datetime", "constraints": {"minimum": "0001-01-01", "maximum": "9999-12-31"}},
            {"name": "n", "type": "time"},
            {"name": "n", "derived": draw.choice(["age + 1", "n", "nothing", "sex", "1 / 0", "((((", "day - born"])},
            {"name": "n", "type": "string", "identifier": True, "sundog": {"regenerate": True}},
            {"name": "n", "type": "integer", "relativeTo": "age", "offset": {"minimum": -(10**9), "maximum": 10**9}},
            {"name": "n", "type": "string", "categories": "nothing.csv"},
        ]
    )
    fields.append(more)


def _chain(draw, document, resource):
    """More tables: a long chain, or many of one parent."""
    deep, count = draw.random() < 0.5, draw.choice([2, 5, 12])
    for k in range(count):
        parent, target = ("visits", "number") if k == 0 or not deep else (f"more{k - 1}", "own")
        schema = {"primaryKey": "own", "foreignKeys": below(parent, "up", target)}
        fields = [key("own", "string"), key("up", "string"), label("l", "a", "b")]
        bound = draw.choice([1, 2, 10])
        document["resources"].append(
            {"name": f"more{k}", "path": "tests.csv", "maximumPerParent": bound, "schema": {**schema, "fields": fields}}
        )


def _text(draw, document, resource):
    """How files are written, and what is missing."""
    schema = _schema(resource)
    schema[draw.choice(["missingValues", "dialect", "targets"])] = draw.choice(SPELLINGS)


CHANGES = (_primary, _foreign, _foreign, _composite, _unit_key, _bounds, _bounds, _absent, _ordered, _unit, _double)
CHANGES += (_public, _named, _path, _ruled, _ruled, _columns, _columns, _chain, _text)
