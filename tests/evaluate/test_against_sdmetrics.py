"""Our metrics against SDMetrics, where both measure the same: `pip install -e '.[peers]'`, then `pytest -m slow`."""

import warnings
from itertools import combinations

import numpy as np
import pytest

from sundog.domain import Schema
from sundog.domain.rows import Rows
from sundog.evaluate import METRICS, Comparison
from sundog.evaluate.total_variation import total_variation

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

LABELS = {"sex": 2, "region": 8, "reason": 16}
NUMBERS = {"visits": 9, "score": 31}
SCHEMA = Schema.from_json(
    {
        "fields": [
            *(
                {"name": n, "type": "string", "categories": [f"l{k}" for k in range(size)]}
                for n, size in LABELS.items()
            ),
            *(
                {"name": n, "type": "integer", "constraints": {"minimum": 0, "maximum": most, "required": True}}
                for n, most in NUMBERS.items()
            ),
        ]
    }
)


@pytest.fixture(scope="module")
def sdmetrics():
    """The package; without it these tests are skipped, and say how to have it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("sdmetrics", reason="needs SDMetrics: pip install -e '.[peers]'")


def made(rows, *, seed, strength):
    """Rows whose columns share a hidden number; a tenth of the labels is missing."""
    random = np.random.default_rng(seed)
    hidden = random.random(rows)

    def codes(size):
        return np.floor(size * (strength * hidden + (1 - strength) * random.random(rows)) ** 1.5).astype(np.int64)

    labels = [np.where(random.random(rows) < 0.1, size, codes(size)) for size in LABELS.values()]
    return Rows(SCHEMA, (*labels, *(codes(most + 1) for most in NUMBERS.values())))


@pytest.fixture(scope="module")
def subject():
    return Comparison(made(20_000, seed=1, strength=0.7), made(15_000, seed=2, strength=0.4))


@pytest.fixture(scope="module")
def frames(subject):
    """Both tables for pandas; missing labels as a label of their own, since SDMetrics would leave them out."""
    pandas = pytest.importorskip("pandas")
    return [
        pandas.DataFrame(rows.to_arrow().to_pydict()).fillna(dict.fromkeys(LABELS, "missing"))
        for rows in (subject.real, subject.synthetic)
    ]


def test_total_variation_of_columns(sdmetrics, subject, frames):
    from sdmetrics.single_column import TVComplement

    parts = METRICS["tv1"].score(subject).parts
    for name in LABELS:
        assert parts[name] > 0.01
        assert parts[name] == pytest.approx(1 - TVComplement.compute(*(frame[name] for frame in frames)))


def test_total_variation_of_pairs(sdmetrics, subject, frames):
    from sdmetrics.column_pairs import ContingencySimilarity

    for pair in combinations(LABELS, 2):
        theirs = 1 - ContingencySimilarity.compute(*(frame[list(pair)] for frame in frames))
        ours = total_variation(subject, [SCHEMA.position(name) for name in pair])
        assert ours == pytest.approx(theirs)


def test_correlation_of_numbers(sdmetrics, subject, frames):
    from sdmetrics.column_pairs import CorrelationSimilarity

    theirs = CorrelationSimilarity.compute(*(frame[list(NUMBERS)] for frame in frames))
    ours = METRICS["correlation"].score(_only(subject, *NUMBERS)).value
    assert ours > 0.1
    assert ours == pytest.approx(2 * (1 - theirs))


def test_the_worst_prefix_of_a_number_is_the_kolmogorov_smirnov_distance(sdmetrics, subject, frames):
    """2,000 random prefixes of one column cut it between every two of its values."""
    from sdmetrics.single_column import KSComplement

    for name in NUMBERS:
        theirs = 1 - KSComplement.compute(*(frame[name] for frame in frames))
        assert METRICS["prefix"].score(_only(subject, name)).parts["max"] == pytest.approx(theirs)


def _only(subject, *names):
    """The comparison of some columns."""
    schema = Schema(tuple(SCHEMA.column(name) for name in names))
    return Comparison(
        *(Rows(schema, tuple(rows.column(name) for name in names)) for rows in (subject.real, subject.synthetic))
    )


def test_detection_is_sdmetrics_with_the_same_model(sdmetrics, subject):
    """SDMetrics' protocol (three folds, mean of 2 max(AUC, 1/2) - 1) with gradient boosting on codes; its folds are drawn again."""
    pandas = pytest.importorskip("pandas")
    from sdmetrics.single_table.detection.base import DetectionMetric
    from sklearn.ensemble import HistGradientBoostingClassifier

    class Boosting(DetectionMetric):
        @staticmethod
        def _fit_predict(X_train, y_train, X_test):
            return HistGradientBoostingClassifier(random_state=0).fit(X_train, y_train).predict_proba(X_test)[:, 1]

    few = [rows.take(np.arange(6000)) for rows in (subject.real, subject.synthetic)]
    codes = [pandas.DataFrame(np.stack(rows.codes).T.astype(float)).rename(columns="c{}".format) for rows in few]
    theirs = 1 - Boosting.compute(*codes) / 2  # their score is 1 - (2 AUC - 1)
    assert theirs > 0.55
    assert METRICS["detection_auc"].score(Comparison(*few)).value == pytest.approx(theirs, abs=0.02)
