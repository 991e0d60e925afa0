"""RAP, RAP++ and GEM as a user meets them: they fit, they are steady, and what is known to fail is written down here."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import nnls

from generate.projection.projection_cases import MIXED, errors, mixed_rows, released
from sundog import Synthesizer
from sundog.domain import Schema
from sundog.domain.rows import Rows
from sundog.errors import UserError
from sundog.generate import AnnealedProjection, GenerativeNetwork, Polished, RelaxedProjection
from sundog.generate.projection import adam, gem, rap_plus_plus
from sundog.generate.projection.adam import Descent
from sundog.generate.projection.features import sparsemax
from sundog.generate.projection.rap import not_trapped
from sundog.generate.projection.rap_plus_plus import Annealing
from sundog.queries import Marginal, Ranges, answer
from sundog.queries.workload import Workload
from sundog.random.keys import key_of, split, uniforms

SHORT = Descent(steps=200)
ONE = list(Workload.marginals(MIXED, k=1).queries)
PAIRS = list(Workload.marginals(MIXED, k=2, bins=10).queries)
LABELLED = [
    Marginal.of(MIXED, "colour", "warm"),
    *Workload.conditional_thresholds(MIXED, directions=20, thresholds=10).queries,
    *Workload.conditional_ranges(MIXED, count=60, numbers=1).queries,
]
GENERATORS = [
    (RelaxedProjection(rows=200, descent=SHORT), PAIRS),
    (RelaxedProjection(rows=200, simplex="sparsemax", descent=SHORT), PAIRS),
    (GenerativeNetwork(rows=200, widths=(64,), descent=Descent(rate=0.01, steps=300)), PAIRS),
    (AnnealedProjection(rows=200, descent=SHORT), LABELLED),
]
NAMES = ["softmax", "sparsemax", "gem", "rap++"]


def fit_to(generator, queries, *, stddev=1.0):
    release = released([*ONE, *queries], mixed_rows(), stddev=stddev)
    return generator.fit(key_of(5), generator.init(key_of(4), MIXED), released=release)


@pytest.fixture(scope="module")
def fitted():
    """Fits that several tests look at are made once."""
    kept = {}

    def fit(generator, queries, *, stddev=1.0):
        known = (generator, queries is LABELLED, stddev)
        if known not in kept:
            kept[known] = fit_to(generator, queries, stddev=stddev)
        return kept[known]

    return fit


@pytest.mark.parametrize(
    ("generator", "queries"),
    [
        pytest.param(*each, id=name, marks=[pytest.mark.long] * (name != "softmax"))  # laws fit the others, too
        for name, each in zip(NAMES, GENERATORS, strict=True)
    ],
)
def test_measured_answers_are_reproduced_and_the_same_key_gives_the_same_rows(fitted, generator, queries):
    state = fitted(generator, queries)
    start = generator.fit(key_of(5), generator.init(key_of(4), MIXED), released=released(ONE, mixed_rows()))
    before, after = (np.mean(errors(generator, s, queries, mixed_rows())) for s in (start, state))
    assert after < 0.4 * before
    rows = generator.sample(key_of(6), state, rows=2000)
    assert (
        np.mean([np.abs(answer(q, rows) / 2000 - answer(q, mixed_rows()) / 2000).mean() for q in queries])
        < 0.6 * before
    )
    again = generator.sample(key_of(6), fit_to(generator, queries), rows=2000)
    assert all(np.array_equal(*pair) for pair in zip(rows.codes, again.codes, strict=True))


@pytest.mark.long
def test_missing_values_come_out_as_often_as_they_were_measured(fitted):
    for generator, queries in (GENERATORS[0], GENERATORS[3]):
        rows = generator.sample(key_of(6), fitted(generator, queries), rows=2000)
        assert (rows.column("size") == 100).mean() == pytest.approx(
            (mixed_rows().column("size") == 100).mean(), abs=0.02
        )


@pytest.mark.long
def test_a_number_column_keeps_its_one_way_measurement_spike_and_all(fitted):
    generator, queries = GENERATORS[3]
    rows = generator.sample(key_of(6), fitted(generator, queries), rows=2000)
    for code in (0, 40):
        share = (mixed_rows().column("size") == code).mean()
        assert (rows.column("size") == code).mean() == pytest.approx(share, abs=0.03)


@pytest.mark.long
@pytest.mark.parametrize(("generator", "queries"), [GENERATORS[0], GENERATORS[3]], ids=["rap", "rap++"])
def test_errors_fall_as_the_noise_does(fitted, generator, queries):
    found = [
        np.mean(errors(generator, fitted(generator, queries, stddev=s), queries, mixed_rows())) for s in (200.0, 1.0)
    ]
    assert found[1] < 0.5 * found[0]


def test_one_round_of_everything_is_the_projection_mechanism(tmp_path):
    """T = 1: the measurements are the workload's, once, and the rows are their projection, also when fitted again."""
    table = {"a": [True, False, False, True] * 200, "b": [True, False, True, True] * 200}
    schema = {"fields": [{"name": n, "type": "boolean", "constraints": {"required": True}} for n in ("a", "b")]}
    options = {"method": "rap", "dataset": "t", "ledger": tmp_path / "l.db", "confirmed": True}
    made = Synthesizer(schema, rho=2.0, seed=3, **options).fit(table)
    assert [m.query.columns for m in made.released.measurements] == [("a",), ("b",), ("a", "b")]
    generator = made.recipe.generator
    first, second = split(split(key_of(3), 2)[0], 2)
    state = generator.fit(second, generator.init(first, made.schema), released=made.released)
    pair = made.released.measurements[2]
    assert np.allclose(generator.answer(state, pair.query), generator.answer(made.model.state, pair.query))
    assert np.abs(generator.answer(state, pair.query) - pair.values / made.released.rows).max() < 0.01


def test_the_projection_is_the_closest_that_any_table_can_answer():
    """T = 1 on inconsistent noisy pairs of three columns: as close as the best of all distributions over the 8 cells."""
    schema = Schema.from_json(
        {"fields": [{"name": n, "type": "boolean", "constraints": {"required": True}} for n in ("a", "b", "c")]}
    )
    codes = tuple((np.arange(1000) * step // 7) % 2 for step in (3, 5, 11))
    data = replace(mixed_rows(1000), schema=schema, codes=codes)
    pairs = Workload.marginals(schema, k=2).queries
    release = released(pairs, data, stddev=80.0)
    cells = np.stack(np.meshgrid(*[[0, 1]] * 3, indexing="ij")).reshape(3, 8)
    every = replace(data, codes=tuple(cells), _cells={})
    asked = np.concatenate([query.vectors(every).T for query in pairs])
    noisy = np.concatenate([m.values for m in release.measurements]) / 1000
    heavy = 1e4  # a row of the least squares that keeps the sum at 1
    best, _ = nnls(np.vstack([asked, np.full(8, heavy)]), np.append(noisy, heavy))
    generator = RelaxedProjection(rows=300, descent=Descent(steps=1000, tolerance=1e-4))
    state = generator.fit(key_of(1), generator.init(key_of(0), schema), released=release)
    found = np.concatenate([generator.answer(state, query) for query in pairs])
    assert np.abs(noisy - asked @ best).max() > 0.02
    assert np.abs(found - asked @ best).max() < 0.005


@pytest.mark.long
def test_rounding_more_often_comes_closer_to_the_soft_rows_and_more_soft_rows_fit_better(fitted):
    """RAP, Figures 5b and 6, in small."""
    generator, queries = GENERATORS[0]
    state = fitted(generator, queries)

    def apart(rows: int) -> float:
        made = generator.sample(key_of(6), state, rows=rows)
        return np.mean([np.abs(answer(q, made) / rows - generator.answer(state, q)).mean() for q in queries])

    assert apart(200 * 50) < 0.5 * apart(200 * 5) < 0.5 * apart(200)
    few = replace(generator, rows=3)
    fit = [np.mean(errors(g, fitted(g, queries), queries, mixed_rows())) for g in (few, generator)]
    assert fit[1] < 0.5 * fit[0]


@pytest.mark.parametrize("method", ["rap", "rap++", "gem"])
def test_one_column_is_enough(tmp_path, method):
    schema = {"fields": [{"name": "size", "type": "integer", "constraints": {"minimum": 0, "maximum": 9}}]}
    made = Synthesizer(schema, rho=1.0, method=method, dataset="t", seed=3, ledger=tmp_path / "l.db")
    assert made.fit({"size": [1, 2, None, 4] * 100}).sample(100).num_rows == 100


def prefixes(schema, codes) -> Ranges:
    codes = np.array(codes)[:, None]
    return Ranges(("x",), np.zeros_like(codes), np.zeros_like(codes), codes + 1)


@pytest.mark.long
def test_the_known_failure_of_sigmoids_and_its_remedy():
    """Private-GSD, Figure 1: all rows at .5, prefixes at .49, .50 and .51, nothing else known.

    The sigmoids of .49 and .50 pull against each other and are flat elsewhere: rows that start far away do not gather
    at .5. Measuring the column alone first, as the method does, removes the failure; so does starting with blunt sigmoids.
    """
    schema = Schema.from_json(
        {"fields": [{"name": "x", "type": "integer", "constraints": {"minimum": 0, "maximum": 100, "required": True}}]}
    )
    data = replace(mixed_rows(500), schema=schema, codes=(np.full(500, 50),))
    query = prefixes(schema, [49, 50, 51])
    generator = AnnealedProjection(rows=200, descent=SHORT, annealing=Annealing(first=256.0))
    blunt = replace(generator, annealing=Annealing(first=8.0, last=1024.0))

    def fit(how: AnnealedProjection, *queries):
        return how.fit(key_of(1), how.init(key_of(0), schema), released=released(queries, data))

    exact = answer(query, data) / 500
    assert np.abs(generator.answer(fit(generator, query), query) - exact).max() > 0.05
    assert np.abs(generator.answer(fit(blunt, query), query) - exact).max() < 0.02
    helped = fit(generator, Marginal.of(schema, "x"), query)
    assert np.abs(generator.answer(helped, query) - exact).max() < 0.02


@pytest.mark.long
def test_annealing_beats_a_fixed_blunt_and_a_fixed_sharp_sigmoid():
    """RAP++, Figure 1, in small: without one-way measurements, from uniform rows."""
    query = Workload.prefixes(MIXED, count=150, labels=0, numbers=2, seed=2).queries
    release = released(query, mixed_rows())

    def error(first: float, last: float) -> float:
        generator = AnnealedProjection(rows=200, descent=Descent(steps=400), annealing=Annealing(first, last))
        state = generator.fit(key_of(1), generator.init(key_of(0), MIXED), released=release)
        return errors(generator, state, query, mixed_rows())[0]

    annealed = error(8.0, 1024.0)
    assert annealed < error(4.0, 4.0)
    assert annealed < error(20000.0, 20000.0)


@pytest.mark.parametrize(
    "place",
    [
        pytest.param(0, id="rap"),
        *(pytest.param(n, id=i, marks=pytest.mark.long) for n, i in ((2, "gem"), (3, "rap++"))),
    ],
)
def test_a_later_round_goes_on_from_the_rows_of_the_last_one_though_a_column_is_cut_otherwise(place):
    """Without any step of descent the rows still answer what the round before taught them."""
    generator, _ = GENERATORS[place]
    pair, other = Marginal.of(MIXED, "colour", "warm"), Marginal.of(MIXED, "warm", "size", bins=7)
    first = generator.fit(key_of(1), generator.init(key_of(0), MIXED), released=released([*ONE, pair], mixed_rows()))
    still = replace(generator, descent=Descent(steps=0))
    later = still.fit(key_of(2), first, released=released([*ONE, pair, other], mixed_rows()))
    fresh = still.fit(key_of(2), generator.init(key_of(0), MIXED), released=released([*ONE, pair, other], mixed_rows()))
    taught, untaught = (errors(generator, state, [pair], mixed_rows())[0] for state in (later, fresh))
    assert taught < 0.3 * untaught


def test_sparsemax_is_the_projection_onto_the_simplex():
    logits = np.array([[0.5, 3.0], [0.2, 0.0], [-1.0, 0.0]])
    found = np.asarray(sparsemax(logits))
    assert np.allclose(found[:, 0], [0.65, 0.35, 0.0], atol=1e-6)
    assert np.allclose(found[:, 1], [1.0, 0.0, 0.0], atol=1e-6)


def test_wrong_settings_are_named():
    with pytest.raises(UserError, match="found 0; it must be a whole number from 1"):
        RelaxedProjection(rows=0)
    with pytest.raises(UserError, match=r"sharpness 8\.0 to 4\.0"):
        Annealing(8.0, 4.0)


def test_the_polish_mends_what_sigmoids_left():
    """Figure 1 again, nothing but the prefixes known: the search from the projection's rows reaches the exact answers."""
    schema = Schema.from_json(
        {"fields": [{"name": "x", "type": "integer", "constraints": {"minimum": 0, "maximum": 100, "required": True}}]}
    )
    data = replace(mixed_rows(500), schema=schema, codes=(np.full(500, 50),))
    query = prefixes(schema, [49, 50, 51])
    release = released([query], data)
    projection = AnnealedProjection(rows=100, descent=Descent(steps=50))
    generator = Polished(rows=100, projection=projection)
    before = projection.fit(key_of(1), projection.init(key_of(0), schema), released=release)
    after = generator.fit(key_of(1), generator.init(key_of(0), schema), released=release)
    exact = answer(query, data) / 500
    assert np.abs(projection.answer(before, query) - exact).max() > 0.05
    assert np.abs(generator.answer(after, query) - exact).max() < 0.02


@pytest.mark.long
def test_every_class_is_sharpened_by_its_own_progress(monkeypatch):
    """Thresholds that stall become sharper while ranges that still gain stay blunt, as the paper's sigma per class."""
    seen = []

    def watched(position, problem, *, sharpness, **how):
        seen.append(dict(sharpness))
        return advance(position, problem, sharpness=sharpness, **how)

    advance = rap_plus_plus.advanced
    monkeypatch.setattr(rap_plus_plus, "advanced", watched)
    queries = [
        *Workload.marginals(MIXED, k=1).queries,
        *Workload.conditional_ranges(MIXED, count=40, numbers=2).queries,
        *Workload.halfspaces(MIXED, directions=5, thresholds=4).queries,
    ]
    generator = AnnealedProjection(rows=100, descent=Descent(steps=800))
    state = generator.init(key_of(1), MIXED)
    generator.fit(key_of(1), state, released=released(queries, mixed_rows()))
    ranges, halfspaces = ([step[kind] for step in seen] for kind in ("ranges", "halfspaces"))
    assert ranges[0] == halfspaces[0] == Annealing().first
    assert max(ranges) > ranges[0]
    assert any(one != other for one, other in zip(ranges, halfspaces, strict=True))
    for steps in (ranges, halfspaces):
        assert {after / before for before, after in pairwise(steps)} <= {1.0, 2.0}


@pytest.mark.long
def test_a_network_does_not_stay_where_columns_are_independent(monkeypatch):
    """At this rate nearly every network lost in its first steps what tells its rows apart: the loss stayed at 52 instead of 0.5."""
    losses, rates = [], []

    def watched(params, problem, **how):
        best = descend(params, problem, **how)
        losses.append(best.loss)
        return best

    def paced(position, problem, **how):
        rates.append(position.rates[0])
        return advance(position, problem, **how)

    descend, advance = gem.descended, adam.advanced
    monkeypatch.setattr(gem, "descended", watched)
    monkeypatch.setattr(adam, "advanced", paced)
    schema = Schema.from_json(
        {"fields": [{"name": f"c{k}", "type": "string", "categories": [str(i) for i in range(12)]} for k in range(6)]}
    )
    shared, chance, own = uniforms(key_of(1), 3 * 6000).reshape(3, 6000)
    columns = [np.where(chance < 0.6, shared * 12 * (k + 1) % 12, own * 12 * (k + 1) % 12) for k in range(6)]
    rows = Rows(schema, tuple(column.astype(np.int64) for column in columns))
    queries = [query for k in (1, 2) for query in Workload.marginals(schema, k=k).queries]
    release = released(queries, rows, stddev=6.0)
    generator = GenerativeNetwork(rows=300, widths=(64, 64), descent=Descent(rate=0.03, steps=600, warmup=200))
    for seed in (1, 2, 3):
        state = generator.fit(key_of(seed), generator.init(key_of(seed), schema), released=release)
    assert max(losses) < 2
    assert rates[:8] == pytest.approx([0.03 * k / 8 for k in range(1, 9)])
    rates.clear()
    generator.fit(key_of(1), state, released=release)
    assert rates[0] == 0.03, "a network that goes on needs no warm-up"


@pytest.mark.parametrize(("taught", "fresh", "kept"), [(0.7, 0.5, "taught"), (1.2, 0.9, "fresh"), (1.2, 1.3, "taught")])
def test_rows_of_a_public_table_that_end_above_the_noise_have_a_rival(taught, fresh, kept):
    state = replace(RelaxedProjection().init(key_of(1), MIXED), public=mixed_rows())

    def fitted(start):
        return ("fresh", fresh) if start.public is None else ("taught", taught)

    assert not_trapped(state, fitted) == kept
