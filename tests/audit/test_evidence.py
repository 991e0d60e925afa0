"""The evidence of a run: log-likelihood ratios held against the densities themselves, and what nobody paid for."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from sundog.api.watched import WatchedSynthesizer
from sundog.audit.evidence import Transcript, of_rows, of_values, score
from sundog.audit.worst_case import CANARY, ROWS, SCHEMA, worst_case
from sundog.domain.unit import PrivacyUnit
from sundog.queries import Marginal
from sundog.released import Guarantee, Measurement, Payment, Released, Scores, Selection

PAIR = worst_case("add-remove")
QUERY = Marginal.of(SCHEMA, "first", "second")


def transcript(*, measurements=(), choices=(), scored=(), payments=()):
    released = Released(
        SCHEMA,
        tuple(measurements),
        Guarantee(PrivacyUnit(), "zcdp", 1.0),
        payments=tuple(payments),
        scores=tuple(found for _, found in scored),
    )
    return Transcript(released, tuple(choices), tuple(scored))


def test_the_tables_differ_in_the_canary_alone():
    for neighbours, without in (("add-remove", ROWS), ("replace", ROWS + 1)):
        pair = worst_case(neighbours)
        assert [len(rows) for rows in pair.rows] == [without, ROWS + 1]
        last = {name: values[-1] for name, values in pair.tables[1].items()}
        assert last == CANARY
        assert all(a[:ROWS] == b[:ROWS] for a, b in zip(pair.tables[0].values(), pair.tables[1].values(), strict=True))


@pytest.mark.parametrize(("kind", "law"), [("gaussian", stats.norm), ("laplace", stats.laplace)])
def test_noisy_answers_count_as_their_density_says(kind, law):
    values, stddev = np.array([8, 1, -2, 3]), 1.7
    found = of_values(transcript(measurements=[Measurement(QUERY, values, stddev, "r", kind)]), PAIR)
    scale = stddev if kind == "gaussian" else stddev / np.sqrt(2)
    without, canary = (law.logpdf(values, exact, scale).sum() for exact in ([10, 0, 0, 0], [10, 0, 0, 1]))
    assert found == pytest.approx([canary - without, 0, 0, 0])


def test_choices_and_scores_count_as_their_law_says():
    others = (QUERY, Marginal.of(SCHEMA, "first", "third"), Marginal.of(SCHEMA, "second", "third"))
    estimates = tuple(np.array([10, 0, 0, 0]) for _ in others)
    selection = Selection(others, estimates, 2, weights=(2, 1, 1), penalties=(1, 0, 0))
    first, second = (np.array([-1.0, 0.0, 0.0]), np.array([1.0, 1.0, 1.0]))
    assert [score(selection, rows).tolist() for rows in PAIR.rows] == [first.tolist(), second.tolist()]
    paid = Payment("r", "exponential", "", 0.1, details={"scale": 2.0})

    def chance(scores):
        weights = np.exp(scores / 2.0)
        return np.log(weights[0] / weights.sum() * weights[2] / (weights[1] + weights[2]))

    chosen = of_values(transcript(choices=[(selection, (others[0], others[2]))], payments=[paid]), PAIR)
    assert chosen == pytest.approx([0, 0, chance(second) - chance(first), 0])
    one = replace(selection, k=1)  # the first is the best for the canary's table alone, by its weight; the others tie
    assert of_values(transcript(choices=[(one, (others[1],))]), PAIR)[3] == -1
    assert of_values(transcript(choices=[(one, (others[0],))]), PAIR)[3] == 1
    noisy = Scores(others, np.array([1, 0, 2]), 3.0, "r")
    densities = [stats.norm.logpdf(noisy.values, exact, 3.0).sum() for exact in (first, second)]
    assert of_values(transcript(scored=[(selection, noisy)]), PAIR) == pytest.approx(
        [0, densities[1] - densities[0], 0, 0]
    )


def test_rows_are_counted_by_what_they_share_with_the_canary():
    counts = of_rows(PAIR.rows[1], PAIR)
    assert counts.tolist() == [11, 1, 1, 11, 1, 1, 1, 1, 1, 1, 1, 1]


def test_a_look_that_nobody_paid_for_is_a_fault(tmp_path):
    made = WatchedSynthesizer(SCHEMA, rho=1.0, method="mst", dataset="audit", ledger=tmp_path / "l", seed=1)
    run = made.fit(dict(PAIR.tables[0])).transcript
    assert run.faults() == ()
    assert len(run.choices) == 3
    kept = tuple(payment for payment in run.released.payments if payment.mechanism != "exponential")
    unpaid = replace(run, released=replace(run.released, payments=kept))
    assert unpaid.faults() == ("3 choices were made, and 0 were paid for",)
    noisy = replace(run, released=replace(run.released, payments=run.released.payments[1:]))
    assert noisy.faults() == ("7 noisy answers were made, and 6 were paid for",)
