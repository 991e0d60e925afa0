"""Plans: they read no data, errors fall with epsilon and rows, the epsilon that is found is the one that is needed."""

import pytest

import sundog
from example_tables import DOCUMENT, table
from sundog.errors import UserError


def column_errors(**words):
    made = sundog.plan(DOCUMENT, rows=words.pop("rows", 5000), **words)
    return [[column.error for column in each.expected.columns] for each in made.budgets]


def test_errors_fall_with_epsilon_and_rows():
    small, large = column_errors(epsilon=[0.1, 1.0])
    assert all(a > b > 0 for a, b in zip(small, large, strict=True))
    (more,) = column_errors(epsilon=1.0, rows=50_000)
    assert all(a > b for a, b in zip(large, more, strict=True))
    (protected,) = column_errors(epsilon=1.0, rows_per_unit=4)
    assert all(a < b for a, b in zip(large, protected, strict=True))


def test_noise_is_what_the_recipe_would_add(tmp_path):
    planned = sundog.plan(DOCUMENT, rows=1000, epsilon=1.0, delta=1e-6, method="independent").budgets[0].expected
    made = sundog.Synthesizer(
        DOCUMENT, epsilon=1.0, delta=1e-6, method="independent", dataset="d", ledger=tmp_path / "l"
    )
    found = {m.query.columns[0]: m.stddev for m in made.fit(table(1000)).released.measurements}
    for column in planned.columns:
        assert column.stddev == pytest.approx(found[column.name], rel=1e-6)


def test_errors_are_near_what_is_found(tmp_path):
    from sundog.evaluate.base import Comparison
    from sundog.evaluate.total_variation import TotalVariation
    from sundog.sources import open_table

    values = table(4000)
    foretold = sundog.plan(DOCUMENT, rows=4000, epsilon=0.5, delta=1e-6).budgets[0].expected
    made = sundog.Synthesizer(DOCUMENT, epsilon=0.5, delta=1e-6, dataset="d", ledger=tmp_path / "l", seed=1).fit(values)
    found = Comparison(open_table(values).read(made.schema), made.model.rows())
    assert 0.3 < foretold.column_error / TotalVariation(1).score(found).value < 3
    assert 0.3 < foretold.pair_error / TotalVariation(2).score(found).value < 3


def test_solving_for_epsilon():
    wanted = {"column_error": 0.02, "pair_error": {"grade": 0.06}}
    made = sundog.plan(DOCUMENT, rows=20_000, **wanted)
    assert made.needed is not None
    found = made.needed.expected
    assert max(column.error for column in found.columns) <= 0.02
    assert max(pair.error() for pair in found.pairs if "grade" in pair.columns) <= 0.06
    (less,) = sundog.plan(DOCUMENT, rows=20_000, epsilon=made.needed.epsilon * 0.9).budgets
    worst = max(pair.error() for pair in less.expected.pairs if "grade" in pair.columns)
    assert max(column.error for column in less.expected.columns) > 0.02 or worst > 0.06
    assert "is needed" in made.to_text()
    out_of_reach = sundog.plan(DOCUMENT, rows=50, column_error=1e-6)
    assert out_of_reach.needed is None
    assert "no epsilon up to 100" in out_of_reach.to_text()


def test_shown_as_text_page_and_json():
    made = sundog.plan(DOCUMENT, rows=5000)
    assert "No data was read" in made.to_text()
    assert "median of size" in made.to_text()
    page = made.to_html()
    assert "<svg" in page
    assert "http" not in page.replace("http://www.w3.org", "")
    assert made.to_json()["budgets"][1]["epsilon"] == 1.0
    assert repr(made).startswith("Plan(auto, 5000 rows")
    columns_only = sundog.plan(DOCUMENT, rows=5000, method="mst")
    assert columns_only.budgets[0].expected.pair_error is None
    assert "not predicted" in columns_only.to_text()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"rows": 0}, "rows"),
        ({"column_error": 2.0}, "between 0 and 1"),
        ({"pair_error": {"nobody": 0.1}}, "not in the schema"),
        ({"pair_error": 0.1, "method": "mst"}, "not predicted"),
        ({"method": "nothing"}, "unknown"),
        ({"epsilon": [-1.0]}, "epsilon"),
    ],
)
def test_refusals(words, said):
    with pytest.raises(UserError, match=said):
        sundog.plan(DOCUMENT, **({"rows": 1000} | words))
