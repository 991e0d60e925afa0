"""Explicit randomness for everything that is not privacy noise: functions of a key, never of hidden state.

A key is a seed and a path, the numbers of the parts that led to it. Its draws come from NumPy's Philox-4x64 (Salmon,
Moraes, Dror, Shaw 2011) at counter 0 under the 128-bit BLAKE2b digest of the two. Different paths therefore have
different streams, and the first draws of a stream are the same however many follow (of all but `permutation`).
"""

from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
from jaxtyping import Float, Int
from numpy.random import Generator, Philox


@dataclass(frozen=True, slots=True)
class Key:
    """A seed and the path from it."""

    seed: int
    path: tuple[int, ...] = ()


def key_of(seed: int) -> Key:
    """The key of a seed of any size."""
    return Key(int(seed))


def fold_in(key: Key, number: int) -> Key:
    """The key of one of many parts."""
    return Key(key.seed, (*key.path, int(number)))


def split(key: Key, count: int) -> list[Key]:
    """Several independent keys: those of the parts 0, 1, 2, ..."""
    return [fold_in(key, number) for number in range(count)]


def words(key: Key, count: int) -> Int[np.ndarray, " count"]:
    """Independent 64-bit random words."""
    return _philox(key).random_raw(count)


def uniforms(key: Key, count: int) -> Float[np.ndarray, " count"]:
    """Independent uniform numbers in [0, 1) with 53 bits."""
    return Generator(_philox(key)).random(count)


def normals(key: Key, count: int) -> Float[np.ndarray, " count"]:
    """Independent standard normal numbers."""
    return Generator(_philox(key)).standard_normal(count)


def permutation(key: Key, count: int) -> Int[np.ndarray, " count"]:
    """A random order of the numbers from 0 on."""
    return Generator(_philox(key)).permutation(count)


def integer_seed(key: Key) -> int:
    """A 31-bit seed for kernels that keep their own generator."""
    return int(words(key, 1)[0] >> np.uint64(33))


def _philox(key: Key) -> Philox:
    digest = blake2b(",".join(map(str, (key.seed, *key.path))).encode(), digest_size=16).digest()
    return Philox(key=int.from_bytes(digest, "little"))
