import numpy as np
import pytest

from related_tables import SCHEMA, permuted, related
from sundog.domain.unit import PrivacyUnit
from sundog.evaluate import RELEASED, Comparison, Measured
from sundog.evaluate.workload import WorkloadError, query_class
from sundog.queries import Marginal, answer
from sundog.released import Guarantee, Measurement, Released

QUERIES = (Marginal.of(SCHEMA, "a"), Marginal.of(SCHEMA, "b"), Marginal.of(SCHEMA, "a", "b"))


def released(rows, *, stddev, off=0):
    measurements = tuple(Measurement(q, answer(q, rows) + off, stddev, "small#1") for q in QUERIES)
    return Released(SCHEMA, measurements, Guarantee(PrivacyUnit("replace"), "gaussian", 0.1), public_rows=len(rows))


def test_mean_and_max_over_all_answers_and_by_class():
    real, synthetic = related(1000, 1), related(500, 2)
    gaps = [np.abs(answer(q, real) / 1000 - answer(q, synthetic) / 500) for q in QUERIES]
    subject = Comparison(real, synthetic, workload=QUERIES)
    mean, most = (WorkloadError(statistic).score(subject) for statistic in ("mean", "max"))
    assert mean.value == pytest.approx(np.concatenate(gaps).mean())
    assert most.value == pytest.approx(np.concatenate(gaps).max())
    assert mean.parts == pytest.approx(
        {"1-way marginal": np.concatenate(gaps[:2]).mean(), "2-way marginal": gaps[2].mean()}
    )
    assert WorkloadError("mean").score(Comparison(real, synthetic)) is None


def test_released_metrics_need_no_real_rows():
    rows = related(1000, 1)
    exact = Measured(released(rows, stddev=2.0), rows)
    measured = ("measured_mean", "measured_max", "measured_noise")
    assert [RELEASED[name].score(exact).value for name in measured] == [0.0, 0.0, 0.0]
    off = Measured(released(rows, stddev=2.0, off=6), rows)
    assert RELEASED["measured_noise"].score(off).value == pytest.approx(3.0)
    assert RELEASED["measured_mean"].score(off).value == pytest.approx(0.006)
    shuffled = Measured(released(rows, stddev=2.0), permuted(rows, "b"))
    parts = RELEASED["measured_max"].score(shuffled).parts
    assert parts["1-way marginal"] == 0
    assert parts["2-way marginal"] > 0.01


def test_the_size_of_the_synthetic_table_does_not_matter():
    rows = related(1000, 1)
    twice = type(rows)(SCHEMA, tuple(np.tile(codes, 2) for codes in rows.codes))
    assert RELEASED["measured_noise"].score(Measured(released(rows, stddev=1.0), twice)).value == 0


def test_query_classes_are_named_by_their_columns():
    assert [query_class(query) for query in QUERIES] == ["1-way marginal", "1-way marginal", "2-way marginal"]
