import math
from dataclasses import dataclass, replace

import numpy as np
import pytest

from example_tables import SCHEMA, table
from sundog import Synthesizer
from sundog.domain.unit import PrivacyUnit
from sundog.generate import Graphical
from sundog.methods.workloads import two_way
from sundog.queries import Marginal, Ranges
from sundog.queries.sensitivity import gaussian_stddev
from sundog.random.keys import key_of
from sundog.released import Guarantee, Measurement, Payment, Proposal, Released, Selection
from sundog.select import AIM, SpanningTree, WorstError
from sundog.select.base import affordable
from sundog.select.spanning_tree import components, edges_left

PAIRS = two_way(SCHEMA)


@dataclass(frozen=True)
class Flat:
    """A stand-in for a generator: every answer is uniform, times a factor."""

    factor: float = 1.0

    def answer(self, state, query):
        return np.full(query.size, self.factor / query.size)


def release(*measured, spent=0.0, stddev=1.0, choices=0) -> Released:
    payments = tuple(Payment(str(k), "exponential", "choose", 0.01) for k in range(choices))
    made = tuple(Measurement(query, np.zeros(query.size, dtype=np.int64), stddev, "1") for query in measured)
    return Released(SCHEMA, made, Guarantee(PrivacyUnit(), "zcdp", spent), payments=payments, public_rows=1000)


def ask(rule, released, *, remaining=1.0, previous=None, workload=PAIRS, generator=None, state=None):
    model = (generator or Flat(), state)
    return rule.propose(workload, model=model, released=released, remaining_rho=remaining, previous=previous)


def columns(proposal):
    return {query.columns for query in proposal.selection.candidates}


def pair(*names):
    return next(query for query in PAIRS if {*query.columns} == {*names})


def test_components_and_the_edges_a_tree_still_needs():
    joined = components([pair("colour", "warm"), Marginal.of(SCHEMA, "size")])
    assert joined["colour"] == joined["warm"] != joined["size"]
    assert edges_left(PAIRS, joined) == 2


def test_a_spanning_tree_never_closes_a_circle_and_divides_what_remains():
    proposal = ask(
        SpanningTree(share_select=0.1), release(pair("colour", "warm"), pair("warm", "grade")), remaining=0.6
    )
    assert columns(proposal) == {("colour", "size"), ("warm", "size"), ("size", "grade")}
    assert proposal.rho_select + proposal.rho_measure == pytest.approx(0.6)
    assert proposal.rho_select == pytest.approx(0.06)
    assert ask(SpanningTree(), release(*PAIRS, spent=1.0), remaining=1e-12) is None
    assert ask(SpanningTree(), release(*PAIRS)).rho_measure == 1.0


def test_worst_error_spends_an_equal_part_in_every_round_and_measures_nothing_twice():
    rule = WorstError(rounds=3, share_select=0.25)
    proposal = ask(rule, release(PAIRS[0], choices=1), remaining=0.8)
    assert proposal.rho_select == pytest.approx(0.1)
    assert proposal.rho_measure == pytest.approx(0.3)
    chances = dict(zip(proposal.selection.candidates, proposal.selection.weights, strict=True))
    assert [query for query, weight in chances.items() if weight == 0] == [PAIRS[0]]
    assert proposal.selection.penalties[proposal.selection.candidates.index(PAIRS[0])] > 0
    assert ask(rule, release(choices=3)) is None


def test_worst_error_knows_when_candidates_run_out_before_the_rounds():
    proposal = ask(WorstError(rounds=50, per_round=2), release(*PAIRS[:3]), remaining=1.0)
    assert proposal.rho_select + proposal.rho_measure == pytest.approx(0.5)
    assert proposal.selection.k == 2
    rest = ask(WorstError(rounds=50), release(*PAIRS, choices=6), remaining=1.0)
    assert rest.rho_measure == 1.0
    assert set(rest.queries) == set(PAIRS)


def test_aim_weighs_marginals_by_what_they_share_with_the_workload():
    triple = Marginal.of(SCHEMA, "colour", "warm", "grade")
    weights = AIM().candidates((triple,))
    assert weights[triple] * 2 == weights[Marginal.of(SCHEMA, "colour", "warm")] * 3
    assert len(weights) == 4
    heavier = AIM(weights=(1.0, 3.0)).candidates((pair("colour", "warm"), pair("size", "grade")))
    assert heavier[pair("size", "grade")] == 3 * heavier[pair("colour", "warm")]


def test_aim_subtracts_the_noise_it_expects():
    proposal = ask(AIM(), release(spent=0.1), remaining=0.9)
    selection = proposal.selection
    stddev = gaussian_stddev(selection.candidates[0], proposal.rho_measure, unit=PrivacyUnit())
    expected = selection.weights[0] * math.sqrt(2 / math.pi) * stddev * selection.candidates[0].size
    assert selection.penalties[0] == round(expected)
    assert proposal.rho_select + proposal.rho_measure == pytest.approx(1.0 / (16 * 4))


@pytest.mark.parametrize(("factor", "growth"), [(1.0, 4), (3.0, 1)])
def test_aim_anneals_only_when_the_model_moved_no_more_than_the_noise(factor, growth):
    query = PAIRS[0]
    before = np.rint(np.full(query.size, 1000 / query.size)).astype(np.int64)
    previous = Proposal(selection=Selection((query,), (before,)), rho_select=0.001, rho_measure=0.009)
    proposal = ask(AIM(), release(query, spent=0.1, stddev=5.0), previous=previous, generator=Flat(factor))
    assert proposal.rho_select + proposal.rho_measure == pytest.approx(0.01 * growth)


def test_aim_spends_all_when_less_than_two_rounds_are_left():
    previous = Proposal(selection=Selection((PAIRS[0],), (np.zeros(PAIRS[0].size, dtype=np.int64),)), rho_measure=0.1)
    proposal = ask(AIM(), release(PAIRS[0], spent=0.8, stddev=0.001), remaining=0.19, previous=previous)
    assert proposal.rho_select + proposal.rho_measure == pytest.approx(0.19)
    assert ask(AIM(), release(PAIRS[0], spent=1.0), remaining=1e-12) is None


def test_the_model_size_limit_leaves_out_what_would_exceed_it():
    generator = Graphical()
    state = generator.init(key_of(0), SCHEMA)
    sizes = generator.megabytes_with(state, PAIRS)
    limit = sorted(sizes)[2]
    kept = affordable((generator, state), PAIRS, megabytes=limit)
    assert len(kept) == 3
    assert max(generator.megabytes_with(state, kept)) <= limit
    tight = ask(AIM(megabytes=limit / 0.5), release(spent=0.5), remaining=0.5, generator=generator, state=state)
    assert set(tight.selection.candidates) == set(kept)


def tree_megabytes(tmp_path, limit):
    """The size of the model after a whole run of AIM under a limit."""
    places = {"dataset": "limit", "ledger": tmp_path / f"{limit}.db"}
    made = Synthesizer(SCHEMA, rho=2.0, method="aim", seed=1, confirmed=True, **places)
    made.recipe = replace(made.recipe, rule=AIM(rounds=4, megabytes=limit))
    made.fit(table(400))
    return sum(t.size for t in made.model.state.tree.tables) * 8 / 2**20


def test_a_whole_run_respects_the_model_size_limit(tmp_path):
    free = tree_megabytes(tmp_path, 1.0)
    tight = tree_megabytes(tmp_path, free / 3)
    assert tight <= free / 3
    assert tight > 0


def test_noise_is_foretold_as_the_curator_will_add_it():
    query = PAIRS[0]
    assert gaussian_stddev(query, 0.5, unit=PrivacyUnit()) == pytest.approx(1.0)
    assert gaussian_stddev(query, 0.5, unit=PrivacyUnit("replace")) == pytest.approx(math.sqrt(2))
    assert gaussian_stddev(query, 0.5, unit=PrivacyUnit("replace", "warm", 3)) == pytest.approx(3 * math.sqrt(2))


def test_single_answers_that_were_measured_cannot_be_chosen_again():
    codes = np.arange(2)[:, None]
    family = Ranges(("warm",), np.zeros((2, 1), dtype=np.int64), codes, codes + 1)
    proposal = ask(WorstError(rounds=2), release(family.subset([1]), choices=1), workload=(family,))
    assert proposal.selection.weights == [1, 0]
    assert proposal.selection.penalties[0] == 0 < proposal.selection.penalties[1]
