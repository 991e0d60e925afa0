"""Ranges over columns held in cells (RAP, GEM): cells are cut at the bounds, and where they are not, rows are drawn as answered."""

import numpy as np
import pytest

from generate.projection.projection_cases import MIXED, errors, mixed_rows, released
from sundog import Synthesizer
from sundog.estimate.bins import leaves_of
from sundog.generate import GenerativeNetwork, RelaxedProjection
from sundog.generate.projection import soft_table
from sundog.generate.projection.adam import Descent
from sundog.generate.projection.rap import held_frame
from sundog.generate.projection.soft_table import SoftTable
from sundog.generate.projection.starts import fresh_params
from sundog.queries import Marginal, Ranges, answer
from sundog.queries.workload import Workload
from sundog.random.keys import key_of

ONE = list(Workload.marginals(MIXED, k=1).queries)
PREFIXES = list(Workload.prefixes(MIXED, count=80, labels=1, numbers=2, seed=3).queries)
OTHERS = [
    *Workload.ranges(MIXED, count=80, labels=1, numbers=2, seed=4).queries,
    *Workload.conditional_ranges(MIXED, count=20, numbers=1).queries,
]


def on_size(*bounds: tuple[int, int]) -> Ranges:
    low, high = np.array(bounds).T[:, :, None]
    return Ranges(("size",), np.zeros_like(low), low, high)


def untouched(release, rows=60) -> SoftTable:
    """Soft rows that follow every column alone."""
    frame, leaves = held_frame(release, numbers=False), leaves_of(release)
    return SoftTable(frame, fresh_params(key_of(1), frame, leaves=leaves, rows=rows), leaves)


def test_cells_are_cut_at_the_bounds_of_all_ranges():
    query = on_size((0, 30), (10, 101), (100, 101))  # the last code is missing
    held = held_frame(released([*ONE, query], mixed_rows()), numbers=False).held[MIXED.position("size")]
    assert held.starts == (0, 10, 30, 100)


def test_many_bounds_cut_a_column_into_few_cells_evenly_by_mass(monkeypatch):
    monkeypatch.setattr(soft_table, "MOST_CUT", 5)
    release = released([*ONE, on_size(*((0, high) for high in range(1, 100)))], mixed_rows())
    held = held_frame(release, numbers=False).held[MIXED.position("size")]
    shares = leaves_of(release)["size"].shares(held)
    assert held.size <= 6  # missing has its own
    assert shares[:-1].max() < 0.5


@pytest.mark.parametrize("most", [3, pytest.param(256, marks=pytest.mark.long)])
def test_answers_are_those_of_rounded_rows_whether_bounds_are_cells_or_lie_inside_of_them(monkeypatch, most):
    """Also for ranges that were not measured: a bound inside a cell counts the part of it that will be drawn there."""
    monkeypatch.setattr(soft_table, "MOST_CUT", most)
    state = untouched(released([*ONE, *PREFIXES], mixed_rows()))
    generator = RelaxedProjection(rows=60)
    rows = generator.sample(key_of(2), state, rows=60_000)
    for query in (*PREFIXES, *OTHERS):
        assert np.abs(generator.answer(state, query) - answer(query, rows) / len(rows)).max() < 0.012, query.describe()


def test_a_range_is_the_sum_of_the_cells_inside_of_it():
    state, generator = untouched(released([*ONE, *PREFIXES], mixed_rows())), RelaxedProjection(rows=60)
    cells = generator.answer(state, Marginal.of(MIXED, "size"))
    bounds = [(0, 1), (17, 40), (90, 100), (0, 100), (0, 101), (95, 300), (300, 400)]
    expected = [cells[low:high].sum() for low, high in bounds]
    assert generator.answer(state, on_size(*bounds)) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("most", [pytest.param(16, marks=pytest.mark.long), 256])
@pytest.mark.parametrize(
    "generator",
    [
        pytest.param(RelaxedProjection(rows=200, descent=Descent(steps=200)), id="rap"),
        pytest.param(
            GenerativeNetwork(rows=200, widths=(64,), descent=Descent(rate=0.01, steps=300)),
            id="gem",
            marks=pytest.mark.long,
        ),
    ],
)
def test_rows_fit_ranges_and_answer_others_better(monkeypatch, generator, most):
    monkeypatch.setattr(soft_table, "MOST_CUT", most)
    queries = Workload.prefixes(MIXED, count=300, labels=1, numbers=2, seed=3).queries
    first, both = (
        generator.fit(key_of(5), generator.init(key_of(4), MIXED), released=released(asked, mixed_rows()))
        for asked in (ONE, [*ONE, *queries])
    )
    for asked, least in ((queries, 0.5), (OTHERS, 0.8)):
        before, after = (np.mean(errors(generator, state, asked, mixed_rows())) for state in (first, both))
        assert after < least * before


@pytest.mark.long
@pytest.mark.parametrize(
    "rounds",
    [{}, pytest.param({"rule.threshold_rounds": 2, "rule.thresholds_per_round": 20}, marks=pytest.mark.long)],
)
def test_rap_takes_a_workload_of_ranges(tmp_path, rounds):
    (tmp_path / "asked.toml").write_text('[[queries]]\nkind = "ranges"\ncount = 60\n')
    made = Synthesizer(
        MIXED,
        rho=0.5,
        method="rap",
        workload=tmp_path / "asked.toml",
        settings={"rows": 100, "descent.steps": 100, **rounds},
        dataset="t",
        seed=3,
        ledger=tmp_path / "l.db",
    ).fit(mixed_rows().to_arrow())
    measured = [m.query for m in made.released.measurements if isinstance(m.query, Ranges)]
    assert sum(query.size for query in measured) == (40 if rounds else 60)
    assert made.sample(200).num_rows == 200
