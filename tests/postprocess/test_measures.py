"""Measures in words: what they mean, which columns the default takes, within which ranges, and how mistakes are told."""

import numpy as np
import pytest

from postprocess.tiny_supports import SCHEMA, rows, table
from sundog.domain import Schema
from sundog.domain.rows import Rows
from sundog.errors import UserError
from sundog.postprocess.measures import check_measures, measures_of, most_correlated, shown
from sundog.queries import GroupSums, Marginal, Moments
from sundog.select.everything import shares_of
from sundog.sources import open_table

ROWS = open_table(table(800, slope=0.7)).read(SCHEMA)
WIDE = Schema.from_json(
    {
        "targets": ["t"],
        "fields": [
            {"name": f"c{k}", "type": "integer", "constraints": {"minimum": 0, "maximum": 20, "required": True}}
            for k in range(7)
        ]
        + [{"name": "t", "type": "boolean", "constraints": {"required": True}}],
    }
)


def queries(text, made=ROWS):
    return measures_of(text, made.schema, rows=made).queries


def test_words():
    (moments,) = queries("correlations: x , y")
    assert isinstance(moments, Moments)
    assert moments.columns == ("x", "y")
    counts, sums = queries("means: x by g")
    assert isinstance(counts, Marginal)
    assert isinstance(sums, GroupSums)
    assert (sums.column, sums.group.column) == ("x", "g")
    assert [query.column for query in queries("means: x, y by g")[1:]] == ["x", "y"]
    assert queries("marginals: g, t")[0].columns == ("g", "t")


def test_several_are_joined_and_none_is_asked_twice():
    made = queries("marginals: g; means: x by g; marginals: g")
    assert [type(query).__name__ for query in made] == ["Marginal", "GroupSums"]


def test_a_workload_file_keeps_its_weights(tmp_path):
    path = tmp_path / "own.toml"
    path.write_text('[[queries]]\nkind = "marginals"\nk = 1\nweight = 3\n', encoding="utf-8")
    path.write_text(path.read_text(encoding="utf-8") + '[[queries]]\nkind = "marginals"\nk = 2\n', encoding="utf-8")
    made = measures_of(f"correlations: x; {path}", SCHEMA, rows=ROWS)
    singles = {w for q, w in zip(made.queries, made.weights, strict=True) if len(q.columns) == 1 and q.partition}
    pairs = {w for q, w in zip(made.queries, made.weights, strict=True) if len(q.columns) == 2}
    assert len(singles) == len(pairs) == 1
    assert singles.pop() == pytest.approx(3 * pairs.pop())


def shares(text, **options):
    """What the parts of a description get of the budget, by the kind of query."""
    made = measures_of(text, SCHEMA, rows=ROWS, **options)
    parts = shares_of(made.queries, made.weights, "add-remove")
    found = {}
    for query, part in zip(made.queries, parts, strict=True):
        found[type(query).__name__] = found.get(type(query).__name__, 0.0) + part / sum(parts)
    return found


def test_parts_share_the_budget_equally_unless_told_otherwise():
    """A moment is counted in millionths of a row, a cell in rows: that must not matter."""
    assert shares("correlations: x, y; marginals: g, t") == pytest.approx({"Moments": 0.5, "Marginal": 0.5})
    assert shares("correlations: x, y; marginals: g, t * 3") == pytest.approx({"Moments": 0.25, "Marginal": 0.75})
    assert shares("correlations: x, y; columns * 2")["Marginal"] == pytest.approx(2 / 3)


@pytest.mark.parametrize("number", ["", "x", "0", "-1", "nan", "inf"])
def test_a_wrong_number_of_shares_is_named(number):
    with pytest.raises(UserError, match="how many shares"):
        measures_of(f"columns * {number}", SCHEMA, rows=ROWS)


def test_a_wide_table_of_long_columns_has_measures():
    field = {"type": "integer", "constraints": {"minimum": 0, "maximum": 999_999, "required": True}}
    wide = Schema.from_json({"fields": [{"name": f"n{k}", **field} for k in range(120)], "targets": ["n0"]})
    rows = Rows(wide, tuple(np.arange(50) * (k + 1) for k in range(120)))
    made = measures_of("correlations; columns", wide, rows=rows)
    shares = np.array(shares_of(made.queries, made.weights, "add-remove"))
    assert shares[0] == pytest.approx(shares[1:].sum())


def test_columns_are_measured_as_finely_as_their_length_asks_for():
    made = measures_of("columns", SCHEMA, rows=ROWS)
    assert {query.columns[0] for query in made.queries} == set(SCHEMA.names)
    assert all(len(query.axes) == 1 for query in made.queries)
    assert [query.columns for query in queries("columns: g, t")] == [("g",), ("t",)]
    with pytest.raises(UserError, match="nobody"):
        queries("columns: nobody")


def correlated_rows(count=3000):
    """Columns c0 to c6, the later the more they follow the target; c3 also but with the other sign."""
    random = np.random.default_rng(0)
    target = random.integers(0, 2, count)
    columns = [
        np.clip(np.round(10 + (-1 if k == 3 else 1) * k * (target - 0.5) * 2 + random.normal(0, 4, count)), 0, 20)
        for k in range(7)
    ]
    return Rows(WIDE, (*(column.astype(np.int64) for column in columns), target))


def test_the_default_is_the_five_most_correlated_with_the_target_in_the_synthetic_rows():
    assert most_correlated(correlated_rows(), WIDE) == ["c3", "c4", "c5", "c6", "t"]
    assert queries("correlations", correlated_rows())[0].columns == ("c3", "c4", "c5", "c6", "t")


def test_weights_decide_what_is_correlated():
    made = correlated_rows()
    heavy = np.where(made.codes[0] > 10, made.codes[-1], 1 - made.codes[-1]) + 1e-3  # now c0 follows the target
    assert "c0" in most_correlated(Rows(WIDE, made.codes, heavy.astype(float)), WIDE)


def test_the_default_needs_a_target_that_varies():
    without = Schema.from_json({"fields": [{"name": "x", "type": "boolean"}]})
    with pytest.raises(UserError, match="correlations of which columns"):
        check_measures("correlations", without)
    one = Schema.from_json({"targets": ["x"], "fields": [{"name": "x", "categories": ["only"]}]})
    with pytest.raises(UserError, match="one value only"):
        check_measures("correlations", one)


def test_ranges_are_those_of_the_synthetic_rows():
    made = rows(*[(k % 5 + 3, 11, 1, 0) for k in range(1000)], (0, 11, 1, 0), (10, 11, 1, 0))
    assert shown(made, SCHEMA.column("x"), 0.005) == (3, 7)
    assert shown(made, SCHEMA.column("y"), 0.005) is None, "all missing"
    assert shown(made, SCHEMA.column("g"), 0.005) is None, "one value"
    assert shown(rows((0, 0, 0, 0), (10, 0, 0, 0)), SCHEMA.column("x"), 0.005) is None, "all of the bounds"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "none were named"),
        (" ; ", "none were named"),
        ("correlation: x, y", "found 'correlation: x, y'; allowed are"),
        ("correlations: x, salary", "salary"),
        ("correlations: x, x", "distinct"),
        ("means: x", "allowed are"),
        ("means: x by x", "itself"),
        ("means: salary by g", "salary"),
        ("marginals:", "allowed are"),
        ("absent.toml", "absent.toml"),
    ],
)
def test_mistakes(text, message):
    with pytest.raises(UserError, match=message):
        check_measures(text, SCHEMA)


def test_shares_hold_under_both_relations():
    made = measures_of("correlations: x, y; columns", SCHEMA, rows=ROWS, neighbours="replace")
    parts = shares_of(made.queries, made.weights, "replace")
    assert parts[0] == pytest.approx(sum(parts[1:]))


def test_a_star_in_a_name_is_part_of_the_name():
    schema = Schema.from_json({"fields": [{"name": "a*b", "type": "boolean"}, {"name": "x", "type": "boolean"}]})
    made = Rows(schema, (np.zeros(3, int), np.ones(3, int)))
    assert queries("marginals: a*b, x", made)[0].columns == ("a*b", "x")
    with pytest.raises(UserError, match="how many shares"):
        queries("columns * 1e300", made)
