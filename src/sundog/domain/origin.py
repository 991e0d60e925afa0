"""Where a field's domain comes from, and which keys of a schema document may be released.

    declared   the owner wrote it down from public knowledge (the default)
    reviewed   drafted from the data, then compared with public knowledge by a person
    paid       found by noisy counts, which the ledger charged (`receipts` name the entries)
    fromData   read from the rows, and nobody has reviewed it

The first three are public. The last is not: whoever holds the release can tell something about single rows from it. So
it is refused where a budget is spent, unless the owner accepts it, and then the certificate names the columns. This
holds for every field of every table: modelled, computed from others, an identifier or a key.
"""

from collections.abc import Mapping
from typing import Literal

from sundog.errors import UserError

Origin = Literal["declared", "reviewed", "paid", "fromData"]

MEANING: dict[Origin, str] = {
    "declared": "declared by the owner",
    "reviewed": "drafted from the data, then reviewed by the owner",
    "paid": "found by noisy counts that were paid for",
    "fromData": "read from the rows without noise",
}


def grouped(origins: Mapping[str, Origin]) -> dict[Origin, list[str]]:
    """The fields by where their domains come from; origins that no field has are left out."""
    groups: dict[Origin, list[str]] = {origin: [] for origin in MEANING}
    for name, origin in origins.items():
        groups[origin].append(name)
    return {origin: names for origin, names in groups.items() if names}


def refuse_unreviewed(origins: Mapping[str, Origin], *, accepted: bool) -> None:
    """Refuse a schema with fields that were read from the rows and not reviewed, unless the owner accepts that."""
    unreviewed = grouped(origins).get("fromData", [])
    if not unreviewed or accepted:
        return
    shown = ", ".join(repr(name) for name in unreviewed[:6]) + (
        f" and {len(unreviewed) - 6} more" if unreviewed[6:] else ""
    )
    raise UserError(
        f"schema: {len(unreviewed)} fields were read from the rows and nobody has reviewed them ({shown}). Bounds and lists "
        "from the rows tell about single rows, and no guarantee covers that. Review them with: sundog schema review "
        "SCHEMA; or accept it with --accept-unreviewed (accept_unreviewed=True in Python), and the certificate will say so."
    )
