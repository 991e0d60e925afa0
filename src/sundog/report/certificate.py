"""The certificate: what was released, by which mechanism, at what cost, and what may be claimed. Public values only.

It holds the day, no time, no duration, and nothing computed on rows beyond the released measurements. `files` are the
SHA-256 of the files beside it, the page for people among them.
"""

import hashlib
import json
import math
from collections.abc import Mapping
from typing import Any

from sundog.domain.dialect import Dialect
from sundog.domain.origin import MEANING
from sundog.released import Guarantee, Payment, Released
from sundog.report.choices import choices
from sundog.report.record import Record
from sundog.report.software import Software
from sundog.report.template import environment
from sundog.report.words import meaning, origins, promise, rests_on, warning_sentences

PAGE = "certificate.html"

RECORDS = (
    "Text files were read as records that may span lines (dialect: multiline). The guarantee is for records as they are "
    "parsed: a quote that is not closed joins lines into one record."
)


PAIRS = (
    "Text files were read as UTF-16. The guarantee is for records that consist of whole pairs of bytes: a single byte that is lost "
    "or added changes every record after it."
)


def certificate(
    released: Released,
    *,
    method: str | None = None,
    remark: str | None = None,
    record: Record | None = None,
    files: Mapping[str, str] | None = None,
    software: Software | None = None,
) -> dict[str, Any]:
    """The certificate as plain JSON; `software` is what made the release, by default what runs here."""
    guarantee, grounds = released.guarantee, rests_on(released)
    return {
        "certificate": "sundog-certificate-2",
        **(software or Software()).to_json(),
        **({} if record is None else record.to_json()),
        "dataset": released.dataset,
        "method": method,
        "claim": claim(guarantee),
        "plainWords": [promise(guarantee), meaning(guarantee)],
        "remark": remark,
        "warnings": warning_sentences(released),
        "domains": origins(released),
        "receiptsOfDomains": _receipts(released),
        **({"restsOn": grounds} if grounds else {}),
        "neighbours": guarantee.unit.neighbours,
        "unit": {
            "column": guarantee.unit.column,
            "rows": guarantee.unit.rows,
            "protects": guarantee.unit.describe(),
        },
        "epsilon": guarantee.epsilon,
        "delta": guarantee.delta,
        "rho": guarantee.rho,
        "deltaThresholds": guarantee.delta_spent,
        "accounting": guarantee.accounting,
        "noise": released.noise,
        "rowCount": "public" if released.public_rows is not None else "private, estimated from released totals",
        "records": _records(released.schema.dialect),
        "choices": list(choices(released)),
        "payments": [_line(payment) for payment in released.payments],
        "files": dict(files or {}),
    }


def _records(dialect: Dialect) -> str | None:
    """What must be said of how text files become records; nothing where a line of bytes is one."""
    said = [RECORDS] if dialect.multiline else []
    said += [PAIRS] if dialect.encoding.startswith("utf-16") else []
    return " ".join(said) or None


def claim(guarantee: Guarantee) -> str:
    """The guarantee in one sentence."""
    zcdp = f"rho = {guarantee.rho:.6g} zero-concentrated differential privacy"
    if guarantee.delta_spent:
        zcdp += f" except with probability {guarantee.delta_spent:g}"
    if guarantee.epsilon is None:
        return f"{zcdp}, for {guarantee.unit.describe()}."
    pair = f"(epsilon = {guarantee.epsilon:.6g}, delta = {guarantee.delta:g})"
    return f"{pair}-differential privacy ({zcdp}), for {guarantee.unit.describe()}."


def _line(payment: Payment) -> dict[str, Any]:
    line = {"receipt": payment.receipt, "mechanism": payment.mechanism, "what": payment.label, "rho": payment.rho}
    return line | ({"delta": payment.delta} if payment.delta else {}) | dict(payment.details)


def sealed(document: dict[str, Any]) -> dict[str, str]:
    """The texts of certificate.html, for people, and of certificate.json, for machines, which names the page's SHA-256 as well."""
    page = _page(document)
    files = document["files"] | {PAGE: hashlib.sha256(page.encode()).hexdigest()}
    text = json.dumps(document | {"files": files}, indent=2, ensure_ascii=False) + "\n"
    return {PAGE: page, "certificate.json": text}


def _receipts(released: Released) -> dict[str, list[str]]:
    """The ledger entries that paid for the domains of columns."""
    fields = released.schema.to_json().get("fields", [])
    paid = {field["name"]: field.get("sundog", {}).get("receipts") for field in fields}
    return {name: receipts for name, receipts in paid.items() if receipts and name in released.schema.fields}


def _page(document: dict[str, Any]) -> str:
    page = environment(strict=False).get_template("certificate.html")
    return page.render(**document, meaning_of=MEANING, groups=payment_groups(document["payments"]))


def payment_groups(payments: list[dict[str, Any]]) -> list[tuple[str, int, float]]:
    """What was paid, by mechanism: how many charges, and their rho."""
    names = dict.fromkeys(line["mechanism"] for line in payments)
    lines = {name: [line["rho"] for line in payments if line["mechanism"] == name] for name in names}
    return [(name, len(rhos), math.fsum(rhos)) for name, rhos in lines.items()]
