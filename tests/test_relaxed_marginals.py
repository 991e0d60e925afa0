"""The written-out gradient of many marginals against finite differences, jax and the marginals' own relaxation."""

import itertools

import jax
import numpy as np
import pytest

from sundog.axis import Axis
from sundog.errors import UserError
from sundog.queries import Marginal
from sundog.relaxed_marginals import MarginalSet, marginal_loss_and_gradient, relaxed_answers
from sundog.schema import Categorical, Numeric, Schema
from sundog.soft import Layout, SoftRows

SIZES = (3, 2, 5, 1, 4)


@pytest.fixture
def random():
    return np.random.default_rng(3)


@pytest.fixture
def blocks(random):
    return [random.dirichlet(np.ones(size), 7) for size in SIZES]


def all_marginals(most):
    return [places for k in range(1, most + 1) for places in itertools.permutations(range(len(SIZES)), k)]


def problem(random, marginals):
    targets = [random.dirichlet(np.ones(int(np.prod([SIZES[place] for place in places])))) for places in marginals]
    return {"targets": targets, "weights": random.uniform(0.5, 2, len(marginals)).tolist()}


def einsum_answers(blocks, marginals):
    letters = "abcde"
    found = []
    for places in marginals:
        terms = ",".join(f"r{letters[k]}" for k in range(len(places)))
        table = np.einsum(f"{terms}->{letters[: len(places)]}", *(blocks[place] for place in places))
        found.append(table.ravel() / len(blocks[0]))
    return found


def test_answers_are_the_mean_products(blocks):
    marginals = all_marginals(5)
    for found, expected in zip(relaxed_answers(blocks, marginals), einsum_answers(blocks, marginals), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-15)


def test_loss_is_the_weighted_squared_error(random, blocks):
    marginals = all_marginals(4)
    given = problem(random, marginals)
    loss, _ = marginal_loss_and_gradient(blocks, marginals, **given)
    answers = einsum_answers(blocks, marginals)
    parts = zip(given["weights"], answers, given["targets"], strict=True)
    assert loss == pytest.approx(sum(w * ((answer - target) ** 2).sum() for w, answer, target in parts), rel=1e-12)


@pytest.mark.parametrize("ways", [1, 2, 3, 4, 5])
def test_gradient_is_that_of_finite_differences(random, blocks, ways):
    marginals = [tuple(random.permutation(len(SIZES))[:ways].tolist()) for _ in range(4)]
    given = problem(random, marginals)
    _, gradients = marginal_loss_and_gradient(blocks, marginals, **given)
    for block, gradient in zip(blocks, gradients, strict=True):
        for place in np.ndindex(block.shape):
            ends = []
            for step in (1e-5, -1e-5):
                block[place] += step
                ends.append(marginal_loss_and_gradient(blocks, marginals, **given)[0])
                block[place] -= step
            assert gradient[place] == pytest.approx((ends[0] - ends[1]) / 2e-5, rel=1e-6, abs=1e-10)


def test_the_given_blocks_and_targets_stay_as_they_are(random, blocks):
    marginals = all_marginals(3)
    given = problem(random, marginals)
    before = [part.copy() for part in (*blocks, *given["targets"])]
    marginal_loss_and_gradient(blocks, marginals, **given)
    for old, new in zip(before, (*blocks, *given["targets"]), strict=True):
        np.testing.assert_array_equal(old, new)


SCHEMA = Schema(
    (
        Categorical("colour", ("red", "green", "blue"), nullable=True),
        Numeric("age", "integer", 0, 9, nullable=True),
        Numeric("hours", "integer", 0, 5),
        Categorical("only", ("one",)),
    )
)


def layout():
    age, hours = SCHEMA.column("age"), SCHEMA.column("hours")
    return Layout.of(SCHEMA, binned={"age": Axis.cut(age, [0, 2, 4, 7]), "hours": Axis.whole(hours)})


def marginals_with_coarser_cells():
    axes = {
        "colour": Axis.whole(SCHEMA.column("colour")),
        "age": Axis.cut(SCHEMA.column("age"), [0, 2, 4, 7]),
        "coarse": Axis.cut(SCHEMA.column("age"), [0, 4]),
        "hours": Axis.cut(SCHEMA.column("hours"), [0, 3]),
        "only": Axis.whole(SCHEMA.column("only")),
    }
    names = [("colour", "age"), ("coarse", "hours", "only"), ("coarse",), ("hours", "colour", "age", "only")]
    return tuple(Marginal(tuple(axes[name] for name in each)) for each in names)


def test_a_set_agrees_with_its_marginals_and_with_their_traced_gradient(random):
    marginals = marginals_with_coarser_cells()
    held = layout()
    with jax.enable_x64(True):
        values = [random.dirichlet(np.ones(axis.size), 6) for axis in held.axes]
        targets = [random.dirichlet(np.ones(marginal.size)) for marginal in marginals]
        weights = [1.0, 0.5, 2.0, 3.0]

        def loss(parts):
            soft = SoftRows(held, tuple(parts), (None,) * len(parts))
            errors = [m.relaxed(soft, 1.0) / 6 - target for m, target in zip(marginals, targets, strict=True)]
            return sum(w * (error**2).sum() for w, error in zip(weights, errors, strict=True))

        expected, traced = jax.value_and_grad(loss)([jax.numpy.asarray(value) for value in values])
        soft = SoftRows(held, tuple(jax.numpy.asarray(value) for value in values), (None,) * len(values))
        answers = [np.asarray(marginal.relaxed(soft, 1.0)) / 6 for marginal in marginals]
    chosen = MarginalSet(held, marginals)
    found, gradients = chosen.loss_and_gradient(values, targets=targets, weights=weights)
    assert found == pytest.approx(float(expected), rel=1e-9)
    for gradient, other in zip(gradients, traced, strict=True):
        np.testing.assert_allclose(gradient, other, rtol=1e-7, atol=1e-12)
    for answer, other in zip(chosen.answers(values), answers, strict=True):
        np.testing.assert_allclose(answer, other, rtol=1e-7)


def test_a_column_held_as_a_number_is_refused():
    with pytest.raises(UserError, match="'age' is held as a number"):
        MarginalSet(Layout.of(SCHEMA), (Marginal.of(SCHEMA, "colour", "age"),))
