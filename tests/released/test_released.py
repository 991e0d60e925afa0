"""Released measurements and the certificate: what they say, and how they come back from a file."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tables
from sundog.domain import Schema
from sundog.domain.dialect import Dialect
from sundog.domain.unit import PrivacyUnit
from sundog.errors import UserError
from sundog.queries import Marginal
from sundog.released import Guarantee, Measurement, Payment, Released
from sundog.released.read import read_parts
from sundog.report.certificate import certificate, claim

SCHEMA = tables.schema()


def released(**changes):
    queries = [Marginal.of(SCHEMA, "grade"), Marginal.of(SCHEMA, "cost"), Marginal.of(SCHEMA, "smoker", "age")]
    measurements = tuple(
        Measurement(query, np.arange(query.size, dtype=np.int64) - 3, 2.5, f"clinic#{number}")
        for number, query in enumerate(queries, start=1)
    )
    payments = tuple(
        Payment(m.receipt, "gaussian", m.query.describe(), 0.08, 0.0, {"stddev": 2.5}) for m in measurements
    )
    guarantee = Guarantee(PrivacyUnit("add-remove", "visit", 2), "gaussian", 0.24, 0.0, epsilon=2.0, delta=1e-9)
    return replace(Released(SCHEMA, measurements, guarantee, payments, dataset="clinic", noise="exact"), **changes)


def test_round_trip(tmp_path):
    released().save(tmp_path / "r.json")
    loaded = Released.load(tmp_path / "r.json")
    assert loaded.to_json() == released().to_json()
    assert loaded.schema == SCHEMA
    assert [m.query for m in loaded.measurements] == [m.query for m in released().measurements]
    assert all(m.values.dtype == np.int64 for m in loaded.measurements)
    assert loaded.guarantee == released().guarantee


def test_the_number_of_rows_is_public_or_the_best_estimate():
    assert released(public_rows=77).rows == 77
    assert released(public_rows=0).rows == 1
    one = Marginal.of(SCHEMA, "grade")
    precise, rough = (
        Measurement(one, np.array([total, 0, 0]), stddev, "r") for total, stddev in ((100, 1.0), (200, 10.0))
    )
    assert released(measurements=(precise, rough)).rows == 101
    assert released(measurements=(Measurement(one, np.array([-50, 0, 0]), 1.0, "r"),)).rows == 1
    with pytest.raises(UserError, match="no measurement states the number of rows; say how many with --rows"):
        _ = released(measurements=()).rows


MALFORMED = [
    "",
    "[]",
    "5",
    "{}",
    '{"format": "sundog-released-1"}',
    '{"format": "something else"}',
    "\x00",
]


@pytest.mark.parametrize("text", MALFORMED)
def test_what_is_no_release_is_refused(tmp_path, text):
    path = tmp_path / "r.json"
    path.write_text(text)
    with pytest.raises(UserError, match=r"not a file of released measurements|is not JSON|expected an object"):
        Released.load(path)


def places(document, path=()):
    """The paths of all values in a document."""
    yield path
    inner = (
        document.items() if isinstance(document, dict) else enumerate(document) if isinstance(document, list) else ()
    )
    for key, value in inner:
        yield from places(value, (*path, key))


def changed(document, path, value):
    made = json.loads(json.dumps(document))
    spot = made
    for key in path[:-1]:
        spot = spot[key]
    spot[path[-1]] = value
    return made


DOCUMENT = released().to_json()
PLACES = [path for path in places(DOCUMENT) if path and path[0] != "schema" and "values" not in path[:-1]]
ODD = [None, [], {}, "", "x", -1, 0, 1.5, 10**30, True, [1, "x"], [[1]], {"query": "marginal"}, float("nan"), "1e9"]


@settings(max_examples=150)
@given(st.sampled_from(PLACES), st.sampled_from(ODD))
def test_a_damaged_release_is_refused_or_read(tmp_path_factory, path, value):
    """Never anything but a sentence; what loads can be saved again."""
    file = tmp_path_factory.mktemp("r") / "r.json"
    file.write_text(json.dumps(changed(DOCUMENT, path, value)))
    try:
        loaded = Released.load(file)
    except UserError:
        return
    json.dumps(loaded.to_json())
    assert len(loaded.measurements) <= 3


@pytest.mark.parametrize("stddev", [-1.0, 0.0, float("nan"), float("inf")])
def test_a_wrong_standard_deviation_is_refused(tmp_path, stddev):
    (tmp_path / "r.json").write_text(json.dumps(changed(DOCUMENT, ("measurements", 0, "stddev"), stddev)))
    with pytest.raises(UserError, match="not a file of released measurements"):
        Released.load(tmp_path / "r.json")


WRONG_PAYMENTS = [("stddev", "x"), ("scale", None), ("rho", 0.0), ("receipt", "x")]


@pytest.mark.parametrize(("name", "value"), WRONG_PAYMENTS)
def test_details_that_a_certificate_cannot_print_or_that_contradict_the_payment_are_refused(name, value):
    payment = {"receipt": "1", "mechanism": "gaussian", "label": "x", "rho": 0.1, "delta": 0.0, "details": {}}
    document = {**DOCUMENT, "payments": [payment]}
    read_parts(document)
    payment["details"] = {name: value}
    with pytest.raises(UserError):
        read_parts(document)


def test_an_epsilon_without_a_delta_is_refused():
    guarantee = {**DOCUMENT["guarantee"], "epsilon": 1.0}
    guarantee.pop("delta", None)
    with pytest.raises(UserError, match="where epsilon is"):
        read_parts({**DOCUMENT, "guarantee": guarantee})


def test_scores_of_nothing_and_a_unit_of_linked_tables_are_refused():
    empty = {"candidates": [], "values": [], "stddev": 1.0, "receipt": "x"}
    with pytest.raises(UserError, match="scores"):
        read_parts({**DOCUMENT, "scores": [empty]})
    guarantee = {**DOCUMENT["guarantee"], "unit": {**DOCUMENT["guarantee"]["unit"], "below": True}}
    with pytest.raises(UserError, match="linked tables, and only they"):
        read_parts({**DOCUMENT, "guarantee": guarantee})


def test_the_claim():
    guarantee = released().guarantee
    assert claim(guarantee) == (
        "(epsilon = 2, delta = 1e-09)-differential privacy (rho = 0.24 zero-concentrated differential privacy), "
        "for all rows of one value of 'visit' (at most 2 are used) added or removed."
    )
    only_rho = replace(guarantee, epsilon=None, delta=None, unit=PrivacyUnit("replace"), delta_spent=1e-6)
    assert claim(only_rho) == (
        "rho = 0.24 zero-concentrated differential privacy except with probability 1e-06, "
        "for one row replaced (the number of rows is public)."
    )


def test_the_certificate_holds_the_payments_and_no_time():
    document = certificate(released(), method="independent")
    assert [line["rho"] for line in document["payments"]] == [0.08] * 3
    assert document["payments"][0]["stddev"] == 2.5
    assert document["rowCount"] == "private, estimated from released totals"
    assert certificate(released(public_rows=5))["rowCount"] == "public"
    words = json.dumps(document).lower()
    for word in ("time", "second", "duration", "date", "path", "/"):
        assert f'"{word}' not in words
    assert json.dumps(certificate(released())) == json.dumps(certificate(released()))


def test_the_certificate_says_where_records_span_lines():
    spanning = Schema.from_json(SCHEMA.to_json() | {"dialect": {"multiline": True}})
    assert certificate(replace(released(), schema=spanning))["records"] is not None
    assert certificate(released())["records"] is None


@pytest.mark.parametrize(("encoding", "said"), [("utf-16", True), ("utf-16le", True), ("utf-8", False)])
def test_the_certificate_says_what_a_record_is_in_utf_16(encoding, said):
    written = replace(released().schema, dialect=Dialect(encoding=encoding))
    found = certificate(replace(released(), schema=written))["records"]
    assert (found is not None and "pairs of bytes" in found) is said


def test_a_delta_above_one_is_none():
    document = released().to_json()
    document["guarantee"] |= {"epsilon": 1.0, "delta": 5}
    with pytest.raises(UserError, match="delta"):
        Released.from_json(document)
