"""A certificate in words, for a terminal: promise, record, what was paid for, where domains come from. Public values only."""

from collections.abc import Mapping
from typing import Any

from sundog.domain.origin import MEANING
from sundog.report.certificate import payment_groups


def certificate_lines(document: Mapping[str, Any]) -> list[str]:
    """What certificate.json says, for people."""
    lines = [document["claim"], *document["plainWords"], ""]
    lines += [f"{name + ':':13}{said}" for name, said in _record(document).items() if said]
    lines += [f"WARNING: {warning}" for warning in document["warnings"]]
    lines += ["", "Paid for:"]
    lines += [f"  {name}: {count} charges, rho {rho:.6g}" for name, count, rho in payment_groups(document["payments"])]
    lines += ["", "Domains:"]
    lines += [f"  {MEANING[origin]}: {', '.join(names)}" for origin, names in document["domains"].items()]
    told = document.get("disclosures") or []
    if told:
        lines += [
            "",
            "Looks at the rows without noise so far, which no guarantee covers:",
            *(f"  {each}" for each in told),
        ]
    return lines


def _record(document: Mapping[str, Any]) -> dict[str, str | None]:
    account = document.get("account")
    versions = ", ".join(f"{name} {version}" for name, version in document["versions"].items())
    return {
        "Dataset": document["dataset"],
        "Date": document.get("date"),
        "Method": document["method"],
        "Purpose": document.get("purpose"),
        "Approved by": document.get("approvedBy"),
        "Protects": document["unit"]["protects"],
        "Rests on": " ".join(document.get("restsOn") or []),
        "Row count": document["rowCount"],
        "Account": None if account is None else _account(account),
        "Made by": f"Sundog {document['sundog']} ({versions})",
        "Machine": document.get("machine"),
        "Remark": document.get("remark"),
    }


def _account(account: Mapping[str, Any]) -> str:
    spent = f"rho {account['rhoBefore']:.6g} before, {account['rhoAfter']:.6g} after"
    if account.get("epsilonAfter") is not None:
        spent += f" (epsilon {account['epsilonAfter']:.6g} at delta {account['delta']:g})"
    return f"{spent}; limit {account.get('limit') or 'none'}"
