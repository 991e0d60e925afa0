"""The law of linked tables, on random small databases with nasty keys: a seeded few dozen here, hundreds of every source with `slow`.

`make audit` tries 10,000 (linked_audit.py). Wrong versions of every rule are in mutation/named.toml; here each is put in, and the
databases that see it are among those on which the law holds.
"""

import functools
from pathlib import Path

import pytest

from linked_forms import FORMS, holds
from mutation.faults import fault_in, named
from privacy.linked_law import FAILED, agree, alone, answers, broken, encoded, pack, same

CASES = 8
SHORT = {
    "texts": ("lists", "text", 0, None),
    "types": ("lists", "typed", 0, None),
    "types in one column": ("lists", "mixed", 0, None),
    "types of Python": ("lists", "python", 0, None),
    "some children with the unit's key": ("lists", "mixed", 10, None),
    "missing cells of lists": ("lists", "mixed", 3, None),
    "NaN": ("Arrow", "typed", 3, "float"),
    "keys of several parts": ("lists", "text", 37, "parts"),
    "case": ("lists", "text", 1, "case"),
    "normal forms": ("lists", "text", 0, "forms"),
    "zero bytes": ("lists", "text", 0, "bytes"),
    "very long keys": ("lists", "text", 0, "long"),
    "missing keys of units": ("lists", "text", 8, "missing"),
    "missing keys of parents": ("lists", "text", 9, "missing"),
}
"""Packs of cases: the source, what it holds, the seed, and what its keys are about."""
SEEN_IN = {
    "keys are not checked": "texts",
    "missing keys pass the check": "texts",
    "only the root's key is checked": "types",
    "one child that carries the root's key is enough": "some children with the unit's key",
    "NULL is a key": "missing keys of parents",
    "missing keys of every form are one key": "texts",
    "NaN is a key": "NaN",
    "NaN and NaT in lists are texts": "missing cells of lists",
    "a declared missing text is a key": "types of Python",
    "a declared missing number is a key": "types",
    "quoted empty text is a key": "texts",
    "all rows of a parent are used": "texts",
    "the bound is on a parent's key in all units together": "types in one column",
    "the first rows of a table are used": "texts",
    "which rows are used depends on how many there are": "texts",
    "which rows are used depends on the keys of others": "texts",
    "equal places in a sequence follow the order of the table": "types in one column",
    "rows are joined without the key of their unit": "types in one column",
    "rows that name another unit than their parent's are kept": "types in one column",
    "parts of a key are joined without a separator": "keys of several parts",
    "parts of a key are separated by a colon alone": "keys of several parts",
    "numbers of two keys are added": "types in one column",
    "keys are compared without spaces around them": "texts",
    "keys are compared without case": "case",
    "keys are compared in one normal form": "normal forms",
    "keys are compared as numbers": "texts",
    "keys are cut to a thousand bytes": "very long keys",
    "keys end at a zero byte": "zero bytes",
    "rows are shared among all units": "texts",
    "rows are shared below a parent": "types in one column",
    "a missing key of the root is a unit": "missing keys of units",
}
"""Which pack sees a fault; where the generator changes, `linked_audit.py --faults` says which one does."""


def short_pack(name):
    form, holder, seed, about = SHORT[name]
    return form, pack(seed, CASES, holder=holder, about=about)


def check(made, found, said):
    """No database of a pack breaks a law."""
    laws = broken(made, found)
    assert not laws, f"{said}: {dict(laws)}"


def check_short(name, folder):
    form, made = short_pack(name)
    check(made, answers(made, form, folder), name)


@pytest.mark.parametrize("name", SHORT)
def test_no_unit_moves_a_total_by_more_than_is_stated(name, tmp_path):
    check_short(name, tmp_path)


@functools.cache
def faults():
    return {fault.name.removeprefix("linked: "): fault for fault in named() if fault.name.startswith("linked: ")}


@pytest.mark.parametrize("name", SEEN_IN)
def test_wrong_versions_are_found(name, tmp_path):
    with fault_in(faults()[name]), pytest.raises(AssertionError):
        check_short(SEEN_IN[name], tmp_path)


def test_every_fault_is_tried():
    assert set(faults()) == set(SEEN_IN)


# --- sources ------------------------------------------------------------------------------------------------------


def server_of(form, request):
    return {"url": request.getfixturevalue("postgresql_url")} if form == "PostgreSQL" else {}


def check_source(form, folder, made, **server):
    """Rows, keys and hashes are bit for bit those of lists."""
    folder.mkdir()
    lists = encoded(made, "lists", folder)
    assert same(lists, encoded(made, form, folder, **server)), f"{form} differs from lists"


OTHERS = [form for form in FORMS if form != "lists"]


@pytest.mark.parametrize("form", OTHERS)
def test_sources_make_the_same_of_the_same_cells(form, tmp_path, request):
    (holder, *_), server = FORMS[form][0], server_of(form, request)
    check_source(form, tmp_path / "both", pack(1, 2, holder=holder, about="signs"), **server)


@pytest.mark.parametrize("form", ["CSV", "DuckDB"])
def test_databases_of_their_own_are_read_like_those_of_a_pack(form, tmp_path):
    made = pack(2, 1, holder="text")
    (tmp_path / "together").mkdir()
    assert agree(alone(made, form, tmp_path), answers(made, form, tmp_path / "together"))


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_the_law_on_hundreds_of_databases(form, tmp_path, request):
    server = server_of(form, request)
    for holder in FORMS[form][0]:
        for seed in range(100, 112):
            made = pack(seed, 10, holder=holder)
            if holds(form, made.shape):
                check_source(form, tmp_path / f"{holder} {seed}", made, **server)
                check(made, answers(made, form, _folder(tmp_path), **server), (form, holder, seed))


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_databases_of_their_own_in_every_source(form, tmp_path, request):
    server = server_of(form, request)
    for holder in FORMS[form][0]:
        made = pack(200, 4, holder=holder)
        if holds(form, made.shape):
            together = answers(made, form, _folder(tmp_path), **server)
            assert agree(alone(made, form, _folder(tmp_path), **server), together)


def _folder(place: Path):
    """A new folder."""
    made = place / str(len(list(place.iterdir())))
    made.mkdir()
    return made


def test_a_run_that_fails_because_of_rows_is_found(tmp_path):
    with (
        fault_in(faults()["all rows of a parent are used"]),
        pytest.raises(AssertionError, match=FAILED),
    ):
        check_short("texts", tmp_path)
