"""How attacks are scored: intervals and areas held against other ways to work them out."""

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import roc_auc_score

from audit.people import population
from sundog.audit.bounds import most_auc, most_true
from sundog.audit.game import Attack, Rate, auc_of, game_of
from sundog.random.keys import key_of


def rows_of(rows):
    return set(zip(*(codes.tolist() for codes in rows.codes), strict=True))


def test_targets_are_what_they_are_called_and_never_known_before():
    real, test = population(300, seed=1), population(200, seed=2)
    game = game_of(key_of(0), real, real, test=test, targets=1000)
    assert (len(game.members), len(game.outsiders), len(game.reference)) == (100, 100, 100)
    assert rows_of(game.members) <= rows_of(real)
    assert rows_of(game.outsiders) | rows_of(game.reference) == rows_of(test)
    alone = game_of(key_of(0), real, real, test=None, targets=50)
    assert (len(alone.members), alone.outsiders, alone.reference) == (50, None, None)


def test_areas_are_scikit_learns_and_their_intervals_cover():
    random, covered = np.random.default_rng(0), 0
    truth = stats.norm.cdf(1 / np.sqrt(2))
    for _ in range(200):
        members, outsiders = np.round(random.normal(1, size=80), 1), np.round(random.normal(size=60), 1)
        area, low, high = auc_of(members, outsiders)
        assert area == pytest.approx(
            roc_auc_score(np.r_[np.ones(80), np.zeros(60)], np.r_[members, outsiders]), abs=1e-12
        )
        covered += low <= truth <= high
    assert covered >= 190


def test_gains_and_limits():
    attack = Attack("Kind", "name", "about", Rate(60, 100), 0.1, Rate(20, 100), auc=(0.8, 0.7, 0.9))
    value, low, high = attack.gain
    assert value == pytest.approx(0.4)
    assert 0.2 < low < 0.25 < 0.5 < high < 0.56
    points = [(1.0, 1e-6)]
    shown = attack.to_json(points)
    assert shown["limit"] == pytest.approx(float(most_true(attack.outsiders.interval[1], points)))
    assert shown["auc"]["limit"] == pytest.approx(most_auc(points))
    assert shown["works"]
    assert not shown["beyondLimit"]
    assert attack.to_json([(0.1, 0.0)])["beyondLimit"]
    assert attack.to_json(None)["limit"] is None
    alone = Attack("Kind", "name", "about", Rate(60, 100), 0.1).to_json(points)
    assert (alone["gain"], alone["limit"], alone["works"]) == (None, None, False)
