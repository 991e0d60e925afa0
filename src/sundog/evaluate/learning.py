"""Learning: train on synthetic rows, test on real ones, for every target that the schema declares.

- F1 (RAP++ Section 6, Def. 14): logistic regression on the one-hot + numeric embedding, macro F1 (the mean of the classes'
  F1 scores); categorical targets.
- Boosting (PrivPGD Section 4.1, item 1): scikit-learn's histogram gradient boosting with its standard settings on codes; the 0-1
  error, or for a numeric target the mean squared error over the variance of the test rows (1 - R^2). The paper used
  GradientBoosting: a sixth of the speed on Adult (4.6 against 0.7 CPU s), and other figures (see docs/how-to/evaluation.md).

Several targets are averaged; a row whose target is missing is left out; other targets stay among the features. Missing
numbers become the middle of the range and a column of their own that says so. scikit-learn is the extra `eval`.
"""

import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float, Int

from sundog.domain import Categorical, Numeric
from sundog.domain.rows import Rows
from sundog.errors import UserError
from sundog.evaluate.base import Better, Comparison, Needs, Score

MOST_ITERATIONS = 1_000


@dataclass(frozen=True)
class LogisticF1:
    """Macro F1 of logistic regression."""

    name = "f1"
    summary = "macro F1 of logistic regression trained on synthetic rows, tested on real ones"
    better: ClassVar[Better] = "higher"
    needs: ClassVar[Needs] = "real"

    def score(self, subject: Comparison) -> Score | None:
        """The mean over the categorical targets."""
        targets = [t for t in subject.schema.targets if isinstance(subject.schema.column(t), Categorical)]
        return _over_targets(subject, targets, learner=logistic_f1)


@dataclass(frozen=True)
class BoostingError:
    """Error of gradient boosting."""

    name = "boosting_error"
    summary = "error of gradient boosting trained on synthetic rows, tested on real ones (0-1, or 1 - R² for numbers)"
    better: ClassVar[Better] = "lower"
    needs: ClassVar[Needs] = "real"

    def score(self, subject: Comparison) -> Score | None:
        """The mean over the targets."""
        return _over_targets(subject, list(subject.schema.targets), learner=boosting_error)


def available() -> bool:
    """Whether scikit-learn is installed."""
    return importlib.util.find_spec("sklearn") is not None


def require() -> None:
    """Refuse with a message if scikit-learn is not installed."""
    if not available():
        raise UserError("learning: it needs scikit-learn, which is not installed; run: pip install 'sundog[eval]'.")


def _over_targets(subject: Comparison, targets: list[str], *, learner: Any) -> Score | None:
    require()
    tested = subject.real if subject.test is None else subject.test
    found = {target: learner(subject.synthetic, tested, target=target) for target in targets}
    known = {target: value for target, value in found.items() if value is not None}
    return Score(float(np.mean(list(known.values()))), known) if known else None


@contextmanager
def one_thread() -> Iterator[None]:
    """One thread: several on a busy machine wait for each other, for ten times the CPU time. The result is the same."""
    import sklearn.ensemble  # noqa: F401 (threads can be limited only once their library is loaded)
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1):
        yield


@one_thread()
def logistic_f1(train: Rows, test: Rows, *, target: str) -> float | None:
    """Macro F1 over the classes of the test rows; None where the test rows have no target."""
    from sklearn.linear_model import LogisticRegression

    train_labels, test_labels = _labels(train, target), _labels(test, target)
    if not len(test_labels[1]):
        return None
    if len(np.unique(train_labels[1])) < 2:
        guess = np.full(len(test_labels[1]), train_labels[1][0] if len(train_labels[1]) else -1)
        return macro_f1(test_labels[1], guess)
    model = LogisticRegression(max_iter=MOST_ITERATIONS)
    model.fit(one_hot(train, leave_out=target)[train_labels[0]], train_labels[1])
    return macro_f1(test_labels[1], model.predict(one_hot(test, leave_out=target)[test_labels[0]]))


@one_thread()
def boosting_error(train: Rows, test: Rows, *, target: str) -> float | None:
    """The 0-1 error, or 1 - R^2 for a number; None where the test rows have no target or it does not vary."""
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    numeric = isinstance(train.schema.column(target), Numeric)
    known, wanted = _labels(train, target)
    tested, truth = _labels(test, target)
    if not len(truth) or (numeric and truth.std() == 0):
        return None
    if len(np.unique(wanted)) < 2:
        guess = np.full(len(truth), wanted[0] if len(wanted) else -1)
    else:
        model = (HistGradientBoostingRegressor if numeric else HistGradientBoostingClassifier)(random_state=0)
        model.fit(code_matrix(train, leave_out=target)[known], wanted)
        guess = model.predict(code_matrix(test, leave_out=target)[tested])
    if numeric:
        return float(np.mean((guess - truth) ** 2) / truth.var())
    return float(np.mean(guess != truth))


def macro_f1(truth: Int[np.ndarray, " rows"], guess: Int[np.ndarray, " rows"]) -> float:
    """The mean over the classes that occur of 2 hits / (guessed + there)."""
    classes = np.union1d(truth, guess)
    hits = np.array([np.sum((truth == c) & (guess == c)) for c in classes])
    there = np.array([np.sum(truth == c) + np.sum(guess == c) for c in classes])
    return float(np.mean(2 * hits / there))


def _labels(rows: Rows, target: str) -> tuple[Int[np.ndarray, " known"], Any]:
    """The rows whose target is known, and its codes there (numbers scaled to [0, 1])."""
    column, codes = rows.schema.column(target), rows.column(target)
    known = np.flatnonzero(codes != column.missing) if column.missing is not None else np.arange(len(rows))
    values = rows.unit_interval(target) if isinstance(column, Numeric) else codes.astype(np.int64)
    return known, values[known]


def one_hot(rows: Rows, *, leave_out: str) -> Any:
    """Labels one-hot, numbers scaled to [0, 1], as a sparse matrix."""
    from scipy import sparse

    parts = [_embedded(rows, name) for name in rows.schema.names if name != leave_out]
    return sparse.hstack(parts, format="csr")


def _embedded(rows: Rows, name: str) -> Any:
    from scipy import sparse

    column = rows.schema.column(name)
    if isinstance(column, Numeric):
        values = rows.unit_interval(name)
        missing = np.isnan(values)
        return sparse.csr_matrix(np.stack([np.where(missing, 0.5, values), missing.astype(float)], axis=1))
    codes = rows.column(name).astype(np.int64)
    ones = np.ones(len(codes))
    return sparse.csr_matrix((ones, codes, np.arange(len(codes) + 1)), shape=(len(codes), column.size))


def code_matrix(rows: Rows, *, leave_out: str) -> Float[np.ndarray, "rows columns"]:
    """Codes as numbers, missing last."""
    kept = [rows.column(name) for name in rows.schema.names if name != leave_out]
    return np.stack([codes.astype(np.float64) for codes in kept], axis=1)
