"""Explicit randomness for everything that is not privacy noise: functions of a JAX key, never of hidden state."""

from typing import Any

import jax
import numpy as np
from jaxtyping import Float, Int

Key = Any
"""A JAX key; jax.random.key(seed) makes one."""


def key_of(seed: int) -> Key:
    """The key of a seed of any size."""
    return jax.random.fold_in(jax.random.key(seed & 0x7FFFFFFF), (seed >> 31) & 0xFFFFFFFF)


def split(key: Key, count: int) -> list[Key]:
    """Several independent keys."""
    return list(jax.random.split(key, count))


def words(key: Key, count: int) -> Int[np.ndarray, " count"]:
    """Independent 64-bit words."""
    padded = 1 << max(count - 1, 1).bit_length()  # few distinct shapes, so few compilations
    halves = np.asarray(jax.random.bits(key, (2, padded), dtype=np.uint32)).astype(np.uint64)
    return (halves[0, :count] << np.uint64(32)) | halves[1, :count]


def uniforms(key: Key, count: int) -> Float[np.ndarray, " count"]:
    """Independent uniform numbers in [0, 1) with 53 bits."""
    return (words(key, count) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def permutation(key: Key, count: int) -> Int[np.ndarray, " count"]:
    """A random order."""
    return np.argsort(words(key, count), kind="stable")


def integer_seed(key: Key) -> int:
    """A 31-bit seed for kernels that keep their own generator."""
    return int(words(key, 1)[0] >> np.uint64(33))
