"""Noise in most tests comes from a seed by the test's name, is different in every draw, and has the scale that was asked for."""

import zlib

import numpy as np
import pytest

from sundog.errors import UserError
from sundog.private import noise

ZEROS = np.zeros(20_000, dtype=np.int64)


@pytest.fixture(scope="module")
def earlier():
    return {}


@pytest.mark.parametrize("number", range(2))
def test_another_name_has_other_draws_and_no_draw_repeats(number, earlier):
    earlier |= {(number, draw): noise.add_gaussian(ZEROS, 30.0).tobytes() for draw in range(2)}
    assert len({*earlier.values()}) == 2 * (number + 1)


def test_the_name_alone_decides(request):
    random = np.random.default_rng(zlib.crc32(request.node.nodeid.encode()))
    assert noise.add_gaussian(ZEROS[:3], 30.0).tolist() == np.rint(random.normal(0.0, 30.0, 3)).tolist()


def test_the_spread_is_that_of_the_scale():
    assert noise.add_gaussian(ZEROS, 30.0).std() == pytest.approx(30, rel=0.02)
    assert noise.add_laplace(ZEROS, 30.0).std() == pytest.approx(30 * np.sqrt(2), rel=0.03)
    chosen = [noise.top_k(np.array([0, 3]), 1, scale=3.0)[0] for _ in range(4000)]
    assert np.mean(chosen) == pytest.approx(np.e / (1 + np.e), abs=0.03)


def test_scales_are_refused_as_ever():
    for draw in (noise.add_gaussian, noise.add_laplace):
        with pytest.raises(UserError, match="between 2"):
            draw(ZEROS, 0.0)
    with pytest.raises(UserError, match="k = 0"):
        noise.top_k(ZEROS, 0, scale=1.0)
