"""The report's sentences: they say what the numbers say, and name what is off."""

import numpy as np

from noisy_pages import released
from related_tables import DOCUMENT, SCHEMA, permuted, related
from sundog.domain import Schema
from sundog.domain.rows import Rows
from sundog.report import facts
from sundog.report.page import report_page
from sundog.report.verdict import not_modelled, verdict

ROWS = related(4000, 1)


def sentences(release, rows):
    columns, pairs = facts.column_facts(release, rows), facts.pair_facts(release, rows)
    return verdict(columns, pairs, facts.class_facts(release, rows), unmeasured=len(facts.unmeasured_pairs(release)))


def test_rows_that_follow_the_measurement_are_said_to():
    told = sentences(released(ROWS, stddev=8.0), ROWS)
    assert told[0] == "The synthetic rows follow everything that was measured as closely as its noise allows."
    assert "Of 5 columns, a typical one has" in told[1]
    assert "Of 10 measured pairs" in told[2]
    assert "in 95 of 100 cases" in told[-1]


def test_noise_in_tables_of_few_cells_is_no_fault_of_the_rows():
    """Of many small tables some are far from their measurement by chance: that is no reason not to rely on them."""
    columns = [{"name": f"c{k}", "type": "boolean"} for k in range(12)]
    required = [each | {"constraints": {"required": True}} for each in columns]
    schema = Schema.from_json({"name": "coins", "fields": required})
    coins = Rows(schema, tuple(np.random.default_rng(k).integers(0, 2, 2000) for k in range(12)))
    told = sentences(released(coins, stddev=40.0, schema=schema), coins)
    assert told[0] == "The synthetic rows follow everything that was measured as closely as its noise allows."


def test_a_broken_relation_is_named():
    told = sentences(released(ROWS, stddev=8.0), permuted(ROWS, "x"))
    assert "further from the measurement than noise explains in" in told[0]
    assert "x by y" in told[0]
    assert "columns (" not in told[0]


def test_a_broken_column_is_named():
    broken = Rows(SCHEMA, tuple(np.zeros_like(c) if k == 1 else c for k, c in enumerate(ROWS.codes)))
    told = sentences(released(ROWS, ways=(1,), stddev=8.0), broken)
    assert "1 column (b)" in told[0]
    assert told[2].startswith("No pair of columns was measured")


def test_nothing_measured_is_said_in_one_sentence():
    told = verdict(facts.column_facts(released(ROWS, ways=()), ROWS), [], [], unmeasured=10)
    assert told == ("Nothing was measured, so these rows say nothing about the real table.",)


def test_unmeasured_pairs_are_counted_and_listed():
    release = released(ROWS, but={("a", "b"), ("x", "y")})
    assert facts.unmeasured_pairs(release) == [("a", "b"), ("x", "y")]
    assert any(told.startswith("2 pairs of columns were not measured") for told in sentences(release, ROWS))
    page = report_page(release, ROWS, method="m")
    assert "<span>a by b</span>; <span>x by y</span>" in page
    assert "8 of 10 pairs were measured" in page


def test_what_was_not_modelled_is_told():
    more = [
        {"name": "id", "type": "string", "identifier": True},
        {"name": "number", "type": "integer", "identifier": True, "sundog": {"regenerate": True}},
        {"name": "double", "type": "integer", "derived": "x + x"},
    ]
    schema = Schema.from_json({**DOCUMENT, "fields": [*DOCUMENT["fields"], *more]})
    release = released(Rows(schema, ROWS.codes), ways=(1,), schema=schema, but={("z",)})
    columns = facts.column_facts(release, Rows(schema, ROWS.codes))
    told = not_modelled(release, columns, unsupported=["The method does not do sums."])
    assert told == [
        "Left out, as identifiers: id.",
        "Renumbered, as identifiers: number.",
        "Computed from other fields: double.",
        "Not measured, a guess of the method: z.",
        "Relations of three and more columns: none was measured; they follow from the pairs.",
        "The method does not do sums.",
    ]
