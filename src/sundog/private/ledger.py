"""The durable record of what each dataset has spent, over all runs. It refuses rather than forgets.

One SQLite file holds one append-only chain of entries for all datasets: hash = sha256(previous hash, number, body).
A charge is verified, compared with the account's limit, written and synchronised to disk before anything is computed;
a crash after that wastes budget and never gives it back. There is no reset, refund or deletion.

The witness, a small file beside the database, holds the number and hash of the last entry. A database that is missing,
cut short or replaced no longer contains it, and is refused; one that is ahead of it (a crash between the two writes)
is fine. After a commit the write-ahead log is folded into the database, so losing the log file loses nothing. The
chain guards against damage and accidents, not against an owner who rewrites both files on purpose.

How charges add up and what a limit allows is in account.py.
"""

import contextlib
import hashlib
import json
import os
import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any, NoReturn

from sundog.domain.unit import PrivacyUnit
from sundog.errors import BudgetRefused, UserError
from sundog.private.account import Account, Entry, Receipt, Run
from sundog.private.account_name import checked_name, normal_name, refuse_look_alike
from sundog.private.accountant import JSON, Accounting, Budget, Charge, accounting_of, exact_total
from sundog.private.doubts import limit_doubts, refuse_doubtful
from sundog.private.entries import ForgedEntry, read_entry

__all__ = ["Account", "Entry", "Ledger", "Receipt", "Run", "default_path"]

LOCK_SECONDS = 60.0
_FORMAT = 1
_START = "0" * 64
_CREATE = (
    "CREATE TABLE entries (number INTEGER PRIMARY KEY, body TEXT NOT NULL, hash TEXT NOT NULL)",
    "CREATE TRIGGER kept BEFORE UPDATE ON entries BEGIN SELECT RAISE(ABORT, 'entries are never changed'); END",
    "CREATE TRIGGER stays BEFORE DELETE ON entries BEGIN SELECT RAISE(ABORT, 'entries are never deleted'); END",
    f"PRAGMA user_version = {_FORMAT}",
)
_CHARGING = "record the charge, so nothing was computed"
_READING = "be read"


def default_path() -> Path:
    """Where the ledger lives: SUNDOG_LEDGER if set, else the user's data folder."""
    import platformdirs

    chosen = os.environ.get("SUNDOG_LEDGER")
    return Path(chosen) if chosen else Path(platformdirs.user_data_dir("sundog", appauthor=False)) / "ledger.sqlite"


class Ledger:
    """The ledger in one file; safe for several processes at once.

    `new_account`: a name that looks like an existing account's may open one of its own.
    """

    def __init__(self, path: Path | None = None, *, new_account: bool = False) -> None:
        self.new_account = new_account
        self.path = (default_path() if path is None else Path(path)).expanduser().resolve()
        if not self.path.name:
            raise UserError(
                f"ledger: found {str(self.path)!r}, which is a folder; give the path of a file in a folder."
            )
        self._witness = self._beside(".witness")

    def charge(
        self,
        dataset: str,
        charges: Sequence[Charge],
        *,
        unit: PrivacyUnit,
        accounting: Accounting | None = None,
        run: Run | None = None,
    ) -> list[Receipt]:
        """Record the charges, all or none, before anything is computed.

        `accounting` is that of the whole run: one that will select later says "zcdp" from its first charge on.
        Without it, it follows from the mechanisms of these charges. A `run` without a number begins here.
        """
        accounting = _settle(accounting, charges)

        def permit(account: Account) -> None:
            account.refuse_unit(unit)
            account.refuse_over(*exact_total(charges), accounting=accounting)

        bodies = [_charge_body(c, unit, accounting=accounting) for c in charges]
        return self._write(dataset, bodies, permit=permit, run=run or Run())

    def check(self, dataset: str, rho: float, *, unit: PrivacyUnit, accounting: Accounting, delta: float = 0.0) -> None:
        """Refuse now what `charge` would refuse later; writes nothing."""
        self.check_name(dataset)
        account = self.account(dataset)
        account.refuse_unit(unit)
        account.refuse_over(Fraction(rho), Fraction(delta), accounting=accounting)

    def check_name(self, dataset: str) -> None:
        """Refuse a name that is not an account's and looks like one, unless a new account is wanted."""
        self._permit_name(checked_name(dataset), self._read())

    def disclose(self, dataset: str, label: str, *, bits: int | None = None) -> Receipt:
        """Record that something computed on the rows is shown without noise: CONFIDENTIAL, unless it is this many bits alone."""
        details: dict[str, JSON] = {} if bits is None else {"bits": bits}
        return self._write(dataset, [_body("disclosed", label=label, details=details)])[0]

    def certify(self, dataset: str, digest: str, *, paid: int) -> Receipt:
        """Record the SHA-256 of a certificate as it was written, for what was paid by entry `paid` and before. It costs nothing."""
        facts: dict[str, JSON] = {"sha256": digest, "paid": paid}
        return self._write(dataset, [_body("certified", label="certificate.json", details=facts)])[0]

    def set_limit(
        self,
        dataset: str,
        *,
        epsilon: float | None = None,
        delta: float | None = None,
        rho: float | None = None,
        confirmed: bool = False,
    ) -> Receipt:
        """Limit the totals of the account from now on; one that makes little sense needs `confirmed`."""
        limit = Budget(epsilon=epsilon, delta=delta, rho=rho)

        def permit(account: Account) -> None:
            refuse_doubtful(limit_doubts(limit, account), confirmed=confirmed)

        return self._write(dataset, [_body("limit", label=limit.describe(), details=asdict(limit))], permit=permit)[0]

    def account(self, dataset: str) -> Account:
        """What the ledger knows of one dataset; an account without entries if that is nothing."""
        return _account(self._read(), checked_name(dataset))

    def known(self, dataset: str | None = None) -> list[Account]:
        """One account, refused where there is none of that name, or all of them."""
        entries = self._read()
        names = _names(entries)
        if dataset is None:
            return [_account(entries, name) for name in names]
        name = checked_name(dataset)
        if name not in names:
            there = ", ".join(map(repr, names)) or "none yet"
            raise UserError(f"ledger: {self.path} has no account {name!r}; its accounts: {there}.")
        return [_account(entries, name)]

    def accounts(self) -> list[str]:
        """The names of all datasets, in order of first appearance."""
        return _names(self._read())

    def export(self, dataset: str | None = None) -> dict[str, Any]:
        """One account or all of them, as JSON."""
        return {"format": _FORMAT, "accounts": [account.export() for account in self.known(dataset)]}

    def _permit_name(self, dataset: str, entries: Sequence[Entry]) -> None:
        if not self.new_account:
            refuse_look_alike(dataset, _names(entries))

    def _read(self) -> list[Entry]:
        if not self.path.exists() and not self._witness.exists():
            return []
        with self._refusing(_READING), self._locked(), contextlib.closing(self._connect()) as connection:
            return self._verified(connection)

    def _write(
        self,
        dataset: str,
        bodies: Sequence[dict[str, Any]],
        *,
        permit: Callable[[Account], None] = lambda _: None,
        run: Run | None = None,
    ) -> list[Receipt]:
        dataset = checked_name(dataset)
        with self._refusing(_CHARGING), self._locked(), contextlib.closing(self._connect()) as connection:
            connection.execute("BEGIN IMMEDIATE")
            entries = self._verified(connection)
            self._permit_name(dataset, entries)
            permit(_account(entries, dataset))
            named = None if run is None else asdict(replace(run, number=run.number or len(entries) + 1))
            rows = _chain(entries, [{"dataset": dataset, "run": named, **body} for body in bodies])
            _append(connection, rows)
            if rows:
                self._write_witness(number=rows[-1][0], digest=rows[-1][2])
        return [Receipt(dataset, number) for number, _, _ in rows]

    @contextlib.contextmanager
    def _refusing(self, failed: str) -> Iterator[None]:
        """Turn every failure of disk, lock or database into a refusal."""
        try:
            yield
        except TimeoutError as error:
            raise BudgetRefused(
                f"ledger: {self.path} was in use for {LOCK_SECONDS:g} s and could not {failed}. Try again when the "
                "other run has made its entry."
            ) from error
        except (sqlite3.Error, OSError, UnicodeError) as error:
            raise BudgetRefused(
                f"ledger: {self.path} could not {failed} ({error}). Free space on the disk, give write permission to "
                "the file and its folder, or restore both ledger files from a backup."
            ) from error

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """Hold the lock of the ledger, and have a file to open: a new one only where there was never one."""
        from filelock import FileLock

        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with FileLock(self._beside(".lock"), timeout=LOCK_SECONDS, mode=0o600).acquire(poll_interval=0.01):
            if not self.path.exists() or self.path.stat().st_size == 0:
                if self._witness.exists():
                    self._damaged("it is missing or empty, but its witness is there")
                os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
            yield

    def _connect(self) -> sqlite3.Connection:
        """Open without ever creating; exclusive mode needs no shared-memory file, and we hold the lock anyway."""
        connection = sqlite3.connect(
            f"{self.path.as_uri()}?mode=rw", uri=True, timeout=LOCK_SECONDS, isolation_level=None
        )
        try:
            for pragma in ("locking_mode = EXCLUSIVE", "journal_mode = WAL", "synchronous = FULL", "fullfsync = ON"):
                connection.execute(f"PRAGMA {pragma}").fetchall()
        except (sqlite3.Error, UnicodeError):
            connection.close()
            raise
        return connection

    def _verified(self, connection: sqlite3.Connection) -> list[Entry]:
        """All entries, after checking the file, the chain and the witness."""
        if connection.execute("PRAGMA quick_check").fetchall() != [("ok",)]:
            self._damaged("SQLite's check of the file fails")
        rows = self._rows(connection)
        previous = _START
        for position, (number, body, digest) in enumerate(rows, start=1):
            if number != position or digest != _digest(previous, number, body=body):
                self._damaged(f"entry {position} does not follow from the one before it")
            previous = digest
        self._check_witness([digest for _, _, digest in rows])
        return self._entries(rows)

    def _rows(self, connection: sqlite3.Connection) -> list[tuple[int, str, str]]:
        """The rows as they stand; SQLite lets a column hold any type, whatever it was declared as."""
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version == 0 and not connection.execute("SELECT 1 FROM sqlite_master").fetchall():
            return []
        if version != _FORMAT:
            self._damaged(f"its format is {version}, and this version of Sundog reads {_FORMAT}")
        rows = connection.execute("SELECT number, body, hash FROM entries ORDER BY number").fetchall()
        if not all(isinstance(body, str) and isinstance(digest, str) for _, body, digest in rows):
            self._damaged("an entry is no text")
        return rows

    def _entries(self, rows: Sequence[tuple[int, str, str]]) -> list[Entry]:
        before = [_START, *(digest for _, _, digest in rows)]
        made = []
        for row, previous in zip(rows, before, strict=False):
            try:
                made.append(read_entry(*row, previous=previous))
            except ForgedEntry as error:
                self._damaged(f"entry {row[0]} is none that Sundog writes: {error}")
        return made

    def _check_witness(self, digests: Sequence[str]) -> None:
        if not self._witness.exists():
            return
        seen = re.fullmatch(rb"([1-9][0-9]{0,18}) ([0-9a-f]{64})\n", self._witness.read_bytes())
        if seen is None:
            self._damaged("its witness cannot be read")
        number, digest = int(seen[1]), seen[2].decode()
        if number > len(digests) or digests[number - 1] != digest:
            self._damaged(f"it does not hold entry {number} as its witness saw it")

    def _write_witness(self, *, number: int, digest: str) -> None:
        """Replace the witness in one step that survives a loss of power."""
        new = self._beside(".witness.new")
        with open(os.open(new, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600), "wb") as file:
            file.write(f"{number} {digest}\n".encode())
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, self._witness)
        if hasattr(os, "O_DIRECTORY"):
            folder = os.open(self.path.parent, os.O_DIRECTORY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)

    def _beside(self, ending: str) -> Path:
        return self.path.with_name(self.path.name + ending)

    def _damaged(self, found: str) -> NoReturn:
        raise BudgetRefused(
            f"ledger: {self.path} is damaged: {found}. Nothing was computed, and no empty ledger takes its place. "
            f"Restore it and {self._witness.name} from a backup."
        )


def _settle(accounting: Accounting | None, charges: Sequence[Charge]) -> Accounting:
    best = accounting_of(charge.mechanism for charge in charges)
    if accounting == "gaussian" and best == "zcdp":
        raise UserError("ledger: found a selection in a run accounted for as Gaussian; account for it as 'zcdp'.")
    return accounting or best


def _body(mechanism: str, *, label: str, details: Mapping[str, JSON] | None = None) -> dict[str, Any]:
    now = datetime.now(UTC).isoformat(timespec="seconds")
    free = {"rho": 0.0, "delta": 0.0, "accounting": None, "unit": None}
    return {"time": now, "mechanism": mechanism, "label": label, "details": dict(details or {}), **free}


def _charge_body(charge: Charge, unit: PrivacyUnit, *, accounting: Accounting) -> dict[str, Any]:
    cost = {"rho": charge.rho, "delta": charge.delta, "accounting": accounting, "unit": asdict(unit)}
    return _body(charge.mechanism, label=charge.label, details=charge.details) | cost


def _chain(entries: Sequence[Entry], bodies: Sequence[dict[str, Any]]) -> list[tuple[int, str, str]]:
    """The rows that continue the chain after `entries`."""
    previous, rows = entries[-1].hash if entries else _START, []
    for number, content in enumerate(bodies, start=len(entries) + 1):
        body = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
        previous = _digest(previous, number, body=body)
        rows.append((number, body, previous))
    return rows


def _digest(previous: str, number: int, *, body: str) -> str:
    return hashlib.sha256(f"{previous}\n{number}\n{body}".encode()).hexdigest()


def _append(connection: sqlite3.Connection, rows: Sequence[tuple[int, str, str]]) -> None:
    """Write, commit, and fold the write-ahead log into the database, all synchronised to disk."""
    if not connection.execute("SELECT 1 FROM sqlite_master").fetchall():
        for statement in _CREATE:
            connection.execute(statement)
    connection.executemany("INSERT INTO entries VALUES (?, ?, ?)", rows)
    connection.execute("COMMIT")
    if connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] != 0:
        raise sqlite3.OperationalError("the write-ahead log could not be folded in, as another program reads the file")


def _names(entries: Sequence[Entry]) -> list[str]:
    return list(dict.fromkeys(normal_name(entry.dataset) for entry in entries))


def _account(entries: Sequence[Entry], dataset: str) -> Account:
    return Account(dataset, tuple(entry for entry in entries if normal_name(entry.dataset) == dataset))
