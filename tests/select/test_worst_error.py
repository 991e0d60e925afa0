"""Worst error with a real curator: it spends its budget to the end, and measures no block twice, of any class."""

import pytest

from rule_cases import SCHEMA, Uniform, curator
from sundog.queries.choosing import uniform_rows
from sundog.queries.workload import KINDS, Workload
from sundog.random.keys import key_of
from sundog.select import WorstError

OPTIONS = {
    "prefixes": {"count": 20},
    "ranges": {"count": 20},
    "halfspaces": {"directions": 4, "thresholds": 3},
    "conditional_ranges": {"count": 5},
    "conditional_thresholds": {"directions": 2, "thresholds": 3},
    "conditional_marginals": {"k": 1},
    "at_least": {"k": 2, "least": 1},
    "parities": {"k": 2},
    "trees": {"levels": 2},
}


def mixed():
    """Every kind of workload at once."""
    parts = [KINDS[kind](SCHEMA, **OPTIONS.get(kind, {})) for kind in KINDS]
    return sum(parts[1:], start=parts[0]).queries


def spend(rule, made, workload):
    """The loop, without a generator to fit: how many rounds there were."""
    model, previous = (Uniform(), uniform_rows(key_of(0), SCHEMA, 500)), None
    for turn in range(100):
        proposal = rule.propose(
            workload,
            model=model,
            released=made.released(),
            remaining_rho=made.remaining_rho,
            previous=previous,
        )
        if proposal is None:
            return turn
        chosen = made.select(proposal.selection, proposal.rho_select)
        made.measure([*proposal.queries, *chosen], proposal.rho_measure, shares=proposal.shares)
        previous = proposal
    raise AssertionError("the rule never ends")


@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
@pytest.mark.parametrize("score", ["L1", "Linf"])
def test_a_run_over_every_class_spends_all_and_measures_nothing_twice(tmp_path, neighbours, score):
    made, workload = curator(tmp_path, neighbours), mixed()
    assert spend(WorstError(rounds=4, per_round=6, score=score), made, workload) == 4
    released = made.released()
    measured = [key for measurement in released.measurements for key in measurement.query.block_keys()]
    assert len(measured) == 4 + 4 * 6
    assert len(set(measured)) == len(measured)
    assert released.guarantee.rho <= 2.0
    assert released.guarantee.rho == pytest.approx(2.0, rel=1e-9)
    known = {key for query in workload for key in query.block_keys()}
    assert {key for m in released.measurements[4:] for key in m.query.block_keys()} <= known


def test_a_block_measured_before_is_no_candidate_even_inside_another_query(tmp_path):
    made = curator(tmp_path, "add-remove")
    (prefixes,) = Workload.prefixes(SCHEMA, count=6, labels=0, numbers=1, seed=3).queries
    first, rest = prefixes.subset([0, 1]), Workload.prefixes(SCHEMA, count=6, labels=0, numbers=1, seed=3).queries
    made.measure([first], 0.1)
    distinct = len({*prefixes.block_keys()} - {*first.block_keys()})
    proposal = WorstError(rounds=1, per_round=50).propose(
        rest,
        model=(Uniform(), uniform_rows(key_of(0), SCHEMA, 500)),
        released=made.released(),
        remaining_rho=made.remaining_rho,
        previous=None,
    )
    assert list(proposal.selection.weights[:2]) == [0, 0]
    assert sum(proposal.selection.weights) >= distinct
