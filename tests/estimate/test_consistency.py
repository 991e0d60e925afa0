"""Consistency: exact against hand-made cases and against the least-squares problem solved as a whole."""

import itertools

import numpy as np
import pytest

from sundog.domain import Schema
from sundog.domain.axis import Axis
from sundog.domain.unit import PrivacyUnit
from sundog.estimate.consistency import consistent, overlaps
from sundog.queries import Marginal
from sundog.released import Guarantee, Measurement, Released

SCHEMA = Schema.from_json(
    {
        "fields": [
            {"name": name, "type": "string", "categories": list("pqrstu")[:size], "constraints": {"required": True}}
            for name, size in (("a", 2), ("b", 3), ("c", 4))
        ]
        + [{"name": "n", "type": "integer", "constraints": {"minimum": 0, "maximum": 7, "required": True}}]
    }
)


def released(tables, rows=None):
    measurements = tuple(Measurement(q, np.asarray(v), s, "x") for q, v, s in tables)
    return Released(SCHEMA, measurements, Guarantee(PrivacyUnit(), "gaussian", 1.0), public_rows=rows)


def solved_as_a_whole(tables, rows=None):
    """The constrained weighted least-squares solution by one dense linear system."""
    sizes = [q.size for q, _, _ in tables]
    y = np.concatenate([np.asarray(v, dtype=float) for _, v, _ in tables])
    w = np.concatenate([np.full(n, 1 / s**2) for n, (_, _, s) in zip(sizes, tables, strict=True)])
    starts = np.cumsum([0, *sizes])
    equations, right = [], []
    for overlap in overlaps([q for q, _, _ in tables]):
        for cell in range(overlap.size):
            sums = []
            for t, place in zip(overlap.tables, overlap.places, strict=True):
                row = np.zeros(len(y))
                row[starts[t] : starts[t + 1]] = place == cell
                sums.append(row)
            if overlap.size == 1 and rows is not None:
                equations += sums
                right += [rows] * len(sums)
            equations += [sums[0] - other for other in sums[1:]]
            right += [0.0] * (len(sums) - 1)
    A, b = np.array(equations), np.array(right)
    multipliers = np.linalg.pinv(A @ np.diag(1 / w) @ A.T) @ (A @ y - b)
    return np.split(y - (A.T @ multipliers) / w, starts[1:-1])


def test_two_one_way_tables_of_the_same_column_become_their_inverse_variance_average():
    query = Marginal.of(SCHEMA, "a")
    found = consistent(released([(query, [10, 20], 1.0), (query, [16, 26], 2.0)]))
    for estimate in found:
        np.testing.assert_allclose(estimate.counts, [10 + 6 / 5, 20 + 6 / 5])


def test_a_pair_and_its_margin_by_hand():
    pair, single = Marginal.of(SCHEMA, "a", "b"), Marginal.of(SCHEMA, "a")
    table, margin = consistent(released([(pair, [1, 2, 3, 4, 5, 6], 1.0), (single, [9, 15], 1.0)]))
    # the pair's margin is (6, 15) with variance 3, the single one (9, 15) with variance 1: (8.25, 15)
    np.testing.assert_allclose(margin.counts, [8.25, 15])
    np.testing.assert_allclose(table.counts, [1.75, 2.75, 3.75, 4, 5, 6])


def test_a_public_number_of_rows_is_met():
    (estimate,) = consistent(released([(Marginal.of(SCHEMA, "c"), [1, 2, 3, 4], 1.0)], rows=14))
    np.testing.assert_allclose(estimate.counts, [2, 3, 4, 5])


@pytest.mark.parametrize("rows", [None, 60])
def test_one_round_solves_the_least_squares_problem_exactly(rows):
    random = np.random.default_rng(0)
    sets = [("a", "b"), ("b", "c"), ("a", "c"), ("a", "b", "c"), ("b", "n"), ("c",)]
    queries = [Marginal.of(SCHEMA, *names) for names in sets]
    tables = [(q, random.integers(-3, 20, q.size), random.uniform(0.5, 3)) for q in queries]
    found = consistent(released(tables, rows), rounds=1)
    for estimate, expected in zip(found, solved_as_a_whole(tables, rows), strict=True):
        np.testing.assert_allclose(estimate.counts, expected, atol=1e-8)


def test_tables_that_cut_a_column_differently_converge_to_the_same_solution():
    random = np.random.default_rng(1)
    fine, coarse = Axis.whole(SCHEMA.column("n")), Axis.cut(SCHEMA.column("n"), (0, 2, 3))
    crossing = Axis.cut(SCHEMA.column("n"), (0, 3, 6))
    b = Axis.whole(SCHEMA.column("b"))
    queries = [Marginal((fine, b)), Marginal((coarse, b)), Marginal((crossing,)), Marginal((b,))]
    tables = [(q, random.integers(0, 20, q.size), random.uniform(0.5, 3)) for q in queries]
    found = consistent(released(tables), rounds=5000, tolerance=1e-12)
    for estimate, expected in zip(found, solved_as_a_whole(tables), strict=True):
        np.testing.assert_allclose(estimate.counts, expected, atol=1e-6)


def test_averaging_brings_tables_closer_to_the_truth():
    random = np.random.default_rng(2)
    truth = random.multinomial(5000, np.full(24, 1 / 24)).reshape(2, 3, 4)
    tables = []
    for names in itertools.combinations("abc", 2):
        exact = truth.sum(axis=tuple(k for k, name in enumerate("abc") if name not in names)).ravel()
        tables.append(
            (Marginal.of(SCHEMA, *names), np.round(exact + random.normal(0, 30, len(exact))).astype(int), 30.0)
        )
    before = sum(np.abs(v - _exact(truth, q)).sum() for q, v, _ in tables)
    after = sum(np.abs(e.counts - _exact(truth, e.query)).sum() for e in consistent(released(tables, rows=5000)))
    assert after < 0.9 * before


def _exact(truth, query):
    return truth.sum(axis=tuple(k for k, name in enumerate("abc") if name not in query.columns)).ravel()
