"""Linked tables: what one root contributes depends on it alone, and no root contributes more than is stated.

Exact answers of all one- and two-way queries on all views are taken through the source; wrong sources and queries must fail.
"""

import itertools
from unittest import mock

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from linked_tables import schema, tables_of
from privacy.stand_ins import MemoryLedger
from sundog.domain.unit import PrivacyUnit
from sundog.errors import UserError
from sundog.private.accountant import Budget
from sundog.private.curator import Curator
from sundog.private.spending import Spending
from sundog.private.table import PrivateTables
from sundog.queries import Marginal, Shared, add_all, sensitivity
from sundog.queries import shared as shared_module
from sundog.released.per_view import shared
from sundog.sources import linked, linked_columns, linked_keys, open_table

SCHEMA = schema()
UNIT = {name: PrivacyUnit(name, "homes.id", 1, below=True) for name in ("add-remove", "replace")}
PERSON = st.tuples(st.integers(0, 2), st.sampled_from("fm"), st.lists(st.sampled_from(["gold", "red"]), max_size=4))
HOME = st.tuples(
    st.sampled_from(["flat", "house"]),
    st.lists(PERSON, max_size=4),
    st.lists(st.tuples(st.integers(0, 9), st.sampled_from("ab")), max_size=5),
)


def queries(facts=SCHEMA):
    """Every pair of columns of every view, and differences of siblings with a column of both."""
    made = []
    for view in facts.views:
        flat = facts.of_view(view)
        pairs = list(itertools.combinations(flat.names, 2)) or [flat.names]
        made += [shared(Marginal.of(flat, *pair), view) for pair in pairs]
        threes = [(f"{name}@-", other, f"{other}@2") for name in view.numbers for other in view.own]
        made += [shared(Marginal.of(flat, *three), view) for three in threes]
    return made


QUERIES = queries()


def source(units, facts=SCHEMA):
    return linked.LinkedSource(facts.package, {name: open_table(table) for name, table in tables_of(units).items()})


def answers(units, asked=QUERIES, facts=SCHEMA):
    size = sum(query.size for query in asked)
    held = source(units, facts)
    return held.add_up(facts, UNIT["add-remove"], add=lambda rows, out: add_all(asked, rows, out), size=size)


def split(totals, asked=QUERIES):
    return np.split(totals, np.cumsum([query.size for query in asked])[:-1])


def check_bound(unit, other=None, *, asked=QUERIES, facts=SCHEMA):
    """What a root adds (or changes, replaced by another) is within every stated norm."""
    relation = "add-remove" if other is None else "replace"
    change = answers({1: unit}, asked, facts) - (0 if other is None else answers({1: other}, asked, facts))
    for query, part in zip(asked, split(change, asked), strict=True):
        assert int((part.astype(object) ** 2).sum()) <= sensitivity.squared(query, UNIT[relation])
        assert int(np.abs(part).sum()) <= sensitivity.l1(query, UNIT[relation])
        assert int(np.abs(part).max()) <= sensitivity.linf(query, UNIT[relation])


def check_alone(unit, others, *, asked=QUERIES, facts=SCHEMA):
    """A root adds to others exactly what it adds to nothing."""
    base = dict(enumerate(others, start=2))
    both, rest = answers({1: unit, **base}, asked, facts), answers(base, asked, facts)
    np.testing.assert_array_equal(both - rest, answers({1: unit}, asked, facts))


CROWDED = (
    "house",
    [(2, "f", ["gold"] * 3), (2, "f", ["gold"] * 4), (2, "f", ["gold"]), (1, "m", [])],
    [(3, "a"), (3, "a"), (1, "a"), (9, "a"), (3, "a")],
)
"""More rows than allowed everywhere, most of them alike."""
PLAIN = ("flat", [(0, "m", ["red"])], [(0, "b")])


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(HOME, st.lists(HOME, max_size=3))
def test_a_root_adds_the_same_whatever_else_is_there(unit, others):
    check_alone(unit, others)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(HOME, HOME)
def test_no_root_changes_more_than_is_stated(unit, other):
    check_bound(unit)
    check_bound(unit, other)


def test_the_stated_norms_are_reached():
    reached = {relation: set() for relation in UNIT}
    units = [CROWDED, PLAIN, ("flat", [(0, "m", ["red"] * 2)] * 2, [(0, "b")] * 3), ("house", [], [])]
    for first, second in itertools.product([None, *units], repeat=2):
        relation = "add-remove" if first is None else "replace"
        change = (0 if second is None else answers({1: second})) - (0 if first is None else answers({1: first}))
        if isinstance(change, int):
            continue
        for place, (query, part) in enumerate(zip(QUERIES, split(change), strict=True)):
            if int((part.astype(object) ** 2).sum()) == sensitivity.squared(query, UNIT[relation]):
                reached[relation].add(place)
    plain = {
        place
        for place, query in enumerate(QUERIES)
        if not any(".#" in name or "visits" in name for name in query.columns)
    }
    assert plain <= reached["add-remove"]  # the places of a sequence differ from row to row, so theirs is a bound
    assert plain <= reached["replace"]


def test_every_root_with_rows_in_a_view_counts_as_one():
    totals = split(answers({1: CROWDED, 2: PLAIN, 3: CROWDED}))
    for query, part in zip(QUERIES, totals, strict=True):
        siblings = "@" in query.shares
        assert part.sum() == query.scale * (2 if siblings else 3), query.describe()


def test_orphans_and_rows_without_a_key_are_left_out():
    held = tables_of({1: PLAIN})
    lost = {name: {column: list(cells) for column, cells in table.items()} for name, table in held.items()}
    lost["persons"] = {"id": [1000, 7, None], "parent": [1, 99, None], "age": [0, 2, 2], "sex": ["m", "f", "f"]}
    lost["cards"] = {"parent": [1000, 7, None, 12345], "colour": ["red", "gold", "gold", "gold"]}
    made = linked.LinkedSource(SCHEMA.package, {name: open_table(table) for name, table in lost.items()})
    size = sum(query.size for query in QUERIES)
    totals = made.add_up(SCHEMA, UNIT["replace"], add=lambda rows, out: add_all(QUERIES, rows, out), size=size)
    np.testing.assert_array_equal(totals, answers({1: PLAIN}))


def test_of_equal_roots_one_is_used():
    twice = tables_of({1: PLAIN})
    twice["homes"] = {"id": [1, 1, 1], "type": ["flat", "flat", "flat"]}
    made = linked.LinkedSource(SCHEMA.package, {name: open_table(table) for name, table in twice.items()})
    size = sum(query.size for query in QUERIES)
    totals = made.add_up(SCHEMA, UNIT["replace"], add=lambda rows, out: add_all(QUERIES, rows, out), size=size)
    np.testing.assert_array_equal(totals, answers({1: PLAIN}))


def test_roots_without_a_key_are_left_out():
    nameless = tables_of({1: PLAIN})
    nameless["homes"] = {"id": [None, 1, None], "type": ["house", "flat", "house"]}
    nameless["visits"] = {"parent": [1, None], "day": [0, 9], "kind": ["b", "a"]}
    made = linked.LinkedSource(SCHEMA.package, {name: open_table(table) for name, table in nameless.items()})
    size = sum(query.size for query in QUERIES)
    totals = made.add_up(SCHEMA, UNIT["replace"], add=lambda rows, out: add_all(QUERIES, rows, out), size=size)
    np.testing.assert_array_equal(totals, answers({1: PLAIN}))


def test_keys_that_repeat_do_not_fill_the_memory():
    import tracemalloc

    many = 4000
    held = tables_of({1: PLAIN})
    held["homes"] = {"id": np.arange(many), "type": ["flat"] * many}
    held["persons"] = {"id": [7] * many, "parent": np.arange(many), "age": [0] * many, "sex": ["m"] * many}
    held["cards"] = {"parent": [7] * many, "colour": ["red"] * many}
    made = linked.LinkedSource(SCHEMA.package, {name: open_table(table) for name, table in held.items()})
    tracemalloc.start()
    parent, persons = made.parents_of("cards")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (len(parent), persons) == (2 * many, many)  # each keeps two, as declared
    assert peak < 8 * many**2 / 4  # rows times parents would be many numbers of eight bytes


def curator_of(unit):
    private = PrivateTables(SCHEMA.package, tables_of({1: CROWDED}))
    return Curator(private, SCHEMA, spending=Spending(Budget(rho=1.0), "homes", unit=unit, ledger=MemoryLedger()))


def test_linked_tables_are_never_counted_by_rows():
    for unit in (PrivacyUnit("add-remove"), PrivacyUnit("replace"), PrivacyUnit("add-remove", "homes.id", 1)):
        with pytest.raises(UserError, match="protected per root"):
            curator_of(unit)


def test_weights_are_told_by_the_view_alone():
    persons = next(view for view in SCHEMA.views if view.name == "persons")
    marginal = Marginal.of(SCHEMA, "persons.age")
    by_another = Shared(marginal, "persons.#cards", 3)
    square = int((answers({1: CROWDED}, [by_another]).astype(object) ** 2).sum())
    assert square > sensitivity.squared(by_another, UNIT["add-remove"])  # so it must not be asked
    curator = curator_of(UNIT["add-remove"])
    elsewhere = Shared(Marginal.of(SCHEMA, "persons.age@2"), persons.shares, persons.most)
    for wrong in (
        elsewhere,
        by_another,
        Shared(marginal, persons.shares, 1),
        Shared(marginal, persons.shares, persons.most, True),
    ):
        with pytest.raises(UserError, match="only shared queries"):
            curator.measure([wrong], 0.5)
        with pytest.raises(UserError, match="none of the schema's"):
            Shared.from_json(wrong.to_json(), SCHEMA)
    assert curator.remaining_rho == pytest.approx(1.0)


def test_only_shared_queries_are_answered():
    curator = curator_of(UNIT["add-remove"])
    with pytest.raises(UserError, match="only shared queries"):
        curator.measure([Marginal.of(SCHEMA, "persons.age")], 0.5)
    with pytest.raises(UserError, match="must be declared"):
        curator.categories("persons.sex", 0.1, delta=1e-6)
    assert curator.measure([QUERIES[0]], 0.5)[0].values.shape == (QUERIES[0].size,)


MUTANTS = {
    "every row weighs as much as a root": (
        Shared,
        "_add_equal",
        lambda self, rows, totals, number, real=Shared._add_equal: real(self, rows, totals, 1),
    ),
    "all rows of a parent are used": (linked_keys, "within", lambda groups: np.zeros(len(groups), dtype=np.int64)),
    "rows are shared below a parent, not below the root": (
        linked,
        "sizes_of",
        lambda groups: np.ones(len(groups), dtype=np.int64),
    ),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_wrong_sources_and_queries_fail(name):
    place, attribute, wrong = MUTANTS[name]
    with mock.patch.object(place, attribute, wrong), pytest.raises((AssertionError, UserError)):
        check_bound(CROWDED)


def test_a_query_that_understates_the_weight_of_a_root_fails():
    squares = [int((part.astype(object) ** 2).sum()) for part in split(answers({1: CROWDED}))]
    with mock.patch.object(shared_module, "whole_weight", return_value=1):
        stated = [sensitivity.squared(query, UNIT["add-remove"]) for query in QUERIES]
    assert any(square > bound for square, bound in zip(squares, stated, strict=True))


def test_a_source_that_numbers_rows_over_all_roots_fails():
    real = linked.matched

    def first_parent(wanted, keys):
        place, above = real(wanted, keys)
        return place, np.zeros_like(above)

    with mock.patch.object(linked, "matched", first_parent), pytest.raises((AssertionError, UserError)):
        check_alone(CROWDED, [PLAIN, CROWDED])


WRONG_DIFFERENCES = {
    "from the siblings of another root": lambda first, second: (first, np.roll(second, 1)),
    "from the mean of all roots": lambda first, second: (first, np.full_like(second, round(float(second.mean())))),
}


@pytest.mark.parametrize("name", WRONG_DIFFERENCES)
def test_differences_that_look_beyond_their_root_fail(name):
    real = linked.differences

    def wrong(column, first, second):
        return real(column, *(WRONG_DIFFERENCES[name](first, second) if len(first) else (first, second)))

    old, young = ("flat", [(2, "f", []), (1, "f", [])], []), ("flat", [(0, "m", []), (0, "m", [])], [])
    check_alone(old, [young])
    with mock.patch.object(linked, "differences", wrong), pytest.raises(AssertionError):
        check_alone(old, [young])


def test_differences_between_all_pairs_at_full_weight_fail():
    """A difference counts as its pair does: a root with many pairs would otherwise add more than is stated."""
    check_bound(CROWDED)
    with mock.patch.object(linked, "sizes_of", lambda groups: np.ones(len(groups), dtype=np.int64)):
        change = answers({1: CROWDED})
    asked = [query.marginal.columns[0].endswith("@-") for query in QUERIES]
    beyond = [
        int((part.astype(object) ** 2).sum()) > sensitivity.squared(query, UNIT["add-remove"])
        for query, part in zip(QUERIES, split(change), strict=True)
    ]
    assert any(more for more, of_differences in zip(beyond, asked, strict=True) if of_differences)


LONG = schema(visits=9)
"""Sequences of which a parent knows means."""
WITH_MEANS = [query for query in queries(LONG) if any("#mean" in name for name in query.columns)]
VISITS = st.lists(st.tuples(st.integers(0, 9), st.sampled_from("ab")), max_size=12)


def home(*days):
    return ("flat", [], [(day, "a") for day in days])


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(VISITS, VISITS, VISITS)
def test_means_of_children_keep_what_is_stated(visits, others, more):
    unit, other, third = (("flat", [], each) for each in (visits, others, more))
    check_alone(unit, [other, third], asked=WITH_MEANS, facts=LONG)
    check_bound(unit, asked=WITH_MEANS, facts=LONG)
    check_bound(unit, other, asked=WITH_MEANS, facts=LONG)


def test_means_over_the_children_of_all_roots_fail():
    real = linked_columns.means

    def of_all(column, codes, parent, *, parents):
        return real(column, codes, np.zeros_like(parent), parents=1).repeat(parents)

    assert len(WITH_MEANS) > 3
    with mock.patch.object(linked_columns, "means", of_all), pytest.raises(AssertionError):
        check_alone(home(0, 1, 2), [home(0, 9)], asked=WITH_MEANS, facts=LONG)


def test_a_sequence_that_begins_where_that_of_another_root_does_fails():
    def earliest(table, order, parent, *, parents):
        return np.full(parents, order.min(initial=10))

    with mock.patch.object(linked_columns, "first_values", earliest), pytest.raises((AssertionError, UserError)):
        check_alone(PLAIN, [CROWDED])
