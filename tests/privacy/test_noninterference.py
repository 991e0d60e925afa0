"""T0: replace what the noise returns by constants, and a complete run says the same about any two tables."""

import pytest

from privacy import checks, worlds
from sundog.methods.recipes import METHODS
from sundog.select import allocate

BUDGET = ("--epsilon", "1", "--delta", "1e-6")
SYNTHESIZE = (
    "synthesize",
    worlds.DATA,
    "--schema",
    worlds.SCHEMA,
    "--method",
    "independent",
    "--seed",
    "5",
    "-o",
    "out",
)
MEASURE = ("measure", worlds.DATA, "--schema", worlds.SCHEMA, "--method", "independent", "-o", "released.json")
GENERATE = ("generate", "released.json", "--method", "independent", "--seed", "7", "-o", "generated")
COMPLETE = ("schema", "complete", worlds.DATA, "--schema", worlds.SCHEMA, "-o", "full.json")


some_or_all = pytest.mark.parametrize(
    "chosen", [worlds.few, pytest.param(dict, marks=pytest.mark.long)], ids=["few", "all"]
)


@some_or_all
def test_synthesize_where_the_number_of_rows_is_private(tmp_path, chosen):
    (outcome,) = checks.check_noninterference(tmp_path, chosen(worlds.any_size()), (*SYNTHESIZE, *BUDGET))
    assert {"out/released.json", "out/certificate.json", "out/certificate.html"} < set(outcome.files)


@pytest.mark.parametrize(
    "options", [("--format", "parquet", "--json"), pytest.param(("--rows", "17"), marks=pytest.mark.long)]
)
def test_other_ways_to_synthesize(tmp_path, options):
    checks.check_noninterference(tmp_path, worlds.few(worlds.any_size()), (*SYNTHESIZE, *BUDGET, *options))


@pytest.mark.long
def test_extreme_cells_of_every_type_in_files(tmp_path):
    checks.check_typed_files(tmp_path)


def test_extreme_cells_of_every_type_in_databases(tmp_path):
    checks.check_typed_databases(tmp_path)


def test_every_row_counts_whatever_its_cells(tmp_path):
    checks.check_every_row_counts(tmp_path)


def test_measure_and_generate(tmp_path):
    checks.check_noninterference(tmp_path, worlds.few(worlds.any_size()), (*MEASURE, *BUDGET), GENERATE)


def test_units_of_several_rows(tmp_path):
    unit = ("--unit", "visit", "--rows-per-unit", "2")
    checks.check_noninterference(tmp_path, worlds.few(worlds.any_size()), (*SYNTHESIZE, *BUDGET, *unit))


@some_or_all
def test_where_the_number_of_rows_is_public(tmp_path, chosen):
    replace = ("--epsilon", "1", "--neighbours", "replace")
    checks.check_noninterference(tmp_path, chosen(worlds.same_size()), (*SYNTHESIZE, *replace))


@pytest.mark.long
def test_measure_and_generate_where_the_number_of_rows_is_public(tmp_path):
    replace = ("--rho", "0.1", "--neighbours", "replace")
    checks.check_noninterference(tmp_path, worlds.few(worlds.same_size()), (*MEASURE, *replace), GENERATE)


def test_units_are_replaced_without_a_public_number_of_rows(tmp_path):
    unit = ("--unit", "visit", "--rows-per-unit", "2", "--neighbours", "replace")
    checks.check_noninterference(tmp_path, worlds.few(worlds.any_size()), (*MEASURE, *BUDGET, *unit))


def test_completing_a_schema(tmp_path):
    (outcome,) = checks.check_noninterference(tmp_path, worlds.any_size(), (*COMPLETE, *BUDGET), document=worlds.OPEN)
    assert b'"second"' in outcome.files["full.json"]


def test_completing_a_schema_where_the_number_of_rows_is_public(tmp_path):
    checks.check_noninterference(
        tmp_path, worlds.few(worlds.same_size()), (*COMPLETE, *BUDGET, "--neighbours", "replace"), document=worlds.OPEN
    )


def test_failures_say_the_same_too(tmp_path):
    """A limit, a missing column, a wrong option: told before any row is read."""
    wrong = [("--unit", "absent"), ("--epsilon", "0"), ("--rows", "0")]
    for number, options in enumerate(wrong):
        seen = set()
        for name, lines in worlds.few(worlds.any_size()).items():
            place = worlds.write(tmp_path / f"{number} {name}", lines)
            outcome = checks.run_command(place, *SYNTHESIZE, *BUDGET, *options)
            seen.add((outcome.code, outcome.stdout, outcome.stderr, tuple(outcome.ledger)))
        assert len(seen) == 1
        assert seen.pop()[0] == 2


SLOW = {"privpgd", "gem", "rap++", "rap++-polished"}
MARKS = dict.fromkeys(SLOW, pytest.mark.slow) | {"rap": pytest.mark.long}
OTHERS = [pytest.param(name, marks=MARKS.get(name, [])) for name in METHODS if name != "independent"]


@pytest.mark.parametrize("method", OTHERS)
def test_every_method(tmp_path, method):
    every = worlds.any_size()
    chosen = {name: every[name] for name in ("base", "new categories", "no rows")}
    checks.check_noninterference(tmp_path, chosen, (*SYNTHESIZE, *BUDGET, "--method", method, "--rows", "50"))


def test_choosing_among_very_many_pairs(tmp_path, monkeypatch):
    monkeypatch.setattr(allocate, "MANY", 3)
    every = worlds.any_size()
    chosen = {name: every[name] for name in ("base", "new categories", "all equal", "no rows")}
    (outcome,) = checks.check_noninterference(tmp_path, chosen, (*SYNTHESIZE, *BUDGET, "--method", "auto"))
    assert b"Chose privately" in outcome.files["out/certificate.html"]


@pytest.mark.slow
@pytest.mark.parametrize("method", [name for name in METHODS if name != "independent"])
def test_every_method_where_the_number_of_rows_is_public(tmp_path, method):
    every = worlds.same_size()
    chosen = {name: every[name] for name in ("base", "new categories", "all null")}
    options = ("--method", method, "--neighbours", "replace", "--rows", "50")
    checks.check_noninterference(tmp_path, chosen, (*SYNTHESIZE, *BUDGET, *options))
