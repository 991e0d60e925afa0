"""What a certificate must say of the measurements beside it, and whether what is claimed follows from what was spent. Public values."""

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

from sundog.private.accountant import Accounting, accounting_of, spent_epsilon
from sundog.released import Released
from sundog.report.certificate import certificate

RECORDED = (
    "certificate",
    "sundog",
    "versions",
    "machine",
    "files",
    "date",
    "purpose",
    "approvedBy",
    "account",
    "disclosures",
    "remark",
)
"""What a certificate says beyond what follows from the measurements."""


def statements(document: Mapping[str, Any], released: Released) -> Iterator[str]:
    """What the certificate says otherwise than the measurements."""
    expected = certificate(released, method=document.get("method"))
    for name, value in expected.items():
        if name not in RECORDED and not same(document.get(name), json.loads(json.dumps(value))):
            yield f"certificate.json: its {name!r} is not what released.json says."


def claims(released: Released) -> Iterator[str]:
    """What is claimed and does not follow from what was spent, by the accounting that its mechanisms allow."""
    guarantee = released.guarantee
    rho = math.fsum(payment.rho for payment in released.payments)
    if not math.isclose(rho, guarantee.rho, rel_tol=1e-9, abs_tol=1e-15):
        yield f"released.json: its payments add up to rho {rho:.6g}, and it claims {guarantee.rho:.6g}."
    accounting: Accounting = "gaussian" if guarantee.accounting == "gaussian" else "zcdp"
    if accounting == "gaussian" != accounting_of(payment.mechanism for payment in released.payments):
        yield "released.json: it is accounted for as Gaussian, and not all of its payments are."
    spent = math.fsum(payment.delta for payment in released.payments)
    if not math.isclose(spent, guarantee.delta_spent, rel_tol=1e-9):
        yield f"released.json: its thresholds spent delta {spent:g}, and it claims {guarantee.delta_spent:g}."
    if (guarantee.epsilon is None and guarantee.delta is None) or not guarantee.rho:
        return
    left = (guarantee.delta or 0.0) - guarantee.delta_spent
    if guarantee.epsilon is None or not left > 0:
        yield "released.json: it claims an epsilon or a delta alone, or a delta that its thresholds have spent."
    elif guarantee.epsilon < spent_epsilon(guarantee.rho, left, accounting=accounting) * (1 - 1e-9):
        yield f"released.json: it claims epsilon {guarantee.epsilon:.6g}, and rho {guarantee.rho:.6g} is more than that."


def same(one: Any, other: Any) -> bool:
    """Whether two JSON values are equal, numbers up to rounding."""
    if isinstance(one, float) and isinstance(other, int | float):
        return math.isclose(one, other, rel_tol=1e-12)
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(same(a, b) for a, b in zip(one, other, strict=True))
    return bool(one == other)
