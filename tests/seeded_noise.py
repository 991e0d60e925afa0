"""In most tests the privacy noise has a seed, so that none of them fails by chance.

The noise itself, and what depends on its law, is tested in the folders `AS_IT_IS` with the operating system's entropy; each
such test states how often it fails by chance. Everywhere else the draws of this process come from a generator that starts
anew with every test, by its name. Scales are checked as ever. Commands in processes of their own draw as users' do.
"""

import importlib
import zlib
from pathlib import Path

import numpy as np
import pytest

TESTS = Path(__file__).parent
AS_IT_IS = {"private", "privacy"}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    noise = importlib.import_module("sundog.private.noise")
    real = {name: getattr(noise, name) for name in DRAWS}
    if not AS_IT_IS & {*item.path.parts[len(TESTS.parts) :]}:
        random = np.random.default_rng(zlib.crc32(item.nodeid.encode()))
        for name, draw in DRAWS.items():
            setattr(noise, name, draw(noise, random))
    try:
        return (yield)
    finally:
        for name, function in real.items():
            setattr(noise, name, function)


def _added(draw):
    """The function that adds such draws to counts."""

    def of(noise, random):
        def add(counts, scale):
            noise._check_scale(scale)
            drawn, most = np.rint(draw(random, scale, len(counts))), noise._MOST_COUNT
            return np.clip(counts, -most, most) + np.clip(drawn, -most, most).astype(np.int64)

        return add

    return of


def _top_k(noise, random):
    real = noise.top_k

    def top_k(scores, k, *, scale):
        if not 1 <= k < len(scores):
            return real(scores, k, scale=scale)
        noise._check_scale(scale)
        noisy = np.asarray(scores, dtype=float) + random.gumbel(scale=scale, size=len(scores))
        return [int(place) for place in np.argsort(-noisy)[:k]]

    return top_k


DRAWS = {
    "add_gaussian": _added(lambda random, scale, size: random.normal(0.0, scale, size)),
    "add_laplace": _added(lambda random, scale, size: random.laplace(0.0, scale, size)),
    "top_k": _top_k,
}
