"""Reads the body of a ledger entry: a chain of hashes shows accidents, not a hand that rewrote it, so every field is checked.

A forged cost that is no number (NaN is below every limit), or a limit of the wrong shape, must stop the run, not pass.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, get_args

from sundog.domain.unit import PrivacyUnit
from sundog.errors import UserError
from sundog.json_files import parsed_json
from sundog.private.account import Entry, Run
from sundog.private.account_name import normal_name
from sundog.private.accountant import Accounting, Budget, Mechanism

FREE = ("disclosed", "limit", "certified")
"""Entries that cost nothing, beside the mechanisms of charges."""
FIELDS = {"dataset", "time", "mechanism", "rho", "delta", "label", "details", "accounting", "unit"}
RUN = "run"
"""A field that entries have since runs are recorded."""


class ForgedEntry(Exception):
    """An entry holds what Sundog never writes."""


def read_entry(number: int, body: str, digest: str, *, previous: str) -> Entry:
    """The entry, if it is one that Sundog could have written."""
    try:
        content = parsed_json(body, place="entry")
        if not isinstance(content, dict) or set(content) - {RUN} != FIELDS:
            raise ForgedEntry("its fields are not those of an entry")
        run = _run(content.pop(RUN, None), number)
        _check(content)
        unit = content.pop("unit")
        return Entry(number=number, unit=_unit(unit), previous=previous, hash=digest, run=run, **content)
    except (UserError, ValueError, TypeError, OverflowError) as error:
        raise ForgedEntry(f"it cannot be read ({type(error).__name__})") from None


def _check(content: Mapping[str, Any]) -> None:
    if not all(isinstance(content[name], str) for name in ("dataset", "time", "label")) or not normal_name(
        content["dataset"]
    ):
        raise ForgedEntry("its dataset, time or label is no text")
    if content["mechanism"] not in (*get_args(Mechanism), *FREE) or not isinstance(content["details"], dict):
        raise ForgedEntry("its mechanism or details are unknown")
    if content["accounting"] not in (None, *get_args(Accounting)):
        raise ForgedEntry("its accounting is unknown")
    for name in ("rho", "delta"):
        value = content[name]
        if type(value) not in (int, float) or not (math.isfinite(value) and value >= 0):
            raise ForgedEntry(f"its {name} is not a number, 0 or more")
    charged = content["mechanism"] not in FREE
    if charged != (content["unit"] is not None) or charged != (content["accounting"] is not None):
        raise ForgedEntry("only a charge has a unit and an accounting, and every charge has")
    if not charged and (content["rho"] or content["delta"]):
        raise ForgedEntry("it costs something, and is no charge")
    if content["mechanism"] == "limit":
        Budget(**content["details"])
    if content["mechanism"] == "certified" and not _digest(content["details"]):
        raise ForgedEntry("it holds no SHA-256 of a certificate")


def _digest(details: Mapping[str, Any]) -> bool:
    digest = details.get("sha256")
    known = set(details) == {"sha256", "paid"} and isinstance(digest, str) and type(details["paid"]) is int
    return known and re.fullmatch("[0-9a-f]{64}", str(digest)) is not None


def _run(run: Any, entry: int) -> Run | None:
    if run is None:
        return None
    if not isinstance(run, dict) or set(run) != {field.name for field in fields(Run)}:
        raise ForgedEntry("its run is none")
    if type(run["number"]) is not int or not 1 <= run["number"] <= entry:
        raise ForgedEntry("its run began at no earlier entry")
    if not all(isinstance(run[name], str | None) for name in ("method", "purpose")):
        raise ForgedEntry("its run's method or purpose is no text")
    delta = run["delta"]
    if delta is not None and (type(delta) is not float or not 0 < delta < 1):
        raise ForgedEntry("its run's delta is none")
    return Run(**run)


def _unit(unit: Any) -> PrivacyUnit | None:
    if unit is None:
        return None
    if not isinstance(unit, dict) or not isinstance(unit.get("column"), str | None):
        raise ForgedEntry("its unit is none")
    return PrivacyUnit(**unit)
