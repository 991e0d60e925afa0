"""Workloads: built by name, the same from the same seed, combined and weighted; targets; released reference rows."""

from itertools import combinations

import numpy as np
import pytest

from sundog.domain import Categorical, Numeric, Schema
from sundog.domain.rows import Rows
from sundog.errors import UserError
from sundog.queries import Marginal, answer
from sundog.queries.choosing import uniform_rows
from sundog.queries.workload import KINDS, Workload
from sundog.random.keys import key_of

SCHEMA = Schema(
    (
        Categorical("colour", ("red", "green", "blue"), nullable=True),
        Categorical("size", ("s", "m", "l")),
        Categorical("paid", ("no", "yes")),
        Numeric("age", "integer", 0, 99, nullable=True),
        Numeric("income", "integer", 0, 100_000),
        Numeric("fixed", "integer", 7, 7),
    ),
    targets=("paid",),
)
LABELS_ONLY = Schema(SCHEMA.columns[:3])
NUMBERS_ONLY = Schema(SCHEMA.columns[3:])
SEEDED = {
    "prefixes": {"count": 50},
    "ranges": {"count": 50},
    "halfspaces": {"directions": 5, "thresholds": 4},
    "conditional_ranges": {"count": 20},
    "conditional_thresholds": {"directions": 4, "thresholds": 3},
    "marginals": {"k": 3, "sample": 4},
    "at_least": {"k": 2, "least": 1, "sample": 2},
    "parities": {"k": 2, "sample": 2},
}


def keys(workload):
    return [key for query in workload.queries for key in query.block_keys()]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_builds_with_its_defaults_and_can_be_answered(kind):
    workload = KINDS[kind](SCHEMA)
    rows = uniform_rows(key_of(1), SCHEMA, 50)
    assert len(workload) >= 1
    assert workload.cells == sum(len(answer(query, rows)) for query in workload.queries)
    assert workload.weights == (1.0,) * len(workload)


@pytest.mark.parametrize("kind", SEEDED)
def test_the_same_seed_gives_the_same_queries_and_another_seed_others(kind):
    first, same, other = (KINDS[kind](SCHEMA, seed=seed, **SEEDED[kind]) for seed in (3, 3, 4))
    assert keys(first) == keys(same)
    assert keys(first) != keys(other)


def test_marginals_of_all_pairs_and_of_a_sample():
    assert len(Workload.marginals(SCHEMA, k=2)) == 15
    some = Workload.marginals(SCHEMA, k=3, sample=7, seed=1)
    assert len({query.columns for query in some.queries}) == 7
    assert len(Workload.marginals(SCHEMA, k=2, sample=1000)) == 15
    named = Workload.marginals(SCHEMA, k=2, columns=["age", "paid", "size"], bins=4)
    assert [query.columns for query in named.queries] == [("age", "paid"), ("age", "size"), ("paid", "size")]
    assert named.queries[0].shape == (5, 2)


def test_prefixes_have_the_asked_labels_and_thresholds():
    (query,) = Workload.prefixes(SCHEMA, count=200, labels=1, numbers=2).queries
    names = np.array(query.columns)[query.which]
    labels = np.isin(names, ["colour", "size", "paid"])
    assert (labels.sum(axis=1) == 1).all()
    assert (query.high[labels] == query.low[labels] + 1).all()
    assert (query.low[~labels] == 0).all()
    assert all(len(set(row)) == 3 for row in names.tolist())
    assert "fixed" not in query.columns


def test_ranges_are_intervals_of_present_values():
    (query,) = Workload.ranges(SCHEMA, count=300, labels=0, numbers=1).queries
    assert (query.low < query.high).all()
    assert (query.low > 0).any()
    age = query.which[:, 0] == query.columns.index("age")
    assert query.high[age].max() <= 100


def test_targets_come_from_the_schema_or_the_call():
    declared = Workload.conditional_marginals(SCHEMA, k=1)
    assert all("paid" in query.columns for query in declared.queries)
    named = Workload.conditional_ranges(SCHEMA, targets=["size", "age"], count=5, numbers=1)
    assert [query.label.column for query in named.queries] == ["size", "age"]
    assert all("age" not in query.inner.columns for query in named.queries[1:])
    pairs = Workload.conditional_marginals(SCHEMA, targets=["size", "paid"], k=1)
    assert len({frozenset(query.columns) for query in pairs.queries}) == len(pairs) == 3


def test_conditional_marginals_of_named_columns_take_numbers_in_bins():
    """The paper's RAP and PGM: the target with every two other columns, numbers among them."""
    tables = Workload.conditional_marginals(SCHEMA, columns=SCHEMA.names, bins=4).queries
    others = [name for name in SCHEMA.names if name != "paid"]
    assert {frozenset(query.columns) for query in tables} == {
        frozenset(("paid", *two)) for two in combinations(others, 2)
    }
    cells = {axis.column: axis.size for query in tables for axis in query.axes}
    assert cells["age"] == 4 + SCHEMA.column("age").nullable


def test_workloads_are_combined_and_weighted():
    both = Workload.marginals(SCHEMA, k=1).weighted(2.0) + Workload.moments(SCHEMA)
    assert len(both) == 7
    assert both.weights == (2.0,) * 6 + (1.0,)
    assert both.weighted(0.5).weights == (1.0,) * 6 + (0.5,)
    with pytest.raises(UserError, match="different schemas"):
        both + Workload.marginals(LABELS_ONLY, k=1)


def test_halfspace_thresholds_cut_the_reference_rows_evenly():
    reference = uniform_rows(key_of(9), SCHEMA, 4000)
    (query,) = Workload.halfspaces(SCHEMA, directions=20, thresholds=4, reference=reference).queries
    shares = answer(query, reference).reshape(20, 4) / 4000
    np.testing.assert_allclose(shares.mean(axis=0), [1 / 8, 3 / 8, 5 / 8, 7 / 8], atol=0.03)


def test_thresholds_follow_the_reference_rows():
    low = Rows(SCHEMA, tuple(np.zeros(10, dtype=np.int64) for _ in SCHEMA.columns))
    (query,) = Workload.prefixes(SCHEMA, count=20, labels=0, numbers=1, reference=low).queries
    assert set(query.high.ravel().tolist()) == {1}


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Workload.marginals(SCHEMA, k=7), "found k = 7; with 6 columns, 1 to 6"),
        (lambda: Workload.marginals(SCHEMA, k=0), "found k = 0"),
        (lambda: Workload.marginals(SCHEMA, columns=["nobody", "age"]), "column 'nobody' is not in the schema"),
        (lambda: Workload.prefixes(NUMBERS_ONLY), "0 categorical and 2 numeric"),
        (lambda: Workload.prefixes(SCHEMA, count=0), "0 queries"),
        (lambda: Workload.ranges(SCHEMA, labels=0, numbers=0), "0 labels and 0 numbers"),
        (lambda: Workload.prefixes(SCHEMA, labels=-1), "labels: found -1"),
        (lambda: Workload.marginals(SCHEMA, sample=0), "found sample = 0"),
        (lambda: Workload.trees(LABELS_ONLY), "holds no query"),
        (lambda: Workload.trees(SCHEMA, levels=0), "levels: found 0; it must be 1 or more"),
        (lambda: Workload.halfspaces(SCHEMA, directions=0), "0 directions"),
        (lambda: Workload.conditional_marginals(LABELS_ONLY), "needs a prediction target"),
        (lambda: Workload.conditional_marginals(SCHEMA, targets=["nobody"]), "'nobody' is not in the schema"),
        (lambda: Workload.conditional_marginals(SCHEMA, columns=["size", "nobody"]), "'nobody' is not in the schema"),
        (lambda: Workload.conditional_thresholds(LABELS_ONLY, targets=["size"]), "no numeric column"),
        (lambda: Workload.at_least(SCHEMA, k=2, least=3), "t: found 3; it must be at most 2"),
        (lambda: Workload.moments(LABELS_ONLY), "no numeric column"),
        (lambda: Workload.moments(SCHEMA, columns=["nobody"]), "'nobody' is not in the schema"),
        (lambda: Workload(SCHEMA, (), ()), "holds no query"),
        (lambda: Workload.marginals(SCHEMA, k=1).weighted(0.0), "weight above 0"),
    ],
)
def test_mistakes_are_named(build, message):
    with pytest.raises(UserError, match=message):
        build()


FILE = """
[[queries]]
kind = "marginals"
k = 2
sample = 5
weight = 2

[[queries]]
kind = "prefixes"
count = 100
numbers = 1

[[queries]]
kind = "conditional_thresholds"
targets = ["paid", "size"]
directions = 3
thresholds = 2
"""


@pytest.fixture
def write(tmp_path):
    def write(text):
        path = tmp_path / "workload.toml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def test_a_file_says_what_the_calls_say(write):
    workload = Workload.load(write(FILE), SCHEMA)
    same = (
        Workload.marginals(SCHEMA, k=2, sample=5).weighted(2)
        + Workload.prefixes(SCHEMA, count=100, numbers=1)
        + Workload.conditional_thresholds(SCHEMA, targets=["paid", "size"], directions=3, thresholds=2)
    )
    assert keys(workload) == keys(same)
    assert workload.weights == same.weights


def test_a_file_takes_reference_rows(write):
    low = Rows(SCHEMA, tuple(np.zeros(10, dtype=np.int64) for _ in SCHEMA.columns))
    workload = Workload.load(write(FILE), SCHEMA, reference=low)
    numbers = workload.queries[5].which >= workload.queries[5].columns.index("age")
    assert isinstance(workload.queries[0], Marginal)
    assert set(workload.queries[5].high[numbers].tolist()) == {1}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[queries]\n", "is not TOML"),
        (b"\xff\xfe\x00", "is not UTF-8 text"),
        ("", "a list of \\[\\[queries\\]\\] and nothing else"),
        ("queries = 3", "a list of"),
        ("queries = [3]", "number 1: found 3"),
        ("title = 1\n[[queries]]\nkind = 'moments'", "nothing else"),
        ("[[queries]]\nk = 2", "number 1: kind is None; allowed are marginals"),
        ("[[queries]]\nkind = 'moments'\n[[queries]]\nkind = 'magic'", "number 2: kind is 'magic'"),
        ("[[queries]]\nkind = 'moments'\nweight = 0", "weight is 0; it must be a number above 0"),
        ("[[queries]]\nkind = 'moments'\nweight = nan", "weight is nan"),
        ("[[queries]]\nkind = 'moments'\nweight = true", "weight is True"),
        ("[[queries]]\nkind = 'marginals'\nways = 2", "has no option 'ways'; its options are k, sample, seed"),
        ("[[queries]]\nkind = 'marginals'\nreference = 2", "has no option 'reference'"),
        ("[[queries]]\nkind = 'marginals'\nk = 'two'", "k: found 'two'; it must be a whole number"),
        ("[[queries]]\nkind = 'moments'\nweight = inf", "weight is inf"),
        ("[[queries]]\nkind = 'moments'\nweight = 5e-324", "weight is 5e-324; .*from 1e-06 to 1e\\+06"),
        ("[[queries]]\nkind = 'trees'\nlabels = -1", "labels: found -1; it must be 0 or more"),
        ("[[queries]]\nkind = 'marginals'\nk = 2.5", "k: found 2.5; it must be a whole number"),
        ("[[queries]]\nkind = 'marginals'\ncolumns = 'age'", "columns is 'age'; it must be a list of texts"),
        ("[[queries]]\nkind = 'marginals'\nk = 9", "number 1: marginals: found k = 9"),
    ],
)
def test_mistakes_in_a_file_are_named(write, text, message):
    with pytest.raises(UserError, match=message):
        Workload.load(write(text), SCHEMA)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(UserError, match=r"nothing\.toml' does not exist"):
        Workload.load(tmp_path / "nothing.toml", SCHEMA)
