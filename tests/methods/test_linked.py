"""Views of linked tables are measured by marginals of columns and pairs alone, whatever `auto` would add in one table."""

import numpy as np

from linked_tables import below, key, label, number
from privacy.stand_ins import MemoryLedger
from sundog.domain.linked.views import LinkedSchema
from sundog.domain.unit import PrivacyUnit
from sundog.methods.linked import run_views
from sundog.private.accountant import Budget
from sundog.private.curator import Curator
from sundog.private.spending import Spending
from sundog.private.table import PrivateTables
from sundog.queries import Shared
from sundog.random.keys import key_of

STONES = 3000


def test_a_target_that_follows_another_number_is_measured_by_pairs():
    draw = np.random.default_rng(1)
    weight, clarity = draw.gamma(3.0, 30.0, STONES).clip(0, 400).astype(int), draw.integers(0, 3, STONES)
    price = (weight * (1 + clarity / 10)).astype(int)
    fields = [key("id"), number("weight", 0, 400), number("price", 0, 500), label("clarity", "a", "b", "c")]
    root = {"primaryKey": ["id"], "fields": fields, "targets": ["price"]}
    child = {"foreignKeys": below("stones"), "fields": [key("parent"), label("colour", "x", "y")]}
    resources = [
        {"name": "stones", "schema": root},
        {"name": "sales", "maximumPerParent": 1, "schema": child},
    ]
    schema = LinkedSchema.from_document({"name": "shop", "resources": resources})
    tables = {
        "stones": {
            "id": np.arange(STONES),
            "weight": weight,
            "price": price,
            "clarity": np.array(["a", "b", "c"])[clarity],
        },
        "sales": {"parent": np.arange(STONES), "colour": draw.choice(["x", "y"], STONES)},
    }
    unit = PrivacyUnit("add-remove", "stones.id", 1, below=True)
    spending = Spending(Budget(rho=50.0), "shop", unit=unit, accounting="gaussian", ledger=MemoryLedger())
    curator = Curator(PrivateTables(schema.package, tables), schema, spending=spending)
    released = run_views(key_of(1), curator, report=lambda _: None)
    assert all(isinstance(m.query, Shared) and len(m.query.marginal.columns) <= 2 for m in released.measurements)
