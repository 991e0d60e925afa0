"""Every attack breaks a copy of the table, and none finds members where the synthetic rows know nothing of them."""

import numpy as np
import pytest

from audit.people import SCHEMA, population
from sundog.audit.game import game_of
from sundog.audit.guidance import inference, linkability, singling_out
from sundog.audit.membership import known_counts, membership_attacks
from sundog.domain.unit import PrivacyUnit
from sundog.queries import Marginal
from sundog.random.keys import key_of
from sundog.released import Guarantee, Measurement, Released

REAL, TEST = population(600, seed=1), population(900, seed=2)
ATTACKS = (
    "closest synthetic row",
    "density ratio",
    "shadow models",
    "by all columns",
    "by half of the columns",
    "two halves of a record",
    "guess c1",
)


def attacks(synthetic, *, released=None, test=TEST):
    game = game_of(key_of(3), REAL, synthetic, test=test, targets=300)
    found = [
        *membership_attacks(game, released),
        *singling_out(game),
        *linkability(game),
        *inference(game, ["c1"]),
    ]
    return {attack.name: attack for attack in found}


def test_a_copy_is_broken_by_every_attack():
    found = attacks(REAL)
    assert tuple(found) == ATTACKS
    assert all(attack.gain[1] > 0 for attack in found.values())
    for name in ("closest synthetic row", "by all columns", "guess c1"):
        assert found[name].members.value > 0.9
    assert found["shadow models"].auc[1] > 0.6


def test_rows_of_the_same_population_give_nobody_away():
    found = attacks(population(600, seed=9))
    assert not any(attack.gain[1] > 0 for attack in found.values())
    assert all(attack.auc is None or attack.auc[1] < 0.5 for attack in found.values())
    assert found["guess c1"].baseline == pytest.approx(1 / 6, abs=0.07)


def released(stddev):
    random = np.random.default_rng(0)
    measured = []
    for first in range(5):
        for second in range(first + 1, 5):
            query = Marginal.of(SCHEMA, f"c{first}", f"c{second}")
            exact = np.zeros(query.size, dtype=np.int64)
            query.add(REAL, exact)
            noisy = exact + np.rint(random.normal(scale=stddev, size=query.size)).astype(np.int64)
            measured.append(Measurement(query, noisy, stddev, "r"))
    return Released(SCHEMA, tuple(measured), Guarantee(PrivacyUnit(), "gaussian", 1.0))


def test_shadow_models_read_released_marginals_as_far_as_their_noise_allows():
    made = population(600, seed=9)
    areas = [attacks(made, released=released(stddev))["shadow models"].auc for stddev in (0.1, 300.0)]
    assert areas[0][1] > 0.55
    assert areas[1][1] < 0.5 < areas[1][2]
    assert len(known_counts(key_of(0), made, released(1.0))) == 10


def test_without_outsiders_membership_is_not_tried():
    found = attacks(REAL, test=None)
    assert tuple(found) == ATTACKS[3:]
    assert all(attack.outsiders is None for attack in found.values())
