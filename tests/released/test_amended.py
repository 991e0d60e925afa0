"""What is declared later applies to an earlier release at no cost; what was measured stays, or is refused by name."""

import copy

import numpy as np
import pytest

import tables
from noisy_releases import release
from related_tables import DOCUMENT
from sundog.api.model import Model, load
from sundog.domain import Schema
from sundog.domain.constraints.kinds import Impossible
from sundog.errors import UserError
from sundog.queries import Marginal
from sundog.released.amended import amended

RELEASED = release(3)


def changed(**changes):
    """The document with other keys in some fields; None drops a key."""
    made = copy.deepcopy(DOCUMENT)
    made["fields"] = [{**field, **changes.get(field["name"], {})} for field in made["fields"]]
    return made


def under(document):
    return amended(RELEASED, Schema.from_json(document))


def test_constraints_and_derivations_apply_to_an_earlier_release():
    document = {**DOCUMENT, "constraints": [{"kind": "impossible", "where": {"a": "p", "y": True}}]}
    document["fields"] = [{"name": "tens", "type": "integer", "derived": "floor(x / 10)"}, *DOCUMENT["fields"]]
    model = Model.from_released(RELEASED, method="mst", seed=1, schema=document)
    assert isinstance(model.released.schema.constraints[0], Impossible)
    assert model.released.measurements == RELEASED.measurements
    rows = model.sample(3000).to_pylist()
    assert all(row["tens"] == row["x"] // 10 for row in rows)
    assert not any(row["a"] == "p" and row["y"] for row in rows)
    assert any(
        row["a"] == "p" and row["y"]
        for row in Model.from_released(RELEASED, method="mst", seed=1).sample(3000).to_pylist()
    )


def test_what_was_amended_is_saved_and_loaded(tmp_path):
    document = changed(a={"categories": ["r", "q", "p"], "categoriesOrdered": True})
    model = Model.from_released(RELEASED, method="mst", seed=1, schema=document)
    model.save(tmp_path / "out")
    assert load(tmp_path / "out").sample(100).equals(model.sample(100))
    assert load(tmp_path / "out").released.schema.column("a").ordered


def test_labels_in_another_order_keep_their_counts():
    after = under(changed(a={"categories": ["r", "p", "q"]}))
    for old, new in zip(RELEASED.measurements, after.measurements, strict=True):
        assert old.stddev == new.stddev
        assert sorted(old.values) == sorted(new.values)
        if old.query.columns == ("a",) and old.query.size == 4:
            assert new.values.tolist() == old.values[[2, 0, 1, 3]].tolist()
        if old.query.columns == ("b", "x"):
            assert old is new
    wide = next(k for k, m in enumerate(RELEASED.measurements) if m.query.columns == ("x", "a"))
    before, now = (each.measurements[wide] for each in (RELEASED, after))
    assert np.array_equal(now.values.reshape(-1, 4), before.values.reshape(-1, 4)[:, [2, 0, 1, 3]])
    models = [Model.from_released(each, method="mst", seed=1) for each in (RELEASED, after)]
    shares = [
        [model.sample(20_000).column("a").to_pylist().count(label) / 20_000 for label in "pqr"] for model in models
    ]
    assert np.allclose(*shares, atol=0.01)


def test_merged_labels_stay_merged_in_another_order():
    from sundog.domain.axis import Axis

    column = RELEASED.schema.column("a")
    query = Marginal((Axis.grouped(column, [0, 0, 1, 1]),))
    merged = release(1, queries=(query,), stddevs=(1.0,))
    after = amended(merged, Schema.from_json(changed(a={"categories": ["r", "p", "q"]})))
    assert after.measurements[0].query.axes[0].groups == (1, 0, 0, 1)
    assert np.array_equal(after.measurements[0].values, merged.measurements[0].values)


REFUSED = [
    (changed(x={"constraints": {"minimum": 0, "maximum": 120, "required": True}}), "'x' was measured with another minimum or maximum"),
    (changed(x={"constraints": {"minimum": 0, "maximum": 99}}), "'x' was measured with another 'required'"),
    (changed(z={"sundog": {"decimals": 1}}), "'z' was measured with another type"),
    (changed(a={"categories": ["p", "q", "s"]}), "'a' was measured with another list of categories"),
    (changed(b={"name": "c"}), "'b' was measured, and the new schema does not model it"),
    (changed(b={"derived": "if(x > 50, 'u', 'v')"}), "'b' was measured, and the new schema does not model it"),
    ({**DOCUMENT, "fields": [*DOCUMENT["fields"], {"name": "new", "type": "boolean"}]}, "'new' was not measured"),
    ({**DOCUMENT, "fields": DOCUMENT["fields"][::-1]}, "in another order"),
    (
        {**DOCUMENT, "fields": [*DOCUMENT["fields"], {"name": "d", "type": "integer", "derived": "x", "sundog": {"origin": "fromData"}}]},
        "'d' was read from the rows",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("document", "message"), REFUSED)
def test_what_was_measured_stays_or_is_refused_by_name(document, message):
    with pytest.raises(UserError) as refused:
        under(document)
    assert message in str(refused.value)


def test_where_a_domain_comes_from_cannot_be_talked_away():
    drafted = Schema.from_json(changed(x={"sundog": {"origin": "fromData"}}))
    from dataclasses import replace

    after = amended(replace(RELEASED, schema=drafted), Schema.from_json(DOCUMENT))
    assert after.schema.origins["x"] == "fromData"


def test_a_measured_column_cannot_become_a_distance():
    first = {"fields": [field for field in tables.FIELDS if field["name"] in ("day", "seen")]}
    later = copy.deepcopy(first)
    later["fields"][1] |= {"relativeTo": "day", "offset": {"minimum": 0, "maximum": "3 days"}}
    from dataclasses import replace

    with pytest.raises(UserError, match="'seen' was measured"):
        amended(replace(RELEASED, schema=Schema.from_json(first), measurements=()), Schema.from_json(later))
