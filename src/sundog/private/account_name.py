"""Under which name a dataset's spending is recorded: one function for every door, so that no door has an account of its own.

A limit holds for one account. If two commands named the same table differently, or two spellings looked alike, the limit
could be passed by. So an account is its name in Unicode's compatibility form (NFKC) with single blanks, characters that cannot
be seen are refused, nothing is spent without a name, and a name that looks like an existing account's (look_alikes.py) opens
an account of its own only where the user says that it is new. Accounts that exist are always found by their exact names.
"""

import glob
import unicodedata
from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path

from sundog.errors import UserError
from sundog.private.look_alikes import look_alike

LONGEST = 200
_UNSEEN = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
_BLANK = "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"
"""Letters and marks that show nothing, beside the categories above."""


def account_name(
    given: str | None, *, schema: str | None = None, data: str | Path | None = None, before: str | None = None
) -> str:
    """The ledger's account: that of an earlier release if there is one, else as given, the schema's name, the file's stem."""
    chosen = checked_name(given) if given is not None else None
    if before is not None and normal_name(before):
        earlier = checked_name(before)
        if chosen not in (None, earlier):
            raise UserError(
                f"dataset: found {chosen!r}, but the earlier release was charged to {earlier!r}; what is spent on one table "
                "adds up in one account. Leave the name out, or leave out the earlier release if it is another table's."
            )
        return earlier
    if chosen is not None:
        return chosen
    for name in (schema, _stem(data)):
        if name is not None and normal_name(name):
            return checked_name(name)
    raise UserError(
        'dataset: there is no name under which to record the spending. Name the schema ("name": ...), or give '
        "--dataset NAME (dataset=... in Python): one name per private table, the same in every run."
    )


def checked_name(name: str) -> str:
    """The name in the form in which it is recorded; refused where it is empty, too long, or holds what cannot be seen."""
    if not isinstance(name, str):
        raise UserError(f"dataset: found a {type(name).__name__}; the name must be a text.")
    normal = normal_name(name)
    if not 1 <= len(normal) <= LONGEST:
        raise UserError(
            f"dataset: found a name of {len(normal)} characters; it must have 1 to {LONGEST}, not all blank."
        )
    if any(_unseen(letter) for letter in unicodedata.normalize("NFKC", name).strip()):
        raise UserError(f"dataset: found the name {name[:LONGEST]!a}; it must not hold characters that cannot be seen.")
    return normal


def refuse_look_alike(name: str, known: Sequence[str]) -> None:
    """Refuse a name that would open an account beside one that it could be mistaken for."""
    other = look_alike(name, known)
    if other is None:
        return
    raise UserError(
        f"dataset: there is no account {_shown(name)}, but its name looks like that of {_shown(other)}; {_difference(name, other)}. "
        f"If both are about the same people, give that name exactly (--dataset, dataset=... in Python). If not, open another "
        "account with --new-account (new_account=True in Python), or choose a name that differs more."
    )


def _shown(name: str) -> str:
    """A name in quotes; where it is not ASCII, also with escapes, since two of them may look the same."""
    return repr(name) if name.isascii() else f"{name!r} (escaped: {name!a})"


def _difference(name: str, other: str) -> str:
    """The first character in which two names differ."""
    pairs = enumerate(zip_longest(name, other), start=1)
    place, letters = next((place, pair) for place, pair in pairs if pair[0] != pair[1])
    found, there = (_letter(letter) for letter in letters)
    return f"character {place} is {found} here and {there} there"


def _letter(letter: str | None) -> str:
    return "missing" if letter is None else unicodedata.name(letter, f"U+{ord(letter):04X}")


def normal_name(name: str) -> str:
    """The form in which names are compared: NFKC, single blanks, none at the ends."""
    return " ".join(unicodedata.normalize("NFKC", name).split())


def _unseen(letter: str) -> bool:
    return unicodedata.category(letter) in _UNSEEN or letter in _BLANK or 0xFE00 <= ord(letter) <= 0xFE0F


def _stem(data: str | Path | None) -> str | None:
    """The name of a data file without its endings; a pattern of several files has none, nor has a database's address."""
    unnamed = data is None or glob.has_magic(str(data)) or "://" in str(data)
    return None if unnamed else Path(str(data)).name.split(".")[0]
