"""What the curator promises: validate, charge, compute, add noise, return; and refuse without a trace."""

import math
from contextlib import ExitStack, contextmanager
from fractions import Fraction
from unittest import mock

import numpy as np
import pytest

from privacy.stand_ins import ONE_WAY, TINY, TWO_WAY, MemoryLedger, curator
from sundog.domain import Categorical, Schema
from sundog.domain.axis import Axis
from sundog.domain.unit import PrivacyUnit
from sundog.errors import BudgetRefused, UserError
from sundog.private import noise
from sundog.private.accountant import Budget
from sundog.private.curator import Curator
from sundog.private.ledger import Ledger
from sundog.private.spending import Spending
from sundog.private.table import PrivateTable
from sundog.queries import Marginal
from sundog.released import Selection

ADD, REPLACE = PrivacyUnit("add-remove"), PrivacyUnit("replace")
ROWS = [("a", 0)] * 30 + [("b", 3)] * 20 + [("a", 2)] * 10
C, N = ONE_WAY
EXACT = {"c": [40, 20, 0], "n": [30, 30, 0]}
"""Cells: a, b, missing; below 2, from 2 on, missing."""
PLENTY = 1e9
"""So large a rho that the noise rounds to nothing."""


def estimates(*queries):
    return tuple(np.zeros(query.size, dtype=np.int64) for query in queries)


CHOICE = Selection((C, N), estimates(C, N))
QUESTIONS = {
    "measure": lambda made: made.measure(ONE_WAY, 0.5),
    "measure with Laplace noise": lambda made: made.measure(ONE_WAY, 0.5, kind="laplace"),
    "measure for adjusting": lambda made: made.measure_adjustments([TWO_WAY], 0.5, shares=[1.0]),
    "select": lambda made: made.select(CHOICE, 0.5),
    "score": lambda made: made.score(CHOICE, 0.5),
    "categories": lambda made: made.categories("c", 0.5, delta=1e-7),
    "measure under another schema": lambda made: made.measure_domain(TINY, TWO_WAY, rho=0.5),
}


def opened(unit=ADD, *, rows=ROWS, ledger=None, **options):
    return curator(rows, unit=unit, ledger=ledger, delta=1e-6, thresholds=5e-7, **options)


@contextmanager
def steps(made):
    """What is done, in order: charges, passes over the rows, draws of noise."""
    seen = []

    def noted(word, function):
        def noting(*arguments, **options):
            seen.append(word)
            return function(*arguments, **options)

        return noting

    watched = [(made.spending, "charge", "charge")]
    watched += [(made._source, name, "rows") for name in ("add_up", "value_counts", "read", "numbers")]
    watched += [(noise, name, "noise") for name in ("add_gaussian", "add_laplace", "top_k")]
    with ExitStack() as stack:
        for owner, name, word in watched:
            stack.enter_context(mock.patch.object(owner, name, noted(word, getattr(owner, name))))
        yield seen


def check_order(ask):
    """One charge, then one pass over the rows, then noise and nothing else."""
    made = opened()
    with steps(made) as seen:
        ask(made)
    assert seen[:3] == ["charge", "rows", "noise"], f"not in order: {seen}"
    assert set(seen[3:]) <= {"noise"}, f"not in order: {seen}"


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_charge_comes_first_then_the_rows_then_the_noise(question):
    check_order(QUESTIONS[question])


# --- refusals -------------------------------------------------------------------------------------------------------

HUGE = Selection((C,), (np.full(C.size, 2**61, dtype=np.int64),))
STRANGER = Marginal((Axis.whole(Categorical("elsewhere", ("x", "y"))),))
REFUSED = {
    "no query": (lambda made: made.measure([], 0.5), "no query"),
    "an unknown column": (lambda made: made.measure([STRANGER], 0.5), "elsewhere"),
    "a share too few": (lambda made: made.measure(ONE_WAY, 0.5, shares=[1.0]), "1 shares for 2 queries"),
    "a share of nothing": (lambda made: made.measure(ONE_WAY, 0.5, shares=[1.0, 0.0]), "share"),
    "noise beyond any scale": (lambda made: made.measure(ONE_WAY, 1e-130), "scale"),
    "a choice beyond any scale": (lambda made: made.select(CHOICE, 1e-130), "scale"),
    "scores beyond any scale": (lambda made: made.score(CHOICE, 5e-324), "scale"),
    "categories beyond any scale": (lambda made: made.categories("c", 1e-310, delta=1e-7), "scale"),
    "a threshold beyond any tail": (lambda made: made.categories("c", 0.5, delta=5e-324), "at least 1e-300"),
    "scores that could overflow": (lambda made: made.select(HUGE, 0.5), "too large"),
    "noisy scores that could overflow": (lambda made: made.score(HUGE, 0.5), "too large"),
    "categories of an unknown column": (lambda made: made.categories("elsewhere", 0.5, delta=1e-7), "elsewhere"),
    "more than the run may spend": (lambda made: made.measure(ONE_WAY, 4.1), "Nothing was computed"),
    "a threshold beyond delta": (lambda made: made.categories("c", 0.5, delta=1e-6), "Nothing was computed"),
}
REFUSED |= {
    f"{name}, rho {rho}": (lambda made, ask=ask, rho=rho: ask(made, rho), "above 0")
    for rho in (0.0, -1.0, math.nan, math.inf)
    for name, ask in {
        "measure": lambda made, rho: made.measure(ONE_WAY, rho),
        "select": lambda made, rho: made.select(CHOICE, rho),
        "score": lambda made, rho: made.score(CHOICE, rho),
        "categories": lambda made, rho: made.categories("c", rho, delta=1e-7),
    }.items()
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused_leaves_no_trace(own_ledger, case):
    ask, words = REFUSED[case]
    made = opened(ledger=Ledger(own_ledger))
    before = made.remaining_rho
    with steps(made) as seen, pytest.raises(UserError, match=words):
        ask(made)
    assert not {"rows", "noise"} & set(seen)
    assert Ledger(own_ledger).accounts() == []
    assert made.remaining_rho == before
    assert made.released().payments == ()


@pytest.mark.parametrize("question", ["measure with Laplace noise", "select"])
def test_a_run_accounted_for_as_gaussian_draws_gaussian_noise_alone(own_ledger, question):
    made = opened(ledger=Ledger(own_ledger), accounting="gaussian")
    with steps(made) as seen, pytest.raises(UserError, match="Gaussian only"):
        QUESTIONS[question](made)
    assert seen == []
    QUESTIONS["score"](made)
    assert made.released().guarantee.accounting == "gaussian"


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_limit_on_the_ledger_refuses_before_anything_is_computed(own_ledger, question):
    Ledger(own_ledger).set_limit("tiny", rho=4.0, delta=1e-6, confirmed=True)
    made = opened(ledger=Ledger(own_ledger))
    opened(ledger=Ledger(own_ledger)).measure(ONE_WAY, 3.9)  # another run was quicker
    with steps(made) as seen, pytest.raises(BudgetRefused):
        QUESTIONS[question](made)
    assert seen == ["charge"]
    assert len(Ledger(own_ledger).account("tiny").entries) == 1 + 2


def test_a_crash_after_the_charge_gives_nothing_back(own_ledger):
    made = opened(ledger=Ledger(own_ledger))
    with mock.patch.object(made._source, "add_up", side_effect=RuntimeError), pytest.raises(RuntimeError):
        made.measure([C], 0.5)
    assert made.remaining_rho == pytest.approx(3.5, rel=1e-9)
    assert len(Ledger(own_ledger).account("tiny").entries) == 1
    assert made.released().measurements == ()


# --- what is answered -----------------------------------------------------------------------------------------------


def test_remaining_rho_falls_by_what_is_charged_and_all_of_it_can_be_spent():
    made = opened(ledger=MemoryLedger())
    left = [made.remaining_rho]
    for ask in QUESTIONS.values():
        ask(made)
        left.append(made.remaining_rho)
    assert left == pytest.approx([4.0 - 0.5 * step for step in range(len(left))], rel=1e-9)
    assert all(payment.rho <= 0.5 for payment in made.released().payments)
    made.measure(ONE_WAY, made.remaining_rho)
    assert 0 <= made.remaining_rho < 1e-9
    assert made.released().guarantee.rho <= 4.0


def test_the_number_of_rows_is_told_only_where_it_is_public_and_costs_nothing():
    for unit in (ADD, PrivacyUnit("add-remove", "u", 2), PrivacyUnit("replace", "u", 2)):
        made = opened(unit)
        with steps(made) as seen:
            assert made.count() is None
        assert seen == []
    made = opened(REPLACE)
    assert made.count() == len(ROWS) == made.released().public_rows
    assert made.remaining_rho == 4.0


def test_measurements_are_the_answers_with_their_receipts_in_order():
    made = opened(rho=PLENTY)
    first = made.measure(ONE_WAY, 1e8)
    made.measure_adjustments([TWO_WAY], 1e8, shares=[1.0])
    released = made.released()
    assert [one.values.tolist() for one in first] == list(EXACT.values())
    assert released.measurements == tuple(first)
    assert [one.query for one in released.adjustments] == [TWO_WAY]
    assert [one.receipt for one in (*first, *released.adjustments)] == [each.receipt for each in released.payments]


def test_rho_is_divided_by_the_shares_and_the_noise_follows():
    made = opened()
    one, other = made.measure(ONE_WAY, 1.0, shares=[1, 4])
    assert one.stddev == pytest.approx(math.sqrt(1 / (2 * 0.2)), rel=1e-6)
    assert other.stddev == pytest.approx(math.sqrt(1 / (2 * 0.8)), rel=1e-6)
    assert [payment.rho for payment in made.released().payments] == pytest.approx([0.2, 0.8], rel=1e-6)


def test_a_choice_is_the_block_that_is_furthest_off_and_is_not_counted_again():
    made = opened(rho=PLENTY)
    off = (np.array([40, 19, 0]), np.array([30, 33, 0]))
    (chosen,) = made.select(Selection((C, N), off), 1e6)
    assert chosen.columns == ("n",)
    with steps(made) as seen:
        (measured,) = made.measure([chosen], 1e8)
    assert seen == ["charge", "noise"]
    assert measured.values.tolist() == EXACT["n"]


def test_scores_are_weighted_errors_less_penalties_at_the_sum_of_squares():
    made = opened(rho=PLENTY)
    off = (np.array([40, 19, 0]), np.array([30, 33, 0]), np.zeros(TWO_WAY.size, dtype=np.int64))
    scores = made.score(Selection((C, N, TWO_WAY), off, weights=(1, 3, 2), penalties=(0, 5, 1)), 1e8)
    assert scores.values.tolist() == [1, 3 * 3 - 5, 2 * 60 - 1]
    released = made.released()
    assert released.scores == (scores,)
    assert Fraction(released.payments[0].details["sensitivity_squared"]) == 1 + 9 + 4


def test_categories_are_those_that_are_common_in_alphabetical_order():
    rows = [("b", 0)] * 60 + [("a", 0)] * 60 + [("mine alone", 0)] + [(None, 0)] * 60 + [("", 0)] * 60
    made = opened(rows=rows)
    assert made.categories("c", 2.0, delta=1e-7) == ("a", "b")
    (payment,) = made.released().payments
    assert (payment.mechanism, payment.delta) == ("threshold", 1e-7)
    assert payment.rho == pytest.approx(2.0, rel=1e-6)


@pytest.mark.parametrize(("unit", "square"), [(ADD, 1), (REPLACE, 2), (PrivacyUnit("add-remove", "u", 3), 9)])
def test_a_unit_counts_for_at_most_its_rows_and_the_noise_covers_them(unit, square):
    rows = [("a", 0, "one")] * 7 + [("b", 3, "two")] * 2 + [("b", 3, "three")]
    made = opened(unit, rows=rows, rho=PLENTY)
    (measured,) = made.measure([C], 1e8)
    assert measured.values.tolist() == ([3, 3, 0] if unit.column else [7, 3, 0])
    assert made.released().payments[0].details["sensitivity_squared"] == str(square)
    assert measured.stddev == pytest.approx(math.sqrt(square / 2e8), rel=1e-6)


def test_a_schema_that_asks_for_columns_the_table_lacks_is_refused_at_the_door(own_ledger):
    wide = Schema((*TINY.columns, Categorical("lacking", ("x",))))
    spending = Spending(Budget(rho=1.0), "tiny", ledger=Ledger(own_ledger))
    with pytest.raises(UserError, match="lacking"):
        Curator(PrivateTable({"c": ["a"], "n": [0]}), wide, spending=spending)
    assert Ledger(own_ledger).accounts() == []
