"""Verify a release: that nothing was changed since it was certified, and that it says of itself what is true.

Files against the certificate's hashes; the certificate against released.json; its receipts against a ledger; the rows against
schema and constraints; the signature against a key. It reads the release and the ledger, never the private table.
"""

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sundog.api.certificate import read_certificate
from sundog.api.release import SEALED, hashes
from sundog.api.release_folder import is_release_file, is_table
from sundog.api.signing import signed_by
from sundog.domain import Schema
from sundog.domain.linked.views import LinkedSchema
from sundog.errors import UserError
from sundog.evaluate.reading import open_synthetic, read_synthetic
from sundog.generate.linked.rows import TableRows
from sundog.postprocess.constraints import violations
from sundog.postprocess.linked import broken
from sundog.private.accountant import Accounting, accounting_of, spent_epsilon
from sundog.private.ledger import Entry, Ledger
from sundog.released import Payment, Released
from sundog.report.certificate import certificate
from sundog.sources.linked import LinkedSource
from sundog.sources.linked_counts import faults, joined

RECORDED = (
    "certificate",
    "sundog",
    "files",
    "date",
    "purpose",
    "approvedBy",
    "account",
    "disclosures",
    "remark",
    "versions",
)
"""What a certificate says beyond what follows from the measurements."""


@dataclass(frozen=True)
class Verification:
    """What was checked, and what differs; it holds where nothing does."""

    checked: tuple[str, ...]
    differences: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Whether every check agreed with the certificate."""
        return not self.differences


def verify(folder: str | Path, *, ledger: str | Path | None = None, key: str | Path | None = None) -> Verification:
    """Check a release folder; with a ledger also its receipts, with a public key also its signature."""
    place = Path(folder)
    document = read_certificate(place)
    checked = [f"{len(document['files'])} files against their SHA-256", "the certificate against released.json"]
    found = [*_files(place, document["files"])]
    released = _released(place, found)
    if released is not None:
        found += _statements(document, released)
        found += _claim(released)
        tables = [name for name in document["files"] if is_table(name) and (place / name).is_file()]
        for name in tables:
            checked.append(f"{name} against schema and constraints")
            found += _rows(
                place / name, _schema_of(name, released.schema), linked=isinstance(released.schema, LinkedSchema)
            )
        if isinstance(released.schema, LinkedSchema):
            checked.append("keys, numbers of children and constraints across tables")
            found += _links(place, tables, released.schema)
    if ledger is not None and released is not None:
        checked.append(f"{len(released.payments)} receipts against the ledger")
        found += _receipts(released, Ledger(Path(ledger)))
    if key is not None:
        checked.append("the signature")
        if not signed_by(place / "certificate.json", key=Path(key)):
            found.append("certificate.sig: it is not a signature of this certificate by the owner of that key.")
    return Verification(tuple(checked), tuple(found))


def _files(folder: Path, stated: Mapping[str, Any]) -> Iterator[str]:
    actual = hashes(folder)
    for name in stated:
        if name not in actual:
            yield f"{name}: the certificate names it, and it is not there."
        elif actual[name] != stated[name]:
            yield f"{name}: it was changed after it was certified."
        elif (folder / name).is_symlink():
            yield f"{name}: it is a link, and what it leads to can change; put the file itself there."
    for name in sorted({path.name for path in folder.iterdir()} - set(stated) - set(SEALED)):
        known = "a file that the certificate does not name" if is_release_file(name) else "no part of a release"
        yield f"{name}: {known}; do not publish it with this folder."


def _released(folder: Path, found: list[str]) -> Released | None:
    try:
        return Released.load(folder / "released.json")
    except UserError as error:
        found.append(f"released.json: {error}")
        return None


def _statements(document: Mapping[str, Any], released: Released) -> Iterator[str]:
    """Whether everything that follows from the measurements is what the certificate says."""
    expected = certificate(released, method=document.get("method"))
    for name, value in expected.items():
        if name not in RECORDED and not _same(document.get(name), json.loads(json.dumps(value))):
            yield f"certificate.json: its {name!r} is not what released.json says."
    spent = math.fsum(payment.rho for payment in released.payments)
    if not math.isclose(spent, released.guarantee.rho, rel_tol=1e-9, abs_tol=1e-15):
        yield f"released.json: its payments add up to rho {spent:.6g}, and it claims {released.guarantee.rho:.6g}."


def _claim(released: Released) -> Iterator[str]:
    """Whether the epsilon that is claimed follows from what was spent, by the accounting that its mechanisms allow."""
    guarantee = released.guarantee
    accounting: Accounting = "gaussian" if guarantee.accounting == "gaussian" else "zcdp"
    if accounting == "gaussian" != accounting_of(payment.mechanism for payment in released.payments):
        yield "released.json: it is accounted for as Gaussian, and not all of its payments are."
    spent = math.fsum(payment.delta for payment in released.payments)
    if not math.isclose(spent, guarantee.delta_spent, rel_tol=1e-9):
        yield f"released.json: its thresholds spent delta {spent:g}, and it claims {guarantee.delta_spent:g}."
    if (guarantee.epsilon is None and guarantee.delta is None) or not guarantee.rho:
        return
    left = (guarantee.delta or 0.0) - guarantee.delta_spent
    if guarantee.epsilon is None or not left > 0:
        yield "released.json: it claims an epsilon or a delta alone, or a delta that its thresholds have spent."
    elif guarantee.epsilon < spent_epsilon(guarantee.rho, left, accounting=accounting) * (1 - 1e-9):
        yield f"released.json: it claims epsilon {guarantee.epsilon:.6g}, and rho {guarantee.rho:.6g} is more than that."


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, int | float):
        return math.isclose(one, other, rel_tol=1e-12)
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[name], other[name]) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(_same(a, b) for a, b in zip(one, other, strict=True))
    return bool(one == other)


def _schema_of(name: str, schema: Schema) -> Schema:
    """The schema of a table by its file's name."""
    if not isinstance(schema, LinkedSchema):
        return schema
    table = name.split(".")[1]
    return next((each.schema for each in schema.package.tables if each.name == table), schema)


def _links(folder: Path, files: list[str], schema: LinkedSchema) -> Iterator[str]:
    """Whether every row has a parent, no key occurs twice, and no parent has more children than declared."""
    held = {name.split(".")[1]: name for name in files}
    lacking = [table.name for table in schema.package.tables if table.name not in held]
    if lacking:
        yield f"the table {lacking[0]!r} is not among the files."
        return
    opened = {name: open_synthetic(str(folder / file), _schema_of(file, schema)) for name, file in held.items()}
    source = LinkedSource(schema.package, opened)
    found = list(faults(source))
    yield from (f"{held[name]}: {what}" for name, what in found)
    if not found:
        tables = {name: TableRows(columns, parent) for name, (columns, parent) in joined(source).items()}
        for name, count in broken(schema.package, tables).items():
            if count:
                yield f"the constraint {name!r} across tables is broken {count} times."


def _rows(path: Path, schema: Schema, *, linked: bool) -> Iterator[str]:
    """Whether the rows are what schema and constraints say; of linked tables one may have none."""
    try:
        table = read_synthetic(open_synthetic(str(path), schema), schema, name=path.name, empty=linked)
    except UserError as error:
        yield f"{path.name}: {error}"
        return
    yield from (f"{path.name}: {note}" for note in table.notes)
    for name, count in violations(table.rows).items():
        if count:
            yield f"{path.name}: {count} rows break the constraint {name!r}."


def _receipts(released: Released, ledger: Ledger) -> Iterator[str]:
    """Every payment is an entry of the ledger, for the same thing at the same price, and for the same unit."""
    entries = {f"{name}#{entry.number}": entry for name in ledger.accounts() for entry in ledger.account(name).entries}
    for payment in released.payments:
        entry = entries.get(payment.receipt)
        if entry is None:
            yield f"receipt {payment.receipt}: the ledger has no such entry."
        elif not _same(_paid(entry), _paid(payment)):
            yield f"receipt {payment.receipt}: the ledger says something else was paid for, or at another price."
        elif entry.unit != released.guarantee.unit:
            yield f"receipt {payment.receipt}: the ledger says that another unit is protected."


def _paid(line: Entry | Payment) -> list[Any]:
    """What a line says was paid, in which both ledger and release must agree."""
    return [line.mechanism, line.label, line.rho, line.delta, dict(line.details)]
