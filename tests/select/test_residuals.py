"""Residuals: what a label adds to a number that follows another one is measured along the strip, and comes out in the rows."""

import numpy as np
import pyarrow as pa
import pytest

from sundog import Synthesizer
from sundog.queries import Joined
from sundog.select.residuals import MOST, PARTS, strip

ROWS = 20_000


def stones(*, related=True):
    """A price that follows a weight, and clear stones, which are light but cost more at any weight."""
    random = np.random.default_rng(0)
    clear = random.integers(0, 2, ROWS)
    weight = np.clip(random.normal(55 - 15 * clear, 15, ROWS), 0, 99)
    price = 0.8 * weight * related + 12 * clear + random.normal(0, 4, ROWS)
    return pa.table(
        {"clear": clear.astype(str), "weight": weight.astype(int), "price": np.clip(price, 0, 99).astype(int)}
    )


def fitted(folder, table, *, epsilon=2.0, targets=("price",), **settings):
    number = {"type": "integer", "constraints": {"required": True, "minimum": 0, "maximum": 99}}
    label = {"type": "string", "categories": ["0", "1"], "constraints": {"required": True}}
    fields = [{"name": name, **(number if name in ("weight", "price") else label)} for name in table.column_names]
    schema = {"name": "stones", "fields": fields, "targets": list(targets)}
    return Synthesizer(
        schema, epsilon=epsilon, delta=1e-9, seed=1, ledger=folder / "ledger.sqlite", settings=settings
    ).fit(table)


def joined(made):
    return [m.query for m in made.released.measurements if isinstance(m.query, Joined)]


def premium(table):
    """By how much clear stones cost more at the same weight."""
    clear, weight, price = (np.array(table[name].to_pylist(), dtype=float) for name in ("clear", "weight", "price"))
    return np.linalg.lstsq(np.stack([clear, weight, np.ones(len(clear))], axis=1), price, rcond=None)[0][0]


def test_what_a_label_adds_to_a_number_that_follows_another_one_is_measured_and_kept(tmp_path):
    made = fitted(tmp_path, stones())
    (query,) = joined(made)
    assert set(query.columns[:2]) == {"weight", "price"}
    assert query.columns[2] == "clear"
    assert query.size == 2 * PARTS
    assert 8 < premium(made.sample()) < 14  # 12 in the rows; 10.8, give or take 0.2, here; 0 from pairs alone
    assert made.released.guarantee.epsilon == pytest.approx(2.0, rel=1e-3)


@pytest.mark.parametrize(
    ("table", "given"),
    [
        (stones(related=False), {}),
        (stones(), {"targets": ("clear",)}),
        (stones(), {"epsilon": 0.02}),
        (stones(), {"rule.share_residuals": 0}),
    ],
    ids=["follows nothing", "a label", "too noisy", "turned off"],
)
def test_nothing_is_measured_where_it_tells_nothing(tmp_path, table, given):
    assert not joined(fitted(tmp_path, table, passes=1, **given))


def test_of_very_many_columns_those_closest_to_the_target_are_looked_at(tmp_path):
    table, random = stones(), np.random.default_rng(1)
    for place in range(MOST):
        table = table.append_column(f"other {place}", pa.array(random.integers(0, 2, ROWS).astype(str)))
    queries = joined(fitted(tmp_path, table, epsilon=5.0, passes=1))
    assert len(queries) == MOST
    assert "clear" in {query.columns[2] for query in queries}


@pytest.mark.parametrize("along", [0, 1])
def test_parts_lie_along_the_strip_and_missing_stands_alone(along):
    table = np.array([[10.0, 10, 10, 10, 0, 5], [0, 0, 10, 10, 20, 5], [0, 0, 0, 0, 0, 0]])
    parts = strip(table.T if along == 0 else table, along=along, missing=True)
    parts = parts.T if along == 0 else parts
    assert parts[0].tolist() == [0, 1, 2, 3, 3, PARTS]
    assert parts[1].tolist() == [0, 0, 0, 1, 3, PARTS]
    assert parts[:, -1].tolist() == [PARTS] * 3
