"""sundog workload: it lists, it predicts noise and size, it names mistakes, and it never opens data."""

import json
import math

import pytest
from typer.testing import CliRunner

from sundog.cli.app import app
from sundog.errors import UserError
from sundog.queries.workload import KINDS

SCHEMA = {
    "name": "clinic",
    "targets": ["smoker"],
    "fields": [
        {"name": "smoker", "type": "boolean", "constraints": {"required": True}},
        {"name": "region", "type": "string", "categories": ["a", "b", "c"], "constraints": {"required": True}},
        {"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 9, "required": True}},
    ],
}
WORKLOAD = """
[[queries]]
kind = "marginals"
k = 2

[[queries]]
kind = "conditional_ranges"
count = 10
numbers = 1
weight = 3
"""


@pytest.fixture
def files(tmp_path):
    (tmp_path / "schema.json").write_text(json.dumps(SCHEMA))
    (tmp_path / "workload.toml").write_text(WORKLOAD)
    return str(tmp_path / "workload.toml"), "--schema", str(tmp_path / "schema.json")


@pytest.fixture(autouse=True)
def no_data(monkeypatch):
    """Whatever opens a table here is a fault."""

    def closed(*_, **__):
        raise AssertionError("a workload command opened data")

    for place in ("sundog.sources.open_table", "sundog.private.table.PrivateTable", "sundog.private.ledger.Ledger"):
        monkeypatch.setattr(place, closed)


def call(*words):
    return CliRunner().invoke(app, ["workload", *words])


def test_list_names_every_kind_with_its_options():
    found = json.loads(call("list", "--json").stdout)
    assert set(found) == set(KINDS)
    assert found["marginals"]["options"] == {"k": 2, "sample": None, "seed": 0, "columns": None, "bins": None}
    text = call("list").stdout
    assert all(kind in text for kind in KINDS)
    assert "k = 2" in text


def test_describe_says_what_would_be_measured(files):
    found = json.loads(call("describe", *files, "--rho", "0.5", "--json").stdout)
    assert [row["cells"] for row in found["queries"]] == [6, 20, 30, 30]
    assert [row["blocks"] for row in found["queries"]] == [1, 1, 1, 10]
    assert [row["sensitivitySquared"] for row in found["queries"]] == ["1", "1", "1", "10"]
    assert [row["weight"] for row in found["queries"]] == [1.0, 1.0, 1.0, 3.0]
    assert found["total"] == {"queries": 13, "cells": 86, "memoryBytes": 688, "rho": 0.5}
    spent = sum(float(row["sensitivitySquared"]) / (2 * row["stddev"] ** 2) for row in found["queries"])
    assert spent == pytest.approx(0.5)


def test_noise_grows_with_the_relation_and_the_rows_of_a_unit(files):
    def first(*more):
        return json.loads(call("describe", *files, "--rho", "0.5", "--json", *more).stdout)["queries"][0]["stddev"]

    alone = first()
    assert first("--neighbours", "replace") == pytest.approx(math.sqrt(2) * alone)
    assert first("--unit", "person", "--rows-per-unit", "3") == pytest.approx(3 * alone)


def test_describe_without_a_budget_tells_no_noise(files):
    shown = call("describe", *files)
    assert shown.exit_code == 0
    assert "noise" not in shown.stdout
    assert "In all: 13 queries, 86 cells" in shown.stdout


def test_describe_in_words(files):
    shown = call("describe", *files, "--epsilon", "1", "--delta", "1e-9").stdout
    assert "smoker (2) x region (3): 1 queries, 6 cells, sensitivity² 1, noise per cell" in shown
    assert "smoker (2 labels) by 10 ranges over age" in shown


@pytest.mark.parametrize(
    ("more", "message"),
    [(("--epsilon", "1"), "delta"), (("--rho", "-1"), "rho"), (("--rows-per-unit", "2", "--rho", "1"), "unit")],
)
def test_mistakes_are_sentences(files, more, message):
    failed = call("describe", *files, *more)
    assert isinstance(failed.exception, UserError)
    assert message in str(failed.exception)


def test_a_mistake_in_the_file_is_a_sentence(files, tmp_path):
    (tmp_path / "workload.toml").write_text("[[queries]]\nkind = 'magic'")
    failed = call("describe", *files)
    assert isinstance(failed.exception, UserError)
    assert "kind is 'magic'" in str(failed.exception)
