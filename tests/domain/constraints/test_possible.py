"""Whether a row can satisfy all constraints: the answer is that of trying all rows, with the row or the proof."""

import itertools
import random
import time

import numpy as np
import pytest

from sundog.domain.columns import Categorical, Numeric
from sundog.domain.constraints import possible, simplex
from sundog.domain.constraints.kinds import Determines, Impossible, Linear, Pairs
from sundog.domain.constraints.possible import Found, possible_row
from sundog.domain.constraints.runs import length, merged, within, without
from sundog.domain.row_checks import holds
from sundog.domain.rows import Rows
from sundog.domain.schema import Schema

FAR = 2**49


def made_columns(draw):
    """One to four columns of few codes, numbers and labels, some of which may be missing."""
    made = []
    for place in range(draw.randint(1, 4)):
        nullable = draw.random() < 0.3
        if draw.random() < 0.65:
            low = draw.randint(-3, 3)
            made.append(Numeric(f"c{place}", "integer", low, low + draw.randint(0, 4), nullable=nullable))
        else:
            made.append(Categorical(f"c{place}", labels=tuple("abcd"[: draw.randint(1, 4)]), nullable=nullable))
    return made


def made_rule(draw, name, columns):
    """A constraint of any kind; None where the columns have no such one."""
    numbers = [column for column in columns if isinstance(column, Numeric)]
    labels = [column for column in columns if isinstance(column, Categorical)]
    kind = draw.random()
    if kind < 0.5 and numbers:
        used = draw.sample(numbers, draw.randint(1, min(3, len(numbers))))
        factors = tuple(draw.choice([-3, -2, -1, 1, 2, 3]) for _ in used)
        return Linear(name, tuple(each.name for each in used), factors, draw.randint(-12, 6), draw.random() < 0.3)
    if kind < 0.8:
        used = draw.sample(columns, draw.randint(1, len(columns)))
        codes = [draw.sample(range(each.size), draw.randint(1, each.size)) for each in used]
        runs = tuple(tuple((code, code + 1) for code in own) for own in codes)
        return Impossible(name, tuple(each.name for each in used), runs)
    if kind < 0.9 and len(labels) > 1:
        one, other = draw.sample(labels, 2)
        all_pairs = list(itertools.product(range(one.size), range(other.size)))
        return Pairs(name, (one.name, other.name), frozenset(draw.sample(all_pairs, draw.randint(1, len(all_pairs)))))
    if len(columns) > 1:
        one, other = draw.sample(columns, 2)
        mapped = tuple((code, draw.randrange(other.size)) for code in range(one.size) if draw.random() < 0.8)
        return Determines(name, (one.name,), other.name, mapped)
    return None


def satisfied(rule, rows):
    if isinstance(rule, Determines):
        demanded = dict(rule.mapping)
        return np.array([demanded.get(a, b) == b for a, b in zip(rows.column(rule.by[0]).tolist(), rows.column(rule.column).tolist(), strict=True)])  # fmt: skip
    return holds(rule, rows)


def check_possible(seed, cases):
    """Small worlds, of which all rows are tried; how many had a row."""
    draw, had = random.Random(seed), 0
    for _ in range(cases):
        columns = made_columns(draw)
        rules = [made_rule(draw, f"r{k}", columns) for k in range(draw.randint(1, 6))]
        rules = [rule for rule in rules if rule is not None]
        codes = np.array(list(itertools.product(*(range(each.size) for each in columns)))).T
        rows = Rows(Schema(tuple(columns)), tuple(codes))
        fine = np.all([np.ones(len(rows), dtype=bool), *(satisfied(rule, rows) for rule in rules)], axis=0)
        found = possible_row({each.name: each for each in columns}, rules)
        assert found.proved
        assert (found.row is not None) == fine.any(), (columns, rules)
        for name, code in (found.row or {}).items():
            fine &= rows.column(name) == code
        assert found.row is None or fine.any(), (columns, rules)
        had += found.row is not None
    return had


def test_the_answer_is_that_of_trying_all_rows():
    assert 200 < check_possible(1, 800) < 600


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 6))
def test_the_answer_is_that_of_trying_all_rows_of_many_worlds(seed):
    check_possible(seed, 10_000)


def check_search():
    check_possible(1, 800)
    check_equations()


WRONG = {
    "missing numbers satisfy no sum": (possible._Search, "_missing", lambda self, name: ()),
    "fractions are rounded": (possible, "_next_to", lambda runs, code: (None, None)),
    "a sum is brought beyond its bound": (simplex._Tableau, "_room", lambda self, place, way: simplex.Fraction(1)),
    "codes beside which none is allowed stay": (possible, "_narrow_beside", lambda rule, held: None),
    "combinations are left aside": (possible._Search, "_open", lambda self, rule, held: None),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_search_is_found(monkeypatch, name):
    monkeypatch.setattr(*WRONG[name])
    with pytest.raises((AssertionError, IndexError)):
        check_search()


def far(number, **more):
    return {f"x{k}": Numeric(f"x{k}", "integer", 0, FAR, **more) for k in range(number)}


def circle(number, first):
    """x0 <= x1 <= ... <= x0, each at least one below the next, but for the first pair."""
    return [
        Linear(f"l{k}", (f"x{k}", f"x{(k + 1) % number}"), (1, -1), -1 if k else first, equal=False)
        for k in range(number)
    ]


@pytest.mark.parametrize("number", [2, 5, 40])
def test_circles_of_comparisons_are_decided_on_grids_of_any_width(number):
    """Bounds that creep towards each other by one would take 2^49 steps."""
    began = time.monotonic()
    assert possible_row(far(number), circle(number, number - 2)) == Found(None)
    row = possible_row(far(number), circle(number, number - 1)).row
    assert row is not None
    assert all(row[f"x{k}"] < row[f"x{(k + 1) % number}"] for k in range(1, number))
    assert possible_row(far(number, nullable=True), circle(number, number - 2)).row is not None
    assert time.monotonic() - began < 5


def test_what_cannot_be_decided_is_not_claimed():
    coins = [Linear("sum", ("x0", "x1", "x2"), (12223, 12224, 36674), 89643481, equal=True)]
    assert possible_row(far(3), coins) == Found(None, proved=False)


def check_equations():
    """29 is the largest number that 6, 10 and 15 do not add up to."""
    coins = [Linear("sum", ("x0", "x1", "x2"), (6, 10, 15), limit, equal=True) for limit in range(29, 36)]
    found = [possible_row(far(3), [coin]).row for coin in coins]
    assert found[0] is None
    assert all(row and 6 * row["x0"] + 10 * row["x1"] + 15 * row["x2"] == 30 + k for k, row in enumerate(found[1:]))


def test_equations_are_solved_in_whole_numbers():
    check_equations()


def test_values_that_are_given_stay():
    columns, rules = far(3), circle(3, 2)
    row = possible_row(columns, rules, given={"x1": 7}).row
    assert row is not None
    assert row["x1"] == 7
    assert possible_row(columns, rules, given={"x1": FAR}) == Found(None)


def test_runs_are_sets():
    draw = random.Random(3)
    for _ in range(500):
        one, other = ({draw.randrange(12) for _ in range(draw.randrange(9))} for _ in range(2))
        first, second = (merged((code, code + 1) for code in codes) for codes in (one, other))
        assert codes_of(within(first, second)) == one & other
        assert codes_of(without(first, second)) == one - other
        assert length(first) == len(one)


def codes_of(runs):
    return {code for low, high in runs for code in range(low, high)}
