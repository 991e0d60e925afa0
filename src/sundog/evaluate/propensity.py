"""Can a model tell synthetic rows from real ones? pMSE of a logistic regression, and the AUC of gradient boosting.

With N rows in total, c the share of synthetic ones and p_i the fitted chance that row i is synthetic (Woo et al. 2009),

    pMSE = 1/N sum (p_i - c)^2,      pMSE ratio = pMSE / (k (1 - c)^2 c / N)      (Snoke et al. 2018),

k the number of fitted coefficients without the intercept: a table drawn like the real one has a ratio near 1. The model
has every column's main effect (labels one-hot, numbers scaled). Gradient boosting also sees interactions: its AUC on
rows it was not trained on (three folds) is 0.5 where nothing distinguishes the tables and 1 where everything does.

Each side is a random choice of at most MOST rows, the same number of both.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float, Int

from sundog.domain.rows import Rows
from sundog.evaluate.base import Better, Comparison, Needs, Score
from sundog.evaluate.learning import MOST_ITERATIONS, code_matrix, one_hot, one_thread, require
from sundog.random.keys import Key, fold_in, permutation

MOST = 20_000
FOLDS = 3


@dataclass(frozen=True)
class PropensityRatio:
    """pMSE over what a table drawn like the real one would have."""

    name = "pmse_ratio"
    summary = "error of the propensity score over what chance alone would give: 1 is indistinguishable"
    better: ClassVar[Better] = "lower"
    needs: ClassVar[Needs] = "real"

    def score(self, subject: Comparison) -> Score | None:
        """The ratio, and pMSE itself; None with fewer than two rows on a side."""
        require()
        sides = _sides(subject)
        if sides is None:
            return None
        mean_square, coefficients = _propensity(*sides)
        rows = 2 * len(sides[0])
        expected = max(coefficients, 1) * 0.125 / rows
        return Score(mean_square / expected, {"pMSE": mean_square})


@dataclass(frozen=True)
class Detection:
    """How well gradient boosting distinguishes synthetic rows from real ones."""

    name = "detection_auc"
    summary = "AUC of gradient boosting that distinguishes synthetic rows from real ones: 0.5 is indistinguishable"
    better: ClassVar[Better] = "lower"
    needs: ClassVar[Needs] = "real"

    def score(self, subject: Comparison) -> Score | None:
        """The AUC, at least 0.5; None with fewer than two rows per fold and side."""
        require()
        sides = _sides(subject)
        if sides is None or len(sides[0]) < 2 * FOLDS:
            return None
        return Score(max(0.5, _detection(subject.key, *sides)))


def _sides(subject: Comparison) -> tuple[Rows, Rows] | None:
    """As many real as synthetic rows, chosen at random."""
    count = min(len(subject.real), len(subject.synthetic), MOST)
    if count < 2:
        return None
    return _some(fold_in(subject.key, 1), subject.real, count), _some(fold_in(subject.key, 2), subject.synthetic, count)


def _some(key: Key, rows: Rows, count: int) -> Rows:
    chosen = permutation(key, len(rows))[:count]
    return Rows(rows.schema, tuple(codes[chosen] for codes in rows.codes))


@one_thread()
def _propensity(real: Rows, synthetic: Rows) -> tuple[float, int]:
    """pMSE, and the number of coefficients without the intercept."""
    from scipy import sparse
    from sklearn.linear_model import LogisticRegression

    features = sparse.vstack([one_hot(real, leave_out=""), one_hot(synthetic, leave_out="")], format="csr")
    features = features[:, np.flatnonzero(np.diff(features.tocsc().indptr))]
    model = LogisticRegression(C=1e6, max_iter=MOST_ITERATIONS, tol=1e-4)
    model.fit(features, _labels(len(real), len(synthetic)))
    chance = model.predict_proba(features)[:, 1]
    return float(np.mean((chance - 0.5) ** 2)), int(np.linalg.matrix_rank(_gram(features))) - 1


def _gram(features: Any) -> Float[np.ndarray, "features features"]:
    """The features' products with each other and with the intercept, centred scale: its rank counts coefficients."""
    from scipy import sparse

    whole = sparse.hstack([np.ones((features.shape[0], 1)), features], format="csr")
    return np.asarray((whole.T @ whole).todense()) / features.shape[0]


@one_thread()
def _detection(key: Key, real: Rows, synthetic: Rows) -> float:
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.metrics import roc_auc_score

    features = np.concatenate([code_matrix(real, leave_out=""), code_matrix(synthetic, leave_out="")])
    labels = _labels(len(real), len(synthetic))
    fold = np.concatenate([permutation(fold_in(key, 3 + k), len(real)) % FOLDS for k in range(2)])
    chance = np.empty(len(labels))
    for number in range(FOLDS):
        model = HistGradientBoostingClassifier(random_state=0)
        model.fit(features[fold != number], labels[fold != number])
        chance[fold == number] = model.predict_proba(features[fold == number])[:, 1]
    return float(roc_auc_score(labels, chance))


def _labels(real: int, synthetic: int) -> Int[np.ndarray, " rows"]:
    return np.repeat([0, 1], [real, synthetic])
