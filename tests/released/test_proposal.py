"""A selection is checked before anybody pays for it."""

import numpy as np
import pytest

from privacy.stand_ins import ONE_WAY, TWO_WAY
from sundog.errors import UserError
from sundog.released import Selection

CANDIDATES = (*ONE_WAY, TWO_WAY)
ESTIMATES = tuple(np.zeros(query.size, dtype=np.int64) for query in CANDIDATES)


def test_a_whole_marginal_is_one_block():
    assert Selection(CANDIDATES, ESTIMATES).blocks == 3


@pytest.mark.parametrize(
    ("arguments", "options", "words"),
    [
        (((), ()), {}, "no candidate"),
        ((CANDIDATES, ESTIMATES[:2]), {}, "do not fit"),
        ((CANDIDATES, (*ESTIMATES[:2], ESTIMATES[0])), {}, "do not fit"),
        ((CANDIDATES, ESTIMATES), {"weights": (1, 2)}, "2 weights or penalties for 3 blocks"),
        ((CANDIDATES, ESTIMATES), {"penalties": (1, 2, 3, 4)}, "4 weights or penalties for 3 blocks"),
        ((CANDIDATES, ESTIMATES), {"weights": (1, -2, 1)}, "negative"),
        ((CANDIDATES, ESTIMATES), {"k": 0}, "how many to choose"),
        ((CANDIDATES, ESTIMATES), {"k": 1.5}, "how many to choose"),
    ],
)
def test_what_cannot_be_chosen_from_is_refused(arguments, options, words):
    with pytest.raises(UserError, match=words):
        Selection(*arguments, **options)
