"""An entry for OpenDP's registry of deployments, from a certificate and what was released. Public values only.

The registry (github.com/opendp/deployments-registry-data, schemas/deployments-schema.yaml) asks for three tiers: what the product is; the
variant, unit and parameters of differential privacy and the deployment model; data domain, unprotected quantities, mechanisms,
composition, post-processing and justification. These are also what NIST SP 800-226 asks of a claim: unit, parameters, trust model,
algorithms and their implementation, accounting, utility, data collection and security. What a release knows is written; what only its
owner knows says so in its place, and `to_fill` names it. Fields of the registry that take one of a list of words and only the owner
knows are left out where the registry does not need them.

YAML is written by hand: every JSON string is YAML, longer ones are literal blocks.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sundog.domain import Categorical, Column
from sundog.domain.origin import MEANING
from sundog.released import Released
from sundog.report.certificate import payment_groups

TO_FILL = "TO FILL IN"
LONG = 90
MECHANISMS = {
    "gaussian": "Gaussian noise added to integer counts",
    "laplace": "Laplace noise added to integer counts",
    "exponential": "noisy top-k (the exponential mechanism) to choose what is measured",
    "threshold": "noisy counts of values, shown from a threshold on",
    "none": "nothing was computed on the rows",
}
COMPOSITION = {
    "gaussian": "All charges are Gaussian; their rho adds up, and the total is converted to (epsilon, delta) by the exact Gaussian bound.",
    "zcdp": "Charges are zero-concentrated; their rho adds up, also where later steps depend on earlier results, and the total is converted "
    "to (epsilon, delta) by the bound of Canonne, Kamath and Steinke (2020).",
}
HAZARDS = (
    "Noise is drawn exactly on integers with entropy of the operating system and cannot be seeded, so that no floating-point error shows "
    "in it. Every release is one batch, without interactive queries; certificates state no time of day and no duration."
)
OWNER = {
    "deployment.basic.data_curators": "who publishes it, and whether that is Government, Industry or Nonprofit",
    "deployment.basic.intended_use": "what it is for (--purpose says it at the next release)",
    "deployment.basic.data_product_region": "which region the data describe, or whose laws apply",
    "deployment.basic.data_product_sector": "one of Technology, Healthcare, Education, Government, Energy, Finance",
    "deployment.privacy_loss.number_of_privacy_units": "about how many units the data hold",
    "deployment.deployment_model.trust_assumptions": "who may see the data and the release, and what they are trusted with",
    "deployment.deployment_model.data_source_type": "Static, or Dynamic where new data come in over time",
    "deployment.implementation.security": "how the private table and the ledger are guarded, and who has access (end of `mechanisms`)",
    "deployment.implementation.justification": "why this unit, epsilon and method",
    "deployment.administrative.registry_authors": "who writes this entry",
}
"""What only the owner of the data can say."""


@dataclass(frozen=True)
class Entry:
    """The registry's document, and the paths in it that the owner must still fill in, with what is asked there."""

    document: dict[str, Any]
    to_fill: dict[str, str]

    def to_yaml(self) -> str:
        """The entry as YAML; its head names what is missing."""
        missing = [f"#   {path}: {asked}\n" for path, asked in self.to_fill.items()]
        head = "# An entry for OpenDP's registry of deployments. Still to be filled in by the owner of the data:\n"
        return head + "".join(missing) + "".join(_yaml(self.document))


def registry_entry(document: Mapping[str, Any], released: Released) -> Entry:
    """The entry of a certified release."""
    parts = {
        "basic": _basic(document, released),
        "dp_variant": _variant(document, released),
        "privacy_loss": _loss(document, released),
        "deployment_model": _model(document),
        "implementation": _implementation(document, released),
        "administrative": {"status": "Draft", "registry_authors": [TO_FILL], "tier": 3},
    }
    known = {"deployment.basic.intended_use"} if document.get("purpose") else set()
    if "number_of_privacy_units" in parts["privacy_loss"]:
        known.add("deployment.privacy_loss.number_of_privacy_units")
    return Entry(
        {"url_slug": _slug(document), "deployment": parts},
        {path: asked for path, asked in OWNER.items() if path not in known},
    )


def _basic(document: Mapping[str, Any], released: Released) -> dict[str, Any]:
    made = f"Synthetic rows of {len(released.schema.names)} columns, made by Sundog {document['sundog']}"
    return {
        "name": f"Synthetic data of {document['dataset']}",
        "data_curators": [{"data_curator_name": TO_FILL, "data_curator_type": TO_FILL}],
        "description": f"{made} (method {document['method']}) from noisy measurements that are released with them.",
        "intended_use": document.get("purpose") or TO_FILL,
        "data_product_type": "Synthetic data",
        "data_product_region": TO_FILL,
        "publication_date": document.get("date") or TO_FILL,
    }


def _variant(document: Mapping[str, Any], released: Released) -> dict[str, Any]:
    columns = [f"{column.name} ({_domain(column)})" for column in released.schema.columns]
    unreviewed = document["domains"].get("fromData", [])
    shown = [
        *(["The number of rows is public."] if released.public_rows is not None else []),
        *([f"Domains that were read from the rows without noise: {', '.join(unreviewed)}."] if unreviewed else []),
    ]
    return {
        "variant_name": "Zero-concentrated DP" if document["epsilon"] is None else "Approximate DP",
        "data_domain": "All tables with the columns " + "; ".join(columns) + ".",
        "unprotected_quantities": " ".join(shown) or "None.",
    }


def _loss(document: Mapping[str, Any], released: Released) -> dict[str, Any]:
    unit = document["unit"]
    parameters = {name: document[name] for name in ("epsilon", "delta", "rho") if document[name] is not None}
    account = document.get("account")
    total = "" if account is None else f" {_balance(account)}"
    return {
        "privacy_unit": "row" if unit["column"] is None else f"all rows with the same {unit['column']}",
        "privacy_unit_details": f"Neighbouring tables differ by {unit['protects']}.",
        **({"number_of_privacy_units": released.rows} if unit["column"] is None and released.tells_rows else {}),
        "privacy_parameters": parameters,
        "privacy_parameters_details": f"{document['claim']}{total}",
    }


def _model(document: Mapping[str, Any]) -> dict[str, Any]:
    account = document.get("account")
    again = account is not None and account["rhoBefore"] > 0
    details = "The ledger of the account was not read for this release." if account is None else _balance(account)
    return {
        "model_name": "Central",
        "model_name_details": "The owner of the private table runs Sundog on it; only what carries noise leaves.",
        "trust_assumptions": TO_FILL,
        "release_type": "Many releases" if again else "One release",
        "release_type_details": details,
        "access_type": "Non-interactive",
        "access_type_details": "Rows and measurements are published as files; questions are answered from them at no further cost.",
    }


def _implementation(document: Mapping[str, Any], released: Released) -> dict[str, Any]:
    domains = [f"{MEANING[origin]}: {', '.join(names)}." for origin, names in document["domains"].items()]
    told = document.get("disclosures") or []
    looks = [f"Recorded looks at the rows without noise, outside the guarantee: {'; '.join(told)}."] if told else []
    before = "Values outside a column's domain are clamped or counted as unknown; no other row depends on them."
    mechanisms = [
        f"- {MECHANISMS.get(name, name)}: {count} charges, rho {rho:.6g}"
        for name, count, rho in payment_groups(document["payments"])
    ]
    libraries = ", ".join(f"{name} {version}" for name, version in document["versions"].items())
    return {
        "preprocessing_and_hyperparameter_tuning": "\n".join([before, "Domains of columns:", *domains, *looks]),
        "mechanisms": "\n".join(
            [
                *mechanisms,
                f"- {document['noise']}",
                f"- Sundog {document['sundog']}, {libraries}",
                f"- {HAZARDS}",
                f"- {TO_FILL}: security",
            ]
        ),
        "composition": COMPOSITION[document["accounting"]],
        "post_processing": "\n".join(
            [
                "The method is fitted to the measurements, rows are drawn from it, and declared constraints are kept.",
                *_remarks(document),
            ]
        ),
        "justification": TO_FILL,
        "utility": f"report.html in the release compares the rows with its {len(released.measurements)} measurements, column by column.",
    }


def _remarks(document: Mapping[str, Any]) -> list[str]:
    return [document["remark"]] if document.get("remark") else []


def _balance(account: Mapping[str, Any]) -> str:
    """What the account has spent over all releases."""
    spent = f"The account had spent rho {account['rhoBefore']:.6g} before, and rho {account['rhoAfter']:.6g} with this release"
    if account.get("epsilonAfter") is not None:
        spent += f" (epsilon {account['epsilonAfter']:.6g} at delta {account['delta']:g})"
    return f"{spent}; its limit is {account.get('limit') or 'none'}."


def _domain(column: Column) -> str:
    missing = ", may be missing" if column.nullable else ""
    if isinstance(column, Categorical):
        return f"{len(column.labels)} labels{missing}"
    return f"{column.kind}, {column.describe(0)} to {column.describe(column.steps - 1)}{missing}"


def _slug(document: Mapping[str, Any]) -> str:
    words = f"synthetic-data-{document['dataset']}-{(document.get('date') or '')[:4]}".lower()
    return re.sub(r"[^a-z0-9]+", "-", words).strip("-")


def _yaml(value: Any, depth: int = 0) -> Iterator[str]:
    """Lines of YAML for a mapping of texts, numbers, lists and mappings."""
    pad = "  " * depth
    for name, each in value.items():
        if isinstance(each, Mapping):
            yield f"{pad}{name}:\n"
            yield from _yaml(each, depth + 1)
        elif isinstance(each, Sequence) and not isinstance(each, str):
            yield f"{pad}{name}:\n"
            yield from (f"{pad}  - {json.dumps(item, ensure_ascii=False)}\n" for item in each)
        elif isinstance(each, str) and (len(each) > LONG or "\n" in each) and _plain(each):
            yield f"{pad}{name}: |-\n"
            yield from (f"{pad}  {line}\n" if line else "\n" for line in each.split("\n"))
        else:
            yield f"{pad}{name}: {_scalar(each)}\n"


def _scalar(value: Any) -> str:
    """A text or number; YAML 1.1 takes 1e-09 for a text, and 1.0e-09 for the number."""
    text = json.dumps(value, ensure_ascii=False)
    return re.sub(r"^(-?[0-9]+)e", r"\1.0e", text) if isinstance(value, float) else text


def _plain(text: str) -> bool:
    """Whether a text can stand in a literal block as it is."""
    return text[:1].strip() != "" and all(line.isprintable() for line in text.split("\n"))
