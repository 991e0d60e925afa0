"""Warnings from released values: columns nearly all missing or at a bound, beyond the noise."""

import json
import re

import numpy as np
import pytest

import linked_tables
import tables
from privacy.stand_ins import run_command
from sundog import Synthesizer
from sundog.domain import Schema
from sundog.domain.axis import Axis
from sundog.domain.unit import PrivacyUnit
from sundog.estimate.warnings import warnings_of
from sundog.queries import Marginal
from sundog.released import Guarantee, Measurement, Released
from sundog.released.per_view import by_table

BOUNDS = {"minimum": -5, "maximum": 94}
FIELDS = {
    "amount": {"type": "number", "constraints": {"minimum": 0, "maximum": 1000}, "sundog": {"decimals": 2}},
    "score": {"type": "integer", "constraints": BOUNDS},
    "fixed": {"type": "integer", "constraints": {**BOUNDS, "required": True}},
    "day": {"type": "date", "constraints": {"minimum": "2020-01-01", "maximum": "2024-12-31"}, "format": "%d.%m.%Y"},
    "city": {"type": "string", "categories": ["a", "b", "c"]},
    "sure": {"type": "string", "categories": ["a", "b", "c"], "constraints": {"required": True}},
    "flag": {"type": "boolean"},
    "grade": {"type": "integer", "constraints": {"minimum": 1, "maximum": 5}},
}


def release(name, shares, *, stddev=50.0, rows=100_000, delta=1e-9, cells=None):
    """One measured column: `shares` maps cells (from the end where negative) to shares; the rest is spread evenly."""
    schema = Schema.from_json({"fields": [{"name": name, **FIELDS[name]}]})
    query = Marginal((Axis.of(schema.columns[0], cells),))
    values = np.full(query.size, (1 - sum(shares.values())) * rows / query.size)
    for cell, share in shares.items():
        values[cell] += share * rows
    measurement = Measurement(query, values.round().astype(np.int64), stddev, "t#1")
    return Released(schema, (measurement,), Guarantee(PrivacyUnit(), "gaussian", 0.1, epsilon=1.0, delta=delta))


def said(*arguments, **options):
    return [warning.sentence for warning in warnings_of(release(*arguments, **options))]


def test_a_bin_at_the_end_is_told_as_a_bin():
    (sentence,) = said("amount", {0: 0.999}, cells=20)
    assert re.search(r"100% of the rows lie at or near its lower bound 0.00 \(in 0.00 to \d+\.\d\d\)\.", sentence)


@pytest.mark.parametrize(
    ("name", "shares", "words"),
    [
        ("amount", {-1: 0.97}, "amount: 9.* are missing.*decimal commas"),
        ("day", {-1: 0.97}, r"day: 9.* are missing.*another way than the format %d\.%m\.%Y"),
        ("city", {-1: 0.97}, "city: 9.* are missing.*spelled otherwise than in categories"),
        ("flag", {-1: 0.99}, "flag: 9.* are missing.*trueValues"),
        ("score", {0: 0.6}, "score: .*lower bound -5.*lower constraints.minimum"),
        ("fixed", {0: 0.9}, "fixed: .*lower bound -5.*cannot be read count as that bound.*decimal commas"),
        ("score", {-2: 0.6}, "score: .*upper bound 94.*raise constraints.maximum"),
        ("amount", {-2: 0.7}, "amount: .*upper bound 1000.00"),
        ("sure", {0: 0.98}, r"one label, which also takes every label that is not in the list: sure \(a\)\."),
    ],
)
def test_what_is_out_of_order_is_named_with_its_cause(name, shares, words):
    found = said(name, shares)
    assert len(found) == 1
    assert re.search(words, found[0]), found


@pytest.mark.parametrize(
    ("name", "shares"),
    [
        ("amount", {}),
        ("amount", {0: 0.95}),  # amounts are often zero
        ("score", {0: 0.3, -2: 0.3}),
        ("city", {-1: 0.5}),
        ("sure", {0: 0.9}),
        ("grade", {-2: 0.8}),  # a short scale may pile up at its end
        ("grade", {0: 0.8}),
    ],
)
def test_what_is_in_order_is_not(name, shares):
    assert said(name, shares) == []


def test_noise_alone_does_not_warn():
    assert said("city", {-1: 0.97}, stddev=50.0)
    assert not said("city", {-1: 0.97}, stddev=5_000.0)


def test_the_noisy_total_of_many_cells_is_not_the_number_of_rows():
    """77 % at zero are no 100 %, though noise made the cells of the finest level sum to as many rows as zero has."""
    fine, coarse = (release("amount", {0: 0.77}, rows=3000, cells=cells) for cells in (1000, 5))
    (found,) = fine.measurements
    values = found.values.copy()
    values[1:] = 0
    low = Measurement(found.query, values, found.stddev, "t#1")
    assert not warnings_of(fine.with_measurements((low,)))
    assert not warnings_of(fine.with_measurements((low, *coarse.measurements)))


def test_a_table_that_noise_hides_is_told():
    (sentence,) = said("city", {}, rows=100)
    assert sentence.startswith("The released number of rows is 100 ± 200: noise hides the table")
    assert not said("city", {}, rows=1000)


def test_delta_is_held_against_the_released_number_of_rows():
    assert any("released estimate of the number of rows" in sentence for sentence in said("city", {}, delta=2e-5))
    assert not said("city", {}, delta=2e-5, rows=40_000)


def test_decimal_commas_are_warned_of_by_command_report_and_certificate(tmp_path):
    values = tables.table(3000)
    values["cost"] = [None if value is None else f"{value:.2f}".replace(".", ",") for value in values["cost"]]
    tables.write_csv(tmp_path / "data.csv", values, delimiter=";")
    (tmp_path / "schema.json").write_text(json.dumps(tables.DOCUMENT))
    options = ("--epsilon", "5", "--delta", "1e-9", "--method", "independent", "--delimiter", ";", "-o", "out")
    outcome = run_command(tmp_path, "synthesize", "data.csv", "--schema", "schema.json", *options)
    assert outcome.code == 0, outcome.stderr
    words = "of the rows are missing. If that is wrong, the cells probably hold decimal commas"
    assert "WARNING: cost: " in outcome.stdout
    assert words in outcome.stdout
    assert any(words in warning for warning in json.loads(outcome.files["out/certificate.json"])["warnings"])
    assert words in outcome.files["out/certificate.html"].decode()
    assert words in outcome.files["out/report.html"].decode()
    again = run_command(tmp_path, "synthesize", "data.csv", "--schema", "schema.json", *options, "--force", "--json")
    assert any(words in warning for warning in json.loads(again.stdout)["warnings"])


@pytest.mark.parametrize(("bound", "roots", "warns"), [(5000, 1000, True), (5000, 10**8, False), (6, 1000, False)])
def test_a_bound_of_children_beyond_what_noise_can_tell_is_named_with_its_remedy(bound, roots, warns):
    column = linked_tables.schema(persons=bound).column("homes.#persons")
    fine, coarse = Axis.of(column, min(bound, 1000)), Axis.of(column, 4)
    values = [np.zeros(axis.size, dtype=np.int64) for axis in (fine, coarse)]
    for counts in values:
        counts[0] = roots
    measured = tuple(
        Measurement(Marginal((axis,)), counts, 20.0, "t#1") for axis, counts in zip((fine, coarse), values, strict=True)
    )
    found = warnings_of(Released(Schema((column,)), measured, Guarantee(PrivacyUnit(), "gaussian", 0.1)))
    assert [warning.column for warning in found] == (["homes.#persons"] if warns else [])
    assert all("Lower maximumPerParent" in warning.sentence for warning in found)


def test_numbers_of_children_are_among_what_is_looked_at_in_linked_tables(tmp_path):
    frames = linked_tables.tables_of(linked_tables.random_homes(200))
    made = Synthesizer(linked_tables.package(), epsilon=1.0, delta=1e-9, ledger=tmp_path / "l", seed=1).fit(frames)
    root = by_table(made.released)[0]
    assert {"homes.#persons", "homes.#visits"} <= {m.query.columns[0] for m in root.measurements}
