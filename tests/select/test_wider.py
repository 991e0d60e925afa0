"""Wider tables: candidates by a public rule, nothing kept for them at small budgets, and a parity that no pair shows."""

import math
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from sundog import Synthesizer
from sundog.domain import Categorical, Schema
from sundog.domain.unit import PrivacyUnit
from sundog.generate import PooledSearch
from sundog.methods.workloads import two_way
from sundog.queries import Marginal
from sundog.released import Guarantee, Measurement, Proposal, Released, Scores
from sundog.select import Allocate, wider

ROWS = 20_000
NAMES = [f"x{k}" for k in range(11)]


def scored(sizes: dict[str, int], *, targets=("y",), strong=()) -> tuple[tuple[Marginal, ...], Released]:
    """All pairs of columns with so many labels each, scored: those named are far from independence."""
    columns = [Categorical(name, labels=tuple(range(size))) for name, size in sizes.items()]
    schema = Schema(tuple(columns), targets=targets)
    pairs = two_way(schema)
    scores = Scores(pairs, np.array([9000 if set(q.columns) & set(strong) else 10 for q in pairs]), 5.0, "s")
    alone = [(Marginal.of(schema, name), np.full(size, ROWS // size)) for name, size in sizes.items()]
    measured = tuple(Measurement(query, values, 2.0, "r") for query, values in alone)
    guarantee = Guarantee(PrivacyUnit(), "gaussian", 1.0)
    return pairs, Released(schema, measured, guarantee, scores=(scores,), public_rows=ROWS)


def candidates(*given, rho=1e-4, **more):
    pairs, released = scored(*given, **more)
    return {frozenset(query.columns) for query in wider.candidates(pairs, released, cells=6, rho=rho)}


def test_a_target_with_any_two_columns_and_with_any_three_narrow_ones():
    found = candidates({"a": 2, "b": 3, "c": 2, "d": 9, "y": 2})
    assert found == {frozenset("abcy"), frozenset("ady"), frozenset("bdy"), frozenset("cdy")}


def test_columns_have_few_cells_and_no_table_has_two_orders():
    pairs, released = scored({"a": 20, "b": 9, "y": 30}, targets=("y", "a"))
    (query,) = wider.candidates(pairs, released, cells=6, rho=1e-4)
    assert query.columns == ("a", "b", "y")
    assert query.shape == (6, 6, 6)


def test_without_a_target_there_are_none():
    assert not candidates({"a": 2, "b": 3, "c": 2}, targets=())


def test_of_many_columns_the_strongest_are_looked_at_and_targets_share_them():
    sizes = {f"x{k}": 2 + 5 * (k % 2) for k in range(80)}
    one = candidates({**sizes, "y": 2}, strong=("x71", "x72"))
    assert len(one) <= 520
    assert {name for names in one for name in names} >= {"x71", "x72"}
    many = {f"y{k}": 2 for k in range(8)}
    assert len(candidates({**sizes, **many}, targets=tuple(many))) <= 520


def test_a_target_with_as_many_narrow_columns_as_noise_allows_the_strongest_first():
    sizes = {**dict.fromkeys("abcdefgh", 2), "y": 2}
    count = wider.HIDDEN * math.sqrt(1 / (2 * wider.FOR_WIDEST))  # at rho = 1, of one cell

    def widest(cells):
        found = candidates(sizes, strong=("g", "h"), rho=(cells * count / ROWS) ** 2 * 1.01)
        return max(found, key=len)

    assert widest(2**9) == frozenset(sizes)
    assert len(widest(2**7)) == 7
    assert widest(2**7) >= set("ghy")
    assert len(widest(2**4)) == 4
    many = {**{f"x{k}": 2 for k in range(30)}, "y": 2}
    assert 2 ** max(map(len, candidates(many, rho=1e9))) == wider.MOST_CELLS


def test_how_much_is_kept_all_where_pairs_are_exact_less_where_scores_can_tell_and_else_nothing():
    pairs, released = scored({"a": 2, "b": 3, "y": 2})
    exact = 1 / (2 * (wider.EXACT * ROWS) ** 2)

    def kept(rho, *, tables=100, share=0.4):
        unit = released.guarantee.unit
        return wider.kept(tables, pairs[0], unit=unit, rows=ROWS, rho=rho, share=share) / rho

    assert kept(1.01 * exact) == pytest.approx(0.4)
    assert kept(0.99 * exact) == pytest.approx(0.4 * wider.LESS)
    tells = 100 * (wider.Z / (wider.STRONG * ROWS)) ** 2 / (2 * wider.SCORES * wider.LESS * 0.4)
    assert kept(1.01 * tells) == pytest.approx(0.4 * wider.LESS)
    assert kept(0.99 * tells) == 0
    assert kept(exact, tables=0) == kept(exact, share=0) == 0


def parity(rows: int, seed: int, *, of=(1, 4, 7)) -> pa.Table:
    bits = np.random.default_rng(seed).integers(0, 2, (rows, 11))
    shown = bits[:, list(of)].sum(axis=1) % 2
    return pa.table({name: column.astype(str) for name, column in zip([*NAMES, "y"], [*bits.T, shown], strict=True)})


DOCUMENT = {
    "name": "parity",
    "targets": ["y"],
    "fields": [
        {"name": name, "type": "string", "categories": ["0", "1"], "constraints": {"required": True}}
        for name in [*NAMES, "y"]
    ],
}


def fitted(tmp_path, *, epsilon, settings=None, of=(1, 4, 7)):
    places = {"ledger": tmp_path / "ledger", "seed": 1}
    return Synthesizer(DOCUMENT, epsilon=epsilon, delta=1e-9, settings=settings, **places).fit(parity(ROWS, 1, of=of))


def agreement(frame, *, of=(1, 4, 7)) -> float:
    bits = frame[[*(f"x{k}" for k in of), "y"]].astype(int).sum(axis=1)
    return float((bits % 2 == 0).mean())


@pytest.mark.parametrize("epsilon", [1.0, 5.0])
def test_a_parity_of_three_columns_that_no_pair_shows_is_found_and_kept(tmp_path, epsilon):
    made = fitted(tmp_path, epsilon=epsilon)
    found = [m.query.columns for m in made.released.measurements if len(m.query.columns) > 2]
    assert ("x1", "x4", "x7", "y") in found
    assert len(found) <= 4  # where nothing else is worth the budget, noise alone may let one of 165 in
    assert agreement(made.sample().to_pandas()) > 0.95
    assert made.released.guarantee.epsilon == pytest.approx(epsilon, rel=1e-3)


def test_a_parity_of_six_columns_shows_in_the_table_of_all_narrow_ones(tmp_path):
    six = (0, 1, 3, 5, 8, 9)
    made = fitted(tmp_path, epsilon=5.0, of=six)
    assert 12 in [len(m.query.columns) for m in made.released.measurements]
    assert agreement(made.sample().to_pandas(), of=six) > 0.75


@pytest.mark.parametrize(("epsilon", "settings"), [(0.5, {}), (5.0, {"rule.share_wider": 0})])
def test_at_a_small_budget_or_when_turned_off_nothing_is_kept_for_wider_tables(tmp_path, epsilon, settings):
    released = fitted(tmp_path, epsilon=epsilon, settings={"passes": 1, **settings}).released
    assert all(len(m.query.columns) <= 2 for m in released.measurements)
    assert len(released.scores) == 1
    assert len({m.query for m in released.measurements}) == len(released.measurements)


def test_a_wider_table_is_measured_only_where_it_shows_more_than_its_noise_costs():
    pairs, released = scored({"a": 2, "b": 3, "c": 2, "y": 2})
    (table,) = wider.candidates(pairs, released, cells=6, rho=1e-4)
    measured = tuple(
        Measurement(query, np.full(query.size, ROWS // query.size), 10.0, "p") for query in pairs
    )  # independent, nearly exact

    def last(score, rho=0.01):
        seen = Scores((table,), np.array([score]), 20.0, "w")
        known = Released(
            released.schema,
            (*released.measurements, *measured),
            released.guarantee,
            scores=(*released.scores, seen),
            public_rows=ROWS,
        )
        return {q.columns for q in Allocate()._last(pairs, known, rho=rho).queries if len(q.columns) > 2}

    sampling = 0.8 * math.sqrt(ROWS * table.size)
    assert last(int(sampling)) == set()
    assert last(ROWS) == {("a", "b", "c", "y")}


def test_where_pairs_are_not_exact_a_table_must_show_strong_structure_beyond_its_parts():
    pairs, released = scored({"a": 2, "b": 2, "c": 2, "d": 2, "y": 2})
    tables = wider.candidates(pairs, released, cells=6, rho=0.1)
    sampling = {query: 0.8 * math.sqrt(ROWS * query.size) for query in tables}

    def entering(shown):
        scores = [math.hypot(sampling[query], shown(query) * ROWS) for query in tables]
        seen = Scores(tables, np.array(scores).astype(int) + 1, 0.0, "w")
        known = replace(released, scores=(*released.scores, seen))
        return {columns for columns, _ in wider.options(known, least=wider.STRONG * ROWS)}

    whole = ("a", "b", "c", "d", "y")
    assert entering(lambda query: 0.1) == set()
    assert entering(lambda query: 0.5 if query.columns == whole else 0.0) == {whole}
    three = ("a", "b", "c", "y")
    assert entering(lambda query: 0.5 if set(query.columns) >= set(three) else 0.0) == {three}


@pytest.mark.parametrize("share_wider", [0.0, 0.4])
def test_what_checks_would_have_taken_measures_pairs_once_more(share_wider):
    pairs, released = scored({"a": 2, "b": 3, "y": 2})
    measured = tuple(Measurement(query, np.full(query.size, ROWS // query.size), 10.0, "p") for query in pairs)
    known = replace(released, measurements=(*released.measurements, *measured))
    before = Proposal(queries=pairs, rho_measure=0.99, shares=[1.0] * len(pairs))
    rule = Allocate(share_wider=share_wider)
    again = rule.propose(pairs, model=(PooledSearch(), None), released=known, remaining_rho=0.01, previous=before)
    assert again is not None
    assert again.scoring is None
    assert {query.columns for query in again.queries} == {query.columns for query in pairs}
    assert again.rho_measure == 0.01
