"""A new class of queries is one file and one line per room that knows it: all laws, and every other room, take it as it is."""

from dataclasses import replace

import numpy as np
import pytest

from laws.generator_laws import ROWS, what_is_supported_is_fitted
from laws.parity import FORM, Parity
from laws.query_examples import EXAMPLES, SCHEMA, Case, cases
from laws.query_laws import LAWS, some_rows
from sundog import Matching, Synthesizer
from sundog.errors import UserError
from sundog.evaluate import RELEASED, Comparison, Measured
from sundog.evaluate.workload import WorkloadError
from sundog.generate import GENERATORS, Genetic
from sundog.generate.genetic.forms import FORMS
from sundog.postprocess.match import match
from sundog.queries import CLASSES, Marginal, answer
from sundog.queries.workload import Workload
from sundog.random.keys import key_of
from sundog.released import Measurement


class Forgetful(Parity):
    """Adds to the totals of an earlier batch only once."""

    def add(self, rows, totals):
        totals[:] = np.bincount(rows.column(self.columns[0]) % 2, minlength=2)


class Uneven(Parity):
    """Its answer depends on how the rows are batched."""

    def add(self, rows, totals):
        totals += np.bincount(rows.column(self.columns[0]) % 2, minlength=2) * (1 if len(rows) < 20 else 2)


class Doubled(Parity):
    """A row counts twice."""

    def add(self, rows, totals):
        totals += 2 * np.bincount(rows.column(self.columns[0]) % 2, minlength=2)


class Careless(Parity):
    """What it says of single rows is not what they add."""

    def vectors(self, rows):
        return super().vectors(rows)[:, ::-1]


class Nameless(Parity):
    """Two names for one block."""

    def block_keys(self):
        return [b"even", b"odd"]


class Amnesiac(Parity):
    """It forgets its column when saved."""

    @classmethod
    def from_json(cls, document, schema):
        return cls(("hours",))


class Cryptic(Parity):
    """It does not say what it is."""

    def describe(self):
        return repr(np.arange(3))


@pytest.fixture
def registered(monkeypatch):
    def register(query):
        monkeypatch.setitem(CLASSES, "parity", type(query))
        monkeypatch.setitem(EXAMPLES, "parity", [Case(query)])
        return cases()["parity-0"]

    return register


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
@pytest.mark.parametrize("columns", [("colour",), ("age", "hours", "colour")])
def test_a_new_class_is_under_every_law(registered, law, columns):
    law(registered(Parity(columns)))


def test_a_new_class_without_an_example_fails(monkeypatch):
    monkeypatch.setitem(CLASSES, "parity", Parity)
    with pytest.raises(AssertionError, match="no example"):
        cases()


BROKEN = {
    "sensitivities_are_those_of_enumeration": [
        replace(Parity(("age",)), claimed=0),
        replace(Parity(("age",)), claimed=2),
    ],
    "answers_add_up": [Forgetful(("age",))],
    "vectors_are_what_single_rows_add": [Careless(("age",))],
    "batches_do_not_matter": [Uneven(("age",))],
    "answers_stay_within_bounds": [Doubled(("age",))],
    "blocks_are_coherent": [Nameless(("age",))],
    "saving_and_loading_changes_nothing": [Amnesiac(("age",))],
    "descriptions_are_readable": [Cryptic(("age",))],
}


@pytest.mark.parametrize("name", LAWS)
def test_every_law_catches_a_class_that_breaks_it(registered, name):
    for query in BROKEN[name]:
        case = registered(query)
        with pytest.raises(AssertionError):
            LAWS[name](case)


PARITIES = [Parity(("age", "hours")), Parity(("colour", "age", "hours"))]


def run(tmp_path, **options):
    """A whole run on parities beside the columns alone, with the report and the certificate."""
    columns = tuple(Marginal.of(SCHEMA, name) for name in SCHEMA.names)
    workload = Workload(SCHEMA, (*columns, *PARITIES), (1.0,) * 7)
    settings = {"rho": 50.0, "dataset": "parity", "seed": 1, "ledger": tmp_path / "ledger.db", "confirmed": True}
    return Synthesizer(SCHEMA, workload=workload, **(settings | options)).fit(ROWS.to_arrow())


def test_without_a_form_no_generator_takes_it_and_nothing_is_spent(tmp_path, registered):
    registered(Parity(("age",)))
    assert not any(kind().supports(query) for kind in GENERATORS.values() for query in PARITIES)
    with pytest.raises(UserError, match="no method can use all of these queries"):
        run(tmp_path, method="private-gsd")
    assert not (tmp_path / "ledger.db").exists()


def test_with_one_line_the_genetic_search_fits_it(registered, monkeypatch):
    registered(Parity(("age",)))
    monkeypatch.setitem(FORMS, Parity, FORM)
    what_is_supported_is_fitted(Genetic(rows=200), PARITIES)


def test_with_one_line_every_other_room_takes_it(tmp_path, registered, monkeypatch):
    """Measured, fitted, saved, reported, evaluated; and adjusted to."""
    registered(Parity(("age",)))
    monkeypatch.setitem(FORMS, Parity, FORM)
    made = run(tmp_path, method="auto").model  # auto leaves it to the genetic search
    assert "parity" in (made.save(tmp_path / "model") / "released.json").read_text(encoding="utf-8")
    made.report(tmp_path / "report.html")
    assert "parity" in (tmp_path / "report.html").read_text(encoding="utf-8")
    rows = made.rows(1000)
    for score in (
        WorkloadError("max").score(Comparison(ROWS, rows, workload=tuple(PARITIES))),
        RELEASED["measured_max"].score(Measured(made.released, rows)),
    ):
        assert 0 <= score.parts["parity"] < 0.03
    measurements = [Measurement(query, answer(query, ROWS), 1.0, "") for query in PARITIES]
    done = match(key_of(0), some_rows(3000), measurements=measurements, total=1000.0, matching=Matching())
    for query in PARITIES:
        assert np.abs(answer(query, done.rows) / len(done.rows) - answer(query, ROWS) / 1000).max() < 0.02
