"""The verdict in words, at the edges of what the scores can be."""

import pytest

from sundog.report.evaluation import _relations


def scored(value):
    return {"scores": {"tv2": {"value": value}}}


@pytest.mark.parametrize(
    ("value", "best", "worst", "words"),
    [
        (0.0, 0.0, 0.0, "nearly independent"),
        (0.2, 0.1, 0.105, "nearly independent"),
        (0.1, 0.1, 0.3, "keeps 100 %"),
        (0.2, 0.1, 0.3, "keeps 50 %"),
        (0.4, 0.1, 0.3, "worse than independent columns"),
    ],
)
def test_relations_are_measured_between_chance_and_independence(value, best, worst, words):
    assert words in _relations(scored(value), scored(best), scored(worst))
