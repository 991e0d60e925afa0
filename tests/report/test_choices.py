"""What a run chose, in words: counted by hand on small releases."""

from dataclasses import replace

import numpy as np
import pytest

from sundog.domain import Categorical, Schema
from sundog.domain.axis import Axis
from sundog.domain.unit import PrivacyUnit
from sundog.queries import Joined, Marginal
from sundog.released import Guarantee, Measurement, Payment, Released, Scores
from sundog.report.choices import choices

SCHEMA = Schema(tuple(Categorical(name, labels=tuple("abcd")) for name in ("one", "two", "three")))
FINE = {name: Axis.whole(SCHEMA.column(name)) for name in SCHEMA.names}
COARSE = {name: Axis.grouped(SCHEMA.column(name), [0, 0, 1, 1]) for name in SCHEMA.names}


def table(*axes, receipt, stddev=10.0):
    query = Marginal(axes)
    return Measurement(query, np.full(query.size, 800 // query.size), stddev, receipt)


def release(*measurements, scores=()):
    paid = tuple(Payment(m.receipt, "gaussian", "", 0.25) for m in measurements)
    guarantee = Guarantee(PrivacyUnit(), "gaussian", 0.25 * len(measurements))
    return Released(SCHEMA, measurements, guarantee, paid, scores=scores)


@pytest.fixture
def alone():
    return [table(FINE[name], receipt=name) for name in SCHEMA.names]


def test_columns_alone(alone):
    assert choices(release(*alone)) == ("Measured 3 of 3 columns alone, for 100 % of the budget.",)


def test_pairs_their_resolution_and_those_left_out(alone):
    pairs = {
        names: Marginal((FINE[names[0]], FINE[names[1]]))
        for names in (("one", "two"), ("one", "three"), ("two", "three"))
    }
    scores = Scores(tuple(pairs.values()), np.array([300, 200, 80]), 5.0, "scores")
    measured = [
        table(FINE["one"], FINE["two"], receipt="fine"),
        table(COARSE["one"], COARSE["three"], receipt="coarse", stddev=20.0),
    ]
    columns, chosen, left = choices(release(*alone, *measured, scores=(scores,)))
    assert columns.endswith("for 60 % of the budget.")
    assert chosen.startswith("Measured 2 of 3 pairs of columns, 1 of them coarsely, for 40 % of the budget;")
    assert "noise alone moves 6.0 % of the rows of a measured table (median; at most 8.0 %)" in chosen
    assert left.startswith("Left out 1 pairs: by their noisy scores at most 5.0 % of the rows")


def test_wider_tables_are_named_and_pairs_that_were_measured_twice_count_once(alone):
    pair = [table(FINE["one"], FINE["two"], receipt=receipt, stddev=20.0) for receipt in ("first", "second")]
    wider = table(*(COARSE[name] for name in SCHEMA.names), receipt="wider")
    _, chosen, said = choices(release(*alone, *pair, wider))
    assert chosen.startswith("Measured 1 of 3 pairs of columns, for 33 % of the budget;")
    assert "(median; at most 10.0 %)" not in chosen
    assert said == "Measured 1 tables of three and more columns, for 17 % of the budget: one x two x three."


def test_tables_of_joined_cells_are_told(alone):
    pair = table(FINE["one"], FINE["two"], receipt="p")
    cells = Marginal(tuple(COARSE[name] for name in SCHEMA.names))
    query = Joined(cells, tuple(cell % 2 for cell in range(cells.size)))
    beyond = Measurement(query, np.array([500, 500]), 10.0, "beyond")
    said = choices(release(*alone, pair, beyond))[-1]
    assert said.startswith(
        "Measured 1 tables of how far two columns lie from what is usual for them (one and two), each by another"
    )


def test_a_private_choice_of_pairs_is_told(alone):
    pair = table(FINE["one"], FINE["two"], receipt="p")
    scores = Scores((pair.query,), np.array([100]), 5.0, "s")
    made = release(*alone, pair, scores=(scores,))
    assert not any("Chose privately" in sentence for sentence in choices(made))
    paid = replace(made, payments=(*made.payments, Payment("c", "exponential", "choose", 0.1)))
    assert any(sentence.startswith("Chose privately 1 of 3 pairs of columns to look at") for sentence in choices(paid))


def test_nothing_measured_chose_nothing():
    assert choices(Released(SCHEMA, (), Guarantee(PrivacyUnit(), "gaussian", 0.0), ())) == ()
