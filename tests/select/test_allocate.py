"""Allocation: scores take more of a small budget; a column that all but fixes a target is measured label by label, with less noise."""

import numpy as np
import pytest

from sundog import Synthesizer
from sundog.domain import Categorical, Schema
from sundog.domain.unit import PrivacyUnit
from sundog.estimate.repeats import without_repeats
from sundog.methods.workloads import two_way
from sundog.queries.marginal import one_way_axis
from sundog.released import Guarantee, Released
from sundog.select import Allocate, allocate

ROWS, LABELS = 20_000, 9
DOCUMENT = {
    "name": "mushrooms",
    "targets": ["edible"],
    "fields": [
        {"name": name, "type": "string", "categories": [f"{k}" for k in range(size)], "constraints": {"required": True}}
        for name, size in (("odor", LABELS), ("cap", LABELS), ("edible", 2))
    ],
}


def private():
    """Of ten rows with one odor nine are edible, or one; three odors are rare. The cap goes with it in half of the rows."""
    import pyarrow as pa

    random = np.random.default_rng(0)
    odor = random.choice(LABELS, ROWS, p=[0.3, 0.3, 0.15, 0.12, 0.1, 0.02, 0.004, 0.003, 0.003])
    edible = np.where(random.random(ROWS) < 0.03, 1 - odor % 2, odor % 2)
    cap = np.where(random.random(ROWS) < 0.5, random.integers(0, LABELS, ROWS), edible)
    columns = {"odor": odor, "cap": cap, "edible": edible}
    return pa.table({name: [str(code) for code in codes] for name, codes in columns.items()})


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """The tables of each column with the target."""
    ledger = tmp_path_factory.mktemp("ledger") / "l"
    made = Synthesizer(DOCUMENT, rho=0.02, seed=1, confirmed=True, dataset="mushrooms", ledger=ledger).fit(private())
    tables = [m for m in without_repeats(made.released.measurements) if one_way_axis(m.query) is None]
    return {m.query.columns: m for m in tables}


def test_a_column_that_all_but_fixes_a_target_is_measured_label_by_label(measured):
    assert measured["odor", "edible"].query.shape == (LABELS, 2)


def test_its_table_has_less_noise_than_another_one_of_the_target(measured):
    noise = {name: measured[name, "edible"].stddev for name in ("odor", "cap")}
    cells = {name: measured[name, "edible"].query.size for name in ("odor", "cap")}
    expected = (allocate.SHARP * cells["odor"] / cells["cap"]) ** (1 / 3)
    assert noise["cap"] / noise["odor"] == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize(("rows", "times"), [(10**7, 1.0), (26_667, 1.5), (100, 2.0)])
def test_scores_take_more_where_noise_would_hide_the_pairs(rows, times):
    schema = Schema(tuple(Categorical(name, ("no", "yes")) for name in "abc"))
    pairs, usual = two_way(schema), Allocate().share_scores
    rho = len(pairs) / usual / (2 * allocate.BLURRED * 20_000) ** 2  # noise that is twice as much, for 20,000 rows
    released = Released(schema, (), Guarantee(PrivacyUnit(), "gaussian", 1.0), public_rows=rows)
    first = Allocate().propose(pairs, model=(None, None), released=released, remaining_rho=rho, previous=None)
    assert first.rho_score == pytest.approx(times * usual * rho, rel=1e-3)


def test_scores_take_no_more_than_half_unless_told_to():
    schema = Schema(tuple(Categorical(name, ("no", "yes")) for name in "ab"))
    for usual, part in ((0.3, 0.5), (0.8, 0.8), (0.1, 0.2)):
        rule = Allocate(share_scores=usual)
        assert rule.for_scores(two_way(schema), PrivacyUnit(), rows=10, rho=1e-9) == pytest.approx(part)
