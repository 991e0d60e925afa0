"""Six worlds of linked tables whose stored secrets differ release the same bytes; a refusal of their keys is one bit, and no more.

As test_noninterference.py does for one table: what noise and choices return is replaced by constants, and a complete run then says
the same about any of them: files, names, sizes, messages, exit code and ledger.
"""

from unittest import mock

import pytest

from keyed_tables import CARRIED
from privacy import checks, linked_worlds
from sundog.domain.linked.package import Package
from sundog.errors import UserError
from sundog.private.table import PrivateTables, open_private
from sundog.sources import linked, linked_keys

OPTIONS = ("--schema", "schema.json", "--epsilon", "1", "--delta", "1e-6")
SYNTHESIZE = ("synthesize", ".", *OPTIONS, "--seed", "5", "-o", "out")
MEASURE = ("measure", ".", *OPTIONS, "-o", "released.json")
GENERATE = ("generate", "released.json", "--seed", "7", "-o", "generated")
INPUTS = ("schema.json", *linked_worlds.FILES)


def check(folder, every, carried, *commands, **options):
    document = linked_worlds.package(carried)
    return checks.check_noninterference(folder, every, *commands, document=document, inputs=INPUTS, **options)


@pytest.mark.parametrize("carried", CARRIED)
def test_worlds_release_the_same_bytes(tmp_path, carried):
    (outcome,) = check(tmp_path, linked_worlds.worlds(carried), carried, SYNTHESIZE)
    assert {"out/released.json", "out/certificate.json", "out/synthetic.cards.csv"} < set(outcome.files)
    assert linked_worlds.SECRET.encode() not in outcome.everything


@pytest.mark.long
def test_worlds_of_which_units_are_replaced(tmp_path):
    replace = (*SYNTHESIZE, "--neighbours", "replace")
    check(tmp_path, linked_worlds.worlds("unit key"), "unit key", replace)


@pytest.mark.long
def test_worlds_measured_and_generated_apart(tmp_path):
    check(tmp_path, linked_worlds.worlds("composite"), "composite", MEASURE, GENERATE)


@pytest.mark.parametrize("carried", CARRIED)
def test_refused_keys_tell_one_bit(tmp_path, carried):
    (outcome,) = check(tmp_path, linked_worlds.refused(carried), carried, SYNTHESIZE, code=2)
    assert "Nothing was charged" in outcome.stderr
    assert not outcome.files
    assert [entry["mechanism"] for entry in outcome.ledger] == ["disclosed"]


def test_what_a_world_writes_is_read(tmp_path):
    """Otherwise worlds would be equal because none of them is looked at."""
    package = Package.from_json(linked_worlds.package("alone"))
    seen = []
    for number, write in enumerate(linked_worlds.worlds("alone").values()):
        place = tmp_path / str(number)
        place.mkdir()
        write(place)
        source = open_private(PrivateTables(package, {name: place / f"{name}.csv" for name in linked_worlds.TABLES}))
        seen.append(tuple(len(source.parents_of(name)[0]) for name in linked_worlds.TABLES))
    assert seen[0] == seen[1] == (30, 30, 30, 30)  # orphans are nobody's
    assert len(set(seen)) == 5


def names_their_number(table, keys):
    if not linked_keys.names_one_each(keys):
        raise UserError(f"table {table.name!r}: of {len(keys)} keys some are missing or repeated. Nothing was charged.")


def orphans_refused(table, keyed, parent, *, root, below=linked._below):
    place, above = below(table, keyed, parent, root=root)
    if len(place) < len(keyed):
        raise UserError("a row has no parent")
    return place, above


def test_mutant_a_refusal_that_tells_how_many_keys_there_are(tmp_path):
    with (
        mock.patch.object(linked, "refuse_repeated", names_their_number),
        pytest.raises(AssertionError, match="homes without a key: other words"),
    ):
        check(tmp_path, linked_worlds.refused("alone"), "alone", SYNTHESIZE, code=2)


def test_mutant_orphans_are_refused(tmp_path):
    every = {name: world for name, world in linked_worlds.worlds("alone").items() if name in ("ordinary", "orphans")}
    with (
        mock.patch.object(linked, "_below", orphans_refused),
        pytest.raises(AssertionError, match="orphans: exit code 2"),
    ):
        check(tmp_path, every, "alone", SYNTHESIZE)
