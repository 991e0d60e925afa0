"""A release against the ledger that paid for it: its receipts, and the receipt of its certificate. Public values and the ledger alone."""

from collections.abc import Iterator
from typing import Any

from sundog.api.claims import same
from sundog.private.ledger import Entry, Ledger
from sundog.released import Payment, Released


def receipt_faults(released: Released, ledger: Ledger) -> Iterator[str]:
    """Every payment is an entry of the ledger, for the same thing at the same price, and for the same unit."""
    entries = _entries(ledger)
    for payment in released.payments:
        entry = entries.get(payment.receipt)
        if entry is None:
            yield f"receipt {payment.receipt}: the ledger has no such entry."
        elif not same(_paid(entry), _paid(payment)):
            yield f"receipt {payment.receipt}: the ledger says something else was paid for, or at another price."
        elif entry.unit != released.guarantee.unit:
            yield f"receipt {payment.receipt}: the ledger says that another unit is protected."


def matched_receipts(released: Released) -> str:
    """The entries that paid, account by account, such as `clinic#3 to #14, #17`."""
    numbers: dict[str, list[int]] = {}
    for payment in released.payments:
        account, _, number = payment.receipt.rpartition("#")
        numbers.setdefault(account, []).append(int(number))
    return "; ".join(f"{account}{', '.join(_spans(sorted({*held})))}" for account, held in numbers.items())


def last_paid(released: Released) -> int:
    """The number of the last entry that paid; 0 where nothing was."""
    numbers = (payment.receipt.rpartition("#")[2] for payment in released.payments)
    return max((int(number) for number in numbers if number.isdecimal()), default=0)


def certified(ledger: Ledger, digest: str) -> str | None:
    """The receipt of a certificate with this SHA-256."""
    held = (name for name, entry in _entries(ledger).items() if entry.details.get("sha256") == digest)
    return next(held, None)


def certified_others(ledger: Ledger, released: Released) -> bool:
    """Whether the ledger holds the receipt of any certificate of these very measurements."""
    account = ledger.account(released.dataset).entries
    return any(entry.details.get("paid") == last_paid(released) for entry in account)


def _entries(ledger: Ledger) -> dict[str, Entry]:
    return {f"{name}#{entry.number}": entry for name in ledger.accounts() for entry in ledger.account(name).entries}


def _paid(line: Entry | Payment) -> list[Any]:
    """What a line says was paid, in which both ledger and release must agree."""
    return [line.mechanism, line.label, line.rho, line.delta, dict(line.details)]


def _spans(numbers: list[int]) -> Iterator[str]:
    """Numbers that follow each other as one span."""
    first = last = numbers[0]
    for number in [*numbers[1:], numbers[-1] + 2]:
        if number > last + 1:
            yield f"#{first}" if first == last else f"#{first} to #{last}"
            first = number
        last = number
