"""The smooth threshold count: exact integers, additive, with the sensitivity that enumeration finds."""

import itertools
import json
from dataclasses import replace

import numpy as np
import pytest

import sundog
from sundog.domain import Schema
from sundog.domain.rows import Rows
from sundog.queries import SigmoidSum, answer, load_query

FIELDS = [
    {"name": "n", "type": "integer", "constraints": {"minimum": 0, "maximum": 4}},
    {"name": "b", "type": "boolean", "constraints": {"required": True}},
    {"name": "one", "type": "integer", "constraints": {"minimum": 3, "maximum": 3, "required": True}},
]
SCHEMA = Schema.from_json({"fields": FIELDS})
QUERY = SigmoidSum(("n", "b", "one"), (0.8, -0.5, 0.2), 0.3)
SHARPNESSES = (1.0, 5.0, 20.0, 100.0)
EVERY = Rows(
    SCHEMA, tuple(np.array(codes) for codes in zip(*itertools.product(range(6), range(2), range(1)), strict=True))
)


def sharp(sharpness):
    return replace(QUERY, sharpness=sharpness)


def single(row):
    return Rows(SCHEMA, tuple(codes[row : row + 1] for codes in EVERY.codes))


@pytest.mark.parametrize("sharpness", SHARPNESSES)
def test_it_counts_rows_above_the_threshold_softly(sharpness):
    x = np.where(EVERY.codes[0] == 5, 0.5, EVERY.codes[0] / 4)
    y = 0.8 * x - 0.5 * (EVERY.codes[1] + 0.5) / 2 + 0.2 * 0.5
    expected = 1000 / (1 + np.exp(-sharpness * (y - 0.3)))
    rounding = 1 + 1000 * sharpness / 4 * 3 * 2.0**-10
    assert answer(sharp(sharpness), EVERY)[0] == pytest.approx(expected.sum(), abs=rounding * len(EVERY))


def test_a_steep_one_counts_the_rows_above_the_threshold():
    blunt, steep = (abs(answer(query, EVERY)[0] / 1000 - QUERY.above(EVERY)) for query in (QUERY, sharp(100.0)))
    assert steep < 0.1 < blunt


def test_no_sharpness_overflows():
    far = SigmoidSum(("n",), (64.0,), -64.0, 100.0)
    assert far.table.min() == far.table.max() == 1000
    assert SigmoidSum(("n",), (-64.0,), 64.0, 100.0).table.max() == 0


def test_it_is_additive():
    assert answer(QUERY, EVERY)[0] == sum(answer(QUERY, single(row))[0] for row in range(len(EVERY)))


@pytest.mark.parametrize("sharpness", SHARPNESSES)
@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
def test_no_change_of_a_row_exceeds_the_sensitivity(neighbours, sharpness):
    query = sharp(sharpness)
    each = [int(answer(query, single(row))[0]) for row in range(len(EVERY))]
    largest = max(each) if neighbours == "add-remove" else max(each) - min(each)
    assert largest <= query.sensitivity_l1(neighbours) <= 1000
    assert query.sensitivity_squared(neighbours) == query.sensitivity_l1(neighbours) ** 2


def test_the_sensitivity_of_one_sharpness_is_too_small_for_a_steeper_one():
    """The check above can fail: a table of the wrong sharpness understates what a row changes."""
    steep = sharp(20.0)
    each = [int(answer(steep, single(row))[0]) for row in range(len(EVERY))]
    assert max(each) - min(each) > QUERY.sensitivity_l1("replace")


@pytest.mark.parametrize("sharpness", SHARPNESSES)
def test_it_survives_saving(sharpness):
    query = sharp(sharpness)
    assert load_query(json.loads(json.dumps(query.to_json())), SCHEMA) == query


def test_a_saved_one_without_a_sharpness_has_the_papers():
    document = QUERY.to_json()
    del document["sharpness"]
    assert load_query(document, SCHEMA).sharpness == 5.0


def test_a_protected_statistic_is_measured_and_paid_for(tmp_path):
    declared = {"kind": "protected", "weights": {"n": 0.8, "b": -0.5}, "threshold": 0.1, "sharpness": 30}
    schema = Schema.from_json({"name": "t", "fields": FIELDS, "constraints": [declared]})
    data = {"n": [0, 1, 2, 3, 4, None] * 50, "b": [True, False, True] * 100, "one": [3] * 300}
    model = sundog.Synthesizer(schema, epsilon=3.0, delta=1e-6, method="privpgd", ledger=tmp_path / "l.sqlite").fit(
        data
    )
    (measurement,) = [m for m in model.released.measurements if m.query == SigmoidSum.of(schema.constraints[0])]
    (payment,) = [p for p in model.released.payments if p.receipt == measurement.receipt]
    assert payment.rho > 0
    assert measurement.query.sharpness == 30
    assert measurement.query in [m.query for m in sundog.load(model.save(tmp_path / "m")).released.measurements]
    assert "soft threshold" in payment.label
