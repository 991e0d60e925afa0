"""Adaptive: one shot or rounds, per class, as public values or users have it; what is chosen together is charged exactly."""

import pytest

from example_tables import SCHEMA as TABLE_SCHEMA
from example_tables import table
from rule_cases import SCHEMA, Uniform, curator
from sundog import Synthesizer
from sundog.errors import UserError
from sundog.private import noise
from sundog.queries import Cells, Halfspaces, Marginal, Ranges
from sundog.queries.choosing import uniform_rows
from sundog.queries.workload import Workload
from sundog.random.keys import key_of
from sundog.select import Adaptive
from sundog.select.adaptive import MANY

PAIRS = Workload.marginals(SCHEMA, k=2).queries
PREFIXES = Workload.prefixes(SCHEMA, count=20).queries


def proposals(rule, made, workload):
    """All rounds of a rule with a real curator."""
    model, found = (Uniform(), uniform_rows(key_of(0), SCHEMA, 500)), []
    while True:
        proposal = rule.propose(
            workload,
            model=model,
            released=made.released(),
            remaining_rho=made.remaining_rho,
            previous=found[-1] if found else None,
        )
        if proposal is None:
            return found
        chosen = made.select(proposal.selection, proposal.rho_select) if proposal.selection else []
        queries = [*proposal.queries, *chosen]
        shares = proposal.shares or [float(q.sensitivity_squared("add-remove")) for q in queries]
        made.measure(queries, proposal.rho_measure, shares=shares)
        found.append(proposal)


def test_one_shot_measures_all_at_once_with_a_part_for_each_class(tmp_path):
    made = curator(tmp_path, "add-remove")
    before = made.remaining_rho
    (only,) = proposals(Adaptive(rounds=1, threshold_rounds=1, tables=0.25), made, (*PAIRS, *PREFIXES))
    assert only.selection is None
    tables = sum(share for query, share in zip(only.queries, only.shares, strict=True) if isinstance(query, Marginal))
    assert tables / sum(only.shares) == pytest.approx(0.25)
    assert made.remaining_rho < 1e-9 * before


def test_rounds_of_both_classes_take_turns_and_spend_their_parts(tmp_path):
    made = curator(tmp_path, "add-remove")
    before = made.remaining_rho
    rule = Adaptive(rounds=2, per_round=2, threshold_rounds=3, thresholds_per_round=4, tables=0.4)
    found = proposals(rule, made, (*PAIRS, *PREFIXES))
    kinds = [type(proposal.selection.candidates[0]) for proposal in found]
    assert kinds == [Marginal, Ranges, Marginal, Ranges, Ranges]
    assert [proposal.selection.k for proposal in found] == [2, 4, 2, 4, 4]
    tables = sum(p.rho_select + p.rho_measure for p, kind in zip(found, kinds, strict=True) if kind is Marginal)
    assert tables == pytest.approx(0.4 * before, rel=1e-6)
    assert made.remaining_rho < 1e-9 * before


def test_tables_at_once_then_rounds_of_thresholds(tmp_path):
    made = curator(tmp_path, "add-remove")
    rule = Adaptive(rounds=1, threshold_rounds=2, thresholds_per_round=3)
    first, *rounds = proposals(rule, made, (*PAIRS, *PREFIXES))
    assert set(map(type, first.queries)) == {Marginal}
    assert [proposal.selection.k for proposal in rounds] == [3, 3]


@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
def test_single_cells_are_chosen_and_those_of_one_table_are_measured_as_one_query(tmp_path, neighbours):
    made = curator(tmp_path, neighbours)
    rule = Adaptive(rounds=3, per_round=5, candidates="queries")
    pair = PAIRS[1]
    found = proposals(rule, made, (pair,))
    assert [proposal.selection.blocks for proposal in found] == [pair.size] * 3
    chosen = [m.query for m in made.released().measurements if isinstance(m.query, Cells)]
    assert [query.size for query in chosen] == [5, 5, 5]
    keys = [key for query in chosen for key in query.block_keys()]
    assert len(set(keys)) == len(keys)
    charged = [p for p in made.released().payments if "cells of" in p.label]
    expected = 1 if neighbours == "add-remove" else 2
    assert {p.details["sensitivity_squared"] for p in charged} == {str(expected)}


def test_by_public_values_few_queries_are_measured_at_once_and_huge_workloads_in_rounds():
    few = Adaptive().settled((*PAIRS, *PREFIXES), rho=0.03)
    assert not few.selects
    assert few.measures_all
    assert not few.refits
    many = Workload.halfspaces(SCHEMA, directions=MANY // 20 + 1, thresholds=20).queries
    assert isinstance(many[0], Halfspaces)
    settled = Adaptive().settled((*PAIRS, *many), rho=0.03)
    assert (settled.rounds, settled.per_round) == (1, None)
    assert (settled.threshold_rounds, settled.thresholds_per_round) == (10, 251)
    assert settled.selects
    small = Adaptive().settled(PAIRS, rho=1e-9)
    assert (small.rounds, small.per_round) == (10, 3)
    assert Adaptive(rounds=4).settled(PAIRS, rho=1.0).per_round == 3


@pytest.mark.long
def test_users_set_rounds_and_choices_of_rap(tmp_path):
    settings = {"rule.rounds": 2, "rule.per_round": 2, "rows": 20, "descent.steps": 2, "descent.window": 2}
    options = {"rho": 0.5, "dataset": "d", "method": "rap", "ledger": tmp_path / "ledger.db", "seed": 3}
    made = Synthesizer(TABLE_SCHEMA, settings=settings, **options).fit(table(200))
    choices = [payment for payment in made.released.payments if payment.mechanism == "exponential"]
    assert [payment.details["k"] for payment in choices] == [2, 2]
    assert made.released.guarantee.accounting == "zcdp"


def test_single_cells_are_refused_for_a_generator_that_cannot_use_them(tmp_path):
    options = {"rho": 0.5, "dataset": "d", "method": "rap/mst", "ledger": tmp_path / "ledger.db"}
    settings = {"rule.rounds": 2, "rule.candidates": "queries"}
    with pytest.raises(UserError, match="cannot use the query"):
        Synthesizer(TABLE_SCHEMA, settings=settings, **options)
    assert not (tmp_path / "ledger.db").exists()


def test_several_chosen_as_one_query_have_their_own_answers(tmp_path, monkeypatch):
    """Exact answers are kept from choosing: in the order of the chosen blocks."""
    from sundog.queries import answer
    from sundog.released import Selection

    monkeypatch.setattr(noise, "add_gaussian", lambda counts, scale: counts)
    monkeypatch.setattr(noise, "top_k", lambda scores, k, *, scale: [7, 2, PREFIXES[0].size + 1, 11])
    made = curator(tmp_path, "add-remove")
    cells = Cells.of(PAIRS[0])
    candidates = (*PREFIXES, cells)
    estimates = tuple(answer(query, uniform_rows(key_of(0), SCHEMA, 10)) for query in candidates)
    chosen = made.select(Selection(candidates, estimates, k=4), 0.1)
    assert [query.size for query in chosen] == [3, 1]
    measured = made.measure(chosen, 0.1)
    alone = curator(tmp_path / "other", "add-remove").measure([*PREFIXES, cells], 0.1)
    assert measured[0].values.tolist() == alone[0].values[[7, 2, 11]].tolist()
    assert measured[1].values.tolist() == [alone[1].values[1]]
