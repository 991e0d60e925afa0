"""0/1 queries that are products of features: conjunctions of ranges, and chosen cells of marginals.

Most conditions are asked by many queries (a threshold, a label), so each distinct one becomes a row of the extended matrix X
once: thresholds on numbers are differences of two sigmoids, those on cells are sums of features (runs.py), labels are features
already. A query then picks a few rows of X,

    answer = 1/rows * sum over rows of X[a] X[b] ...   (by label: times the probability of the label),

and the gradient by X is written out: for each picked row the slope times the product of the others. Queries are held a
chunk at a time. Shapes are padded to powers of two, so that later rounds find what is compiled.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from sundog.generate.projection.forms.runs import NO_RUNS, Runs, powers, run_members
from sundog.generate.projection.panels import Matrix
from sundog.lazy_jax import Array, jax, jit, jnp

CHUNK = 128
"""This many queries are held at a time: their members stay in a processor's cache."""
LEAST_CONDITIONS = 32


class Conditions(NamedTuple):
    """Distinct conditions on numbers: the features of the number, of missing, of missing where that lies inside, two cuts."""

    feature: Int[np.ndarray, " conditions"]
    missing: Int[np.ndarray, " conditions"]
    inside: Int[np.ndarray, " conditions"]
    low: Float[np.ndarray, " conditions"]
    high: Float[np.ndarray, " conditions"]


NO_CONDITIONS = Conditions(*(np.empty(0, kind) for kind in (int, int, int, float, float)))


class Products(NamedTuple):
    """Queries as rows of the extended matrix: its features, then conditions on numbers, then runs of cells."""

    conditions: Conditions
    runs: Runs
    picked: Int[np.ndarray, "chunks chunk factors"]


def padded_conditions(parts: Sequence[Conditions], *, zero: int) -> Conditions:
    """The conditions of several columns one after the other, padded with such that no row satisfies."""
    joined = [np.concatenate(each) for each in zip(NO_CONDITIONS, *parts, strict=True)]
    more = powers(len(joined[0]), LEAST_CONDITIONS) - len(joined[0])
    fills, kinds = (zero, zero, zero, 0.0, 0.0), (np.int32, np.int32, np.int32, np.float32, np.float32)
    held = (np.pad(part, (0, more), constant_values=fill) for part, fill in zip(joined, fills, strict=True))
    return Conditions(*(part.astype(kind) for part, kind in zip(held, kinds, strict=True)))


def products_of(
    picked: Int[np.ndarray, "queries factors"], *, one: int, conditions: Conditions, runs: Runs = NO_RUNS
) -> tuple[Products, Int[np.ndarray, " padded"]]:
    """The queries in chunks, and which query stands where (-1: padding, which asks for the feature that is 1)."""
    queries, factors = picked.shape
    size = powers(queries, CHUNK)
    padded = np.full((size, factors), one, np.int32)
    padded[:queries] = picked
    places = np.full(size, -1)
    places[:queries] = np.arange(queries)
    return Products(conditions, runs, padded.reshape(-1, CHUNK, factors)), places


def extended(matrix: Matrix, sharpness: Any, products: Products) -> Matrix:
    """The features, then how far each row satisfies each condition on a number, then on cells."""
    conditions = products.conditions
    value = matrix[conditions.feature]
    rise, fall = (jax.nn.sigmoid(sharpness * (value - cut[:, None])) for cut in (conditions.low, conditions.high))
    held = (rise - fall) * (1.0 - matrix[conditions.missing]) + matrix[conditions.inside]
    return jnp.concatenate([matrix, held, run_members(matrix, products.runs)], axis=0)


@jit()
def product_counts(matrix: Matrix, sharpness: Any, labels: Any, products: Products) -> Float[Array, "queries labels"]:
    """The share of rows that are members, by label."""
    rows = extended(matrix, sharpness, products)
    by_label = rows[labels].T

    def counted(picked: Any) -> Any:
        return jnp.matmul(rows[picked].prod(axis=1), by_label, precision="highest") / matrix.shape[1]

    return jax.lax.map(counted, products.picked).reshape(-1, labels.shape[0])


@jit()
def add_products(
    matrix: Matrix,
    loss: Any,
    gradient: Matrix,
    sharpness: Any,
    labels: Any,
    values: Any,
    weight: Any,
    rest: Any,
    products: Products,
) -> tuple[Any, Matrix]:
    """Adds the weighted squared error of the counts (and of the complement, by `rest`), and its gradient."""
    rows, pull = jax.vjp(lambda m: extended(m, sharpness, products), matrix)
    by_label, n = rows[labels], matrix.shape[1]

    def chunk(carry: Any, given: Any) -> tuple[Any, None]:
        so_far, slopes = carry
        picked, noisy, heavy, other = given
        factors = [rows[picked[:, k]] for k in range(picked.shape[1])]
        members = _product(factors)
        found = jnp.matmul(members, by_label.T, precision="highest") / n
        error, complement = found - noisy[:, :-1], 1.0 - found.sum(axis=1) - noisy[:, -1]
        part = (heavy * jnp.square(error).sum(axis=1) + other * jnp.square(complement)).sum()
        slope = 2.0 * (heavy[:, None] * error - (other * complement)[:, None]) / n
        by_member = jnp.matmul(slope, by_label, precision="highest")
        slopes = slopes.at[labels].add(jnp.matmul(slope.T, members, precision="highest"))
        for k in range(len(factors)):
            others = factors[:k] + factors[k + 1 :]
            slopes = slopes.at[picked[:, k]].add(by_member * _product(others) if others else by_member)
        return (so_far + part, slopes), None

    chunks, size = products.picked.shape[:2]
    parts = (
        products.picked,
        values.reshape(chunks, size, -1),
        weight.reshape(chunks, size),
        rest.reshape(chunks, size),
    )
    (loss, slopes), _ = jax.lax.scan(chunk, (loss, jnp.zeros_like(rows)), parts)
    return loss, gradient + pull(slopes)[0]


def _product(factors: Sequence[Any]) -> Any:
    product = factors[0]
    for factor in factors[1:]:
        product = product * factor
    return product
