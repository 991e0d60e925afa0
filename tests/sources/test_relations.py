"""A draft proposes derivations that hold in every row and offsets that are narrow; what one row contradicts is not proposed."""

from datetime import datetime, timedelta

import numpy as np
import pyarrow as pa
import pytest

import stays
import sundog
from sundog.domain import Schema
from sundog.domain.columns import Categorical, Numeric
from sundog.domain.drafting.relations import Candidate, _outwards, candidates, round_between, without_circles
from sundog.domain.review import Review
from sundog.sources import open_table

ROWS = 1500


def drafted(table, tmp_path):
    document = sundog.draft_schema(table, ledger=tmp_path / "ledger.sqlite", dataset="stays")
    return {field["name"]: field for field in document["fields"]}, document


@pytest.fixture(scope="module")
def wide():
    """The stays, with the moment of arrival and its parts, the ward's code and the ward once more."""
    random = np.random.default_rng(4)
    table = stays.table(ROWS, seed=3)
    days = table["admitted"].to_pylist()
    moments = [
        datetime(d.year, d.month, d.day) + timedelta(minutes=int(m))
        for d, m in zip(days, random.integers(0, 1440, ROWS), strict=True)
    ]
    triage = [moment + timedelta(minutes=int(m)) for moment, m in zip(moments, random.gamma(2, 20, ROWS), strict=True)]
    more = {
        "arrived": moments,
        "seen": triage,
        "year": [day.year for day in days],
        "weekday": [day.isoweekday() for day in days],
        "hour": [moment.hour for moment in moments],
        "score": [stays.WARDS.index(ward) * 7 for ward in table["ward"].to_pylist()],
        "area": ["A" if ward in stays.WARDS[:2] else "B" for ward in table["ward"].to_pylist()],
        "again": table["ward"].to_pylist(),
    }
    for name, cells in more.items():
        table = table.append_column(name, pa.array(cells))
    return table


def test_a_draft_proposes_what_holds_in_every_row(wide, tmp_path):
    fields, document = drafted(wide, tmp_path)
    found = {name: field["derived"] for name, field in fields.items() if "derived" in field}
    assert found == {
        "admitted": "date(arrived)",
        "stay": "floor(days(discharged - admitted))",
        "age": "age(born, admitted)",
        "month": "month(admitted)",
        "total": "bed + drugs",
        "year": "year(admitted)",
        "weekday": "weekday(admitted)",
        "hour": "hour(arrived)",
        "score": "lookup(ward, 'childbirth', 0, 'children', 7, 'geriatrics', 14, 'intensive care', 21, 28)",
        "area": "lookup(ward, 'childbirth', 'A', 'children', 'A', 'geriatrics', 'B', 'intensive care', 'B', 'B')",
        "again": "ward",
    }
    assert all(field["sundog"]["origin"] == "fromData" for field in fields.values())
    assert f"all {ROWS:,} rows" in fields["stay"]["why"]
    made = Schema.from_json(document)
    shown = open_table(wide).read(made).to_arrow()
    for name in found:
        assert shown[name].to_pylist() == wide[name].to_pylist(), f"{name} comes out as it was"
    assert Review(document).questions, "all of it waits for review"


def test_a_draft_proposes_offsets_that_are_narrow(wide, tmp_path):
    fields, _ = drafted(wide, tmp_path)
    assert fields["seen"]["relativeTo"] == "arrived"
    low, high = fields["seen"]["offset"].values()
    assert low == 0
    assert 3600 < high <= 86_400
    assert fields["seen"]["why"].startswith("Its distance from arrived is much narrower than itself")
    assert "relativeTo" not in fields["born"], "people are born at all distances from their stay"
    plain, _ = drafted(stays.table(ROWS, seed=3), tmp_path)
    assert plain["discharged"]["relativeTo"] == "admitted"
    assert plain["discharged"]["offset"]["minimum"] == 0
    assert plain["discharged"]["offset"]["maximum"] % 10 == 0, "rounded outwards"


def numbers(*, seed: int = 1) -> dict[str, list]:
    """Delays, what is called late, the group of a body mass index, and flags that only nearly follow."""
    random = np.random.default_rng(seed)
    delay, mass = random.integers(-20, 90, ROWS), random.integers(15_00, 45_00, ROWS)
    group = np.array(["thin", "usual", "heavy"])[np.digitize(mass, [18_50, 25_00])]
    known = random.random(ROWS) < 0.9
    return {
        "delay": delay.tolist(),
        "late": np.where(delay > 15, "yes", "no").tolist(),
        "mass": [value / 100 if seen else None for value, seen in zip(mass, known, strict=True)],
        "group": [str(name) if seen else None for name, seen in zip(group, known, strict=True)],
        "early": np.where((delay < 0) ^ (np.arange(ROWS) == 7), "yes", "no").tolist(),
    }


def test_labels_of_ranges_of_a_number_are_proposed_with_round_cuts(tmp_path):
    fields, _ = drafted(pa.table(numbers()), tmp_path)
    assert fields["late"]["derived"] == "delay >= 16"
    assert fields["late"]["trueValues"] == ["yes"]
    assert fields["group"]["derived"] == "choose(cut(mass, 18.5, 25), 'thin', 'usual', 'heavy')"
    assert "derived" not in fields["early"], "one row disagrees"


def test_a_label_that_is_missing_elsewhere_is_no_range(tmp_path):
    table = numbers()
    table["group"][table["group"].index("thin")] = None
    fields, _ = drafted(pa.table(table), tmp_path)
    assert "derived" not in fields["group"]


@pytest.mark.parametrize(
    ("low", "high", "found"),
    [(15, 16, 16), (24_98, 25_03, 25_00), (0, 7, 5), (-12, -3, -10), (99, 104, 100), (-1, 3, 0)],
)
def test_cuts_are_the_roundest_that_divide(low, high, found):
    assert round_between(low, high) == found


def test_an_offset_is_never_proposed_from_a_field_that_may_be_missing_for_one_that_may_not(tmp_path):
    table = stays.table(ROWS, seed=3)
    admitted = [None if row % 20 == 0 else day for row, day in enumerate(table["admitted"].to_pylist())]
    changed = table.set_column(table.column_names.index("admitted"), "admitted", pa.array(admitted))
    fields, _ = drafted(changed, tmp_path)
    assert fields["admitted"]["relativeTo"] == "discharged"
    assert fields["discharged"]["constraints"]["required"]
    assert "relativeTo" not in fields["discharged"]


@pytest.mark.parametrize(
    "name", ["stay", *(pytest.param(name, marks=pytest.mark.long) for name in ("age", "month", "total"))]
)
def test_one_row_that_disagrees_is_enough(tmp_path, name):
    table = stays.table(ROWS, seed=3)
    place = table.column_names.index(name)
    cells = table[name].to_pylist()
    for wrong in (cells[-1] + 1, None):
        changed = table.set_column(place, name, pa.array([*cells[:-1], wrong]))
        fields, _ = drafted(changed, tmp_path)
        assert "derived" not in fields[name], wrong


def test_an_empty_table_and_one_column_are_drafted(tmp_path):
    for table in ({"a": [1, 2, 3] * 30}, {"a": pa.array([], pa.int64()), "b": pa.array([], pa.date32())}):
        fields, _ = drafted(pa.table(table), tmp_path)
        assert not any("derived" in field or "relativeTo" in field for field in fields.values())


def test_no_field_is_derived_from_itself():
    a, b, c = (Numeric(name, "integer", 0, 9) for name in "abc")
    circle = [
        Candidate(a, "same", (b,)),
        Candidate(b, "same", (c,)),
        Candidate(c, "same", (a,)),
        Candidate(a, "same", (c,)),
    ]
    assert without_circles(circle) == circle[:2]
    assert without_circles([Candidate(c, "sum", (a, b)), Candidate(a, "sum", (b, c))]) == [Candidate(c, "sum", (a, b))]


def test_names_with_signs_and_labels_with_quotes_are_written_so_that_they_can_be_read():
    key = Categorical("the ward", labels=("a'b", "c"))
    value = Numeric("x", "integer", 0, 9)
    text = Candidate(value, "lookup", (key,)).text([("a'b", 1), ("c", 2)])
    assert text == "lookup(\"the ward\", 'a''b', 1, 2)"
    fields = [{"name": "the ward", "categories": ["a'b", "c"]}, {"name": "x", "type": "integer", "derived": text}]
    assert Schema.from_json({"fields": fields}).derived[0].node.columns == ("the ward",)


def test_the_number_of_candidates_is_bounded():
    many = [Numeric(f"n{k}", "integer", 0, 3000) for k in range(200)]
    assert len(candidates(many)) < 25_000
    assert _outwards(3, 81) == (0, 90)
    assert _outwards(-700, -2) == (-700, 0)
    assert _outwards(5, 5) == (5, 5)
