"""The loss in pieces equals the loss as written down, its gradient the finite differences, and shapes stay few."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from generate.projection.projection_cases import MIXED, mixed_rows, released
from sundog.estimate.bins import leaves_of
from sundog.generate import RelaxedProjection
from sundog.generate.projection.adam import Problem, hard_matrix
from sundog.generate.projection.forms import FORMS
from sundog.generate.projection.forms.marginal import _add_tile, tile_panels
from sundog.generate.projection.panels import add_panels
from sundog.generate.projection.rap import SoftMaker, axes_of, cuts_of, held_frame, panels_of, soft_answer, targets_of
from sundog.generate.projection.soft_table import SoftTable, known_of
from sundog.generate.projection.starts import fresh_params
from sundog.queries import AtLeast, BinaryTree, Cells, Marginal, Parity, Ranges, answer
from sundog.queries.workload import Workload
from sundog.random.keys import key_of, normals, split

TABLES = [Marginal.of(MIXED, "colour", "warm"), Marginal.of(MIXED, "colour", "warm", "size", bins=5)]
AGREEING = [
    AtLeast.of(MIXED, "colour", "warm", least=1),  # a disjunction
    AtLeast.of(MIXED, "colour", "warm", "size", least=2, bins=5),
    Parity.of(MIXED, "colour", "warm", "size", bins=5),
    Cells(TABLES[1], np.array([0, 7, 11])),
]
THRESHOLDS = [
    *Workload.conditional_thresholds(MIXED, directions=3, thresholds=4).queries,
    *Workload.conditional_ranges(MIXED, count=7, numbers=2).queries,
    *Workload.prefixes(MIXED, count=9, labels=1, numbers=2).queries,
    *Workload.halfspaces(MIXED, directions=2, thresholds=3).queries,
    BinaryTree.of(MIXED, "warm", "size", levels=2),
    # two of three labels, and numbers from 5 on, the missing ones among them
    Ranges(("colour", "size"), np.array([[0, 1]]), np.array([[1, 5]]), np.array([[3, 101]])),
    *AGREEING,
]
RANGES = [query for query in THRESHOLDS if RelaxedProjection().supports(query)]
CASES = [
    pytest.param(TABLES, False, id="tables"),
    pytest.param(AGREEING, False, id="agreeing", marks=pytest.mark.long),
    pytest.param(RANGES, False, id="ranges", marks=pytest.mark.long),
    pytest.param(THRESHOLDS, True, id="thresholds"),  # with those of the two before
]
SHARPNESS = {"cells": 20.0, "ranges": 20.0, "halfspaces": 20.0}


def prepared(queries, *, numbers, rows=40):
    known_columns = Workload.marginals(MIXED, k=1).queries if numbers else ()
    release = released([*known_columns, *queries], mixed_rows())
    frame = held_frame(release, numbers=numbers)
    table = SoftTable(frame, fresh_params(key_of(1), frame, leaves=leaves_of(release), rows=rows), leaves_of(release))
    targets = [t for t in targets_of(release) if len(t.query.columns) > 1]
    axes, cuts = ([axis for t in targets for axis in of(t.query, MIXED)] for of in (axes_of, cuts_of))
    asked = frame.asking(axes, cuts=cuts)
    known = known_of(asked, table.leaves, rows=rows)
    return table, targets, Problem(SoftMaker(asked), known, panels_of(asked, targets, known=known))


@pytest.mark.parametrize(("queries", "numbers"), CASES)
def test_the_gradient_agrees_with_finite_differences(queries, numbers):
    table, _, problem = prepared(queries, numbers=numbers)
    pair = (SHARPNESS["cells"], SHARPNESS["halfspaces"])
    matrix = problem.maker(table.params, problem.known, pair)
    _, gradient = add_panels(matrix, problem.panels, sharpness=SHARPNESS)

    def loss(moved):
        return float(sum(add_panels(moved, problem.panels, sharpness=SHARPNESS)[0].values()))

    for feature, row in [(0, 0), (1, 7), (3, 5), (5, 11), (7, 3), (9, 30)]:
        step = jnp.zeros_like(matrix).at[feature, row].set(0.02)
        slope = (loss(matrix + step) - loss(matrix - step)) / 0.04
        assert float(gradient[feature, row]) == pytest.approx(
            slope, rel=0.03, abs=0.02 * float(jnp.abs(gradient).max())
        )


@pytest.mark.parametrize(("queries", "numbers"), CASES)
def test_the_gradient_by_the_parameters_agrees_with_finite_differences(queries, numbers):
    """Through softmax, sigmoids and quantiles: the slope along directions in which all parameters move at once."""
    table, _, problem = prepared(queries, numbers=numbers)
    pair = (SHARPNESS["cells"], SHARPNESS["halfspaces"])

    made = jax.jit(lambda params: problem.maker(params, problem.known, pair))

    def loss(params):
        return float(sum(add_panels(made(params), problem.panels, sharpness=SHARPNESS)[0].values()))

    matrix, pull = jax.vjp(made, table.params)
    slopes = pull(add_panels(matrix, problem.panels, sharpness=SHARPNESS)[1])[0]
    for seed in range(3):
        leaves, shape = jax.tree.flatten(table.params)
        keys = split(key_of(seed), len(leaves))
        parts = [normals(key, leaf.size).reshape(leaf.shape) for key, leaf in zip(keys, leaves, strict=True)]
        signs = [jnp.sign(slope) for slope in jax.tree.leaves(slopes)]  # towards growth, so that slopes do not cancel
        way = jax.tree.unflatten(shape, [jnp.abs(part) * sign for part, sign in zip(parts, signs, strict=True)])
        expected = sum(float((a * b).sum()) for a, b in zip(jax.tree.leaves(slopes), jax.tree.leaves(way), strict=True))
        there, back = (jax.tree.map(lambda v, w, s=s: v + s * w, table.params, way) for s in (2e-3, -2e-3))
        assert (loss(there) - loss(back)) / 4e-3 == pytest.approx(expected, rel=0.03)


def test_tiles_add_up_to_the_weighted_squared_error():
    table, targets, problem = prepared(TABLES, numbers=False)
    matrix = problem.maker(table.params, problem.known, (1.0, 1.0))
    losses, _ = add_panels(matrix, problem.panels, sharpness=SHARPNESS)
    held, expected = np.asarray(matrix, dtype=float), 0.0
    for target in targets:
        parts = [held[problem.maker.frame.cells(axis)] for axis in target.query.axes]
        letters = "abc"[: len(parts)]
        table_now = np.einsum(",".join(f"{x}n" for x in letters) + "->" + letters, *parts) / held.shape[1]
        expected += target.weight * np.square(table_now.ravel() - target.values).sum()
    assert float(losses["cells"]) == pytest.approx(expected, rel=1e-4)


@pytest.mark.long
def test_hard_features_answer_what_rounded_rows_answer():
    """Many copies of each soft row: the answers of the table that comes out tend to the model's."""
    from sundog.generate import AnnealedProjection

    release = released([*Workload.marginals(MIXED, k=1).queries, *THRESHOLDS], mixed_rows())
    generator = AnnealedProjection(rows=60)
    frame = held_frame(release, numbers=True)
    leaves = leaves_of(release)
    state = SoftTable(frame, fresh_params(key_of(1), frame, leaves=leaves, rows=60), leaves)
    rows = generator.sample(key_of(2), state, rows=60_000)
    for query in THRESHOLDS:
        if any(name == "colour" for name in query.columns) and "halfspaces" in query.describe():
            continue  # a halfspace over soft labels is not linear in them: only its relaxation is answered
        assert np.abs(generator.answer(state, query) - answer(query, rows) / len(rows)).max() < 0.012, query.describe()


def test_relaxations_are_exact_in_the_limit_of_certain_labels():
    """Rows that are sure of every label: the relaxed answers are the exact ones of the rows they round to."""
    queries = [*TABLES, *RANGES]
    release = released([*Workload.marginals(MIXED, k=1).queries, *queries], mixed_rows())
    frame, leaves = held_frame(release, numbers=False), leaves_of(release)
    params = fresh_params(key_of(1), frame, leaves=leaves, rows=60)
    sure = {name: jnp.where(logits == logits.max(axis=0), 100.0, -100.0) for name, logits in params["logits"].items()}
    state, generator = SoftTable(frame, {**params, "logits": sure}, leaves), RelaxedProjection(rows=60)
    rows = generator.sample(key_of(2), state, rows=60)
    for query in queries:
        assert np.allclose(generator.answer(state, query), answer(query, rows) / 60, atol=1e-6), query.describe()


@pytest.mark.long
def test_the_loss_of_sharp_sigmoids_is_that_of_the_exact_answers():
    """In the limit of certain labels and steep sigmoids the relaxed loss of every class is the exact one."""
    table, targets, problem = prepared(THRESHOLDS, numbers=True)
    logits = table.params["logits"].items()
    sure = {name: jnp.where(own == own.max(axis=0), 100.0, -100.0) for name, own in logits}
    absent = {name: jnp.where(own > 0, 100.0, -100.0) for name, own in table.params["absent"].items()}
    table = replace(table, params={**table.params, "logits": sure, "absent": absent})
    steep = 1e6
    matrix = problem.maker(table.params, problem.known, (steep, steep))
    losses, _ = add_panels(matrix, problem.panels, sharpness=dict.fromkeys(SHARPNESS, steep))
    exact = sum(
        target.weight * np.square(soft_answer(table, target.query, maker=SoftMaker(table.frame)) - target.values).sum()
        for target in targets
    )
    assert float(sum(losses.values())) == pytest.approx(exact, rel=0.01)


def test_every_registered_form_is_tested_here():
    tested = {type(query) for query in (*TABLES, *THRESHOLDS)}
    assert tested == set(FORMS)


def test_new_tables_of_later_rounds_compile_nothing():
    """Tiles have few shapes: other marginals, and more of them, find every compiled function again."""
    columns = list(MIXED.names)
    first = [
        Marginal.of(MIXED, "colour", "size", "warm", bins=20),
        Marginal.of(MIXED, "size", "weight", "warm", bins=20),
    ]
    later = [*first, *(Marginal.of(MIXED, *names, bins=20) for names in (("colour", "weight", "warm"), columns[:3]))]
    whole = released(later, mixed_rows())
    frame = held_frame(whole, numbers=False)
    leaves = leaves_of(whole)
    params = fresh_params(key_of(1), frame, leaves=leaves, rows=50)
    compiled = [_add_tile.compiled._cache_size()]
    for queries in (first, later):
        panels = tile_panels(frame, targets_of(released(queries, mixed_rows())), known=known_of(frame, leaves, rows=50))
        matrix = hard_matrix(params, known_of(frame, leaves, rows=50), maker=SoftMaker(frame))
        jax.block_until_ready(add_panels(matrix, panels, sharpness=SHARPNESS)[1])
        compiled.append(_add_tile.compiled._cache_size())
    assert compiled[1] == compiled[2]
    assert compiled[1] - compiled[0] <= 6
