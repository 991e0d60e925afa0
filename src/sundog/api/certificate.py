"""The certificate of a release folder, read back: as it stands, or as an entry for OpenDP's registry of deployments.

What follows from the measurements is worked out from released.json again; only the record (date, purpose, account, versions) is taken from
certificate.json, as far as it can be read. Whether the two agree is for `sundog verify` to say.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sundog.errors import UserError
from sundog.json_files import read_json
from sundog.released import Released
from sundog.report.certificate import certificate
from sundog.report.registry import Entry, registry_entry

TEXTS = ("sundog", "date", "purpose", "approvedBy", "remark", "method")
NUMBERS = ("rhoBefore", "rhoAfter")


def read_certificate(folder: str | Path) -> dict[str, Any]:
    """certificate.json of a release, as it stands."""
    try:
        document = read_json(Path(folder) / "certificate.json", what="certificate")
        lists = isinstance(document["files"], dict) and isinstance(document["payments"], list)
        if not lists or not all(isinstance(line["receipt"], str) for line in document["payments"]):
            raise ValueError
    except (UserError, ValueError, KeyError, TypeError):
        raise UserError(
            f"{str(folder)!r} holds no certificate.json with the SHA-256 of its files; name the folder of a release."
        ) from None
    return document


def certificate_of(folder: str | Path) -> tuple[dict[str, Any], Released]:
    """What the certificate of a release says, and the measurements that it is about."""
    stated, released = read_certificate(folder), Released.load(Path(folder) / "released.json")
    document = certificate(released, method=None) | {"files": stated["files"]}
    for name in TEXTS:
        document[name] = stated[name] if isinstance(stated.get(name), str) else document.get(name)
    versions, told = stated.get("versions"), stated.get("disclosures")
    if isinstance(versions, dict):
        document["versions"] = {str(name): str(version) for name, version in versions.items()}
    document["machine"] = stated["machine"] if isinstance(stated.get("machine"), str) else None
    document["disclosures"] = [str(each) for each in told] if isinstance(told, list) else None
    document["account"] = _account(stated.get("account"))
    return document, released


def registry_of(folder: str | Path) -> Entry:
    """What the registry asks, as far as the release knows it, and what its owner must still say."""
    return registry_entry(*certificate_of(folder))


def _account(stated: Any) -> dict[str, Any] | None:
    """The account's balance, where it is one."""
    if not isinstance(stated, Mapping) or not all(_number(stated.get(name)) for name in NUMBERS):
        return None
    both = all(_number(stated.get(name)) for name in ("epsilonAfter", "delta"))
    return {
        **{name: stated[name] for name in NUMBERS},
        "delta": stated["delta"] if both else None,
        "epsilonAfter": stated["epsilonAfter"] if both else None,
        "limit": stated["limit"] if isinstance(stated.get("limit"), str) else None,
    }


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
