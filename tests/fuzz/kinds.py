"""The kinds of inputs that are fuzzed: for every number the same files and the same command lines, on every machine."""

import json
import sqlite3
import tomllib
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet

import tables
from fuzz import linked_kinds
from fuzz.inputs import dump, odd_column, rng
from fuzz.mutations import mutate, mutate_bytes
from laws.query_examples import EXAMPLES
from sundog.domain import Schema
from sundog.domain.unit import PrivacyUnit
from sundog.private.accountant import Charge
from sundog.private.ledger import Ledger, _digest
from sundog.queries import Marginal
from sundog.released import Guarantee, Measurement, Payment, Released

BUDGET = ("--rho", "0.5", "--method", "independent")
FULL = tables.DOCUMENT | {
    "missingValues": ["", "NA"],
    "dialect": {"delimiter": ",", "quoteChar": '"', "header": True, "encoding": "utf-8"},
    "primaryKey": "visit",
    "constraints": [
        {"name": "a", "kind": "compare", "left": "age", "operator": "<=", "right": "cost"},
        {"name": "b", "kind": "sum", "weights": {"age": 1, "cost": 2}, "minimum": 0, "maximum": 500},
        {"name": "c", "kind": "impossible", "where": {"smoker": True, "grade": "low", "age": {"maximum": 9}}},
    ],
}
WORKLOAD = """
[[queries]]
kind = "marginals"
k = 2
sample = 3
[[queries]]
kind = "prefixes"
count = 20
weight = 2.0
[[queries]]
kind = "trees"
levels = 3
[[queries]]
kind = "halfspaces"
directions = 5
thresholds = 3
[[queries]]
kind = "at_least"
k = 3
least = 2
[[queries]]
kind = "marginals"
columns = ["age", "smoker"]
"""
QUERY_FIELDS = [
    {"name": "colour", "type": "string", "categories": ["red", "green"]},
    {"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 3}},
    {"name": "hours", "type": "integer", "constraints": {"minimum": 1, "maximum": 3, "required": True}},
    {"name": "only", "type": "string", "categories": ["one"], "constraints": {"required": True}},
    {"name": "fixed", "type": "integer", "constraints": {"minimum": 7, "maximum": 7, "required": True}},
]
QUERY_SCHEMA = Schema.from_json({"name": "d", "fields": QUERY_FIELDS})
SDV = {"columns": {"a": {"sdtype": "categorical"}, "b": {"sdtype": "numerical", "computer_representation": "Int64"}}}


@cache
def _csv():
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        tables.write_csv(Path(folder) / "data.csv", tables.table(8))
        return (Path(folder) / "data.csv").read_bytes()


def schema(number, folder):
    """A malformed schema: checked, and, where it is accepted, used."""
    draw, place = rng("schema", number), Path(folder)
    dump(place / "schema.json", mutate(draw, FULL))
    (place / "data.csv").write_bytes(_csv())
    yield "schema", "check", "schema.json"
    if number % 5 == 0:
        yield "synthesize", "data.csv", "--schema", "schema.json", *BUDGET, "-o", "out", "--dataset", "d"
    if number % 5 == 1:
        yield (
            "schema",
            "complete",
            "data.csv",
            "--schema",
            "schema.json",
            "--rho",
            "1",
            "--delta",
            "1e-6",
            "-o",
            "s",
            "--dataset",
            "d",
        )
    if number % 5 == 2:
        yield "schema", "import-sdv", "schema.json", "-o", "made.json"
    if number % 5 == 3:
        yield "schema", "review", "schema.json", "--keep", "age", "-o", "made.json"


@cache
def _release():
    """One release with a measurement of every class of queries."""
    draw = np.random.default_rng(0)
    queries = [case.query for cases in EXAMPLES.values() for case in cases[:2]]
    measured = tuple(
        Measurement(query, draw.integers(-5, 50, query.size), 2.5, f"d#{k}") for k, query in enumerate(queries)
    )
    payments = tuple(Payment(f"d#{k}", "gaussian", "x", 0.1, 0.0, {"cells": 3}) for k in range(len(queries)))
    guarantee = Guarantee(PrivacyUnit(), "gaussian", 0.5, epsilon=1.0, delta=1e-6)
    return Released(QUERY_SCHEMA, measured, guarantee, payments=payments, dataset="d", noise="n").to_json()


@cache
def _plain_release():
    """One release of tables only, which every generator takes."""
    names = QUERY_SCHEMA.names
    queries = [Marginal.of(QUERY_SCHEMA, name) for name in names]
    measured = tuple(Measurement(q, np.full(q.size, 9), 2.5, f"d#{k}") for k, q in enumerate(queries))
    guarantee = Guarantee(PrivacyUnit("replace"), "zcdp", 0.5, epsilon=1.0, delta=1e-6)
    return Released(QUERY_SCHEMA, measured, guarantee, dataset="d", public_rows=40).to_json()


def released(number, folder):
    """A tampered released.json (and model.json): generated from, compared, adjusted to."""
    draw, place = rng("released", number), Path(folder)
    document = _plain_release() if number % 2 else _release()
    dump(place / "released.json", mutate(draw, document))
    dump(place / "schema.json", QUERY_SCHEMA.to_json())
    small = ("--set", "rows=40", "--set", "generations=5")
    method = ("--method", "independent") if number % 2 else ("--method", "private-gsd", *small)
    yield "generate", "released.json", *method, "-o", "out", "--seed", "1"
    if number % 10 == 3:
        yield "generate", "released.json", "--method", "mst", "-o", "other", "--seed", "1"
    if number % 10 == 5:
        yield "compare", "released.json", "--method", "independent"
    if number % 10 == 7:
        (place / "rows.csv").write_text("colour,age,hours,only,fixed\n")
        yield "adjust", "rows.csv", "--schema", "schema.json", "--released", "released.json", "-o", "a"


def _some_fields(draw):
    """The schema with few of its fields, mostly: what is tried is the reader, and every measurement takes time."""
    fields = tables.FIELDS if draw.random() < 0.1 else draw.sample(tables.FIELDS[1:], 3)
    return {"name": "clinic", "fields": fields}


def odd_parquet(number, folder):
    """A Parquet file with columns of any type, odd names, or changed bytes: measured, drafted, checked."""
    draw, place = rng("parquet", number), Path(folder)
    rows = draw.choice([0, 1, 7])
    values = tables.table(rows)
    columns = {name: pa.array(cells) for name, cells in values.items()}
    for name in draw.sample(list(columns), draw.randint(1, 4)):
        columns[draw.choice([name, name, name.upper(), "", "a\nb", '"', "unit"])] = odd_column(draw, rows)
    compression = draw.choice(["snappy", "none", "gzip", "zstd"])
    try:
        parquet.write_table(pa.table(columns), place / "data.parquet", compression=compression)
    except pa.ArrowException:  # what Arrow itself cannot write: a file of nothing
        (place / "data.parquet").write_bytes(b"PAR1")
    if draw.random() < 0.5:
        path = place / "data.parquet"
        path.write_bytes(mutate_bytes(draw, path.read_bytes()))
    dump(place / "schema.json", _some_fields(draw))
    yield "measure", "data.parquet", "--schema", "schema.json", *BUDGET, "-o", "released.json"
    if number % 16 == 0:
        yield "schema", "draft", "data.parquet", "-o", "draft.json"
    if number % 16 == 1:
        unit = ("--unit", draw.choice(["visit", "region", "cost"]), "--rows-per-unit", "2")
        yield "measure", "data.parquet", "--schema", "schema.json", *BUDGET, *unit, "-o", "other.json"
    if number % 16 == 2:
        yield (
            "evaluate",
            "--real",
            "data.parquet",
            "--synthetic",
            "data.parquet",
            "--schema",
            "schema.json",
            "--no-learning",
        )


def text_table(number, folder):
    """A CSV file with changed bytes."""
    draw, place = rng("text", number), Path(folder)
    (place / "data.csv").write_bytes(mutate_bytes(draw, _csv(), changes=30))
    dump(place / "schema.json", _some_fields(draw))
    yield "measure", "data.csv", "--schema", "schema.json", *BUDGET, "-o", "released.json"
    if number % 12 == 0:
        yield "schema", "draft", "data.csv", "-o", "draft.json"


def ledger(number, folder):
    """A forged ledger: rows whose chain of hashes and witness are right, but whose content is not; or changed bytes."""
    draw, place = rng("ledger", number), Path(folder)
    book = Ledger(place / "ledger.sqlite")
    book.set_limit("d", epsilon=1.0, delta=1e-6)
    book.charge("d", [Charge("gaussian", 0.001, label="x")], unit=PrivacyUnit("replace", "who", 2))
    book.disclose("d", "shown")
    if draw.random() < 0.25:
        victim = place / draw.choice(["ledger.sqlite", "ledger.sqlite.witness", "ledger.sqlite.lock"])
        victim.write_bytes(mutate_bytes(draw, victim.read_bytes()))
    else:
        _forge(draw, place / "ledger.sqlite")
    (place / "data.csv").write_bytes(_csv())
    dump(place / "schema.json", tables.DOCUMENT)
    yield "ledger", "show", "--json"
    yield "ledger", "show"
    yield "ledger", "limit", "d", "--rho", "3"
    yield "ledger", "export", "-o", "record.json"
    if number % 16 == 0:
        yield "measure", "data.csv", "--schema", "schema.json", *BUDGET, "--dataset", "d", "-o", "released.json"


def _forge(draw, path):
    connection = sqlite3.connect(path, isolation_level=None)
    rows = connection.execute("SELECT number, body FROM entries ORDER BY number").fetchall()
    bodies = [json.loads(body) for _, body in rows]
    victim = draw.randrange(len(bodies))
    bodies[victim] = mutate(draw, bodies[victim], changes=2)
    connection.execute("DROP TRIGGER kept")
    digest = "0" * 64
    for number, body in enumerate(bodies, start=1):
        text = json.dumps(body)
        digest = _digest(digest, number, body=text)
        connection.execute("UPDATE entries SET body = ?, hash = ? WHERE number = ?", (text, digest, number))
    connection.close()
    path.with_name(path.name + ".witness").write_text(f"{len(bodies)} {digest}\n")


def workload(number, folder):
    """A malformed workload file."""
    draw, place = rng("workload", number), Path(folder)
    if draw.random() < 0.4:
        text = mutate_bytes(draw, WORKLOAD.encode())
    else:
        text = _toml(mutate(draw, tomllib.loads(WORKLOAD))).encode(errors="replace")
    (place / "workload.toml").write_bytes(text)
    dump(place / "schema.json", tables.DOCUMENT)
    yield "workload", "describe", "workload.toml", "--schema", "schema.json", "--rho", "1"


def _toml(document):
    if not isinstance(document, dict):
        return f"queries = {_toml_value(document)}"
    return "\n".join(f"{json.dumps(str(key))} = {_toml_value(value)}" for key, value in document.items())


def _toml_value(value):
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(str(key))} = {_toml_value(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml_value, value)) + "]"
    return "0" if value is None else json.dumps(value).replace("NaN", "nan").replace("Infinity", "inf")


OPTIONS = (
    "--rows", "--epsilon", "--delta", "--rho", "--seed", "--rows-per-unit", "--unit", "--dataset", "--method", "--set",
    "--adjust", "--adjust-share", "--workload", "--public", "--neighbours", "--format", "--delimiter", "--encoding",
    "--quote", "--decimal", "-o", "--ledger", "--schema", "--sql",
)  # fmt: skip
VALUES = (
    "1e20", "100000000000000000000", "-1", "0", "nan", "inf", "1e-400", "", " ", "rows=abc", "rows=0", "rows=1e20", "=", "x=",
    ".", "..", "/", "/dev/null", "/nonexistent/x", "data.csv", "schema.json", "out/", "a" * 300, "a/" * 3000, "é\u202e", "tab",
    "utf-7", "independent/independent", "mst/privpgd", "add-remove", "replace", "0.5", "3", "visit", "columns", "*", "[", "~",
)  # fmt: skip


def command(number, folder):
    """Odd arguments: numbers that are none, paths that are folders, names that are nothing."""
    draw, place = rng("command", number), Path(folder)
    (place / "data.csv").write_bytes(_csv())
    dump(place / "schema.json", tables.DOCUMENT)
    dump(place / "released.json", _plain_release())
    base = draw.choice(
        [
            ["synthesize", "data.csv", "--schema", "schema.json", *BUDGET, "-o", "out"],
            ["measure", "data.csv", "--schema", "schema.json", *BUDGET, "-o", "made.json"],
            ["generate", "released.json", "--method", "independent", "-o", "out"],
            ["schema", "draft", "data.csv", "-o", "draft.json"],
            ["schema", "check", "schema.json", "data.csv"],
            ["compare", "released.json", "--method", "independent"],
            ["evaluate", "--real", "data.csv", "--synthetic", "data.csv", "--schema", "schema.json", "--no-learning"],
            ["ledger", "limit", "d", "--rho", "1"],
            ["ledger", "export", "-o", "record.json"],
        ]
    )
    for _ in range(draw.randint(1, 2)):
        if draw.random() < 0.5:
            base += [draw.choice(OPTIONS), draw.choice(VALUES)]
        else:
            base[draw.randrange(1, len(base))] = draw.choice(VALUES)
    yield base


KINDS = {
    "schema": schema,
    "released": released,
    "parquet": odd_parquet,
    "text": text_table,
    "ledger": ledger,
    "workload": workload,
    "command": command,
    **linked_kinds.KINDS,
}
