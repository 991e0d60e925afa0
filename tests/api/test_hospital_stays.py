"""A hospital's table through the whole way, three releases at epsilon 1: no absurd row, and stays keep their shape."""

import json
from datetime import date, timedelta

import numpy as np
import pyarrow as pa
import pytest

import stays
import sundog
from sundog.errors import UserError

ROWS = 20_000
REAL = stays.table(ROWS)


@pytest.fixture(scope="module", params=[1, 2, 3])
def release(request, tmp_path_factory):
    ledger = tmp_path_factory.mktemp("stays") / "ledger.sqlite"
    made = sundog.Synthesizer(stays.DOCUMENT, epsilon=1, delta=1e-9, seed=request.param, ledger=ledger).fit(REAL)
    return made, made.model.sample()


def lengths(table):
    return np.array(
        [(b - a).days for a, b in zip(table["admitted"].to_pylist(), table["discharged"].to_pylist(), strict=True)]
    )


def test_every_derivation_is_exact_and_no_row_is_absurd(release):
    for row in release[1].to_pylist():
        assert row["born"] <= row["admitted"] <= row["discharged"]
        assert (row["discharged"] - row["admitted"]).days == row["stay"] <= 90
        assert stays.age(row["born"], row["admitted"]) == row["age"]
        assert 0 <= row["age"] <= 110
        assert row["admitted"].month == row["month"]
        assert round(row["bed"] + row["drugs"], 2) == row["total"]
        assert date(2022, 1, 1) <= row["admitted"] <= date(2023, 12, 31)


def test_offsets_keep_their_shape_within_the_noise(release):
    """The distance was measured, so its distribution is as sharp as the noise allows; medians come out."""
    real, made = lengths(REAL), lengths(release[1])
    assert abs(np.median(made) - np.median(real)) <= 1
    real_share, made_share = (np.bincount(each, minlength=91) / len(each) for each in (real, made))
    assert np.abs(real_share - made_share).sum() / 2 < 0.05
    ages = [np.array(table["age"].to_pylist(), dtype=float) for table in (REAL, release[1])]
    assert abs(np.median(ages[0]) - np.median(ages[1])) <= 3


def test_stays_go_with_what_they_went_with(release):
    table = release[1]
    assert np.corrcoef(lengths(table), table["stay"].to_pylist())[0, 1] > 0.999, "the column of lengths is the length"
    for other in ("bed", "age"):
        real = np.corrcoef(lengths(REAL), REAL[other].to_pylist())[0, 1]
        made = np.corrcoef(lengths(table), table[other].to_pylist())[0, 1]
        assert made > 0.2, f"{other}: {real:.2f} in the real rows"


def test_answers_say_that_they_are_of_the_distance(release):
    model = release[0].model
    distance = model.answer(mean="discharged - admitted").records()[0]
    assert distance[0] == "mean of discharged - admitted (days)"
    assert distance[-1] == "measured"
    half = (distance[3] - distance[2]) / 2
    assert 0.05 < half < 0.4
    assert abs(distance[1] - lengths(REAL).mean()) < 3 * half, (
        "three halves of a 95 % interval: six standard deviations"
    )
    itself = model.answer(quantile={"discharged": 0.5}).records()[0]
    assert itself[-1] == "synthetic"
    middle = sorted(REAL["discharged"].to_pylist())[ROWS // 2]
    assert abs((date.fromisoformat(itself[1]) - middle).days) < 30
    assert model.answer(by="ward", mean="discharged - admitted").records()[0][-1] in (
        "measured",
        "composed",
        "synthetic",
    )
    asked = model.answer(where="discharged >= 2023-07-01 and 'discharged - admitted' <= 3").records()[0]
    real = np.mean([(b >= date(2023, 7, 1)) for b in REAL["discharged"].to_pylist()] * (lengths(REAL) <= 3))
    assert abs(asked[1] / ROWS - real) < 0.05
    with pytest.raises(UserError, match="'discharged' holds no numbers"):
        model.answer(mean="discharged")


def test_a_release_is_saved_and_loaded(release, tmp_path):
    made, table = release
    made.save(tmp_path / "out")
    assert sundog.load(tmp_path / "out").sample().equals(table)
    described = json.loads((tmp_path / "out" / "datapackage.json").read_text())["resources"][0]["schema"]["fields"]
    field = next(field for field in described if field["name"] == "discharged")
    assert field == {
        "name": "discharged",
        "type": "date",
        "constraints": {"minimum": "2022-01-01", "maximum": "2024-03-30", "required": True},
    }
    assert {field["name"] for field in described} == set(table.column_names)


def test_tables_with_offsets_are_evaluated_and_checked(tmp_path):
    """Both sides are encoded alike: another table of the same kind is close, one with other lengths of stay is not."""
    ledger, other = tmp_path / "ledger.sqlite", stays.table(2000, seed=2)
    late = [day + timedelta(days=60) for day in other["discharged"].to_pylist()]
    wrong = other.set_column(1, "discharged", pa.array(late)).drop_columns(["stay"])
    found = sundog.evaluate_tables(
        REAL.slice(0, 4000), {"like": other, "late": wrong}, schema=stays.DOCUMENT, ledger=ledger, learning=False
    )
    like, unlike = found.tables
    assert like.notes == ()
    assert "discharged - admitted" in unlike.notes[0], "some lie beyond the bounds of the distance"
    assert like.scores["tv1"].value < 0.05 < 0.1 < unlike.scores["tv1"].value
    fine = sundog.check_table(REAL, schema=stays.DOCUMENT, ledger=ledger)
    assert not fine.findings
    assert fine.not_in_schema == 0, "derived fields are in the schema, though they are not read"
    checked = sundog.check_table(wrong, schema=stays.DOCUMENT, ledger=ledger)
    assert [name for name, _ in checked.findings] == ["discharged - admitted"]
