"""Private choice among single blocks of several classes of queries: by the stated law, and each block as itself."""

import numpy as np
import pytest
from scipy.stats import chi2

from sundog.domain import Categorical, Numeric, Schema
from sundog.domain.axis import Axis
from sundog.domain.rows import Rows
from sundog.private.accountant import Budget
from sundog.private.curator import Curator
from sundog.private.ledger import Ledger
from sundog.private.spending import Spending
from sundog.private.table import PrivateTable
from sundog.queries import Conditional, Marginal, Ranges, answer
from sundog.released import Selection

SCHEMA = Schema((Categorical("colour", ("red", "green")), Numeric("age", "integer", 0, 9)))
CODES = (np.array([0, 1] * 10), np.array([0, 3, 5, 7, 9] * 4))
PREFIXES = Ranges(("age",), np.zeros((3, 1), int), np.zeros((3, 1), int), np.array([[2], [5], [8]]))
CANDIDATES = (
    PREFIXES,
    Marginal((Axis.whole(SCHEMA.columns[0]),)),
    Conditional(Axis.whole(SCHEMA.columns[0]), PREFIXES.subset([0, 1])),
)
ERRORS = (0, 3, 1, 2, 4, 1)
DRAWS = 250


def curator(tmp_path, rho=1e4):
    labels = np.array(["red", "green"])
    table = PrivateTable({"colour": labels[CODES[0]].tolist(), "age": CODES[1].tolist()})
    ledger = Ledger(tmp_path / "ledger.sqlite")
    return Curator(table, SCHEMA, spending=Spending(Budget(rho=rho), "blocks", ledger=ledger))


def estimates():
    """Estimates that are off by ERRORS, block by block, each in the block's first cell."""
    exact = [answer(query, Rows(SCHEMA, CODES)) for query in CANDIDATES]
    errors = iter(ERRORS)
    for query, counts in zip(CANDIDATES, exact, strict=True):
        for block in range(0, query.size, query.block):
            counts[block] += next(errors)
    return tuple(exact)


def keys():
    return [key for query in CANDIDATES for key in query.block_keys()]


def test_blocks_are_chosen_as_the_exponential_mechanism_says(tmp_path):
    """It fails if two p-values are below 1e-8: a false alarm less than once in 1e11."""
    assert any(p_value_of_choices(tmp_path / name) > 1e-8 for name in ("once", "again"))


def p_value_of_choices(place):
    place.mkdir()
    made, selection = curator(place), Selection(CANDIDATES, estimates())
    rho = 0.5 / 1.5**2  # with sensitivity 1: P(block) ~ exp(error / 1.5)
    found = np.zeros(len(ERRORS))
    for _ in range(DRAWS):
        (chosen,) = made.select(selection, rho)
        (key,) = chosen.block_keys()
        found[keys().index(key)] += 1
    chances = np.exp(np.array(ERRORS) / 1.5)
    expected = DRAWS * chances / chances.sum()
    assert made.released().guarantee.rho == pytest.approx(DRAWS * rho, rel=1e-6)
    return chi2.sf(((found - expected) ** 2 / expected).sum(), len(ERRORS) - 1)


def test_with_budget_enough_the_worst_blocks_are_chosen_best_first(tmp_path):
    chosen = curator(tmp_path, rho=1e6).select(Selection(CANDIDATES, estimates(), k=3), 1e5)
    found = [keys().index(query.block_keys()[0]) for query in chosen]
    assert found == [4, 1, 3]
    exact = [answer(query, Rows(SCHEMA, CODES)) for query in chosen]
    assert [len(counts) for counts in exact] == [3, 1, 2]


def test_weights_and_penalties_are_by_block(tmp_path):
    made = curator(tmp_path, rho=1e6)
    never = Selection(CANDIDATES, estimates(), weights=(1, 1, 1, 1, 0, 1), penalties=(0, 0, 0, 0, 1 << 50, 0))
    assert made.select(never, 1e4)[0].block_keys() == [keys()[1]]
    heavy = Selection(CANDIDATES, estimates(), weights=(1, 1, 9, 1, 1, 1))
    assert made.select(heavy, 1e5)[0].block_keys() == [keys()[2]]
    assert made.released().payments[-1].details["sensitivity"] == "9"


def test_candidates_of_the_last_round_are_not_counted_again_and_answers_stay_with_their_queries(tmp_path, monkeypatch):
    made, exact = curator(tmp_path, rho=1e7), estimates()
    counted = []
    count = Curator._counted

    def recording(self, schema, queries):
        counted.append(list(queries))
        return count(self, schema, queries)

    monkeypatch.setattr(Curator, "_counted", recording)
    made.select(Selection(CANDIDATES[:2], exact[:2]), 1e5)
    (chosen,) = made.select(Selection(CANDIDATES[1:], exact[1:]), 1e5)  # the first leaves, the last is new
    assert counted == [list(CANDIDATES[:2]), [CANDIDATES[2]]]
    assert chosen.block_keys()[0] == keys()[4]
    (measured,) = made.measure([chosen], 1e5)
    assert np.array_equal(measured.values, answer(chosen, Rows(SCHEMA, CODES)))
    made.select(Selection(CANDIDATES, exact), 1e5)
    assert counted[2:] == [[CANDIDATES[0]]]
