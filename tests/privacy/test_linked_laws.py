"""The law of linked tables, on random small databases with nasty keys: a seeded few dozen here, hundreds of every source with `make test-all`.

`make audit` tries 10,000 (linked_audit.py). Wrong versions of every rule break the law on the same databases: test_linked_faults.py.
"""

from pathlib import Path

import pytest

from linked_forms import FORMS, holds
from privacy.linked_law import agree, alone, answers, broken, encoded, pack, same

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


def short_pack(name):
    form, holder, seed, about = SHORT[name]
    return form, pack(seed, CASES, holder=holder, about=about)


def check(made, found, said):
    """No database of a pack breaks a law."""
    law = next(broken(made, found), None)
    assert law is None, f"{said}: {law}"


def check_short(name, folder):
    form, made = short_pack(name)
    check(made, answers(made, form, folder), name)


@pytest.mark.parametrize("name", SHORT)
def test_no_unit_moves_a_total_by_more_than_is_stated(name, tmp_path):
    check_short(name, tmp_path)


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


@pytest.mark.long
@pytest.mark.parametrize("form", FORMS)
def test_the_law_on_hundreds_of_databases(form, tmp_path, request):
    server = server_of(form, request)
    for holder in FORMS[form][0]:
        for seed in range(100, 112):
            made = pack(seed, 10, holder=holder)
            if holds(form, made.shape):
                check_source(form, tmp_path / f"{holder} {seed}", made, **server)
                check(made, answers(made, form, _folder(tmp_path), **server), (form, holder, seed))


@pytest.mark.long
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
