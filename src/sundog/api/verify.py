"""Verify a release: make every file of it again, or compare it with its hash, and say exactly what that establishes, and by what.

What follows from the measurements and the record is made again (regenerating.py); the certificate itself rests on a signature or on its
receipt in the ledger. What neither covers is named. It reads the release and the ledger, never the private table.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sundog.api.certificate import read_certificate
from sundog.api.claims import claims, statements
from sundog.api.following import following
from sundog.api.receipts import certified, certified_others, matched_receipts, receipt_faults
from sundog.api.regenerating import Known, adjusted_files, explored, redrawn, texts
from sundog.api.release import SEALED, hashes, sha256
from sundog.api.signing import fingerprint, signed_by
from sundog.api.table_checks import table_faults
from sundog.errors import UserError, failure
from sundog.private.ledger import Ledger
from sundog.progress import tell
from sundog.released import Released
from sundog.report.release_files import in_order, is_release_file, is_table, made
from sundog.report.software import Software
from sundog.version import __version__

REWRITTEN = "somebody able to rewrite the whole folder could have changed everything in it consistently"
RECIPE = "what the recorded measurements, method and seed give"
OTHERWISE = {
    "certificate.json": "what follows from released.json, model.json and its own record",
    "certificate.html": "the page of this certificate.json",
    "README.txt": "what follows from released.json",
    "datapackage.json": "what follows from released.json",
}


@dataclass(frozen=True)
class Finding:
    """One thing that was established, or was not: a sentence, and the same as fields."""

    what: str
    says: str
    facts: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON."""
        return {"what": self.what, "says": self.says, **self.facts}


@dataclass(frozen=True)
class Verification:
    """What was established and by what, what was not and why, and what differs; it holds where nothing does."""

    established: tuple[Finding, ...]
    not_established: tuple[Finding, ...]
    differences: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Whether nothing differs."""
        return not self.differences

    @property
    def verdict(self) -> str:
        """One sentence."""
        if not self.holds:
            return "The release differs from what was certified."
        left = "; see what is not established" if self.not_established else ", and nothing is left open"
        return f"Nothing differs{left}."

    def to_json(self) -> dict[str, Any]:
        """Plain JSON."""
        return {
            "holds": self.holds,
            "verdict": self.verdict,
            "established": [each.to_json() for each in self.established],
            "notEstablished": [each.to_json() for each in self.not_established],
            "differences": list(self.differences),
        }


class _Verdict:
    """What is found, while it is being found."""

    def __init__(self) -> None:
        self.yes: list[Finding] = []
        self.open: list[Finding] = []
        self.no: list[str] = []

    def add(self, faults: Iterator[str], what: str, says: str, **facts: Any) -> None:
        """Faults; without any, what their absence establishes."""
        found = list(faults)
        self.no += found
        if not found:
            self.yes.append(Finding(what, says, facts))

    def leave(self, what: str, says: str, **facts: Any) -> None:
        """What is not established."""
        self.open.append(Finding(what, says, facts))


def verify(
    folder: str | Path, *, ledger: str | Path | None = None, key: str | Path | None = None, quick: bool = False
) -> Verification:
    """Check a release folder, making its files again; `quick` leaves out what must be fitted and drawn.

    Args:
        folder: the folder of a release.
        ledger: also check its receipts, and that of its certificate, against this ledger.
        key: also check the signature with this Ed25519 public key (PEM).
        quick: do not fit and draw again; the verdict says so.
    """
    place, found = Path(folder), _Verdict()
    document, actual = read_certificate(place), hashes(place)
    with following():
        unchanged = f"{len(actual)} files are unchanged since certificate.json was written (SHA-256)."
        found.add(_files(place, document["files"], actual), "files", unchanged, files=in_order(actual))
        known = _known(place, document, found)
        if known is not None:
            _stated(place, known, found)
            _again(place, known, actual, found=found, quick=quick)
            tell("checking tables")
            _tables(place, known, in_order(filter(is_table, actual)), found)
    sealed = key is not None and _signed(place, Path(key), found)
    if ledger is not None and known is not None:
        sealed |= _paid(place, known, Ledger(Path(ledger)), found)
    elif not sealed:
        found.leave("origin", f"Neither a signature (--key) nor a ledger (--ledger) was checked: {REWRITTEN}.")
    if key is None and (place / "certificate.sig").exists():
        found.leave("signature", "certificate.sig was not checked: give the public key (--key).")
    return Verification(tuple(found.yes), tuple(found.open), tuple(dict.fromkeys(found.no)))


def _files(folder: Path, stated: Mapping[str, Any], actual: Mapping[str, str]) -> Iterator[str]:
    for name in stated:
        if name not in actual:
            yield f"{name}: the certificate names it, and it is not there."
        elif actual[name] != stated[name]:
            yield f"{name}: it was changed after it was certified."
    for name in (*actual, *SEALED):
        if (folder / name).is_symlink():
            yield f"{name}: it is a link, and what it leads to can change; put the file itself there."
    sealed = {name for name in SEALED if (folder / name).is_file()}
    for name in sorted({path.name for path in folder.iterdir()} - {*stated} - sealed):
        known = "a file that the certificate does not name" if is_release_file(name) else "no part of a release"
        yield f"{name}: {known}; do not publish it with this folder."


def _known(folder: Path, document: Mapping[str, Any], found: _Verdict) -> Known | None:
    """What the release says of itself; where it contradicts itself, that differs."""
    try:
        released = Released.load(folder / "released.json")
    except UserError as error:
        found.no.append(f"released.json: {error}")
        return None
    found.no += claims(released)
    try:
        return Known.of(folder, document, released)
    except UserError as error:
        found.no += [*statements(document, released), str(error)]
        return None


def _stated(folder: Path, known: Known, found: _Verdict) -> None:
    """Texts that follow from measurements and record, written again."""
    again = texts(known)
    other = [name for name, text in again.items() if not _equal(folder / name, text)]
    was = known.software.sundog
    if other and was != __version__:
        says = f"Not regenerated: {_listed(other)}, written by Sundog {was}; this is {__version__}."
        found.leave("statements", says, files=other, why="another version of Sundog")
        found.no += statements(known.document, known.released)
        return
    detailed = [*statements(known.document, known.released)] if "certificate.json" in other else []
    plain = [f"{name}: it is not {OTHERWISE[name]}." for name in other if name != "certificate.json" or not detailed]
    says = f"They say what follows from released.json, model.json and the record: {_listed(again)}."
    found.add(iter([*detailed, *plain]), "statements", says, files=in_order(again))


def _equal(path: Path, text: str) -> bool:
    return path.is_file() and path.read_bytes() == text.encode()


def _again(folder: Path, known: Known, actual: Mapping[str, str], *, found: _Verdict, quick: bool) -> None:
    """Everything else, made again where that is possible."""
    held = {name: digest for name, digest in actual.items() if made(name) not in ("stated", "signature")}
    drawn = in_order(name for name in held if made(name) not in ("measured", "recorded"))
    if known.recorded is None:
        _adjusted(folder, known, held, found)
    elif quick:
        found.leave("rows", f"Rows not regenerated (--quick): {_listed(drawn)}.", files=drawn, why="quick")
    elif known.recorded.settings.get("endedEarly"):
        says = f"Not regenerated: {_listed(drawn)}. Ctrl-C or the clock ended fitting early, which cannot be repeated."
        found.leave("rows", says, files=drawn, why="ended early")
    else:
        _compared(folder, held, lambda: redrawn(folder, known), RECIPE, known=known, found=found)


def _adjusted(folder: Path, known: Known, actual: Mapping[str, str], found: _Verdict) -> None:
    """Of an adjusted table its page alone can be made again: the table that it was made from is not in the folder."""
    files = adjusted_files(actual)
    found.no += _other_names(actual, files)
    left = [name for name in in_order(files) if made(name) == "matched" and name in actual]
    says = f"Not regenerated: {_listed(left)}. The table from which they were made is not in the folder."
    found.leave("rows", says, files=left, why="table not in the folder")
    page = {name: digest for name, digest in actual.items() if name == "explore.html"}
    table = next((name for name in left if is_table(name)), None)
    if table is not None and page:
        _compared(
            folder, page, lambda: explored(folder, known, table), f"the page of {table}", known=known, found=found
        )


def _compared(
    folder: Path,
    actual: Mapping[str, str],
    make: Callable[[], Mapping[str, str]],
    source: str,
    *,
    known: Known,
    found: _Verdict,
) -> None:
    """Compare files with what is made again here."""
    try:
        again = make()
    except Exception as error:  # whatever stops it on files that anyone may have written: nothing is established
        why = failure(error)[0] if isinstance(error, UserError | OSError | MemoryError) else f"{type(error).__name__}."
        says = f"Not regenerated: {_listed(actual)}. It could not be done here: {why}"
        found.leave("rows", says, files=in_order(actual), why="failed")
        return
    found.no += _other_names(actual, again)
    other = [name for name in in_order(actual) if name in again and actual[name] != again[name]]
    same = [name for name in in_order(actual) if name in again and name not in other]
    elsewhere = known.software.differences(Software())
    if other and elsewhere:
        says = (
            f"Not regenerated: {_listed(other)}. Made again here they came out otherwise, and they were made elsewhere: "
            f"{', '.join(elsewhere)}. Rounding may differ, or the files were changed: this cannot tell."
        )
        found.leave("rows", says, files=other, why="other software or machine", elsewhere=list(elsewhere))
    else:
        found.no += [f"{name}: it is not {source}." for name in other]
    if same:
        found.yes.append(Finding("rows", f"Byte for byte {source}: {_listed(same)}.", {"files": same}))


def _other_names(actual: Iterable[str], expected: Iterable[str]) -> Iterator[str]:
    """Files more, or less, than such a release has."""
    yield from (f"{name}: such a release does not hold it." for name in in_order({*actual} - {*expected}))
    left = {name for name in expected if made(name) not in ("stated", "signature")}
    yield from (f"{name}: such a release holds it, and it is not there." for name in in_order(left - {*actual}))


def _tables(folder: Path, known: Known, tables: list[str], found: _Verdict) -> None:
    if tables:
        says = f"Rows keep to the schema and its constraints: {_listed(tables)}."
        found.add(table_faults(folder, tables, known.released.schema), "tables", says, files=tables)


def _signed(folder: Path, key: Path, found: _Verdict) -> bool:
    """Whether the certificate is signed by the owner of a key."""
    if not signed_by(folder / "certificate.json", key=key):
        found.no.append("certificate.sig: it is not a signature of this certificate by the owner of that key.")
        return False
    digest = fingerprint(key)
    found.yes.append(Finding("signature", f"certificate.json is signed by the key {digest} ({key}).", {"key": digest}))
    return True


def _paid(folder: Path, known: Known, ledger: Ledger, found: _Verdict) -> bool:
    """Whether the ledger holds the receipt of this very certificate; and whether it holds all others."""
    faults = [*receipt_faults(known.released, ledger)]
    spans = "" if faults else matched_receipts(known.released)
    says = f"{len(known.released.payments)} receipts match the ledger: {spans}."
    found.add(iter(faults), "receipts", says, receipts=[payment.receipt for payment in known.released.payments])
    receipt = certified(ledger, sha256(folder / "certificate.json"))
    if receipt is not None:
        says = f"certificate.json is the one of which the ledger holds the receipt {receipt}."
        found.yes.append(Finding("certificate", says, {"receipt": receipt}))
        return True
    if known.record.balance is not None and certified_others(ledger, known.released):
        found.no.append(
            "certificate.json: the ledger holds the receipt of another certificate of this run, and none of this."
        )
    says = "The ledger holds no receipt of this certificate (`sundog generate` leaves none)"
    found.leave("certificate", f"{says}: beyond the receipts, {REWRITTEN}.")
    return False


def _listed(names: Iterable[str]) -> str:
    """A few names in words; many parts as one."""
    held = in_order(names)
    parts = [name for name in held if name.startswith("synthetic.part-")]
    kept = [name for name in held if name not in parts]
    return ", ".join(([f"synthetic.part-*.parquet ({len(parts)})"] if parts else []) + kept)
