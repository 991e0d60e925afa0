"""Inside cells: bands of a number come out with sharp borders, scatter stays scatter, unrelated columns stay unrelated."""

import numpy as np
import pyarrow as pa
import pytest

from sundog import Synthesizer, load
from sundog.estimate.pairs import within
from sundog.estimate.pairs.within import determination, strengths
from sundog.generate.pooled import pooled_search

WIDTHS, GAPS = np.full(8, 10.0), np.full(7, 10.0)


def counted(noise, *, rows=200_000, cells=8, other=40):
    """A table of a number in eight cells and of another that follows it with normal noise, in units of a cell."""
    random = np.random.default_rng(0)
    first = random.random(rows) * cells
    second = np.clip((first + random.normal(0, noise, rows)) / cells, 0, 1 - 1e-9)
    table = np.zeros((cells, other))
    np.add.at(table, (first.astype(int), (second * other).astype(int)), 1)
    inside = np.corrcoef(first[(first > 3) & (first < 4)], second[(first > 3) & (first < 4)])[0, 1]
    return table, inside


@pytest.mark.parametrize("noise", [0.05, 0.2, 0.5, 1.0])
def test_the_correlation_inside_cells_is_found_from_their_neighbours(noise):
    table, inside = counted(noise)
    assert strengths(table, table, gaps=GAPS, widths=WIDTHS)[3] == pytest.approx(inside, abs=0.08)


def test_a_falling_column_has_negative_strengths():
    table, _ = counted(0.2)
    rising = strengths(table, table, gaps=GAPS, widths=WIDTHS)
    falling = strengths(table[:, ::-1], table[:, ::-1], gaps=GAPS, widths=WIDTHS)
    assert falling == pytest.approx(-rising)


def test_what_cleaning_left_of_the_noise_does_not_count_as_disagreement():
    table, _ = counted(0.0)
    blurred = table + 50.0
    raw = table + np.random.default_rng(1).normal(0, 50.0, table.shape)
    kept = strengths(blurred, blurred, gaps=GAPS, widths=WIDTHS)[3]
    mended = strengths(blurred, raw, gaps=GAPS, widths=WIDTHS)[3]
    assert kept < 0.7
    assert mended > 0.9


def test_cells_of_one_code_and_tables_without_order_have_no_strength():
    table, _ = counted(0.2)
    assert strengths(table, table, gaps=GAPS, widths=np.where(np.arange(8) == 3, 0.0, 10.0))[3] == 0
    same = np.ones((8, 1)) * 1000.0
    assert not strengths(same, same, gaps=GAPS, widths=WIDTHS).any()


def test_determination_is_one_for_functions_and_zero_for_independent_columns():
    function = np.array([[5.0, 0.0], [5.0, 0.0], [0.0, 10.0]])
    assert determination(function) == pytest.approx(1.0)
    assert determination(function.T) < 0.9
    assert determination(np.outer([1.0, 2.0], [3.0, 4.0, 5.0])) == pytest.approx(0.0)


DOCUMENT = {
    "fields": [
        {"name": "income", "type": "integer", "constraints": {"minimum": 0, "maximum": 99_999, "required": True}},
        {"name": "band", "type": "string", "categories": list("dbeac"), "constraints": {"required": True}},
        {"name": "coin", "type": "boolean", "constraints": {"required": True}},
    ]
}
CUTS = [17_300, 24_100, 33_700, 52_900]


def private(rows=30_000):
    random = np.random.default_rng(5)
    income = np.clip(random.lognormal(10.3, 0.6, rows), 0, 99_999).astype(int)
    band = np.array(list("abcde"))[np.searchsorted(CUTS, income, side="right")]
    return pa.table({"income": income, "band": band, "coin": random.random(rows) < 0.5})


def fitted(ledger):
    places = {"dataset": "incomes", "ledger": ledger}
    return Synthesizer(DOCUMENT, rho=0.02, seed=1, confirmed=True, **places).fit(private())


def wrong_bands(made):
    """The share of synthetic rows whose income is not in their band."""
    frame = made.to_pandas()
    return (np.array(list("abcde"))[np.searchsorted(CUTS, frame["income"], side="right")] != frame["band"]).mean()


def test_a_number_goes_with_its_band_and_did_not_before(tmp_path, monkeypatch):
    sharp = wrong_bands(fitted(tmp_path / "a").sample())
    monkeypatch.setattr(pooled_search, "followers", lambda released, pooled, leaves: ())
    assert sharp < 0.03
    assert sharp < 0.5 * wrong_bands(fitted(tmp_path / "b").sample())


def test_rows_given_a_band_have_its_incomes(tmp_path):
    made = fitted(tmp_path / "l")
    assert wrong_bands(made.sample(2000, where={"band": "c"})) < 0.05


def test_a_stored_model_draws_the_same(tmp_path):
    made = fitted(tmp_path / "l")
    loaded = load(made.save(tmp_path / "model"))
    assert loaded.note == made.model.note
    assert loaded.sample(500).equals(made.model.sample(500))


def test_columns_that_wait_for_each_other_are_still_all_drawn(monkeypatch):
    a, b, c = (_link(*names) for names in ("ab", "ba", "ca"))
    monkeypatch.setattr(within, "_links", lambda *_: [(0.9, a), (0.8, b), (0.7, c)])
    found = within.followers(None, None, None)
    assert [(each.column, each.axis.column) for each in found] == [("a", "b"), ("c", "a")]


def _link(column, other):
    from sundog.domain import Categorical
    from sundog.domain.axis import Axis

    return within.Follows(column, Axis.whole(Categorical(other, labels=(0, 1))), np.ones(2), None)
