"""A generator made in Python takes the place of a method's own: Particles with a user's penalty, from the table to the rows."""

import numpy as np
import pytest

from sundog import Model, Synthesizer, UserError
from sundog.generate import Particles

SCHEMA = {
    "name": "people",
    "fields": [
        {"name": name, "type": "integer", "constraints": {"minimum": 0, "maximum": 99, "required": True}}
        for name in ("age", "rent")
    ],
}
SMALL = {"particles": 2000, "epochs": 40, "steps": 400}


def old_with_high_rent(columns):
    return (columns["age"] * columns["rent"]).mean()


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    age = np.random.default_rng(0).integers(20, 80, 2000)
    table = {"age": age, "rent": np.minimum(99, age + 10)}
    ledger = tmp_path_factory.mktemp("own") / "ledger.db"
    made = Synthesizer(SCHEMA, rho=0.5, method="privpgd", settings=SMALL, dataset="d", ledger=ledger, seed=1).fit(table)
    return made.released


def model(released, **options):
    return Model.from_released(released, method="privpgd", seed=2, **options)


def test_a_users_penalty_makes_other_rows_of_the_same_measurements_at_no_cost(released):
    def found(penalty):
        own = Particles(**SMALL, penalty=penalty, penalty_strength=3.0)
        rows = model(released, generator=own).sample(2000).to_pandas()
        return (rows["age"] * rows["rent"]).mean()

    assert found(old_with_high_rent) < 0.9 * found(None)


def test_it_is_not_saved_and_takes_no_settings(released, tmp_path):
    own = Particles(**SMALL, penalty=old_with_high_rent)
    with pytest.raises(UserError, match="made in Python"):
        model(released, generator=own).save(tmp_path / "model")
    assert not (tmp_path / "model").exists()
    with pytest.raises(UserError, match="settings"):
        model(released, generator=own, settings={"epochs": 3})
