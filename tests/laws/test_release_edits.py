"""Every change of a release is found, or the verdict names that it cannot be: random edits of flat, linked and parted releases."""

import json
import shutil
from unittest import mock

import numpy as np
import pandas as pd
import pytest

import linked_tables
from laws import release_edits as edits
from privacy.stand_ins import run_command
from related_tables import DOCUMENT, related
from sundog.api import making, parts, regenerating
from sundog.api import verify as verifying
from sundog.api.parts import Parts
from sundog.api.signing import sign_file
from sundog.api.verify import verify
from sundog.errors import UserError

KINDS = ("flat", "linked", "parted")


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """The releases, unsigned and signed, as the commands make them; the real tables; a key pair; the ledger."""
    from pyarrow import csv

    pytest.importorskip("cryptography")
    place = tmp_path_factory.mktemp("releases")
    _key_pair(place)
    csv.write_csv(related(90, 1).to_text(), place / "data.csv")
    (place / "schema.json").write_text(json.dumps(DOCUMENT))
    for name, columns in linked_tables.tables_of(linked_tables.random_homes(60, seed=3)).items():
        pd.DataFrame(columns).to_csv(place / f"{name}.csv", index=False)
    package = linked_tables.package()
    (place / "datapackage.json").write_text(json.dumps(package | {"resources": package["resources"][:2]}))
    budget = ("--epsilon", "2", "--delta", "1e-6", "--seed", "1")
    small = lambda where: Parts(where.rows, 20) if where.format == "parquet" else None  # noqa: E731
    with mock.patch.object(making, "parts_for", small), mock.patch.object(parts, "_workers", return_value=1):
        flat = ("synthesize", "data.csv", "--schema", "schema.json", "--method", "independent", *budget)
        _run(place, *flat, "-o", "flat")
        _run(place, "synthesize", "datapackage.json", *budget, "-o", "linked")
        more = ("generate", "flat/released.json", "--method", "independent", "--rows", "50", "--format", "parquet")
        _run(place, *more, "-o", "parted")
        for kind in KINDS:
            shutil.copytree(place / kind, place / f"{kind} signed")
            sign_file(place / f"{kind} signed" / "certificate.json", key=place / "key.pem")
        yield place


def _run(place, *arguments):
    outcome = run_command(place, *arguments)
    assert outcome.code == 0, outcome.stderr


def _key_pair(place):
    from cryptography.hazmat.primitives import serialization as how
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    key = Ed25519PrivateKey.generate()
    private = key.private_bytes(how.Encoding.PEM, how.PrivateFormat.PKCS8, how.NoEncryption())
    (place / "key.pem").write_bytes(private)
    public = key.public_key().public_bytes(how.Encoding.PEM, how.PublicFormat.SubjectPublicKeyInfo)
    (place / "key.pub").write_bytes(public)


def edited(world, folder, release, edit, *, seed):
    """A copy of a release after an edit, and which files it changed."""
    shutil.copytree(world / release, folder / "release", symlinks=True)
    forge = edits.Forge(folder / "release", np.random.default_rng(seed), world)
    edit(forge)
    return forge.folder, forge.changed


def left_open(edit, changed):
    """What a verdict may name as not established, in place of finding the edit in the folder alone."""
    if edit in edits.HIDDEN:
        return edits.HIDDEN[edit]
    return "signature" if changed == ["certificate.sig"] else None


def a_signature_shows(world, folder, release, edit, *, seed):
    """Whether the edit is found with the public key, whatever is not drawn again."""
    place, changed = edited(world, folder, release, edit, seed=seed)
    try:
        return not verify(place, key=world / "key.pub", quick=True).holds
    except UserError:
        return "certificate.json" in changed


def is_found_or_named(world, folder, release, edit, *, seed):
    """Whether the edit is found in the folder alone, or named; and found with the ledger where the release was paid for."""
    place, changed = edited(world, folder, release, edit, seed=seed)
    try:
        alone = verify(place)
    except UserError:  # a folder without a certificate that can be read is refused
        return "certificate.json" in changed
    named = {finding.what for finding in alone.not_established}
    found = not alone.holds or left_open(edit, changed) in named
    if edit not in edits.HIDDEN:
        return found
    paid = verify(place, ledger=world / "ledger.sqlite", quick=True)
    if release == "parted":  # `generate` leaves no receipt of its certificate, and the verdict says so
        return found and (not paid.holds or "certificate" in {finding.what for finding in paid.not_established})
    return found and not paid.holds


@pytest.mark.parametrize("release", [f"{kind}{ending}" for kind in KINDS for ending in ("", " signed")])
def test_an_unchanged_release_holds_and_says_by_what(world, release):
    alone = verify(world / release)
    assert alone.holds, alone.differences
    assert {"files", "statements", "rows", "tables"} <= {finding.what for finding in alone.established}
    assert {"origin", *(["signature"] if "signed" in release else [])} == {f.what for f in alone.not_established}
    sealed = verify(
        world / release, ledger=world / "ledger.sqlite", key=world / "key.pub" if "signed" in release else None
    )
    left = {"parted": {"certificate"}}.get(release, set())
    assert {finding.what for finding in sealed.not_established} - {"certificate"} | left == left


@pytest.mark.parametrize("edit", edits.EDITS, ids=lambda edit: edit.__name__)
def test_every_kind_of_edit_is_found_or_named(world, tmp_path, edit):
    assert is_found_or_named(world, tmp_path, "flat", edit, seed=1)


@pytest.mark.parametrize("edit", [edits.the_real_rows, edits.rows_of_another_seed, edits.a_byte_and_its_hash])
@pytest.mark.parametrize("release", ["linked", "parted"])
def test_rows_of_other_releases_are_drawn_again_too(world, tmp_path, release, edit):
    assert is_found_or_named(world, tmp_path, release, edit, seed=2)


@pytest.mark.parametrize("edit", [*edits.HIDDEN, edits.another_signature, edits.a_byte], ids=lambda edit: edit.__name__)
def test_a_signature_covers_everything(world, tmp_path, edit):
    assert a_signature_shows(world, tmp_path, "flat signed", edit, seed=3)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(200))
@pytest.mark.parametrize("kind", KINDS)
def test_two_hundred_edits_are_found_or_named(world, tmp_path, kind, number):
    edit = edits.EDITS[number % len(edits.EDITS)]
    assert is_found_or_named(world, tmp_path, kind, edit, seed=number)
    (tmp_path / "signed").mkdir()
    assert a_signature_shows(world, tmp_path / "signed", f"{kind} signed", edit, seed=number)


def test_an_excuse_is_named_with_its_files(world, tmp_path):
    place, changed = edited(world, tmp_path, "flat", edits.rows_made_elsewhere, seed=1)
    open_ = next(finding for finding in verify(place).not_established if finding.what == "rows")
    assert open_.facts["files"] == changed == ["synthetic.csv"]
    assert any("numpy 1.0" in each for each in open_.facts["elsewhere"])


def test_quick_says_what_it_left_out(world, tmp_path):
    place, _ = edited(world, tmp_path, "flat", edits.rows_of_another_seed, seed=1)
    quick = verify(place, quick=True)
    assert quick.holds
    left = next(finding for finding in quick.not_established if finding.what == "rows")
    assert left.says.startswith("Rows not regenerated (--quick): synthetic.csv")
    assert not verify(place).holds


def as_it_stands(folder, known):
    """A verify that believes the rows."""
    del known
    return {name: digest for name, digest in verifying.hashes(folder).items() if verifying.made(name) != "stated"}


def without_certificates(known):
    """A verify that looks at no certificate, for people or for machines."""
    return {name: text for name, text in regenerating.texts(known).items() if not name.startswith("certificate")}


class Silent(verifying._Verdict):
    """A verify that does not say what it could not establish."""

    def leave(self, what, says, **facts):
        pass


MUTANTS = {
    "rows are not drawn again": ({"redrawn": as_it_stands}, edits.rows_of_another_seed),
    "pages are not made again": ({"redrawn": as_it_stands}, edits.a_page_with_a_script),
    "certificates are not written again": ({"texts": without_certificates}, edits.a_page_with_another_epsilon),
    "hashes alone": ({"redrawn": as_it_stands, "texts": lambda known: {}}, edits.a_certificate_with_more),
    "files are not looked at": ({"_files": lambda *_: iter(())}, edits.a_link),
    "nothing is said of origins": ({"_Verdict": Silent}, edits.another_purpose),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_verify_that_believes_too_much_is_noticed(world, tmp_path, mutant):
    changes, edit = MUTANTS[mutant]
    with mock.patch.multiple(verifying, **changes):
        verdicts = []
        for seed in range(4, 7):
            (tmp_path / str(seed)).mkdir()
            verdicts.append(is_found_or_named(world, tmp_path / str(seed), "flat", edit, seed=seed))
    assert not all(verdicts)
