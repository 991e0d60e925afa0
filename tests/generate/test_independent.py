"""Independent columns: each follows its own measurement, and none follows another."""

import numpy as np
import pytest

from example_tables import SCHEMA, table
from sundog.domain.unit import PrivacyUnit
from sundog.generate import Independent
from sundog.generate.independent import systematic
from sundog.queries import Marginal, answer
from sundog.random.keys import key_of, split, uniforms
from sundog.released import Guarantee, Measurement, Released
from sundog.sources import open_table

REAL = open_table(table()).read(SCHEMA)
ONE_WAY = [Marginal.of(SCHEMA, name) for name in SCHEMA.names]


@pytest.fixture(scope="module")
def state():
    measured = tuple(Measurement(query, answer(query, REAL), 0.5, "1") for query in ONE_WAY)
    released = Released(SCHEMA, measured, Guarantee(PrivacyUnit("replace"), "zcdp", 0.1), public_rows=len(REAL))
    return Independent().fit(key_of(0), Independent().init(key_of(0), SCHEMA), released=released)


def test_every_column_follows_its_measurement(state):
    rows = Independent().sample(key_of(1), state, rows=1000)
    for query in ONE_WAY:
        share = answer(query, REAL) / len(REAL)
        assert np.abs(Independent().answer(state, query) - share).max() < 0.02
        assert np.abs(answer(query, rows) / 1000 - Independent().answer(state, query)).max() < 0.02


def test_columns_are_independent_and_the_same_key_gives_the_same_rows(state):
    one, again = (Independent().sample(key_of(2), state, rows=20_000) for _ in range(2))
    assert all(np.array_equal(*pair) for pair in zip(one.codes, again.codes, strict=True))
    apart = np.corrcoef(np.stack(one.codes))
    assert np.abs(apart - np.eye(len(apart))).max() < 0.05


def test_only_single_columns_are_supported():
    assert all(map(Independent().supports, ONE_WAY))
    assert not Independent().supports(Marginal.of(SCHEMA, *SCHEMA.names[:2]))


def test_systematic_counts_are_right_give_or_take_one():
    for seed, part in enumerate(split(key_of(3), 20)):
        shares = uniforms(part, 7)
        shares /= shares.sum()
        for rows in (1, 10, 1001):
            counts = np.bincount(systematic(shares, rows, offset=seed / 20), minlength=7)
            assert counts.sum() == rows
            assert np.abs(counts - shares * rows).max() < 1 + 1e-9
