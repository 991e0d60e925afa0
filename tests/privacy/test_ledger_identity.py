"""What was charged is what the noise is worth: recomputed from every intercepted noise call and from all neighbours."""

import json
import random
from fractions import Fraction

import pytest

import tables
from privacy import checks
from privacy.stand_ins import ONE_WAY, TINY, TWO_WAY, Recorder, curator, run_command
from sundog.api.synthesizer import Synthesizer
from sundog.domain.unit import PrivacyUnit
from sundog.errors import BudgetRefused, UserError
from sundog.private.accountant import Budget
from sundog.private.complete import complete, find_gaps
from sundog.private.curator import Curator
from sundog.private.ledger import Ledger
from sundog.private.spending import Spending
from sundog.private.table import PrivateTable
from sundog.released import Selection
from sundog.select import allocate

UNITS = pytest.mark.parametrize("unit", checks.UNITS.values(), ids=checks.UNITS)


@UNITS
def test_charges_cover_the_noise(unit):
    checks.check_charges_cover_the_noise(unit)


@UNITS
def test_charges_are_on_disk_before_the_noise_is_drawn(own_ledger, unit):
    checks.check_charged_before_noise(own_ledger, unit)


@UNITS
def test_categories_are_covered(unit):
    checks.check_categories_are_covered(unit)


def test_categories_are_charged_before_the_noise_is_drawn(own_ledger):
    checks.check_charged_before_noise(
        own_ledger, PrivacyUnit("replace"), lambda made: made.categories("c", 0.5, delta=5e-7)
    )


OPEN = {
    "name": "tiny",
    "fields": [
        {"name": "c", "type": "string"},
        {"name": "n", "type": "integer"},
        {"name": "d", "type": "date"},
        {"name": "k", "type": "boolean"},
    ],
}


@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
def test_completing_a_schema_pays_for_every_look(own_ledger, neighbours):
    gaps = find_gaps(OPEN)
    table = {"c": ["x"] * 500, "n": [5] * 500, "d": ["2020-05-05"] * 500, "k": [True] * 500}
    spending = Spending(
        Budget(epsilon=5, delta=1e-6),
        "tiny",
        unit=PrivacyUnit(neighbours),
        accounting="gaussian",
        ledger=Ledger(own_ledger),
        delta_thresholds=5e-7,
    )
    made = Curator(PrivateTable(table), gaps.provisional, spending=spending)
    with Recorder(entries=lambda: len(Ledger(own_ledger).account("tiny").entries))() as seen:
        document = complete(OPEN, made, gaps=gaps, delta=5e-7)
    account = Ledger(own_ledger).account("tiny")
    assert [call.entries for call in seen.calls] == [1, 2, 3]
    assert [entry.mechanism for entry in account.entries] == ["threshold", "gaussian", "gaussian"]
    squared = 1 if neighbours == "add-remove" else 2
    needed = sum(Fraction(squared) / (2 * Fraction(call.scale) ** 2) for call in seen.calls)
    assert needed <= account.exact_rho <= Fraction(made.spending.total_rho)
    assert float(account.exact_rho) == pytest.approx(float(needed), rel=1e-9)
    assert float(account.exact_rho) == pytest.approx(made.spending.total_rho, rel=1e-9)
    assert made.released().guarantee.rho == account.rho
    assert document["fields"][0]["categories"] == ["x"]
    assert document["fields"][1]["constraints"] == {"minimum": 4, "maximum": 8}
    assert document["fields"][2]["constraints"] == {"minimum": "2020-01-01", "maximum": "2020-12-31"}


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-9), (0.1, 1e-6), (7.3, 1e-12)])
@pytest.mark.parametrize("unit", [PrivacyUnit(), PrivacyUnit("replace"), PrivacyUnit("add-remove", "visit", 3)])
def test_a_fit_never_spends_more_than_its_budget(own_ledger, epsilon, delta, unit):
    synthesizer = Synthesizer(
        tables.DOCUMENT,
        epsilon=epsilon,
        delta=delta,
        neighbours=unit.neighbours,
        unit=unit.column,
        rows_per_unit=unit.rows,
        method="independent",
        ledger=own_ledger,
    )
    with Recorder()() as seen:
        synthesizer.fit(tables.table(40))
    account = Ledger(own_ledger).account("clinic")
    total = Fraction(Budget(epsilon=epsilon, delta=delta).total_rho("gaussian"))
    assert total * Fraction(999999, 1000000) < account.exact_rho <= total
    assert synthesizer.released.guarantee.epsilon <= epsilon
    assert synthesizer.released.guarantee.epsilon == pytest.approx(epsilon, rel=1e-3)
    squared = (1 if unit.neighbours == "add-remove" else 2) * unit.rows**2
    assert account.exact_rho >= sum(Fraction(squared) / (2 * Fraction(call.scale) ** 2) for call in seen.calls)


@pytest.mark.parametrize("unit", [PrivacyUnit(), PrivacyUnit("replace"), PrivacyUnit("add-remove", "visit", 3)])
def test_auto_spends_its_budget_and_each_draw_is_paid_for(own_ledger, unit):
    """Every noise call against its own entry: the scores of k tables change by at most sqrt(k) times as much as one."""
    synthesizer = Synthesizer(
        tables.DOCUMENT,
        epsilon=1.0,
        delta=1e-9,
        neighbours=unit.neighbours,
        unit=unit.column,
        rows_per_unit=unit.rows,
        ledger=own_ledger,
    )
    with Recorder()() as seen:
        released = synthesizer.fit(tables.table(40)).released
    total = Fraction(Budget(epsilon=1.0, delta=1e-9).total_rho("gaussian"))
    account = Ledger(own_ledger).account("clinic")
    assert total * Fraction(999999, 1000000) < account.exact_rho <= total
    assert {call.kind for call in seen.calls} == {"gaussian"}
    paid = [payment.rho for payment in released.payments]
    assert len(paid) == len(seen.calls)
    scored = sum(len(scores.candidates) for scores in released.scores)
    for call, rho in zip(seen.calls, paid, strict=True):
        squared = unit.rows**2 * (1 if unit.neighbours == "add-remove" else 2)
        if len(call.exact) == scored and rho == pytest.approx(_paid_for_scores(released)):
            squared = unit.rows**2 * scored * (1 if unit.neighbours == "add-remove" else 4)
        assert rho >= float(Fraction(squared) / (2 * Fraction(call.scale) ** 2)) * (1 - 1e-9)


@pytest.mark.parametrize("unit", [PrivacyUnit(), PrivacyUnit("replace")])
def test_wider_tables_spend_the_budget_and_each_draw_is_paid_for(own_ledger, unit):
    """A budget at which 40 rows are nearly exact: pairs, wider tables' scores, wider tables, and pairs again."""
    document = {**tables.DOCUMENT, "targets": ["smoker"]}
    synthesizer = Synthesizer(document, rho=1e6, neighbours=unit.neighbours, confirmed=True, ledger=own_ledger)
    with Recorder()() as seen:
        released = synthesizer.fit(tables.table(40)).released
    account = Ledger(own_ledger).account("clinic")
    assert Fraction(10**6) * Fraction(999999, 1000000) < account.exact_rho <= 10**6
    assert {len(query.columns) for scores in released.scores for query in scores.candidates} == {2, 3}
    paid = {payment.receipt: payment.rho for payment in released.payments}
    assert len(paid) == len(seen.calls)
    for scores in released.scores:
        squared = len(scores.candidates) * (1 if unit.neighbours == "add-remove" else 4)
        assert paid[scores.receipt] >= squared / (2 * scores.stddev**2) * (1 - 1e-9)
    for measured in released.measurements:
        squared = 1 if unit.neighbours == "add-remove" else 2
        assert paid[measured.receipt] >= squared / (2 * measured.stddev**2) * (1 - 1e-9)


@pytest.mark.parametrize("unit", [PrivacyUnit(), PrivacyUnit("replace")])
def test_choosing_among_many_pairs_spends_the_budget_and_each_draw_is_paid_for(own_ledger, monkeypatch, unit):
    """Where there are very many pairs: one private choice of k, whose scores one row moves by 1 (replaced: by 2)."""
    monkeypatch.setattr(allocate, "MANY", 3)
    synthesizer = Synthesizer(tables.DOCUMENT, epsilon=1.0, delta=1e-9, neighbours=unit.neighbours, ledger=own_ledger)
    with Recorder()() as seen:
        released = synthesizer.fit(tables.table(40)).released
    account = Ledger(own_ledger).account("clinic")
    total = Fraction(Budget(epsilon=1.0, delta=1e-9).total_rho("zcdp"))
    assert released.guarantee.accounting == "zcdp"
    assert total * Fraction(999999, 1000000) < account.exact_rho <= total
    paid = [(payment.mechanism, payment.rho) for payment in released.payments]
    assert len(paid) == len(seen.calls)
    ((chosen, rho),) = [
        (call, rho) for call, (kind, rho) in zip(seen.calls, paid, strict=True) if kind == "exponential"
    ]
    assert chosen.kind == "exponential"
    changed = 1 if unit.neighbours == "add-remove" else 2
    assert rho == pytest.approx(chosen.k * changed**2 / (2 * float(chosen.scale) ** 2), rel=1e-9)


def _paid_for_scores(released):
    receipts = {scores.receipt for scores in released.scores}
    return sum(payment.rho for payment in released.payments if payment.receipt in receipts)


def test_a_curator_spends_all_it_has_and_then_refuses(own_ledger):
    made = curator([("a", 1)], unit=PrivacyUnit(), rho=0.1, ledger=Ledger(own_ledger))
    while made.remaining_rho > 1e-6:
        made.measure(ONE_WAY, made.remaining_rho / 3)
        made.select(Selection((TWO_WAY,), ([0] * TWO_WAY.size,)), made.remaining_rho / 2)
    assert made.remaining_rho >= 0
    spent = Ledger(own_ledger).account("tiny").exact_rho
    with (
        pytest.raises(BudgetRefused, match=r"this run may spend rho 0.1 .*Nothing was computed") as caught,
        Recorder()() as seen,
    ):
        made.measure([TWO_WAY], 1e-5)
    assert caught.value.exit_code == 3
    assert seen.calls == []
    assert Ledger(own_ledger).account("tiny").exact_rho == spent <= Fraction(0.1)


@pytest.mark.parametrize("seed", range(20))
def test_what_remains_can_be_spent_to_the_last(seed):
    draw = random.Random(seed)
    made = curator([("a", 1)], unit=PrivacyUnit(), rho=draw.random())
    for _ in range(3):
        made.measure(ONE_WAY, draw.random() * made.remaining_rho / 2)
    made.select(Selection((TWO_WAY,), ([0] * TWO_WAY.size,)), made.remaining_rho)
    assert 0 <= made.remaining_rho < 1e-15


def test_thresholds_spend_no_more_delta_than_was_set_aside():
    made = curator([("a", 1)], unit=PrivacyUnit(), delta=1e-6, thresholds=5e-7)
    made.categories("c", 0.1, delta=3e-7)
    with pytest.raises(BudgetRefused, match="Nothing was computed"), Recorder()() as seen:
        made.categories("c", 0.1, delta=3e-7)
    assert seen.calls == []


@pytest.mark.parametrize(
    "action",
    [
        lambda made: made.measure([], 0.1),
        lambda made: made.measure(ONE_WAY, 0.0),
        lambda made: made.measure(ONE_WAY, float("nan")),
        lambda made: made.measure(ONE_WAY, -1.0),
        lambda made: made.measure(ONE_WAY, 0.1, shares=[1]),
        lambda made: made.measure(ONE_WAY, 0.1, shares=[1, -1]),
        lambda made: made.measure(ONE_WAY, 0.1, shares=[1, float("inf")]),
        lambda made: made.select(Selection((TWO_WAY,), ([0] * TWO_WAY.size,)), 0.0),
        lambda made: made.select(Selection((TWO_WAY,), ([0],)), 0.1),
        lambda made: made.select(Selection((TWO_WAY,), ([0] * TWO_WAY.size,), weights=(-1,)), 0.1),
        lambda made: made.select(Selection((TWO_WAY,), ([0] * TWO_WAY.size,), weights=(0,)), 0.1),
        lambda made: made.select(Selection((TWO_WAY,), ([-(2**63)] * TWO_WAY.size,)), 0.1),
        lambda made: made.select(Selection((TWO_WAY,), ([float("nan")] * TWO_WAY.size,)), 0.1),
        lambda made: made.select(Selection((TWO_WAY,), ([0] * TWO_WAY.size,), weights=(2**23,)), 0.1),
        lambda made: made.select(Selection((TWO_WAY,), ([0] * TWO_WAY.size,), penalties=(-(2**63),)), 0.1),
        lambda made: made.score(Selection((TWO_WAY,), ([2**61] * TWO_WAY.size,)), 0.1),
        lambda made: made.categories("c", 0.1, delta=0.0),
        lambda made: made.categories("absent", 0.1, delta=1e-9),
    ],
)
def test_what_cannot_be_done_is_refused_before_it_is_charged(action):
    made = curator([("a", 1)], unit=PrivacyUnit(), delta=1e-6, thresholds=5e-7)
    with pytest.raises(UserError), Recorder()() as seen:
        action(made)
    assert made.spending.ledger.charges == []
    assert seen.calls == []


def test_a_run_planned_as_gaussian_cannot_select():
    made = curator([("a", 1)], unit=PrivacyUnit(), accounting="gaussian")
    with pytest.raises(UserError, match="accounted for as Gaussian only"):
        made.select(Selection((TWO_WAY,), ([0] * TWO_WAY.size,)), 0.1)
    assert made.spending.ledger.charges == []


def test_the_command_refuses_what_the_limit_does_not_allow(tmp_path):
    tables.write_csv(tmp_path / "data.csv", tables.table(30))
    (tmp_path / "schema.json").write_text(json.dumps(tables.DOCUMENT), encoding="utf-8")
    assert run_command(tmp_path, "ledger", "limit", "clinic", "--epsilon", "1", "--delta", "1e-9").code == 0
    spend = (
        "measure",
        "data.csv",
        "--schema",
        "schema.json",
        "--epsilon",
        "0.8",
        "--delta",
        "1e-9",
        "--method",
        "independent",
        "-o",
    )
    assert run_command(tmp_path, *spend, "first.json").code == 0
    before = Ledger(tmp_path / "ledger.sqlite").account("clinic").entries
    refused = run_command(tmp_path, *spend, "second.json")
    assert refused.code == 3
    assert "its limit is epsilon 1" in refused.stderr
    assert "Nothing was computed" in refused.stderr
    assert "second.json" not in refused.files
    assert Ledger(tmp_path / "ledger.sqlite").account("clinic").entries == before


def test_a_query_of_another_schema_is_refused_before_it_is_charged():
    made = curator([("a", 1)], unit=PrivacyUnit())
    other = tables.schema()
    from sundog.queries import Marginal

    with pytest.raises(UserError, match="column 'age' is not in the schema"):
        made.measure([Marginal.of(other, "age")], 0.1)
    assert made.spending.ledger.charges == []
    assert TINY.names == ("c", "n")
