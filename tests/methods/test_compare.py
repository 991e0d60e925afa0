import json
import subprocess
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

from example_tables import SCHEMA, table
from sundog.cli.app import app
from sundog.domain.unit import PrivacyUnit
from sundog.errors import UserError
from sundog.estimate.repeats import without_repeats
from sundog.methods.compare import compare
from sundog.methods.recipes import METHODS
from sundog.queries import Marginal, answer
from sundog.random.keys import key_of, uniforms
from sundog.released import Guarantee, Measurement, Released
from sundog.sources import open_table

QUERIES = [
    *(Marginal.of(SCHEMA, name) for name in SCHEMA.names),
    *(Marginal.of(SCHEMA, *pair) for pair in (("colour", "warm"), ("colour", "grade"), ("warm", "grade"))),
]
STDDEV = 20.0


@pytest.fixture(scope="module")
def released() -> Released:
    real = open_table(table()).read(SCHEMA)
    measured = []
    for k, query in enumerate(QUERIES):
        pieces = uniforms(key_of(k), 12 * query.size).reshape(12, -1).sum(axis=0) - 6  # close to a standard normal
        measured.append(
            Measurement(query, np.rint(answer(query, real) + STDDEV * pieces).astype(np.int64), STDDEV, "1")
        )
    return Released(SCHEMA, tuple(measured), Guarantee(PrivacyUnit("replace"), "zcdp", 0.1), public_rows=len(real))


def test_the_method_that_predicts_held_out_tables_comes_first_and_fits_to_the_noise(released):
    first, *rest = compare(released, methods=["independent", "mst"])
    assert first.method == "mst"
    assert first.fit < 1.1
    assert first.held_out < 10
    assert rest[0].refused == "cannot use colour (5) x warm (2)"


def test_held_out_tables_are_harder_than_fitted_ones(released):
    (only,) = compare(released, methods=["mst"])
    assert only.held_out > only.fit


def test_a_table_that_was_measured_twice_is_held_out_twice(released):
    """`auto` measures pairs again; the other half, left in, would predict the one that is held out."""
    twice = released.with_measurements((*released.measurements, *released.measurements[4:]))
    once = released.with_measurements(tuple(without_repeats(twice.measurements)))
    assert compare(twice, methods=["mst"]) == compare(once, methods=["mst"])


def test_methods_with_the_same_generator_share_a_result(released):
    standings = compare(released, methods=["mst", "aim"])
    assert len({standing.held_out for standing in standings}) == 1


def test_without_tables_of_several_columns_only_the_fit_is_compared(released):
    alone = released.with_measurements(released.measurements[:4])
    standings = compare(alone, methods=["independent", "mst"])
    assert all(standing.held_out is None and standing.fit < 1.1 for standing in standings)


def test_nothing_to_compare_is_said(released):
    with pytest.raises(UserError, match="no measurement"):
        compare(released.with_measurements(()))
    with pytest.raises(UserError, match="folds: found 1"):
        compare(released, folds=1)


def test_the_command_never_touches_private_data(released, tmp_path, monkeypatch):
    """T0: with every door to private rows and noise closed, the command gives byte for byte the same answer."""
    released.save(tmp_path / "released.json")
    arguments = ["compare", str(tmp_path / "released.json"), "--method", "mst", "--json"]
    first = CliRunner().invoke(app, arguments)
    monkeypatch.setattr("sundog.private.table.open_private", _closed)
    monkeypatch.setattr("sundog.private.curator.Curator.__init__", _closed)
    monkeypatch.setattr("sundog.private.ledger.Ledger.__init__", _closed)
    monkeypatch.setattr("sundog.sources.duck.connect", _closed)
    second = CliRunner().invoke(app, arguments)
    assert first.exit_code == second.exit_code == 0
    assert first.stdout == second.stdout
    assert [standing["method"] for standing in json.loads(first.stdout)["ranking"]] == ["mst"]


WITHOUT_PRIVATE = """
import sys

class Closed:
    def find_spec(self, name, *rest):
        if name.startswith(("sundog.private", "duckdb", "opendp")):
            raise AssertionError(f"{name} was touched")

sys.meta_path.insert(0, Closed())
from sundog.methods.compare import compare
from sundog.released import Released

for standing in compare(Released.load(sys.argv[1]), methods=["mst", "independent"]):
    print(standing)
"""


def test_comparing_works_where_the_private_zone_cannot_even_be_imported(released, tmp_path):
    """T0, stronger: no code that opens rows, reads tables or draws noise is there, and nothing changes."""
    released.save(tmp_path / "released.json")
    command = [sys.executable, "-c", WITHOUT_PRIVATE, str(tmp_path / "released.json")]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert done.stdout.splitlines() == [str(s) for s in compare(released, methods=["mst", "independent"])]


def _closed(*_: object, **__: object) -> None:
    raise AssertionError("private data was touched")


def test_the_methods_command_names_them_all():
    shown = CliRunner().invoke(app, ["methods"]).stdout
    listed = json.loads(CliRunner().invoke(app, ["methods", "--json"]).stdout)["methods"]
    assert [method["name"] for method in listed] == list(METHODS)
    assert all(method["name"] in shown and method["summary"] in shown for method in listed)


def test_generate_with_another_method_costs_nothing(released, tmp_path):
    released.save(tmp_path / "released.json")
    arguments = [
        "generate",
        str(tmp_path / "released.json"),
        "--method",
        "aim",
        "--rows",
        "40",
        "-o",
        str(tmp_path / "out"),
    ]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert len((tmp_path / "out" / "synthetic.csv").read_text().splitlines()) == 41
