"""Synthetic rows in parts: reproducible one by one, whole or not there, resumable, with all constraints."""

import errno
import json
import re
from datetime import date

import pyarrow as pa
import pytest
from pyarrow import parquet

import tables
from privacy.stand_ins import run_command
from sundog import Synthesizer, UserError, load, verify
from sundog.api import making, parts
from sundog.api.parts import Parts, write_parts
from sundog.evaluate.violations import violations
from sundog.sources import open_table

FIELDS = [
    {"name": "id", "type": "integer", "identifier": True, "sundog": {"regenerate": True}},
    {"name": "code", "type": "string", "identifier": True, "sundog": {"regenerate": True}},
    {"name": "low", "type": "integer", "constraints": {"minimum": 0, "maximum": 9, "required": True}},
    {"name": "high", "type": "integer", "constraints": {"minimum": 0, "maximum": 9, "required": True}},
    {"name": "ward", "categories": ["a", "b"], "constraints": {"required": True}},
    {"name": "floor", "type": "integer", "categories": [1, 2], "constraints": {"required": True}},
    {"name": "twice", "type": "integer", "derived": "low * 2"},
    {
        "name": "came",
        "type": "date",
        "constraints": {"minimum": "2020-01-01", "maximum": "2020-12-31", "required": True},
    },
    {
        "name": "left",
        "type": "date",
        "relativeTo": "came",
        "offset": {"minimum": 0, "maximum": 9},
        "constraints": {"required": True},
    },
]
DOCUMENT = {
    "name": "wards",
    "fields": FIELDS,
    "constraints": [
        {"name": "order", "kind": "compare", "left": "low", "operator": "<=", "right": "high"},
        {"name": "floors", "kind": "determines", "columns": ["ward"], "column": "floor", "map": {"a": 1, "b": 2}},
    ],
}


def wards(rows=300):
    low = [k % 10 for k in range(rows)]
    return {
        "id": list(range(rows)),
        "code": [str(k) for k in range(rows)],
        "low": low,
        "high": [max(a, (a * 7 + k) % 10) for k, a in enumerate(low)],
        "ward": ["ab"[k % 2] for k in range(rows)],
        "floor": [1 + k % 2 for k in range(rows)],
        "twice": [2 * a for a in low],
        "came": [date(2020, 1, 1 + k % 20) for k in range(rows)],
        "left": [date(2020, 1, 1 + k % 20 + k % 9) for k in range(rows)],
    }


def fitted(document=DOCUMENT, table=None, **options):
    made = Synthesizer(document, epsilon=2.0, delta=1e-9, method="independent", seed=5, **options)
    return made.fit(wards() if table is None else table).model


def test_batches_have_their_sizes_and_come_out_the_same_one_by_one():
    model = fitted()
    batches = list(model.sample_batches(250, batch_rows=100))
    assert [len(batch) for batch in batches] == [100, 100, 50]
    assert next(model.sample_batches(250, batch_rows=100, first=1)).equals(batches[1])
    assert not batches[0].drop_columns(["id", "code"]).equals(batches[1].drop_columns(["id", "code"]))
    assert next(model.sample_batches(10**12, batch_rows=100, first=1))["low"].equals(batches[1]["low"])
    other = next(model.sample_batches(250, batch_rows=100, seed=6))
    assert not other.equals(batches[0])
    assert next(model.sample_batches(250, batch_rows=100, seed=6)).equals(other)


def test_identifiers_go_on_from_batch_to_batch():
    table = pa.concat_tables(fitted().sample_batches(250, batch_rows=100))
    assert table["id"].to_pylist() == list(range(1, 251)) or table["id"].to_pylist() == [
        f"{k:03d}" for k in range(1, 251)
    ]
    assert table["code"].to_pylist() == [f"{k:03d}" for k in range(1, 251)]


def test_constraints_hold_in_every_batch():
    model = fitted()
    for batch in model.sample_batches(400, batch_rows=100):
        rows = open_table(batch).read(model.released.schema)
        assert set(violations(rows).values()) == {0}
        assert batch["twice"].to_pylist() == [2 * low for low in batch["low"].to_pylist()]
        days = [
            (left - came).days for came, left in zip(batch["came"].to_pylist(), batch["left"].to_pylist(), strict=True)
        ]
        assert 0 <= min(days) <= max(days) <= 9
    for batch in model.sample_batches(60, batch_rows=20, where="low >= 5"):
        assert min(batch["low"].to_pylist()) >= 5


def test_what_only_a_whole_table_has_is_refused():
    learned = [dict(DOCUMENT["constraints"][1])]
    del learned[0]["map"]
    model = fitted({**DOCUMENT, "constraints": learned})
    with pytest.raises(
        UserError, match="the constraint 'floors' follows what is most common among the rows of one table"
    ):
        model.sample_batches(100)
    adjusted = fitted(adjust="columns")
    with pytest.raises(UserError, match="a release that was adjusted is one table of weighted rows"):
        adjusted.sample_batches(100)


@pytest.mark.parametrize("rows", [0, -1, 2.5, "many", 2**41])
def test_a_number_of_rows_that_is_none(rows):
    with pytest.raises(UserError, match="rows: found"):
        fitted().sample_batches(rows)


# --- releases -------------------------------------------------------------------------------------------------------


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder with measurements; a release of more than 50 rows comes in parts of 20."""
    tables.write_csv(tmp_path / "data.csv", wards())
    (tmp_path / "schema.json").write_text(json.dumps(DOCUMENT), encoding="utf-8")
    options = ("--schema", "schema.json", "--epsilon", "1", "--delta", "1e-9", "--method", "independent")
    assert run_command(tmp_path, "measure", "data.csv", *options, "-o", "released.json").code == 0
    small = lambda where: Parts(where.rows, 20, where=where.where) if where.rows and where.rows > 50 else None  # noqa: E731
    monkeypatch.setattr(making, "parts_for", small)
    monkeypatch.setattr(parts, "_workers", lambda wanted: 1)
    parts._model.cache_clear()
    yield tmp_path
    parts._model.cache_clear()


def generate(place, *options, out="out"):
    base = ("--method", "independent", "--seed", "3", "--format", "parquet", "-o", out)
    return run_command(place, "generate", "released.json", *base, *options)


def tables_in(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.glob("synthetic.*"))}


def test_a_release_in_parts(place):
    outcome = generate(place, "--rows", "1.1e2", "--json")
    assert outcome.code == 0, outcome.stderr
    told = json.loads(outcome.stdout)
    names = [f"synthetic.part-{k:05d}.parquet" for k in range(6)]
    assert list(tables_in(place / "out")) == names
    assert told["rows"] == 110
    assert [name for name in told["files"] if "part-" in name] == [f"out/{name}" for name in names]
    assert all((place / file).exists() for file in told["files"])
    held = pa.concat_tables(parquet.read_table(place / "out" / name) for name in names)
    assert len(held) == len(set(held["code"].to_pylist())) == 110
    package = json.loads((place / "out" / "datapackage.json").read_text())
    assert package["resources"][0]["path"] == names
    certificate = json.loads((place / "out" / "certificate.json").read_text())
    assert {*names, "parts.json"} <= set(certificate["files"])
    assert verify(place / "out").holds


def test_a_release_that_fits_is_one_file(place):
    assert generate(place, "--rows", "50").code == 0
    assert list(tables_in(place / "out")) == ["synthetic.parquet"]


@pytest.mark.parametrize("stopped", [2, *(pytest.param(part, marks=pytest.mark.long) for part in (0, 5))])
def test_a_release_that_was_stopped_goes_on_where_it_was(place, monkeypatch, stopped):
    assert generate(place, "--rows", "110").code == 0
    whole = tables_in(place / "out")
    write_part = parts.write_part

    def stop(folder, wanted, part, load):
        if part == stopped:
            (folder / f"synthetic.unfinished-{part:05d}.parquet").write_bytes(
                whole[f"synthetic.part-{part:05d}.parquet"][:100]
            )
            raise KeyboardInterrupt
        return write_part(folder, wanted, part, load)

    monkeypatch.setattr(parts, "write_part", stop)
    assert generate(place, "--rows", "110", out="again").code == 130
    left = {name for name in tables_in(place / "again") if "part-" in name}
    assert left == {name for name in whole if name < f"synthetic.part-{stopped:05d}"}
    monkeypatch.setattr(parts, "write_part", write_part)
    parts._model.cache_clear()
    outcome = generate(place, "--rows", "110", "--resume", out="again")
    assert outcome.code == 0, outcome.stderr
    assert tables_in(place / "again") == whole
    assert verify(place / "again").holds


def test_half_a_part_that_is_taken_for_whole_is_found(place, monkeypatch):
    """What the other name is there for: a writer without it leaves half a part that looks like one."""
    assert generate(place, "--rows", "110").code == 0
    whole = tables_in(place / "out")
    name = "synthetic.part-00003.parquet"
    (place / "out" / name).write_bytes(whole[name][:100])
    assert generate(place, "--rows", "110", "--resume").code == 0
    assert tables_in(place / "out") != whole


def test_several_processes_write_the_same(place, tmp_path):
    model = fitted()
    wanted = Parts(90, 20)
    for name, workers in (("one", 1), ("two", 2)):
        model.save(tmp_path / name)
        told = []
        assert len([*write_parts(tmp_path / name, wanted, load=load, report=told.append, workers=workers)]) == 5
        assert told[-1] == "sampling, 5 of 5 parts"
    assert tables_in(tmp_path / "one") == tables_in(tmp_path / "two")


def test_a_full_disk_is_told_and_leaves_whole_parts(place, monkeypatch):
    def full(table, file):
        file.write(b"PAR1")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(parquet, "write_table", full)
    outcome = generate(place, "--rows", "110")
    assert outcome.code == 2
    assert re.search(
        "the disk of .* is full; the parts that are there are whole. Make room, and go on with --resume", outcome.stderr
    )
    assert not tables_in(place / "out")


def test_going_on_needs_the_same_release(place):
    outcome = generate(place, "--rows", "110", "--resume")
    assert outcome.code == 2
    assert "leave out --resume to begin one" in outcome.stderr
    assert generate(place, "--rows", "110").code == 0
    outcome = generate(place, "--rows", "120", "--resume")
    assert outcome.code == 2
    assert "another number of rows (110); give the same" in outcome.stderr
    (place / "out" / "parts.json").write_text("{}")
    assert "is damaged; start again with --force" in generate(place, "--resume").stderr


def test_a_number_of_rows_may_be_written_short(place):
    for text in ("1.5", "1e99", "-3", "1e-1", "nan", "0x10"):
        outcome = generate(place, "--rows", text)
        assert outcome.code == 2, text


def test_parts_add_up():
    made = Parts(1_000_000_001, 500_000)
    assert made.count == len(made.names) == 2001
    assert sum(made.size(part) for part in range(made.count)) == made.rows
    assert len({len(name) for name in made.names}) == 1
