"""Telling synthetic from real rows: near chance for a fresh sample, easy for a table without relations."""

import pytest

from related_tables import permuted, related
from sundog.evaluate.base import Comparison
from sundog.evaluate.propensity import Detection, PropensityRatio

pytest.importorskip("sklearn")
REAL = related(3000, 1)


def test_a_fresh_sample_of_the_same_law_is_near_what_chance_gives():
    subject = Comparison(REAL, related(3000, 2))
    assert 0.3 < PropensityRatio().score(subject).value < 2.5
    assert Detection().score(subject).value < 0.56


def test_main_effects_do_not_see_lost_relations_but_boosting_does():
    subject = Comparison(REAL, permuted(REAL, "x"))
    assert PropensityRatio().score(subject).value < 2.5
    assert Detection().score(subject).value > 0.7


def test_a_shifted_table_is_told_apart():
    shifted = related(3000, 2)
    shifted.codes[0][:] = 0
    assert PropensityRatio().score(Comparison(REAL, shifted)).value > 20


def test_too_few_rows_have_no_score():
    assert PropensityRatio().score(Comparison(related(1, 1), related(1, 2))) is None
    assert Detection().score(Comparison(related(3, 1), related(3, 2))) is None
