"""Reference rows follow what was released, column by column, and thresholds drawn among them are seldom trivial."""

import numpy as np
import pytest

from sundog.axis import Axis
from sundog.errors import UserError
from sundog.keys import key_of
from sundog.queries import Marginal, answer
from sundog.reference import reference_rows
from sundog.released import Guarantee, Measurement, Released
from sundog.rows import Rows
from sundog.schema import Categorical, Numeric, Schema
from sundog.unit import PrivacyUnit
from sundog.workload import Workload

SCHEMA = Schema((Categorical("paid", ("no", "yes")), Numeric("gain", "integer", 0, 9999)), targets=("paid",))
GAIN = Axis.cut(SCHEMA.column("gain"), [0, 1, 100, 1000])
COUNTS = np.array([900, 80, 15, 5])


def released(*measurements):
    made = tuple(Measurement(query, np.asarray(values), 1.0, "1") for query, values in measurements)
    return Released(SCHEMA, made, Guarantee(PrivacyUnit(), "zcdp", 0.1), public_rows=1000)


def test_measured_columns_follow_their_measurements_and_others_are_uniform():
    rows = reference_rows(key_of(1), released((Marginal((GAIN,)), COUNTS)), rows=1000)
    assert len(rows) == 1000
    np.testing.assert_allclose(answer(Marginal((GAIN,)), rows), COUNTS, atol=1)
    np.testing.assert_allclose(answer(Marginal.of(SCHEMA, "paid"), rows), [500, 500], atol=1)


def test_the_same_key_gives_the_same_rows():
    first, same, other = (reference_rows(key_of(k), released((Marginal((GAIN,)), COUNTS))) for k in (1, 1, 2))
    np.testing.assert_array_equal(first.column("gain"), same.column("gain"))
    assert (first.column("gain") != other.column("gain")).any()


def test_thresholds_among_reference_rows_are_seldom_trivial():
    random = np.random.default_rng(0)
    starts, widths = np.array([0, 1, 100, 1000]), np.array([1, 99, 900, 9000])
    cells = random.choice(4, 5000, p=COUNTS / 1000)
    gain = starts[cells] + (random.random(5000) * widths[cells]).astype(int)
    data = Rows(SCHEMA, (random.integers(0, 2, 5000), gain))
    reference = reference_rows(key_of(0), released((Marginal((GAIN,)), COUNTS)))

    def trivial(some):
        (query,) = Workload.prefixes(SCHEMA, count=500, labels=0, numbers=1, reference=some).queries
        shares = answer(query, data) / 5000
        return ((shares < 0.001) | (shares > 0.999)).mean()

    assert trivial(None) > 0.1
    assert trivial(reference) < 0.02


def test_nothing_measured_is_refused():
    with pytest.raises(UserError, match="no one-way marginal was released"):
        reference_rows(key_of(0), released((Marginal.of(SCHEMA, "paid", "gain"), np.zeros(2 * 65, dtype=int))))
    with pytest.raises(UserError, match="rows = 0"):
        reference_rows(key_of(0), released((Marginal((GAIN,)), COUNTS)), rows=0)
