"""PrivPGD's particles: the two engines agree, marginals are matched, penalties mean the same at any size."""

import itertools

import jax.numpy as jnp
import numpy as np
import pytest

from sundog.domain import Numeric, Schema
from sundog.domain.axis import Axis
from sundog.domain.rows import Rows
from sundog.domain.unit import PrivacyUnit
from sundog.errors import UserError
from sundog.estimate.bins import Leaves, uniform_leaves
from sundog.generate import Particles
from sundog.generate.particles import device, threads
from sundog.generate.particles.declared_penalties import protected_queries
from sundog.generate.particles.embedding import Embedding
from sundog.generate.particles.kernels import residuals
from sundog.generate.particles.own_penalty import OwnPenalty
from sundog.generate.particles.penalties import Bound, Protected
from sundog.generate.particles.sliced_projection import largest_remainder
from sundog.generate.particles.slices import TargetMeasure, make_schedule, make_slices
from sundog.generate.particles.values import Curve, cell_values, curves
from sundog.queries import Marginal, answer
from sundog.queries.sigmoid import BITS, positions
from sundog.random.keys import key_of
from sundog.released import Guarantee, Measurement, Released

SCHEMA = Schema.from_json(
    {
        "fields": [
            {"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 99, "required": True}},
            {"name": "pay", "type": "number", "constraints": {"minimum": 0, "maximum": 10}, "sundog": {"decimals": 2}},
            {"name": "city", "type": "string", "categories": ["x", "y", "z"], "constraints": {"required": True}},
        ]
    }
)
SMALL = Particles(particles=4000, epochs=60, steps=600)
LINE = (Curve.line(1.0),)
EVEN = tuple(uniform_leaves(column) for column in SCHEMA.columns)


def table(rows=4000):
    random = np.random.default_rng(3)
    age = np.clip(random.normal(45, 15, rows), 0, 99).astype(int)
    pay = np.clip((age * 8 + random.normal(0, 60, rows)), 0, 1000).astype(int)
    pay[random.random(rows) < 0.1] = 1001
    return Rows(SCHEMA, (age, pay, (age // 20 + random.integers(0, 2, rows)) % 3))


def measured(schema=SCHEMA, rows=None, queries=None, stddev=3.0):
    rows = table() if rows is None else rows
    random = np.random.default_rng(0)
    queries = queries or [Marginal.of(schema, *pair, bins=16) for pair in itertools.combinations(schema.names, 2)]
    found = tuple(
        Measurement(q, answer(q, rows) + np.round(random.normal(0, stddev, q.size)).astype(int), stddev, "x")
        for q in queries
    )
    return Released(schema, found, Guarantee(PrivacyUnit("replace"), "gaussian", 1.0), public_rows=len(rows))


def fitted(generator=SMALL, released=None):
    released = released or measured()
    return generator.fit(key_of(2), generator.init(key_of(1), released.schema), released=released)


def distance(query, rows, other):
    return 0.5 * np.abs(answer(query, rows) / len(rows) - answer(query, other) / len(other)).sum()


def ready(kind="line", particles=20_000):
    """An embedding, slices and random particles for comparing the two engines."""
    axes = [Axis.of(column, 16) for column in SCHEMA.columns]
    embedding = Embedding.of(SCHEMA, axes, kind=kind)
    random = np.random.default_rng(0)
    queries = [Marginal(pair) for pair in itertools.combinations(axes, 2)] + [
        Marginal((axes[0],)),
        Marginal(tuple(axes)),
    ]
    targets = [TargetMeasure(q, largest_remainder(random.random(q.size) ** 4, particles)) for q in queries]
    slices = make_slices(key_of(0), embedding, targets, pool=16)
    return embedding, slices, random.random((embedding.coordinates, particles), dtype=np.float32)


@pytest.mark.parametrize("kind", ["line", "simplex"])
def test_histogram_ranks_and_sorted_ranks_give_the_same_gradient(kind):
    _, slices, positions = ready(kind)
    chosen = np.arange(len(slices.low), step=5)
    out = np.empty((len(chosen), positions.shape[1]), dtype=np.float32)
    residuals(
        positions, chosen, slices.coordinates, slices.weights, slices.low, slices.span, slices.first, slices.values,
        slices.cumulative, 0, 4096, out,
    )  # fmt: skip
    tables = device._tables(slices)
    for k, direction in enumerate(chosen):
        used = jnp.asarray([direction])
        coordinates, weights = tables["coordinates"][used][0], tables["weights"][used][0]
        projections = jnp.einsum("s,sm->m", weights, jnp.asarray(positions)[coordinates])
        exact = np.asarray(device._residual(projections, tables["values"][direction], tables["cumulative"][direction]))
        assert (
            np.mean(np.abs(exact - out[k])) < 0.003 * slices.span[direction]
        )  # a rank at a jump may fall on either side


@pytest.mark.long
def test_the_two_engines_move_particles_alike():
    _, slices, positions = ready()
    schedule = make_schedule(key_of(1), slices, epochs=2, batch=2, directions=4, particles=20_000, rates=(0.02, 0.01))
    both = (*LINE, *LINE)
    penalties = (
        Bound((0, 1), (1.0, -1.0), both, 0.0, strength=0.5),
        Protected((0, 1), (0.6, 0.8), both, 0.7, 0.49, strength=1.0),
    )
    options = {"schedule": schedule, "window": 15_000, "penalties": penalties}
    by_threads = threads.descend(positions, slices, buckets=8192, **options)
    on_device = device.descend(positions, slices, **options)
    moved = np.abs(by_threads - positions).mean()
    assert moved > 0.02
    assert np.abs(by_threads - on_device).mean() < 0.05 * moved


def test_a_window_leaves_the_other_particles_where_they_are():
    _, slices, positions = ready()
    schedule = make_schedule(key_of(1), slices, epochs=1, batch=9, directions=4, particles=20_000, rates=(0.1, 0.1))
    moved = threads.descend(positions, slices, schedule=schedule, window=5000, penalties=(), buckets=1024)
    assert np.any(moved != positions, axis=0).sum() <= 5000


def test_pairs_are_matched_far_better_than_by_independent_columns():
    real, state = table(), fitted()
    start = SMALL.init(key_of(1), SCHEMA)
    made = SMALL.sample(key_of(5), state, rows=4000)
    for pair in itertools.combinations(SCHEMA.names, 2):
        query = Marginal.of(SCHEMA, *pair, bins=16)
        assert distance(query, made, real) < 0.15
        assert distance(query, made, real) < 0.4 * distance(query, SMALL.sample(key_of(5), start, rows=4000), real)


def test_any_number_of_rows_and_answers_agree_with_rows():
    state, query = fitted(), Marginal.of(SCHEMA, "age", "city", bins=16)
    for rows in (1, 37, 4000, 9001):
        made = SMALL.sample(key_of(5), state, rows=rows)
        assert len(made) == rows
    assert 0.5 * np.abs(SMALL.answer(state, query) - answer(query, made) / len(made)).sum() < 0.02


def test_tables_of_one_two_and_three_columns_cut_differently_fit_together():
    age = SCHEMA.column("age")
    queries = [
        Marginal((Axis.of(age, 20),)),
        Marginal((Axis.of(age, 5), Axis.of(SCHEMA.column("pay"), 4), Axis.whole(SCHEMA.column("city")))),
        Marginal((Axis.cut(age, (0, 33)), Axis.grouped(SCHEMA.column("city"), (0, 0, 1)))),
    ]
    state = fitted(released=measured(queries=queries))
    made = SMALL.sample(key_of(5), state, rows=4000)
    for query in queries:
        assert distance(query, made, table()) < 0.15


def test_a_second_fit_starts_from_the_first():
    first = measured()
    state = fitted(released=first)
    again = SMALL.fit(key_of(9), state, released=first)
    assert again.fits == 2
    query = Marginal.of(SCHEMA, "age", "pay", bins=16)
    assert distance(query, SMALL.sample(key_of(5), again, rows=4000), table()) < 0.15


def test_the_same_key_gives_the_same_particles():
    np.testing.assert_array_equal(fitted().positions, fitted().positions)


def test_simplex_embedding_puts_labels_at_equidistant_corners():
    axis = Axis.whole(SCHEMA.column("city"))
    place = Embedding.of(SCHEMA, [axis], kind="simplex").places[0]
    centres = place.centres()
    gaps = [np.linalg.norm(centres[:, i] - centres[:, j]) for i, j in itertools.combinations(range(3), 2)]
    assert np.ptp(gaps) < 1e-12
    assert place.nearest(centres).tolist() == [0, 1, 2]
    made = Particles(particles=4000, epochs=60, steps=600, embedding="simplex")
    rows = made.sample(key_of(5), fitted(made), rows=4000)
    assert distance(Marginal.of(SCHEMA, "age", "city", bins=16), rows, table()) < 0.2


@pytest.mark.parametrize(
    "penalty",
    [
        Protected((0,), (1.0,), LINE, 0.4, 0.5, 1.0),
        Protected((0,), (1.0,), LINE, 0.4, 0.5, 1.0, 50.0),
        Bound((0,), (1.0,), LINE, 0.4, 1.0),
    ],
)
def test_slopes_are_derivatives(penalty):
    y = np.linspace(0, 1, 50)
    for i in (3, 40):
        nudged = y.copy()
        nudged[i] += 1e-6
        change = (penalty.value(nudged, np) - penalty.value(y, np)) / 1e-6
        assert penalty.slope(y, np)[i] == pytest.approx(change * len(y), rel=1e-3, abs=1e-8)


@pytest.mark.parametrize("numpy_like", [np, jnp])
def test_a_penalty_on_unequal_bins_has_the_gradient_of_finite_differences(numpy_like):
    """Values are no line along coordinates here: half of all ages lie in the first of three cells."""
    place = Embedding.of(SCHEMA, [Axis.cut(SCHEMA.column("age"), [0, 10, 30])], kind="line").places[0]
    _, own = curves(place, EVEN[0])
    penalty = Protected((0,), (0.8,), own, 0.3, 0.5, 1.0)
    positions = np.random.default_rng(0).random((1, 60))

    def value(at):
        return float(penalty.value(0.8 * np.interp(at[0], own[0].at, own[0].values), np))

    gradient = np.asarray(penalty.gradient(numpy_like.asarray(positions), numpy_like))
    for particle in (0, 17, 42):
        step = np.zeros_like(positions)
        step[0, particle] = 1e-5
        change = (value(positions + step) - value(positions - step)) / 2e-5 * positions.shape[1]
        assert gradient[0, particle] == pytest.approx(change, rel=0.02, abs=1e-6)


def test_a_cell_has_the_mean_value_of_its_rows():
    column = SCHEMA.column("age")
    shares = np.zeros(100)
    shares[[0, 20, 40]] = 0.5, 0.25, 0.25
    known = Leaves(column, Axis.whole(column), shares, 0.001)
    found = cell_values(Axis.cut(column, [0, 10, 50]), known)
    assert found[:2] == pytest.approx([0, 30 / 99], abs=1e-6)
    assert found[2] == pytest.approx(74.5 / 99)  # nothing is known of it: its middle
    pay = SCHEMA.column("pay")
    assert np.isnan(cell_values(Axis.cut(pay, [0, 500]), uniform_leaves(pay))[-1])  # missing


def test_spikes_inside_a_bin_come_out_where_they_are():
    """A bin of a pair tells nothing of what lies inside it; the column's own measurement does."""
    random = np.random.default_rng(5)
    age = np.where(random.random(4000) < 0.4, 40, random.integers(0, 100, 4000))
    rows = Rows(SCHEMA, (age, random.integers(0, 1001, 4000), (age == 40).astype(int)))
    pairs = [Marginal.of(SCHEMA, *pair, bins=8) for pair in itertools.combinations(SCHEMA.names, 2)]
    alone = Marginal.of(SCHEMA, "age")
    state = fitted(SMALL, measured(SCHEMA, rows, [*pairs, alone]))
    made = SMALL.sample(key_of(5), state, rows=4000)
    assert abs(np.mean(made.column("age") == 40) - np.mean(age == 40)) < 0.02
    assert distance(alone, made, rows) < 0.06


def test_a_column_of_one_value_lies_where_the_query_has_it():
    """Elsewhere the particles would follow a threshold that nobody declared."""
    column = Numeric("site", "integer", 7, 7)
    (value,) = cell_values(Axis.of(column), uniform_leaves(column))
    assert value == positions(column, np.zeros(1, dtype=np.int64))[0] / 2**BITS


def test_a_users_penalty_sees_labels_that_share_a_cell_as_often_as_they_will_be_drawn():
    city = SCHEMA.column("city")
    axes = [Axis.of(SCHEMA.column("age"), 8), Axis.grouped(city, (0, 1, 1))]
    known = Leaves(city, Axis.whole(city), np.array([0.5, 0.45, 0.05]))
    penalty = OwnPenalty(old_in_rome, SCHEMA, Embedding.of(SCHEMA, axes, kind="line"), (EVEN[0], known), 1.0)
    labels = np.asarray(penalty.columns(np.array([[0.5], [0.75]]))["city"])[:, 0]
    assert labels == pytest.approx([0.0, 0.9, 0.1], abs=1e-6)


def test_a_protected_statistic_is_pushed_early_and_then_left_alone():
    penalty = Protected((0,), (1.0,), LINE, 0.4, 0.5, strength=2.0)
    assert [float(penalty.strength_at(at, np)) for at in (0.0, 0.35, 0.7, 1.0)] == pytest.approx([2, 1, 0, 0])


def old_in_rome(columns):
    """A function of two columns that no declared kind of penalty has."""
    return (columns["age"] ** 2 * columns["city"][2]).mean()


def test_a_users_penalty_has_the_gradient_of_finite_differences_and_sees_columns_by_name():
    axes = [Axis.of(SCHEMA.column("age"), 8), Axis.whole(SCHEMA.column("city"))]
    penalty = OwnPenalty(old_in_rome, SCHEMA, Embedding.of(SCHEMA, axes, kind="line"), EVEN[::2], 1.0)
    positions = np.random.default_rng(0).uniform(0.2, 0.8, (2, 40)).astype(np.float64)
    columns = penalty.columns(positions)
    assert columns["city"].shape == (3, 40)
    assert np.allclose(columns["city"].sum(axis=0), 1.0, atol=1e-6)
    gradient = np.asarray(penalty.gradient(positions, np))
    for coordinate, particle in [(0, 3), (1, 7), (1, 30), (0, 39)]:
        step = np.zeros_like(positions)
        step[coordinate, particle] = 1e-3
        there, back = (float(old_in_rome(penalty.columns(positions + s * step))) for s in (1, -1))
        assert gradient[coordinate, particle] == pytest.approx((there - back) / 2e-3 * 40, abs=0.02)


def test_a_users_penalty_moves_what_it_is_about():
    plain, pushed = (
        fitted(Particles(particles=4000, epochs=60, steps=600, penalty=penalty, penalty_strength=2.0))
        for penalty in (None, old_in_rome)
    )

    def found(state):
        rows = SMALL.sample(key_of(5), state, rows=4000)
        return float(((rows.column("age") / 99) ** 2 * (rows.column("city") == 2)).mean())

    assert found(pushed) < 0.8 * found(plain)


def test_labels_lie_where_users_put_them():
    labels = SCHEMA.column("city").labels
    points = {"city": dict(zip(labels, [(0.0, 0.0), (0.0, 1.0), (1.0, 0.5)], strict=True))}
    made = Particles(particles=4000, epochs=60, steps=600, points=points)
    state = fitted(made)
    place = state.embedding.place("city")
    assert place.dimensions == 2
    assert place.nearest(np.vstack([np.zeros((place.first, 3)), place.centres()])).tolist() == [0, 1, 2]
    rows = made.sample(key_of(5), state, rows=4000)
    assert distance(Marginal.of(SCHEMA, "age", "city", bins=16), rows, table()) < 0.2
    for wrong in ({"city": {labels[0]: (0.0,)}}, {"age": {}}, {"city": dict.fromkeys(labels, (2.0,))}):
        with pytest.raises(UserError, match="embedding of"):
            Particles(points=wrong).init(key_of(0), SCHEMA)


def ages_above(state, limit=60):
    return np.mean(SMALL.sample(key_of(5), state, rows=4000).column("age") > limit)


def bounded(strength):
    document = SCHEMA.to_json() | {
        "constraints": [{"kind": "sum", "columns": ["age"], "maximum": 50, "strength": strength}]
    }
    return Schema.from_json(document)


def pull(generator, strength):
    released = measured(schema=bounded(strength))
    state = generator.fit(key_of(2), generator.init(key_of(1), released.schema), released=released)
    age = generator.sample(key_of(5), state, rows=4000).column("age")
    return float(np.maximum(age - 50, 0).mean())


def test_a_penalty_pulls_as_its_strength_says():
    none, weak, strong = (pull(SMALL, strength) for strength in (0, 1, 20))
    assert none > weak > strong


@pytest.mark.long
def test_the_strength_of_a_penalty_does_not_depend_on_particles_or_batches():
    reference = pull(SMALL, 2)
    assert pull(Particles(particles=12_000, epochs=60, steps=600), 2) == pytest.approx(reference, rel=0.2)
    assert pull(Particles(particles=4000, epochs=60, steps=1800, batch=1), 2) == pytest.approx(reference, rel=0.35)
    assert pull(SMALL, 0) > 1.5 * reference  # so that the comparison says something


@pytest.mark.slow
def test_a_million_particles_run():
    generator = Particles(particles=1_000_000, epochs=3, steps=3)
    state = fitted(generator)
    assert len(generator.sample(key_of(0), state, rows=1_000_000)) == 1_000_000


@pytest.fixture(scope="module")
def six():
    """Six independent numbers: their pairs leave the distribution of a weighted sum of all of them free."""
    bounds = {"minimum": 0, "maximum": 15, "required": True}
    return {"fields": [{"name": name, "type": "integer", "constraints": bounds} for name in "abcdef"]}


def error_of_share(document, strength):
    """How wrong the share of rows above a protected threshold comes out, and the largest distance of a pair."""
    hidden = {"kind": "protected", "weights": dict.fromkeys("abcdef", 0.4), "threshold": 1.4, "strength": strength}
    schema = Schema.from_json(document | {"constraints": [hidden]})
    rows = Rows(schema, tuple(np.random.default_rng(1).integers(0, 16, (6, 4000))))
    pairs, query = [Marginal.of(schema, *p) for p in itertools.combinations("abcdef", 2)], protected_queries(schema)[0]
    state = fitted(SMALL, measured(schema, rows, [*pairs, query]))
    made = SMALL.sample(key_of(5), state, rows=4000)
    return abs(query.above(made) - query.above(rows)) / 4000, max(distance(pair, made, rows) for pair in pairs)


def test_a_protected_share_is_hidden_by_its_hard_threshold_and_pairs_stay(six):
    (plain, fits), (hidden, still) = (error_of_share(six, strength) for strength in (0, 3))
    assert plain < 0.02
    assert hidden > 3 * plain
    assert hidden > 0.04
    assert still < fits + 0.02
