"""Protected statistics are judged by their threshold itself, not by the sigmoid that particles follow."""

import numpy as np
import pytest

import sundog
from related_tables import DOCUMENT
from sundog.domain import Schema
from sundog.domain.rows import Rows
from sundog.evaluate import PROTECTED, Comparison

FIELDS = [{"name": "n", "type": "integer", "constraints": {"minimum": 0, "maximum": 10, "required": True}}]
HALF = {"name": "half", "kind": "protected", "weights": {"n": 1.0}, "threshold": 0.5}
HIGH = HALF | {"name": "high", "threshold": 0.85}
METRIC = PROTECTED["protected"]


def rows(*codes, constraints=(HALF, HIGH)):
    return Rows(Schema.from_json({"fields": FIELDS, "constraints": list(constraints)}), (np.array(codes),))


def test_shares_above_the_thresholds_are_compared_one_by_one():
    score = METRIC.score(Comparison(rows(0, 2, 6, 9), rows(6, 7, 8, 8)))
    assert score.parts == pytest.approx({"half": 0.5, "high": 0.25})
    assert score.value == pytest.approx(0.375)
    assert METRIC.better == "higher"


def test_rows_that_move_without_passing_the_threshold_change_nothing():
    """A sigmoid would see all of these rows move."""
    assert (
        METRIC.score(
            Comparison(
                rows(0, 0, 10, 10),
                rows(4, 5, 6, 6),
            )
        ).parts["half"]
        == 0
    )


def test_a_row_at_the_threshold_is_not_above_it():
    assert METRIC.score(Comparison(rows(5, 5), rows(6, 4))).parts["half"] == 0.5


def test_statistics_of_one_name_are_told_apart():
    twins = (HALF, HIGH | {"name": "half"})
    score = METRIC.score(Comparison(rows(0, 2, 6, 9, constraints=twins), rows(6, 7, 8, 8, constraints=twins)))
    assert score.parts == pytest.approx({"half, statistic 1": 0.5, "half, statistic 2": 0.25})
    assert score.value == pytest.approx(0.375)


def test_without_a_protected_statistic_there_is_nothing_to_judge():
    plain = rows(1, 2, constraints=())
    assert METRIC.score(Comparison(plain, plain)) is None


def test_an_evaluation_has_it_and_tells_that_larger_is_better(tmp_path):
    schema = DOCUMENT | {"name": "one", "fields": FIELDS, "constraints": [HALF]}
    schema.pop("targets", None)
    real, pushed = {"n": [0, 2, 6, 9] * 20}, {"n": [0, 1, 2, 9] * 20}
    found = sundog.evaluate_tables(
        real, {"pushed": pushed}, schema=schema, ledger=tmp_path / "ledger.sqlite", learning=False
    )
    assert found.tables[0].scores["protected"].value == pytest.approx(0.25)
    assert found.tables[0].scores["protected"].parts == pytest.approx({"half": 0.25})
