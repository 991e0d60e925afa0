"""A small table behind a real curator, and a generator that knows nothing, for the tests of rules."""

from dataclasses import dataclass

import numpy as np

from sundog.domain import Categorical, Numeric, Schema
from sundog.domain.unit import PrivacyUnit
from sundog.private.accountant import Budget
from sundog.private.curator import Curator
from sundog.private.ledger import Ledger
from sundog.private.spending import Spending
from sundog.private.table import PrivateTable
from sundog.queries import answer
from sundog.queries.workload import Workload

SCHEMA = Schema(
    (
        Categorical("colour", ("red", "green", "blue")),
        Categorical("paid", ("no", "yes")),
        Numeric("age", "integer", 0, 19, nullable=True),
        Numeric("hours", "integer", 0, 9),
    ),
    targets=("paid",),
)


@dataclass(frozen=True)
class Uniform:
    """A stand-in for a generator: it answers from rows that know nothing."""

    def answer(self, state, query):
        return answer(query, state) / len(state)


def curator(tmp_path, neighbours, rho=2.0):
    random = np.random.default_rng(0)
    table = {
        "colour": random.choice(["red", "green", "blue"], 300, p=[0.7, 0.2, 0.1]).tolist(),
        "paid": random.choice(["no", "yes"], 300).tolist(),
        "age": [None if age > 18 else int(age) for age in random.integers(0, 20, 300)],
        "hours": random.integers(0, 4, 300).tolist(),
    }
    tmp_path.mkdir(exist_ok=True)
    ledger = Ledger(tmp_path / "ledger.sqlite")
    spending = Spending(Budget(rho=rho), "mixed", unit=PrivacyUnit(neighbours), ledger=ledger)
    made = Curator(PrivateTable(table), SCHEMA, spending=spending)
    made.measure(Workload.marginals(SCHEMA, k=1).queries, rho / 10)
    return made
