"""Estimates and intervals against SciPy, NumPy and formulas worked out here; nothing that rows hold can make them fail."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats

from sundog.domain import Schema
from sundog.domain.rows import Rows
from sundog.evaluate.analysis import default_analyses, parse_analysis
from sundog.evaluate.analysis.models import estimates, values
from sundog.evaluate.analysis.parity import parity_of

SCHEMA = Schema.from_json(
    {
        "targets": ["died"],
        "fields": [
            {"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 99}},
            {"name": "dose", "type": "number", "constraints": {"minimum": 0, "maximum": 10}, "sundog": {"decimals": 1}},
            {"name": "group", "categories": ["a", "b", "c"], "constraints": {"required": True}},
            {"name": "died", "type": "boolean", "constraints": {"required": True}},
        ],
    }
)


def rows(count=1500, seed=0):
    random = np.random.default_rng(seed)
    age = random.integers(0, 100, count)
    dose = np.clip(np.rint(age / 2 + random.normal(0, 15, count)), 0, 100).astype(int)
    group = random.integers(0, 3, count)
    chance = 1 / (1 + np.exp(-(0.04 * (age - 50) + 0.8 * (group == 2))))
    return Rows(SCHEMA, (age, dose, group, (random.random(count) < chance).astype(int)))


ROWS = rows()


def found(text, some=ROWS, **options):
    return {each.name: each for each in estimates(parse_analysis(text, SCHEMA), some, **options)}


def test_linear_regression_is_least_squares_with_robust_errors():
    age, dose, group = values(ROWS, "age"), values(ROWS, "dose"), ROWS.column("group")
    design = np.stack([np.ones(len(age)), age, group == 1, group == 2], axis=1).astype(float)
    beta, *_ = np.linalg.lstsq(design, dose, rcond=None)
    residual = dose - design @ beta
    inverse = np.linalg.inv(design.T @ design)
    robust = inverse @ (design.T * residual**2) @ design @ inverse * len(age) / (len(age) - 4)
    made = found("dose ~ age + group")
    assert [each.value for each in made.values()] == pytest.approx(beta[1:])
    halves = [(each.high - each.low) / 2 for each in made.values()]
    assert halves == pytest.approx(1.959964 * np.sqrt(np.diag(robust))[1:], rel=1e-5)


def test_logistic_regression_is_maximum_likelihood():
    age, group, died = values(ROWS, "age"), ROWS.column("group"), ROWS.column("died")
    design = np.stack([np.ones(len(age)), age / 100, group == 1, group == 2], axis=1).astype(float)

    def loss(beta):
        return np.sum(np.logaddexp(0, design @ beta) - died * (design @ beta))

    best = optimize.minimize(loss, np.zeros(4), method="BFGS", options={"gtol": 1e-8}).x
    made = found("died ~ age + group")
    assert made["age"].value == pytest.approx(best[1] / 100, rel=1e-3)
    assert made["group = c"].value == pytest.approx(best[3], rel=1e-3)
    assert made["group = c"].low < 0.8 < made["group = c"].high


def test_t_test_and_correlation_are_those_of_scipy():
    age, group = values(ROWS, "age"), ROWS.column("group")
    welch = stats.ttest_ind(age[group == 1], age[group == 0], equal_var=False).confidence_interval()
    made = found("t(age by group)")["b less a"]
    assert (made.low, made.high) == pytest.approx((welch.low, welch.high), rel=0.01)
    pearson = stats.pearsonr(age, values(ROWS, "dose"))
    interval = pearson.confidence_interval()
    made = found("cor(age, dose)")["correlation"]
    assert (made.value, made.low, made.high) == pytest.approx((pearson.statistic, interval.low, interval.high))


def test_survival_is_kaplan_and_meier():
    lasted, died = [1, 2, 2, 4, 5, 7], [1, 1, 0, 1, 0, 1]
    some = Rows(SCHEMA, tuple(np.array(codes) for codes in (lasted, [0] * 6, [0] * 6, died)))
    made = estimates(parse_analysis("survival(age, died)", SCHEMA), some, times=[2, 4, 7])
    assert [each.value for each in made] == pytest.approx([5 / 6 * 4 / 5, 5 / 6 * 4 / 5 * 2 / 3, 0])
    spread = np.sqrt(1 / (6 * 5) + 1 / (5 * 4)) / abs(np.log(2 / 3))
    assert made[0].low == pytest.approx((2 / 3) ** np.exp(1.959964 * spread), rel=1e-5)


def test_interactions_and_what_cannot_be_told():
    made = found("dose ~ age + group + age:group")
    assert "age : group = b" in made
    none_of_c = Rows(SCHEMA, tuple(codes[ROWS.column("group") < 2] for codes in ROWS.codes))
    assert found("dose ~ age + group", none_of_c)["group = c"].value is None


def test_the_same_rows_agree_and_others_do_not():
    analyses = default_analyses(SCHEMA)
    assert [analysis.kind for analysis in analyses] == ["logistic", "correlation"]
    same = parity_of(analyses, ROWS, ROWS)
    assert all(each.overlap == pytest.approx(1) and each.conclusions[0] == each.conclusions[1] for each in same)
    wrong = Rows(SCHEMA, (99 - ROWS.codes[0], *ROWS.codes[1:]))
    assert min(each.overlap for each in parity_of(analyses, ROWS, wrong)) < 0.5
    assert all(side.same_sign is False for side in parity_of(analyses[1:], ROWS, wrong)[0].sides)


TEXTS = [
    "dose ~ age + group + died",
    "died ~ age + dose",
    "t(age by group)",
    "cor(age, dose)",
    "survival(dose, died by group)",
]


@given(st.integers(0, 12), st.integers(0, 2**32 - 1))
def test_no_rows_make_an_analysis_fail(count, seed):
    random = np.random.default_rng(seed)
    few = Rows(SCHEMA, tuple(random.integers(0, random.integers(1, c.size + 1), count) for c in SCHEMA.columns))
    for parity in parity_of([parse_analysis(text, SCHEMA) for text in TEXTS], few, ROWS):
        parity.to_json()
