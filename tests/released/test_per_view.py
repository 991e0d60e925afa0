"""A view of a linked release: siblings that cannot be told apart have symmetric tables, with half the noise."""

import numpy as np
import pytest

from linked_tables import random_homes, schema, tables_of
from privacy.stand_ins import MemoryLedger
from sundog.domain.unit import PrivacyUnit
from sundog.private.accountant import Budget
from sundog.private.curator import Curator
from sundog.private.spending import Spending
from sundog.private.table import PrivateTables
from sundog.queries import Marginal
from sundog.released.per_view import of_view, shared

FACTS = schema(persons=2)
UNIT = PrivacyUnit("add-remove", "homes.id", 1, below=True)


def measured(view, *columns, rho):
    """A table of a view, measured: as it came out, and as the view has it."""
    spending = Spending(Budget(rho=2 * rho), "homes", unit=UNIT, accounting="gaussian", ledger=MemoryLedger())
    curator = Curator(PrivateTables(FACTS.package, tables_of(random_homes(200, seed=1))), FACTS, spending=spending)
    (raw,) = curator.measure([shared(Marginal.of(FACTS.of_view(view), *columns), view)], rho)
    (cleaned,) = of_view(curator.released(), view).measurements
    shape = raw.query.marginal.shape
    return raw.values.reshape(shape) / raw.query.scale, cleaned.values.reshape(shape), cleaned.stddev


@pytest.mark.parametrize("column", ["persons.age", "persons.sex"])
def test_tables_of_one_column_are_the_mean_of_both_orders(column):
    raw, cleaned, _ = measured(FACTS.view("persons@"), column, f"{column}@2", rho=0.01)
    np.testing.assert_array_equal(cleaned, cleaned.T)
    np.testing.assert_allclose(cleaned, (raw + raw.T) / 2, atol=1.01)


def test_their_stated_noise_is_the_noise_they_have():
    view, rho = FACTS.view("persons@"), 0.01
    truth = np.rint(measured(view, "persons.age", "persons.age@2", rho=1e6)[1])
    runs = [measured(view, "persons.age", "persons.age@2", rho=rho) for _ in range(25)]
    found = np.mean([(cleaned - truth) ** 2 for _, cleaned, _ in runs])
    assert found == pytest.approx(runs[0][2] ** 2, rel=0.5)
    assert found < 0.85 * np.mean([(raw - truth) ** 2 for raw, _, _ in runs])


def test_other_tables_stay_as_they_are():
    for view, columns in (
        ("persons@", ("persons.age", "persons.sex@2")),
        ("visits@", ("visits.kind", "visits.kind@2")),
    ):
        raw, cleaned, _ = measured(FACTS.view(view), *columns, rho=0.01)
        np.testing.assert_array_equal(cleaned, np.rint(raw))
