"""A release folder, finished: descriptions, the certificate with the SHA-256 of every file, and an optional signature.

The certificate is written last, so that it can name every other file. It is written again whenever a file is added.
"""

import hashlib
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from sundog.api.receipts import last_paid
from sundog.api.signing import sign_file
from sundog.errors import UserError
from sundog.private.ledger import Account, Ledger
from sundog.released import Released
from sundog.report.certificate import certificate, sealed
from sundog.report.description import write_description
from sundog.report.record import Balance, Record

if TYPE_CHECKING:
    from sundog.api.options import Signing

SEALED = ("certificate.json", "certificate.sig")
"""Files that no certificate can name: it cannot name itself."""


def finish_release(
    folder: Path,
    released: Released,
    *,
    method: str | None,
    record: Record | None = None,
    remark: str | None = None,
    signing: "Signing | None" = None,
    ledger: Ledger | None = None,
) -> None:
    """Describe, hash and certify what is in the folder; the ledger that paid for it gets a receipt of the certificate."""
    write_description(folder, released, method=method)
    for name in ("certificate.sig", "certificate.html"):
        (folder / name).unlink(missing_ok=True)
    written = record or Record(day=today())
    document = certificate(released, method=method, remark=remark, record=written, files=hashes(folder))
    for name, text in sealed(document).items():
        (folder / name).write_bytes(text.encode())
    if signing is not None and signing.sign is not None:
        sign_file(folder / "certificate.json", key=Path(signing.sign))
    if ledger is not None:
        ledger.certify(released.dataset, sha256(folder / "certificate.json"), paid=last_paid(released))


def hashes(folder: Path) -> dict[str, str]:
    """The SHA-256 of every file of a release but the certificate's own."""
    names = sorted(path.name for path in folder.iterdir() if path.is_file() and path.name not in SEALED)
    return {name: sha256(folder / name) for name in names}


def sha256(path: Path) -> str:
    """The digest of a file, read in pieces."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise UserError(f"{str(path)!r} cannot be read ({error.strerror}).") from None


def today() -> str:
    """The day, in UTC."""
    return datetime.now(UTC).date().isoformat()


def record_of(released: Released, ledger: Ledger, *, purpose: str | None, approved_by: str | None) -> Record:
    """The circumstances of a release as the ledger knows them."""
    account = ledger.account(released.dataset)
    told = dict.fromkeys(entry.label for entry in account.entries if entry.mechanism == "disclosed")
    return Record(today(), purpose, approved_by, _balance(released, account), tuple(told))


def _balance(released: Released, account: Account) -> Balance:
    """What the account had spent without the charges of this release, and with them."""
    own = {(payment.receipt, payment.label, payment.rho) for payment in released.payments}
    others = tuple(
        entry  # a release that was paid for in another ledger may have receipts of the same numbers
        for entry in account.entries
        if (f"{account.dataset}#{entry.number}", entry.label, entry.rho) not in own
    )
    before = Account(account.dataset, others)
    delta = released.guarantee.delta if account.delta is None else account.delta
    return Balance(
        before.rho,
        account.rho,
        delta=delta,
        epsilon_before=before.stated_epsilon(delta),
        epsilon_after=account.stated_epsilon(delta),
        limit=None if account.limit is None else account.limit.describe(),
    )
