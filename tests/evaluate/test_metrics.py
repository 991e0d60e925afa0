"""Each metric against values worked out by hand and against independent libraries; laws for all of them."""

import math

import numpy as np
import pytest
from scipy import stats
from scipy.spatial.distance import jensenshannon

from related_tables import SCHEMA, permuted, related
from sundog.domain import Schema
from sundog.domain.rows import Rows
from sundog.evaluate import LEARNING, METRICS, REAL, RELEASED, Comparison
from sundog.evaluate import total_variation as tv
from sundog.evaluate.divergences import inverse_kl, jensen_shannon
from sundog.evaluate.halfspaces import Halfspaces, _normal, _weights
from sundog.evaluate.learning import boosting_error, code_matrix, logistic_f1, macro_f1, one_thread
from sundog.evaluate.moments import Correlation, Covariance, UtilityImprovement, covariance
from sundog.evaluate.prefixes import Prefixes
from sundog.evaluate.sliced_wasserstein import directions, sliced_wasserstein
from sundog.evaluate.sparse_queries import Counting, Thresholding, counting_queries, inside
from sundog.queries import Marginal
from sundog.random.keys import key_of, split

ONE = Schema.from_json({"fields": [{"name": "a", "type": "string", "categories": ["p", "q", "r"]}]})
NUMBER = Schema.from_json(
    {"fields": [{"name": "x", "type": "integer", "constraints": {"minimum": 0, "maximum": 9, "required": True}}]}
)


@pytest.fixture(scope="module")
def pair():
    return Comparison(related(3000, 1), related(2500, 2), related(500, 3))


def column(schema, *codes):
    return Rows(schema, tuple(np.array(code) for code in codes))


def test_total_variation_by_hand():
    subject = Comparison(column(ONE, [0, 0, 1, 3]), column(ONE, [0, 1]))
    assert METRICS["tv1"].score(subject).value == pytest.approx((0 + 1 / 4 + 1 / 4) / 2)
    assert METRICS["tv2"].score(subject) is None


def test_total_variation_of_pairs_against_numpy(pair):
    gaps = []
    for i in range(5):
        for j in range(i + 1, 5):
            shape = (pair.sizes[i], pair.sizes[j])
            tables = [np.zeros(shape), np.zeros(shape)]
            for table, cells in zip(tables, (pair.real_cells, pair.synthetic_cells), strict=True):
                np.add.at(table, (cells[i], cells[j]), 1 / cells.shape[1])
            gaps.append(np.abs(tables[0] - tables[1]).sum() / 2)
    assert METRICS["tv2"].score(pair).value == pytest.approx(np.mean(gaps), rel=1e-12)


def test_huge_tables_are_renumbered_to_the_same_value(pair, monkeypatch):
    dense = METRICS["tv3"].score(pair).value
    monkeypatch.setattr(tv, "DENSE", 8)
    assert METRICS["tv3"].score(pair).value == dense


def test_sliced_wasserstein_of_a_column_is_scipys_distance(pair):
    for k in range(5):
        ours = sliced_wasserstein(pair, [k], theta=directions(key_of(0), 1))
        real, synthetic = ((cells[k] + 0.5) / pair.sizes[k] for cells in (pair.real_cells, pair.synthetic_cells))
        assert ours == pytest.approx(stats.wasserstein_distance(real, synthetic), rel=1e-9)


@pytest.mark.parametrize("columns", [(0, 2), (1, 2, 3)])
def test_sliced_wasserstein_of_several_columns_is_scipys_on_every_projection(pair, columns):
    theta = directions(key_of(3), len(columns))
    sizes = np.array([pair.sizes[c] for c in columns])[:, None]
    points = [(cells[list(columns)] + 0.5) / sizes for cells in (pair.real_cells, pair.synthetic_cells)]
    expected = np.mean([stats.wasserstein_distance(t @ points[0], t @ points[1]) for t in theta])
    assert np.allclose(np.linalg.norm(theta, axis=1), 1)
    assert sliced_wasserstein(pair, columns, theta=theta) == pytest.approx(expected, rel=1e-9)


def test_divergences_against_scipy():
    p, q = np.array([0.5, 0.3, 0.2, 0.0]), np.array([0.25, 0.25, 0.25, 0.25])
    assert jensen_shannon(p, q) == pytest.approx(jensenshannon(p, q, base=2))
    assert inverse_kl(p, q) == pytest.approx(1 / (1 + stats.entropy(p, q)))
    assert jensen_shannon(np.array([1.0, 0]), np.array([0.0, 1])) == pytest.approx(1.0)
    assert inverse_kl(np.array([1.0, 0]), np.array([0.0, 1])) == pytest.approx(1 / (1 + math.log(1e8)))


def test_moments_against_numpy(pair):
    embedded = [(cells + 0.5) / np.array(pair.sizes)[:, None] for cells in (pair.real_cells, pair.synthetic_cells)]
    matrices = [np.cov(values, bias=True) for values in embedded]
    assert np.allclose(covariance(pair.real_cells, pair.sizes), matrices[0], atol=1e-12)
    expected = np.linalg.norm(matrices[0] - matrices[1]) / np.linalg.norm(matrices[0])
    assert Covariance().score(pair).value == pytest.approx(expected, rel=1e-9)
    gaps = np.abs(np.corrcoef(embedded[0]) - np.corrcoef(embedded[1]))
    assert Correlation().score(pair).value == pytest.approx(gaps.sum() / 20, rel=1e-9)


def test_utility_improvement_is_one_for_the_truth_and_zero_for_the_baseline():
    real, bad = related(2000, 1), permuted(related(2000, 1), "x")
    improvement = UtilityImprovement()
    assert improvement.score(Comparison(real, real, baseline=bad)).value == pytest.approx(1.0)
    assert improvement.score(Comparison(real, bad, baseline=bad)).value == pytest.approx(0.0)
    assert improvement.score(Comparison(real, permuted(bad, "y"), baseline=bad)).value < 0
    assert improvement.score(Comparison(real, bad)) is None


def test_counting_queries_hold_a_moderate_share_and_are_counted_right(pair):
    columns, low, high = counting_queries(pair)
    shares = inside(pair.real_cells, columns, low=low, high=high)
    assert len(columns) == 200
    assert shares.min() >= 0.05
    assert shares.max() <= 0.95
    brute = [
        np.mean(
            np.all(
                [(pair.real_cells[c] >= lo) & (pair.real_cells[c] <= hi) for c, lo, hi in zip(*query, strict=True)],
                axis=0,
            )
        )
        for query in zip(columns, low, high, strict=True)
    ]
    assert np.allclose(shares, brute)
    synthetic = inside(pair.synthetic_cells, columns, low=low, high=high)
    assert Counting().score(pair).value == pytest.approx(np.abs(shares - synthetic).mean() / shares.mean())


def test_thresholding_by_hand():
    """One column, real at 0 and 9: theta is 1 or -1 and b cuts between, so every query holds half of the real rows."""
    score = Thresholding().score(Comparison(column(NUMBER, [0, 9]), column(NUMBER, [9])))
    assert score.value == pytest.approx(1.0)  # |1/2 - 1 or 0| / (1/2)


def test_prefixes_by_hand():
    low, high = column(NUMBER, [0, 0]), column(NUMBER, [9, 9])
    assert Prefixes().score(Comparison(low, high)).value == pytest.approx(1.0)
    assert Prefixes().score(Comparison(column(ONE, [0]), column(ONE, [1]))) is None


def test_prefixes_against_a_direct_count(pair):
    choose, value, pick, cut = split(pair.key, 4)
    from sundog.random.keys import uniforms

    names, numbers = ["a", "b", "y"], ["x", "z"]
    chosen = (uniforms(choose, 2000) * 3).astype(int)
    tau = uniforms(cut, 4000).reshape(2000, 2)
    order = np.argsort(uniforms(pick, 4000).reshape(2000, 2), axis=1)
    draws = uniforms(value, 2000)
    gaps = []
    for query in range(2000):
        name = names[chosen[query]]
        target = int(draws[query] * SCHEMA.column(name).size)
        shares = [
            np.mean(
                (rows.column(name) == target)
                & (rows.unit_interval(numbers[order[query, 0]]) < tau[query, 0])
                & (rows.unit_interval(numbers[order[query, 1]]) < tau[query, 1])
            )
            for rows in (pair.real, pair.synthetic)
        ]
        gaps.append(abs(shares[0] - shares[1]))
    assert Prefixes().score(pair).value == pytest.approx(np.mean(gaps))
    assert Prefixes().score(pair).parts["max"] == pytest.approx(max(gaps))


def test_halfspaces_against_the_one_hot_embedding(pair):
    turn, cut = split(pair.key, 2)
    theta, tau = np.concatenate(_weights(turn, SCHEMA.columns), axis=1), _normal(cut, 2000).reshape(200, 10)
    shares = []
    for rows in (pair.real, pair.synthetic):
        parts = []
        for each in SCHEMA.columns:
            if each.name in ("x", "z"):
                values = rows.unit_interval(each.name)
                parts += [np.nan_to_num(values)[None], np.isnan(values)[None].astype(float)]
            else:
                parts.append(np.eye(each.size)[:, rows.column(each.name)])
        projection = theta @ np.concatenate(parts)
        shares.append((projection[:, None, :] <= tau[:, :, None]).mean(axis=2))
    assert Halfspaces().score(pair).value == pytest.approx(np.abs(shares[0] - shares[1]).mean(), rel=1e-6)


def test_macro_f1_is_scikit_learns():
    metrics = pytest.importorskip("sklearn.metrics")
    random = np.random.default_rng(0)
    for _ in range(5):
        truth, guess = random.integers(0, 4, 50), random.integers(0, 3, 50)
        assert macro_f1(truth, guess) == pytest.approx(metrics.f1_score(truth, guess, average="macro"))


def test_learning_finds_what_is_there_and_not_what_is_shuffled(pair):
    pytest.importorskip("sklearn")
    shuffled = Comparison(pair.real, permuted(pair.synthetic, "y"), pair.test)
    good, bad = (LEARNING["f1"].score(subject).value for subject in (pair, shuffled))
    assert good > bad + 0.2
    good, bad = (LEARNING["boosting_error"].score(subject).value for subject in (pair, shuffled))
    assert good < bad - 0.1


def test_learning_when_the_synthetic_target_never_varies_or_no_target_is_known(pair):
    pytest.importorskip("sklearn")
    constant = Rows(SCHEMA, (*pair.synthetic.codes[:4], np.zeros(len(pair.synthetic), dtype=np.int64)))
    zeros = float(np.mean(pair.test.column("y") == 0))
    assert logistic_f1(constant, pair.test, target="y") == pytest.approx(2 * zeros / (1 + zeros) / 2)
    assert boosting_error(constant, pair.test, target="y") == pytest.approx(1 - zeros)
    unknown = Rows(SCHEMA, tuple(np.full(3, 3) if k == 0 else c[:3] for k, c in enumerate(pair.test.codes)))
    assert logistic_f1(pair.synthetic, unknown, target="a") is None


def test_boosting_of_a_number_is_one_minus_scikit_learns_r_squared(pair):
    ensemble = pytest.importorskip("sklearn.ensemble")
    from sklearn.metrics import r2_score

    model = ensemble.HistGradientBoostingRegressor(random_state=0)
    (features, wanted), (tested, truth) = (
        (code_matrix(rows, leave_out="z")[rows.column("z") != 101], rows.column("z")[rows.column("z") != 101] / 100)
        for rows in (pair.synthetic, pair.test)
    )
    with one_thread():
        expected = 1 - r2_score(truth, model.fit(features, wanted).predict(tested))
    assert 0.05 < expected < 0.7
    assert boosting_error(pair.synthetic, pair.test, target="z") == pytest.approx(expected)


@pytest.mark.parametrize("name", REAL)
def test_every_metric_of_identical_tables_is_perfect(name, pair):
    workload = (Marginal.of(SCHEMA, "a"), Marginal.of(SCHEMA, "b", "x"))
    subject = Comparison(pair.real, pair.real, baseline=permuted(pair.real, "x"), workload=workload)
    best = 1000.0 if name == "k_marginal" else 1.0
    assert REAL[name].score(subject).value == pytest.approx(0.0 if REAL[name].better == "lower" else best, abs=1e-12)


@pytest.mark.parametrize("name", REAL)
def test_the_order_of_rows_does_not_matter(name, pair):
    order = np.random.default_rng(1).permutation(len(pair.synthetic))
    shuffled = Rows(SCHEMA, tuple(codes[order] for codes in pair.synthetic.codes))
    base = related(1000, 9)
    scores = [REAL[name].score(Comparison(pair.real, rows, baseline=base)) for rows in (pair.synthetic, shuffled)]
    if scores[0] is not None:
        assert scores[0].value == pytest.approx(scores[1].value, rel=1e-9)


@pytest.mark.parametrize(
    "name",
    [
        "tv2",
        "tv3",
        "sw1",
        "sw1_3way",
        "prefix",
        "counting",
        "thresholding",
        "covariance",
        "correlation",
        "halfspace",
    ],
)
def test_a_shuffled_column_shows(name, pair):
    shuffled = Comparison(pair.real, permuted(pair.real, "x"))
    assert REAL[name].score(shuffled).value > 1.5 * REAL[name].score(pair).value
    assert REAL["tv1"].score(shuffled).value == 0


@pytest.mark.parametrize("name", REAL)
def test_tables_without_variation_or_with_all_missing_do_not_stop_a_metric(name):
    for schema, codes in (
        (ONE, [[3, 3, 3]]),
        (NUMBER, [[4, 4]]),
        (SCHEMA, [[3] * 4, [0] * 4, [5] * 4, [101] * 4, [1] * 4]),
    ):
        rows = column(schema, *codes)
        score = REAL[name].score(Comparison(rows, rows, baseline=rows))
        assert score is None or math.isfinite(score.value)


def test_every_metric_says_what_it_is():
    for name, metric in METRICS.items():
        assert metric.name == name
        assert metric.summary
        assert metric.better in ("higher", "lower")
        assert metric.needs == ("released" if name in RELEASED else "real")


def test_seeds_draw_other_queries_and_the_same_seed_the_same(pair):
    other = Comparison(pair.real, pair.synthetic, key=key_of(1))
    same = Comparison(pair.real, pair.synthetic, key=key_of(0))
    assert Counting().score(same) == Counting().score(pair)
    assert Counting().score(other) != Counting().score(pair)
