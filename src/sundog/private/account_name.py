"""Under which name a dataset's spending is recorded: one function for every door, so that no door has an account of its own.

A limit holds for one account. If two commands named the same table differently, or two spellings looked alike, the limit
could be passed by. So names are compared in Unicode's compatibility form (NFKC) with single blanks, characters that cannot
be seen are refused, and nothing is spent without a name.
"""

import glob
import unicodedata
from pathlib import Path

from sundog.errors import UserError

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


def normal_name(name: str) -> str:
    """The form in which names are compared: NFKC, single blanks, none at the ends."""
    return " ".join(unicodedata.normalize("NFKC", name).split())


def _unseen(letter: str) -> bool:
    return unicodedata.category(letter) in _UNSEEN or letter in _BLANK or 0xFE00 <= ord(letter) <= 0xFE0F


def _stem(data: str | Path | None) -> str | None:
    """The name of a data file without its endings; a pattern of several files has none, nor has a database's address."""
    unnamed = data is None or glob.has_magic(str(data)) or "://" in str(data)
    return None if unnamed else Path(str(data)).name.split(".")[0]
