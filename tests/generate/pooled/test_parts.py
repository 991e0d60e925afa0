"""Parts: cells are divided evenly, for every other column, and along the slope between neighbouring cells."""

import numpy as np
import pytest

from sundog.domain.axis import Axis
from sundog.generate.pooled.parts import PARTS, even_parts, positions_in, slopes
from sundog.random.keys import key_of

LONG = Axis("long", size=4, codes=400, starts=(0, 100, 200, 300))
SHORT = Axis("short", size=5, codes=5)
FLAG = Axis("flag", size=2, codes=2)


def rows(number, *, seed=0):
    """A number of four cells, five labels of which higher ones go with higher cells, and a flag that goes with nothing."""
    rng = np.random.default_rng(seed)
    value = rng.random(number)
    return value, {
        "long": (4 * value).astype(np.int64),
        "short": rng.binomial(4, value),
        "flag": rng.integers(0, 2, number),
    }


def counts(cells, parts, other, axis):
    return np.bincount((cells["long"] * PARTS + parts) * axis.size + cells[other], minlength=4 * PARTS * axis.size)


def parts_in(cells, *, in_order=4, others=(SHORT, FLAG)):
    return even_parts(key_of(1), cells, {}, axis=LONG, in_order=in_order, others=others)


def test_every_part_of_a_cell_has_as_many_rows_give_or_take_one():
    _, cells = rows(1003)
    found = parts_in(cells)
    for cell in range(4):
        own = np.bincount(found[cells["long"] == cell], minlength=PARTS)
        assert own.max() - own.min() <= 2  # a random start cuts one row off at either end


def test_flat_lines_leave_a_fraction_of_the_noise_of_drawing():
    _, cells = rows(8000)
    even, drawn = parts_in(cells, in_order=0), np.random.default_rng(5).integers(0, PARTS, 8000)

    def unevenness(parts):
        found = counts(cells, parts, "flag", FLAG).reshape(4, PARTS, 2)
        return float(found.std(axis=1).mean())

    assert unevenness(even) < 0.3 * unevenness(drawn)


def test_lines_come_closer_to_a_smooth_relation_than_steps():
    value, cells = rows(40_000)
    truth = counts(cells, (4 * PARTS * value).astype(int) % PARTS, "short", SHORT)
    sloped, flat = (counts(cells, parts_in(cells, in_order=n), "short", SHORT) for n in (4, 0))
    assert np.abs(sloped - truth).sum() < 0.5 * np.abs(flat - truth).sum()


def test_columns_count_by_part_where_theirs_are_known():
    rng = np.random.default_rng(0)
    cells = {"long": np.zeros(4000, dtype=np.int64), "other": np.zeros(4000, dtype=np.int64)}
    known = {"other": rng.integers(0, PARTS, 4000)}
    other = Axis("other", size=1, codes=100, starts=(0,))
    one = Axis("long", size=1, codes=100, starts=(0,))
    found = even_parts(key_of(1), cells, known, axis=one, in_order=1, others=[other])
    table = np.bincount(found * PARTS + known["other"], minlength=PARTS**2)
    assert table.std() < 2 < np.sqrt(4000 / PARTS**2)  # 62 rows a cell, which chance would spread by 8


def test_slopes_are_limited_and_none_at_a_peak():
    cells = np.repeat(np.arange(4), 10)
    shares = [1, 3, 9, 2]
    other = np.concatenate([np.repeat([1, 0], [k, 10 - k]) for k in shares])
    found = slopes(cells, other, in_order=4, size=2)
    assert found[1, 1] == pytest.approx(0.4 / 0.3)
    assert found[2].tolist() == [0, 0]
    assert found[0, 1] == pytest.approx(2.0)  # .2 / .1: reaches zero at the border
    assert np.abs(found).max() <= 2.0
    assert slopes(cells, other, in_order=0, size=2).shape == (0, 2)
    assert not slopes(cells, other, in_order=1, size=2).any()


@pytest.mark.parametrize("number", [1, 2, 7])
def test_few_rows_and_no_other_columns(number):
    _, cells = rows(number)
    for others in ((), (SHORT,)):
        found = parts_in(cells, others=others)
        assert found.shape == (number,)
        assert ((found >= 0) & (found < PARTS)).all()


def test_positions_lie_in_their_part_and_differ():
    _, cells = rows(1000)
    found = parts_in(cells)
    first, second = (positions_in(key_of(k), cells["long"], found, size=4) for k in (1, 2))
    for places in (first, second):
        assert ((places * PARTS).astype(int) == found).all()
    assert len(np.unique(np.concatenate([first, second]))) == 2000


def test_more_rows_than_are_held_are_not_copies(tmp_path):
    from sundog import Synthesizer

    document = {
        "fields": [
            {"name": "a", "type": "number", "constraints": {"minimum": 0, "maximum": 1000, "required": True}},
            {"name": "b", "type": "boolean", "constraints": {"required": True}},
        ]
    }
    rng = np.random.default_rng(0)
    table = {"a": rng.gamma(2.0, 100, 500).clip(0, 1000), "b": rng.random(500) < 0.5}
    made = Synthesizer(document, rho=1.0, dataset="d", ledger=tmp_path / "l", confirmed=True, seed=1).fit(table)
    frame = made.sample(5000).to_pandas()
    assert frame["a"].nunique() > 2500
