"""Fitted states as plain arrays: every generator's comes back as it was, and nothing else is rebuilt."""

import json

import numpy as np
import pytest

from example_tables import DOCUMENT, table
from sundog import Synthesizer, load
from sundog.api.fitted import save_fitted
from sundog.domain import Schema
from sundog.errors import UserError
from sundog.generate import GENERATORS
from sundog.generate.independent import Independent
from sundog.generate.stored import NotStorable, rebuilt, stored
from sundog.random.keys import key_of

SCHEMA = Schema.from_json(DOCUMENT)
QUICK = {
    "auto": {},
    "independent": {},
    "mst": {"iterations": 30},
    "private-gsd": {"rows": 200, "generations": 2000},
    "privpgd": {"particles": 10_000, "epochs": 1, "steps": 2},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("stored")
    made = Synthesizer(DOCUMENT, epsilon=2.0, delta=1e-6, dataset="d", ledger=place / "l", seed=3).fit(table(1000))
    return made.save(place / "model"), made


@pytest.fixture(scope="module", params=QUICK)
def of_method(request, tmp_path_factory):
    place = tmp_path_factory.mktemp(request.param)
    return (
        Synthesizer(
            DOCUMENT,
            epsilon=2.0,
            delta=1e-6,
            method=request.param,
            settings=QUICK[request.param],
            dataset="d",
            ledger=place / "l",
            seed=3,
        )
        .fit(table(500))
        .model
    )


def test_every_state_comes_back(of_method, tmp_path):
    again = load(of_method.save(tmp_path / "model"))
    assert not again.refitted
    assert again.sample(100, seed=1).equals(of_method.sample(100, seed=1))


HARMS = {
    "negative": lambda array: np.full_like(array, -1) if array.dtype.kind != "u" else array,
    "huge": lambda array: np.full_like(array, np.inf if array.dtype.kind == "f" else np.iinfo(array.dtype).max),
    "no number": lambda array: np.full_like(array, np.nan) if array.dtype.kind == "f" else array.astype(float) + 0.5,
    "zero": np.zeros_like,
    "empty": lambda array: array[..., :0],
    "longer": lambda array: np.concatenate([array, array]),
    "deeper": lambda array: array[None],
}


def nodes_of(tree):
    """The places of a stored tree that refer to arrays."""
    if isinstance(tree, dict) and "array" in tree:
        return [tree]
    parts = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ()
    return [node for part in parts for node in nodes_of(part)]


def check_harmed(generator, state, schema, *, harm):
    """Whatever passes the checks can be drawn from; what cannot be drawn from does not pass."""
    tree, arrays = stored(state, schema)
    refused = 0
    for node in nodes_of(tree):
        sound, shape = arrays[node["array"]], node["shape"]
        arrays[node["array"]] = HARMS[harm](sound)
        node["shape"] = list(arrays[node["array"]].shape)
        try:
            assert len(generator.sample(key_of(0), rebuilt(tree, arrays, schema), rows=20)) == 20
        except UserError:
            refused += 1
        arrays[node["array"]], node["shape"] = sound, shape
    assert refused or harm in ("negative", "zero", "no number")
    rebuilt(tree, arrays, schema)


@pytest.mark.parametrize("harm", HARMS)
def test_harmed_arrays_are_refused_or_harmless(of_method, harm):
    check_harmed(of_method.recipe.generator, of_method.state, of_method.released.schema, harm=harm)


@pytest.mark.parametrize("name", GENERATORS)
def test_so_are_those_of_every_generator(name):
    generator = GENERATORS[name]()
    state = generator.init(key_of(0), SCHEMA)
    for harm in HARMS:
        check_harmed(generator, state, SCHEMA, harm=harm)


def test_the_state_of_another_method_is_not_used(of_method, folder, tmp_path):
    place = copied(folder[0], tmp_path / "model")
    save_fitted(
        Independent().init(key_of(0), SCHEMA),
        place,
        schema=of_method.released.schema,
        settings=json.loads((place / "model.json").read_text(encoding="utf-8")),
    )
    assert load(place).refitted


def test_the_same_release_gives_the_same_bytes(folder, tmp_path):
    place, made = folder
    other = made.save(tmp_path / "again")
    assert (other / "fitted.npz").read_bytes() == (place / "fitted.npz").read_bytes()


def copied(place, target):
    target.mkdir()
    for file in place.iterdir():
        (target / file.name).write_bytes(file.read_bytes())
    return target


def absent(place):
    (place / "fitted.npz").unlink()


def damaged(place):
    (place / "fitted.npz").write_bytes(b"PK not a zip")


def pickled(place):
    np.savez(place / "fitted.npz", head=np.array([{"a": print}], dtype=object))


def of_another_release(place):
    text = (place / "released.json").read_text(encoding="utf-8")
    (place / "released.json").write_text(text + " ", encoding="utf-8")


def with_another_seed(place):
    settings = json.loads((place / "model.json").read_text(encoding="utf-8"))
    (place / "model.json").write_text(json.dumps(settings | {"seed": 4}), encoding="utf-8")


def without_an_array(place):
    with np.load(place / "fitted.npz", allow_pickle=False) as file:
        parts = {name: file[name] for name in file.files}
    parts.popitem()
    np.savez_compressed(place / "fitted.npz", **parts)


@pytest.mark.parametrize("harm", [absent, damaged, pickled, of_another_release, with_another_seed, without_an_array])
def test_a_state_that_is_not_of_this_release_is_not_used(harm, folder, tmp_path):
    place = copied(folder[0], tmp_path / "model")
    harm(place)
    again = load(place)
    assert again.refitted
    assert "fitted again" in again.note


def test_a_setting_of_measuring_that_is_no_more_does_not_close_a_model_that_was_paid_for(folder, tmp_path):
    place = copied(folder[0], tmp_path / "model")
    settings = json.loads((place / "model.json").read_text(encoding="utf-8"))
    for removed in ("workload.bins", "bins.removed"):
        (place / "model.json").write_text(json.dumps(settings | {"settings": {removed: 8}}), encoding="utf-8")
        again = load(place)
        assert again.refitted
        assert again.recipe.settings == ()
    (place / "model.json").write_text(json.dumps(settings | {"settings": {"nonsense": 8}}), encoding="utf-8")
    with pytest.raises(UserError, match="no setting 'nonsense'"):
        load(place)


def test_codes_outside_a_column_never_reach_a_kernel(folder, tmp_path):
    place = copied(folder[0], tmp_path / "model")
    with np.load(place / "fitted.npz", allow_pickle=False) as file:
        parts = {name: file[name] for name in file.files}
    cells = next(name for name in parts if name != "head" and parts[name].dtype.kind in "iu")
    parts[cells] = np.full_like(parts[cells], 120)
    np.savez_compressed(place / "fitted.npz", **parts)
    assert load(place).refitted


STATE = Independent().init(key_of(0), SCHEMA)
TREE, ARRAYS = stored(STATE, SCHEMA)
WRONG = [
    {"class": "Popen", "fields": {}},
    {"class": "IndependentState", "fields": {}},
    {"class": "Leaves", "fields": {}},
    {"value": [1]},
    {"column": "nobody"},
    {"unknown": 1},
    {"array": 99, "type": "<f8", "shape": [1]},
    {"array": 0, "type": "O", "shape": [5]},
    {"array": 0, "type": "<f8", "shape": [4]},
    {"value": 1},
    [],
    None,
]


@pytest.mark.parametrize("tree", WRONG, ids=str)
def test_nothing_else_is_rebuilt(tree):
    with pytest.raises((NotStorable, UserError, StopIteration)):
        rebuilt(tree, ARRAYS, SCHEMA)


def test_what_is_no_plain_state_is_not_stored():
    assert rebuilt(TREE, ARRAYS, SCHEMA).columns[0].axis == STATE.columns[0].axis
    with pytest.raises(NotStorable):
        stored(object(), SCHEMA)
    with pytest.raises(NotStorable):
        stored(np.array([None]), SCHEMA)
    with pytest.raises(NotStorable):
        stored(Schema.from_json({"fields": DOCUMENT["fields"][:1]}), SCHEMA)


def test_a_changed_state_is_not_used(tmp_path):
    """Whoever hands a release over can give any arrays their right digest: here weights whose sum overflows."""
    made = Synthesizer(DOCUMENT, rho=1.0, method="independent", dataset="d", ledger=tmp_path / "l", seed=3)
    folder = made.fit(table(300)).save(tmp_path / "model")
    with np.load(folder / "fitted.npz") as file:
        arrays = {name: file[name] for name in file.files}
    changed = {name: array if name == "head" else np.full_like(array, 1e308) for name, array in arrays.items()}
    np.savez(folder / "fitted.npz", **changed)
    loaded = load(folder)
    assert "fitted again" in loaded.note
    assert loaded.sample(50).num_rows == 50
