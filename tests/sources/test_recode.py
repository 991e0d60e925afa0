"""Dictionaries of texts get the codes that the same texts get cell by cell."""

from unittest import mock

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from sundog.domain import Schema
from sundog.domain.unit import PrivacyUnit
from sundog.sources import open_table
from sundog.sources.plain import folded as unfold
from sundog.sources.recode import Recoder

SCHEMA = Schema.from_json(
    {
        "name": "texts",
        "missingValues": ["", "none"],
        "fields": [
            {"name": "label", "type": "string", "categories": ["a", "b", "ü"]},
            {"name": "number", "type": "integer", "constraints": {"minimum": 0, "maximum": 9}},
            {"name": "truth", "type": "boolean", "trueValues": ["yes"], "falseValues": ["no"]},
        ],
    }
)
CELLS = {
    "label": ["a", "b", None, "ü", "other", "", "a", "none"],
    "number": ["3", "x", None, "12", "-1", "none", "3", ""],
    "truth": ["yes", "no", None, "yes", "other", "", "no", "none"],
}
HALVES = (slice(0, 4), slice(4, 8))


def folded(cells):
    """Two batches of which each has a dictionary of its own, in another order."""
    return pa.table({name: _chunks(values) for name, values in cells.items()})


def _chunks(values):
    chunks = [pa.array(values[half], pa.string()).dictionary_encode() for half in HALVES]
    return pa.chunked_array([chunks[0], _reversed(chunks[1])])


def _reversed(array):
    last = len(array.dictionary) - 1
    places = pa.array([None if place is None else last - place for place in array.indices.to_pylist()], pa.int32())
    return pa.DictionaryArray.from_arrays(places, array.dictionary.take(pa.array(range(last, -1, -1))))


def write(path, table):
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
        for batch in table.to_batches():
            writer.write_batch(batch)
    return str(path)


def codes(data):
    rows = open_table(data).read(SCHEMA)
    return [rows.column(name).tolist() for name in SCHEMA.names]


@pytest.fixture
def files(tmp_path):
    plain = pa.table({name: pa.array(values, pa.string()) for name, values in CELLS.items()})
    return write(tmp_path / "plain.arrows", plain), write(tmp_path / "folded.arrows", folded(CELLS))


def agree(files):
    plain, dictionaries = files
    assert open_table(dictionaries).folded == set(SCHEMA.names)
    return codes(plain) == codes(dictionaries)


def test_dictionaries_have_the_codes_of_their_texts(files):
    assert agree(files)


def test_texts_and_numbers_of_dictionaries(files):
    plain, dictionaries = (open_table(path) for path in files)
    assert plain.value_counts("label", PrivacyUnit()) == dictionaries.value_counts("label", PrivacyUnit())
    assert np.array_equal(plain.numbers("number"), dictionaries.numbers("number"), equal_nan=True)


@pytest.mark.parametrize("column", ["label", "truth"])
def test_units_of_dictionaries(files, column):
    unit = PrivacyUnit(column=column, rows=1)

    def add(rows, out):
        np.add.at(out, rows.column("label"), 1)

    plain, dictionaries = (open_table(path).add_up(SCHEMA, unit, add=add, size=9) for path in files)
    assert np.array_equal(plain, dictionaries)


def test_cells_that_are_no_text_and_places_that_are_none(tmp_path):
    texts = pa.array([b"a", b"\xff", b"b"]).view(pa.string())
    indices = pa.Array.from_buffers(pa.int32(), 5, [None, pa.py_buffer(np.array([2, -7, 99, 1, 0], dtype=np.int32))])
    damaged = pa.DictionaryArray.from_arrays(indices, texts, safe=False)
    table = pa.table({"label": damaged, "number": pa.array(["1"] * 5), "truth": pa.array(["no"] * 5)})
    null = SCHEMA.columns[0].null_code
    assert codes(write(tmp_path / "damaged.arrows", table))[0] == [1, null, null, null, 0]


def test_parquet_of_few_texts_is_read_as_dictionaries(tmp_path, files):
    path = tmp_path / "few.parquet"
    parquet.write_table(pa.table(CELLS), path)
    assert open_table(str(path)).folded == set(SCHEMA.names)
    assert codes(str(path)) == codes(files[0])


def _first_dictionary_for_all(recoder, array):
    places, values = unfold(array)
    recoder._last = recoder._last or (values, recoder._answers(values))
    return recoder._last[1].take(pa.array(np.clip(places, -1, len(recoder._last[0])) + 1))


def _null_is_the_first(recoder, array):
    places, values = unfold(array)
    return recoder._answers(values).take(pa.array(np.clip(places, 0, len(values)) + 1))


@pytest.mark.parametrize("mutant", [_first_dictionary_for_all, _null_is_the_first])
def test_wrong_recoders_are_found(files, mutant):
    with mock.patch.object(Recoder, "apply", mutant):
        assert not agree(files)
