"""Linked search: counts are kept right by every change, links hold, and structure comes out where noise is small."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import sundog
from linked_tables import below, key, label, number, package, random_homes, schema, tables_of
from privacy.stand_ins import MemoryLedger
from sundog.domain.linked.structure import pairs_of, within
from sundog.domain.unit import PrivacyUnit
from sundog.errors import UserError
from sundog.generate.linked import child, moves
from sundog.generate.linked import tables as kernel
from sundog.generate.linked.allowed import Allowed
from sundog.generate.linked.counts import Counts
from sundog.generate.linked.kinds import DIFFERENCES, GIVEN, MARGIN, SIBLINGS, WITHIN
from sundog.generate.linked.linked_search import LinkedSearch, family_of, sample_linked
from sundog.generate.linked.nearness import Near, packed_near
from sundog.generate.linked.tables import Table, search
from sundog.methods.linked import fit_tables, run_views, view_recipe
from sundog.private.accountant import Budget
from sundog.private.curator import Curator
from sundog.private.spending import Spending
from sundog.private.table import PrivateTables
from sundog.random.keys import key_of

HOMES = 3000


@pytest.fixture(scope="module")
def fitted():
    """A release of homes at a large budget, and the tables fitted to it."""
    units = random_homes(HOMES, seed=1)
    facts = schema(persons=2, visits=3)
    unit = PrivacyUnit("add-remove", "homes.id", 1, below=True)
    spending = Spending(Budget(rho=5.0), "homes", unit=unit, accounting="gaussian", ledger=MemoryLedger())
    curator = Curator(PrivateTables(facts.package, tables_of(units)), facts, spending=spending)
    kept = []
    released = run_views(key_of(1), curator, report=lambda _: None, keep=kept.append)
    assert [len(each.payments) for each in kept] == sorted(
        {len(each.payments) for each in kept}
    )  # more after every view
    assert (len(kept), len(kept[-1].payments)) == (len(facts.views), len(released.payments))
    return units, released, fit_tables(key_of(2), released, search=LinkedSearch())


def test_the_whole_budget_is_spent_and_not_more(fitted):
    _, released, _ = fitted
    assert 0.99 * 5.0 < released.guarantee.rho <= 5.0


def test_columns_of_siblings_are_drawn_to_rows_only_where_they_have_no_order(fitted, monkeypatch):
    _, released, _ = fitted
    asked = []
    monkeypatch.setattr(child, "drawn_to_rows", lambda pairs, rows: asked.append(pairs.schema.names[0]) or pairs)
    fit_tables(key_of(2), released, search=LinkedSearch(passes=1))
    assert {name.split(".")[0] for name in asked} == {"persons", "cards"}  # visits are a sequence


def test_rows_support_siblings(fitted, monkeypatch):
    _, released, _ = fitted
    both, supported = child.of_both_siblings, []

    def of_both_siblings(rows, own, *, scale):
        made = both(rows, own, scale=scale)
        supported.append((own[0].split(".")[0], len(made)))
        return made

    monkeypatch.setattr(child, "of_both_siblings", of_both_siblings)
    fit_tables(key_of(2), released, search=LinkedSearch(passes=1))
    assert {name for name, number in supported if number} == {"persons", "visits", "cards"}


def test_links_hold_and_bounds_too(fitted):
    _, _, state = fitted
    made = sample_linked(key_of(3), state, rows=len(state.tables["homes"])).to_arrow()
    homes, persons, visits, cards = (made[name].to_pandas() for name in ("homes", "persons", "visits", "cards"))
    assert homes["id"].is_unique
    assert persons["id"].is_unique
    assert set(persons["parent"]) <= set(homes["id"])
    assert set(cards["parent"]) <= set(persons["id"])
    assert persons.groupby("parent").size().max() <= 2
    assert visits.groupby("parent").size().max() <= 3
    assert visits.groupby("parent")["day"].apply(lambda day: day.is_monotonic_increasing).all()


def test_structure_comes_out(fitted):
    units, _, state = fitted
    made = sample_linked(key_of(3), state, rows=len(state.tables["homes"])).to_arrow()
    homes, persons = made["homes"].to_pandas(), made["persons"].to_pandas()
    joined = persons.merge(homes, left_on="parent", right_on="id")
    real = [(type_, age) for type_, people, _ in units.values() for age, _, _ in people]
    for kind in ("flat", "house"):
        truth = np.mean([age == 2 for type_, age in real if type_ == kind])
        assert abs((joined[joined.type == kind].age == 2).mean() - truth) < 0.04
    alike = np.mean([people[0][0] == people[1][0] for _, people, _ in units.values() if len(people) == 2])
    pairs = persons.groupby("parent").age.agg(["size", "nunique"])
    assert abs((pairs[pairs["size"] == 2]["nunique"] == 1).mean() - alike) < 0.06
    counts = homes["id"].map(persons.groupby("parent").size()).fillna(0)
    truth = np.mean([len(people) == 2 for _, people, _ in units.values()])
    assert abs((counts == 2).mean() - truth) < 0.03


@pytest.mark.parametrize("rows", [1, 700, 7001])
def test_another_number_of_roots(fitted, rows):
    _, _, state = fitted
    made = sample_linked(key_of(4), state, rows=rows)
    assert len(made) == rows
    assert len(made.to_arrow()["homes"]) == rows
    assert set(made.to_arrow()["persons"]["parent"].to_pylist()) <= set(range(1, rows + 1))


APART = np.array([1, 2, 2, 0, 1, 2, 0, 0, 1])
"""Of every two of three cells whether the second is less, equal or more."""


def problem(rows=60, seed=0):
    draw = np.random.default_rng(seed)
    parent = np.sort(draw.integers(0, 20, size=rows))
    cells = draw.integers(0, 3, size=(2, rows)).astype(np.int32)
    given = draw.integers(0, 2, size=rows)
    three, two = np.arange(3), np.array([0, 1, 1])
    tables = [
        Table(MARGIN, 0, 0, three, np.zeros(1, dtype=np.int64), draw.random((3, 1)) * 10, 1.0),
        Table(WITHIN, 0, 1, three, two, draw.random((3, 2)) * 10, 2.0),
        Table(GIVEN, 1, 0, three, given, draw.random((3, 2)) * 10, 0.5),
        Table(SIBLINGS, 0, 0, three, two, draw.random((3, 2)) * 10, 1.5),
        Table(SIBLINGS, 0, 1, two, three, draw.random((2, 3)) * 10, 1.0),
        Table(DIFFERENCES, 0, 1, APART, np.array([0, 3, 3, 0, 1, 2]), draw.random((3, 6)) * 10, 2.0),
    ]
    view = next(view for view in schema().views if view.name == "persons@")
    family, _ = family_of(parent, parent, view)
    return cells, tables, family


def unbound(cells):
    """Nothing is declared."""
    rows = cells.shape[1]
    return Allowed.of([None, None], sizes=[3, 3], rows=rows), Counts((), (), np.zeros(rows, dtype=np.int64))


def counted(cells, tables, family):
    packed = kernel._packed(tables, len(cells))
    counts = np.zeros(len(packed.target))
    moves.count(cells, packed.arrays, (family.row_weight, family.pair_weight, *family.after, *family.before), counts)
    return packed, counts


@pytest.mark.parametrize("near", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_a_pass_keeps_the_counts_of_the_cells_and_lowers_the_loss(seed, near):
    cells, tables, family = problem(seed=seed)
    packed, counts = counted(cells, tables, family)
    before = kernel._loss(counts, packed.target, packed.weight)
    ties = (family.row_weight, family.pair_weight, *family.after, *family.before)
    state = np.array([seed], dtype=np.uint64)
    allowed, held = unbound(cells)
    bonds = (allowed.place, allowed.flat, *held.packed(cells))
    movable = np.ones(cells.shape, dtype=bool)
    near = {0: Near(np.arange(3), np.full(moves.DRAWN, 1))} if near else {}
    choices = (np.array([3, 3]), *packed_near(near, 2))
    moves.run_pass(state, cells, packed.arrays, ties, bonds, counts, movable, choices, 2000)
    np.testing.assert_allclose(counts, counted(cells, tables, family)[1], atol=1e-9)
    assert kernel._loss(counts, packed.target, packed.weight) < before


def test_what_may_not_move_stays():
    cells, tables, family = problem()
    movable = np.zeros(cells.shape, dtype=bool)
    movable[0, :10] = True
    after = search(
        1,
        cells.copy(),
        tables=tables,
        family=family,
        movable=movable,
        allowed=Allowed.of(
            [(np.zeros(cells.shape[1], dtype=np.int64), np.array([[True, True, False]])), None],
            sizes=[3, 3],
            rows=cells.shape[1],
        ),
        held=unbound(cells)[1],
        effort=(5, 0.0),
    )
    np.testing.assert_array_equal(after[~movable], cells[~movable])
    changed = after[0, :10] != cells[0, :10]
    assert changed.any()
    assert not (after[0, :10][changed] == 2).any()


def test_pairs_of_siblings():
    parent = np.array([0, 0, 0, 1, 2, 2])
    assert list(within(parent)) == [0, 1, 2, 0, 0, 1]
    as_pairs = {
        kind: set(zip(*map(list, pairs_of(parent, np.arange(6), kind)), strict=True))
        for kind in ("first", "next", "ring", "pairs")
    }
    assert as_pairs["first"] == {(0, 1), (1, 2), (0, 2), (4, 5)}
    assert as_pairs["next"] == {(0, 1), (1, 2), (4, 5)}
    assert as_pairs["ring"] == {(0, 1), (1, 2), (2, 0), (4, 5), (5, 4)}
    assert as_pairs["pairs"] == {(a, b) for a in (0, 1, 2) for b in (0, 1, 2) if a != b} | {(4, 5), (5, 4)}
    nothing = pairs_of(np.empty(0, dtype=np.int64), np.empty(0), "pairs")
    assert len(nothing[0]) == len(nothing[1]) == 0


def test_only_the_root_checks_what_follows_from_what():
    facts = schema()
    assert [view_recipe(view, facts).rule.checks_maps for view in facts.views] == [
        True,
        *[False] * (len(facts.views) - 1),
    ]


def test_differences_are_counted_pair_by_pair():
    cells, tables, family = problem()
    counts = counted(cells, tables, family)[1][-18:].reshape(3, 2, 3)
    expected = np.zeros((3, 2, 3))
    starts, seconds = family.after
    for i in range(cells.shape[1]):
        for j in seconds[starts[i] : starts[i + 1]]:
            sign = 1 + int(np.sign(cells[0, j] - cells[0, i]))
            expected[sign, int(cells[1, i] > 0), cells[1, j]] += family.pair_weight[i]
    np.testing.assert_allclose(counts, expected)


@pytest.mark.parametrize("harm", ["cells", "map", "given", "square", "parts", "beyond"])
def test_tables_that_do_not_fit_are_refused(harm):
    cells, tables, family = problem()
    if harm == "cells":
        cells[0, 0] = 3
    place = {"map": 1, "given": 2, "square": 5, "parts": 5, "beyond": 5}.get(harm, 0)
    bent = {
        "map": {"second_map": np.array([0, 1, 2])},
        "given": {"second_map": np.zeros(3, dtype=np.int64)},
        "square": {"first_map": APART[:-1]},
        "parts": {"second_map": np.array([0, 3, 3, 0, 1])},
        "beyond": {"second_map": np.array([0, 4, 4, 0, 1, 2])},
    }.get(harm, {})
    tables[place] = replace(tables[place], **bent)
    allowed, held = unbound(cells)
    movable = np.ones(cells.shape, dtype=bool)
    with pytest.raises(UserError, match="does not fit"):
        search(1, cells, tables=tables, family=family, movable=movable, allowed=allowed, held=held, effort=(1, 0.0))


def couples(count):
    """Homes with a couple of close ages, or with a parent and a child far apart, told by the rows' labels; and the frames."""
    draw = np.random.default_rng(2)
    wed = draw.random(count) < 0.6
    older = np.where(wed, draw.integers(25, 75, count), draw.integers(25, 55, count))
    apart = np.where(wed, draw.integers(-2, 3, count), -draw.integers(24, 31, count))
    persons = {
        "parent": np.repeat(np.arange(count), 2),
        "born": np.tile([0, 1], count),
        "age": np.stack([older, np.maximum(older + apart, 0)], axis=1).ravel(),
        "state": np.stack([np.full(count, "wed"), np.where(wed, "wed", "single")], axis=1).ravel(),
    }
    return {"homes": {"id": np.arange(count)}, "persons": persons}


def test_differences_between_siblings_come_out(tmp_path):
    document = {
        "name": "couples",
        "resources": [
            {"name": "homes", "schema": {"primaryKey": ["id"], "fields": [key("id")]}},
            {
                "name": "persons",
                "maximumPerParent": 2,
                "minimumPerParent": 2,
                "orderBy": ["born"],
                "schema": {
                    "foreignKeys": below("homes"),
                    "fields": [
                        key("parent"),
                        number("born", 0, 1),
                        number("age", 0, 99),
                        label("state", "wed", "single"),
                    ],
                },
            },
        ],
    }
    frames = {name: pd.DataFrame(table) for name, table in couples(4000).items()}
    options = {"epsilon": 4.0, "delta": 1e-6, "dataset": "couples", "ledger": tmp_path / "ledger", "seed": 1}
    model = sundog.Synthesizer(document, **options).fit({"persons": frames["persons"]})
    assert any("persons.age@-" in m.query.columns and len(m.query.columns) == 4 for m in model.released.measurements)
    made = model.sample()["persons"].sort_values(["parent", "born"])
    first, second = made.iloc[::2].reset_index(), made.iloc[1::2].reset_index()
    apart, wed = second["age"] - first["age"], second["state"] == "wed"
    assert abs(wed.mean() - 0.6) < 0.05
    assert (apart[wed].abs() <= 3).mean() > 0.9  # .97 in five runs; cells of ages alone give .73
    assert apart[~wed].between(-34, -20).mean() > 0.8


def accounts(count):
    """Accounts of two kinds of balance, which goes up and down by little from row to row."""
    draw = np.random.default_rng(3)
    sizes = draw.integers(8, 13, count)
    parent = np.repeat(np.arange(count), sizes)
    level = np.where(draw.random(count) < 0.5, 25, 70)[parent]
    return {
        "parent": parent,
        "balance": level + draw.integers(-20, 21, len(parent)),
        "kind": draw.choice(["x", "y"], len(parent)),
    }


def test_levels_of_parents_come_out(tmp_path):
    document = {
        "name": "bank",
        "resources": [
            {"name": "accounts", "schema": {"primaryKey": ["id"], "fields": [key("id")]}},
            {
                "name": "rows",
                "maximumPerParent": 12,
                "minimumPerParent": 1,
                "schema": {
                    "foreignKeys": below("accounts"),
                    "fields": [key("parent"), number("balance", 0, 99), label("kind", "x", "y")],
                },
            },
        ],
    }
    options = {"epsilon": 4.0, "delta": 1e-6, "dataset": "bank", "ledger": tmp_path / "ledger", "seed": 1}
    made = sundog.Synthesizer(document, **options).fit({"rows": pd.DataFrame(accounts(3000))}).sample()["rows"]
    means = made.groupby("parent")["balance"].mean()
    assert means.between(38, 57).mean() < 0.2  # no real account; .03 at most in four runs, .43 without means of parents


def test_where_a_sequence_begins_follows_the_parent(tmp_path):
    draw = np.random.default_rng(5)
    units = {}
    for name in range(1, 3001):
        house = draw.random() < 0.5
        start = int(draw.integers(0, 3) if house else draw.integers(4, 7))
        days = [start + k for k in range(int(draw.integers(0, 4)))]
        units[name] = ("house" if house else "flat", [], [(day, "a") for day in days])
    document = package()
    document["resources"] = [each for each in document["resources"] if each["name"] in ("homes", "visits")]
    options = {"epsilon": 4.0, "delta": 1e-6, "dataset": "homes", "ledger": tmp_path / "ledger", "seed": 1}
    frames = {name: pd.DataFrame(table) for name, table in tables_of(units).items() if name in ("homes", "visits")}
    made = sundog.Synthesizer(document, **options).fit(frames).sample()
    first = made["visits"].groupby("parent")["day"].min()
    late = (first >= 4).groupby(made["homes"].set_index("id")["type"].reindex(first.index)).mean()
    assert late["flat"] > 0.9
    assert late["house"] < 0.1
