"""Screening: halves of equal mass, the score that the curator's L1 distance makes of them, and wide tables that keep their pairs."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from sundog import Synthesizer
from sundog.domain import Categorical, Numeric, Schema
from sundog.domain.rows import Rows
from sundog.domain.unit import PrivacyUnit
from sundog.estimate.bins import Leaves, leaves_of
from sundog.methods.workloads import two_way
from sundog.queries import Marginal, answer
from sundog.released import Guarantee, Measurement, Released
from sundog.select import Allocate, allocate, screen

ROWS = 1000
SCHEMA = Schema(
    (
        Numeric("age", "integer", 0, 9, nullable=True),
        Categorical("city", tuple("abcde")),
        Categorical("flag", ("no", "yes")),
        Categorical("only", ("one",)),
    ),
    targets=("flag",),
)
PAIRS = two_way(SCHEMA)


def some_rows(seed=0) -> Rows:
    random = np.random.default_rng(seed)
    age = random.integers(0, 11, ROWS)
    flag = np.where(random.random(ROWS) < 0.8, age > 4, random.random(ROWS) < 0.5).astype(int)
    return Rows(SCHEMA, (age, np.minimum(random.integers(0, 9, ROWS), 4), flag, np.zeros(ROWS, dtype=int)))


def released(rows: Rows, *, stddev=3.0) -> Released:
    measured = tuple(
        Measurement(query, answer(query, rows), stddev, "r") for query in (Marginal.of(SCHEMA, n) for n in SCHEMA.names)
    )
    return Released(SCHEMA, measured, Guarantee(PrivacyUnit(), "zcdp", 1.0), public_rows=ROWS)


def leaves(name: str, shares: list[float], *, stddev=0.01) -> Leaves:
    axis = Marginal.of(SCHEMA, name).axes[0]
    return Leaves(SCHEMA.column(name), axis, np.array(shares), stddev)


def test_numbers_are_cut_at_their_median_and_labels_into_halves_of_equal_mass():
    age = screen.Halves.of(leaves("age", [0.3, 0.1, 0.1, 0.4, *[0.1 / 7] * 7]))
    assert age.axis.starts == (0, 3)
    assert age.mean == pytest.approx(0.0)
    city = screen.Halves.of(leaves("city", [0.1, 0.5, 0.2, 0.1, 0.1]))
    assert city.axis.groups == (1, 0, 1, 1, 1)
    assert city.mean == pytest.approx(0.0)
    flag = screen.Halves.of(leaves("flag", [0.9, 0.1]))
    assert (flag.axis.size, round(flag.mean, 9)) == (2, 0.8)
    assert flag.error == pytest.approx(2 * 0.01 * 0.5**0.5)
    assert screen.Halves.of(leaves("only", [1.0])) is None


def test_a_score_is_the_agreement_of_halves_beyond_that_of_independent_columns():
    rows = some_rows()
    known = released(rows)
    chosen = screen.screening(PAIRS, known, rho=0.1, kappa=0.34, cells=6).selection
    halves = {name: screen.Halves.of(own) for name, own in leaves_of(known).items()}
    number = len(chosen.candidates) // 2
    assert {q.columns for q in chosen.candidates} == {("age", "city"), ("age", "flag"), ("city", "flag")}
    for place, (query, estimate, penalty) in enumerate(
        zip(chosen.candidates, chosen.estimates, chosen.penalties, strict=True)
    ):
        one, other = (halves[name] for name in query.columns)
        signs = [1 - 2 * rows.cells(half.axis).astype(int) for half in (one, other)]
        agreement = (signs[0] * signs[1]).sum() - ROWS * one.mean * other.mean
        noise = np.hypot(np.hypot(one.mean * other.error, other.mean * one.error), one.error * other.error)
        favour = screen.FLOOR * ROWS if "flag" in query.columns else 0.0
        expected = (1 if place < number else -1) * agreement - screen.Z * ROWS * noise + favour
        score = int(np.abs(answer(query, rows) - estimate).sum()) - penalty
        assert score == pytest.approx(expected, abs=1.0)


def test_as_many_are_chosen_as_can_be_measured():
    known = released(some_rows())
    rho = 10 / 2 * (0.34 * 36 / (screen.FLOOR * ROWS)) ** 2
    assert screen.number([*PAIRS] * 9, known, rho=1.01 * rho, kappa=0.34, cells=6) == 10
    assert screen.number([*PAIRS] * 9, known, rho=0.99 * rho, kappa=0.34, cells=6) == 9
    assert screen.number(PAIRS, known, rho=1e-9, kappa=0.34, cells=6) == 1
    assert screen.number(PAIRS, known, rho=1e9, kappa=0.34, cells=6) == len(PAIRS)


def test_only_very_many_pairs_are_chosen_among():
    rule = Allocate(weights=tuple(range(1, len(PAIRS) + 1)))
    assert not rule.settled(PAIRS, rho=1.0).selects
    assert rule.settled(PAIRS * 2000, rho=1.0).selects
    narrow, kept = replace(rule, screens=True)._among(PAIRS, {PAIRS[1].columns, PAIRS[4].columns})
    assert (kept, narrow.weights, narrow.selects) == ((PAIRS[1], PAIRS[4]), (2, 5), False)


def test_a_run_scores_and_measures_only_what_was_chosen(monkeypatch, tmp_path):
    monkeypatch.setattr(allocate, "MANY", 20)
    monkeypatch.setattr(screen, "FLOOR", 0.01)
    random = np.random.default_rng(1)
    flags = random.integers(0, 2, (3000, 12))
    flags[:, 7] = np.where(random.random(3000) < 0.9, flags[:, 2], flags[:, 7])
    table = pa.table({f"x{k}": column.astype(str) for k, column in enumerate(flags.T)})
    fields = [{"name": f"x{k}", "type": "string", "categories": ["0", "1"]} for k in range(12)]
    made = Synthesizer({"fields": fields}, epsilon=5.0, delta=1e-6, ledger=tmp_path / "ledger.db", dataset="d").fit(
        table
    )
    pairs = {m.query.columns for m in made.released.measurements if len(m.query.columns) == 2}
    scored = {query.columns for query in made.released.scores[0].candidates}
    assert ("x2", "x7") in pairs
    assert pairs <= scored
    assert len(scored) < 66
    assert made.released.guarantee.accounting == "zcdp"
    assert [p.mechanism for p in made.released.payments].count("exponential") == 1
    rows = made.sample(3000).to_pandas()
    assert (rows["x2"] == rows["x7"]).mean() > 0.8
