"""Explicit randomness for everything that is not privacy noise: functions of a JAX key, never of hidden state.

A key is the two 32-bit words of a JAX key (Threefry-2x32; Salmon, Moraes, Dror, Shaw 2011), and every function here
but `normals` gives what jax.random gives for it, so that JAX takes these keys too. They are worked out in NumPy, because the
methods that need nothing else of JAX would otherwise pay for starting it: a second, and a hundred megabytes.
"""

from typing import Any

import numpy as np
from jaxtyping import Float, Int

Key = Any
"""The words of a JAX key: uint32, shape (2,)."""
ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
PARITY = 0x1BD11BDA


def key_of(seed: int) -> Key:
    """The key of a seed of any size."""
    return fold_in(np.array([0, seed & 0x7FFFFFFF], dtype=np.uint32), (seed >> 31) & 0xFFFFFFFF)


def fold_in(key: Key, number: int) -> Key:
    """The key of one of many parts."""
    return np.concatenate(_threefry(key, np.zeros(1, np.uint32), np.array([number], dtype=np.uint32)))


def split(key: Key, count: int) -> list[Key]:
    """Several independent keys."""
    return list(np.stack(_threefry(key, *_counters(count)), axis=1))


def words(key: Key, count: int) -> Int[np.ndarray, " count"]:
    """Independent 64-bit words."""
    padded = 1 << max(count - 1, 1).bit_length()
    first, second = _threefry(key, *_counters(2 * padded))
    halves = (first ^ second).astype(np.uint64).reshape(2, padded)
    return (halves[0, :count] << np.uint64(32)) | halves[1, :count]


def uniforms(key: Key, count: int) -> Float[np.ndarray, " count"]:
    """Independent uniform numbers in [0, 1) with 53 bits."""
    return (words(key, count) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def normals(key: Key, count: int) -> Float[np.ndarray, " count"]:
    """Independent standard normal numbers (Box-Muller); not those of jax.random."""
    radius, angle = (uniforms(part, count) for part in split(key, 2))
    return np.sqrt(-2.0 * np.log1p(-radius)) * np.cos(2.0 * np.pi * angle)


def permutation(key: Key, count: int) -> Int[np.ndarray, " count"]:
    """A random order."""
    return np.argsort(words(key, count), kind="stable")


def integer_seed(key: Key) -> int:
    """A 31-bit seed for kernels that keep their own generator."""
    return int(words(key, 1)[0] >> np.uint64(33))


def _counters(count: int) -> tuple[Int[np.ndarray, " count"], Int[np.ndarray, " count"]]:
    """0, 1, 2, ... as high and low words."""
    return np.zeros(count, dtype=np.uint32), np.arange(count, dtype=np.uint32)


def _threefry(
    key: Key, high: Int[np.ndarray, " n"], low: Int[np.ndarray, " n"]
) -> tuple[Int[np.ndarray, " n"], Int[np.ndarray, " n"]]:
    """Twenty rounds of Threefry-2x32 on counters."""
    first, second = np.asarray(key, dtype=np.uint32)
    schedule = (first, second, first ^ second ^ np.uint32(PARITY))
    x, y = high + first, low + second
    for block in range(5):
        for rotation in ROTATIONS[block % 2]:
            x += y
            y = ((y << np.uint32(rotation)) | (y >> np.uint32(32 - rotation))) ^ x
        x += schedule[(block + 1) % 3]
        y += schedule[(block + 2) % 3]
        y += np.uint32(block + 1)
    return x, y
