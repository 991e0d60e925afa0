"""The certificate's plain words change with epsilon."""

import pytest

from sundog.domain.unit import PrivacyUnit
from sundog.released import Guarantee
from sundog.report.words import meaning, promise


def guarantee(epsilon, delta=1e-9, rho=0.1):
    return Guarantee(PrivacyUnit(), "gaussian", rho, epsilon=epsilon, delta=delta)


def test_each_level_has_its_own_promise():
    said = [promise(guarantee(epsilon)) for epsilon in (0.5, 2, 8, 1000)]
    assert len(set(said)) == 4
    assert "almost the same" in said[0]
    assert not any("almost the same" in sentence for sentence in said[1:])
    assert "almost nothing" in said[3]


@pytest.mark.parametrize(
    ("epsilon", "factor", "sure"),
    [(1, "2.72", "74 %"), (5, "148", "99.331 %"), (10, "e^10", "99.996 %"), (1000, "e^1000", "practically 100 %")],
)
def test_the_number_behind_it(epsilon, factor, sure):
    sentence = meaning(guarantee(epsilon))
    assert f"factor of {factor}, up to the small probability delta = 1e-09" in sentence
    assert f"at most {sure} sure" in sentence


def test_a_delta_that_is_not_small_is_not_called_small():
    assert "up to the probability delta = 0.1" in meaning(guarantee(1, delta=0.1))


def test_without_epsilon_the_words_follow_rho():
    assert "almost the same" in promise(guarantee(None, None, rho=0.001))
    assert "almost nothing" in promise(guarantee(None, None, rho=50.0))
    assert "taken from rho at delta 1e-09" in meaning(guarantee(None, None, rho=0.001))
