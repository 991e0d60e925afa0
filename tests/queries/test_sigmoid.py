"""The smooth threshold count: exact integers, additive, with the sensitivity that enumeration finds."""

import itertools
import json

import numpy as np
import pytest

import sundog
from sundog.domain import Schema
from sundog.domain.rows import Rows
from sundog.generate.particles.declared_penalties import sigmoid_query
from sundog.queries import SigmoidSum, answer, load_query

FIELDS = [
    {"name": "n", "type": "integer", "constraints": {"minimum": 0, "maximum": 4}},
    {"name": "b", "type": "boolean", "constraints": {"required": True}},
    {"name": "one", "type": "integer", "constraints": {"minimum": 3, "maximum": 3, "required": True}},
]
SCHEMA = Schema.from_json({"fields": FIELDS})
QUERY = SigmoidSum(("n", "b", "one"), (0.8, -0.5, 0.2), 0.3)
EVERY = Rows(
    SCHEMA, tuple(np.array(codes) for codes in zip(*itertools.product(range(6), range(2), range(1)), strict=True))
)


def single(row):
    return Rows(SCHEMA, tuple(codes[row : row + 1] for codes in EVERY.codes))


def test_it_counts_rows_above_the_threshold_softly():
    x = np.where(EVERY.codes[0] == 5, 0.5, EVERY.codes[0] / 4)
    y = 0.8 * x - 0.5 * (EVERY.codes[1] + 0.5) / 2 + 0.2 * 0.5
    expected = 1000 / (1 + np.exp(-5 * (y - 0.3)))
    assert answer(QUERY, EVERY)[0] == pytest.approx(expected.sum(), abs=2 * len(EVERY))


def test_it_is_additive():
    assert answer(QUERY, EVERY)[0] == sum(answer(QUERY, single(row))[0] for row in range(len(EVERY)))


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
def test_no_change_of_a_row_exceeds_the_sensitivity(neighbours):
    each = [int(answer(QUERY, single(row))[0]) for row in range(len(EVERY))]
    largest = max(each) if neighbours == "add-remove" else max(each) - min(each)
    assert largest <= QUERY.sensitivity_l1(neighbours) <= 1000
    assert QUERY.sensitivity_squared(neighbours) == QUERY.sensitivity_l1(neighbours) ** 2


def test_it_survives_saving():
    assert load_query(json.loads(json.dumps(QUERY.to_json())), SCHEMA) == QUERY


def test_a_protected_statistic_is_measured_and_paid_for(tmp_path):
    declared = {"kind": "protected", "weights": {"n": 0.8, "b": -0.5}, "threshold": 0.1, "name": "hidden"}
    schema = Schema.from_json({"name": "t", "fields": FIELDS, "constraints": [declared]})
    data = {"n": [0, 1, 2, 3, 4, None] * 50, "b": [True, False, True] * 100, "one": [3] * 300}
    model = sundog.Synthesizer(schema, epsilon=3.0, delta=1e-6, method="privpgd", ledger=tmp_path / "l.sqlite").fit(
        data
    )
    (measurement,) = [m for m in model.released.measurements if m.query == sigmoid_query(schema.constraints[0])]
    (payment,) = [p for p in model.released.payments if p.receipt == measurement.receipt]
    assert payment.rho > 0
    assert "soft threshold" in payment.label
