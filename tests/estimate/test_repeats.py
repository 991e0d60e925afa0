"""Repeats: measured twice is measured once, with both parts of the budget."""

import numpy as np
import pytest

from sundog.domain import Categorical
from sundog.domain.axis import Axis
from sundog.estimate.repeats import without_repeats
from sundog.queries import Marginal
from sundog.released import Measurement

ONE, TWO = (Marginal((Axis.whole(Categorical(name, labels=("x", "y"))),)) for name in "ab")


def test_the_mean_is_weighted_by_precision_and_as_precise_as_both_together():
    held = [Measurement(ONE, np.array([100, 0]), 3.0, "r"), Measurement(ONE, np.array([200, 50]), 4.0, "s")]
    (found,) = without_repeats(held)
    assert found.values.tolist() == [136, 18]  # (100/9 + 200/16) / (1/9 + 1/16)
    assert found.stddev == pytest.approx(2.4)


def test_other_queries_stay_in_the_order_of_their_first_measurement():
    held = [Measurement(query, np.array([k, k]), 1.0, "r") for k, query in enumerate((TWO, ONE, TWO))]
    found = without_repeats(held)
    assert [m.query for m in found] == [TWO, ONE]
    assert found[1] is held[1]
