"""check_table: how the cells of a table are read with a schema. CONFIDENTIAL.

>>> import sundog
>>> schema = {"fields": [{"name": "cost", "type": "number", "constraints": {"minimum": 0, "maximum": 100}}]}
>>> found = sundog.check_table({"cost": ["1,5", "2,25", "3.5", ""]}, schema, dataset="example")
>>> found.columns[0].findings[0].remedy
'looks like decimal commas: set decimalChar to ","'
>>> found.columns[0].findings[0].shapes
('9,9', '9,99')
"""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sundog.api.linked import located
from sundog.api.options import Charged
from sundog.domain import Schema
from sundog.domain.linked.reading import declared
from sundog.domain.linked.views import LinkedSchema
from sundog.domain.unit import PrivacyUnit
from sundog.errors import UserError
from sundog.private.check import BRAND, Finding, KeyCheck, TableCheck, check_rows
from sundog.private.check_linked import LinkedCheck, check_links

CORRECT = 0.05
"""From this share of the cells on, a finding must be corrected; below, it is worth a look."""


def check_table(
    data: Any,
    schema: Schema | Mapping[str, Any] | str | Path,
    *,
    unit: str | None = None,
    rows_per_unit: int = 1,
    dataset: str | None = None,
    ledger: str | Path | None = None,
    new_account: bool = False,
    sql: str | None = None,
) -> TableCheck | LinkedCheck:
    """Count the cells by how they were read: understood, missing, unreadable, clamped, no listed label; lines; keys; rows per unit.

    CONFIDENTIAL: the counts are exact, and the ledger records the disclosure first.

    Args:
        data: the private table: a frame or a path; linked tables by name or where they lie.
        schema: the schema that it is to be read with; of linked tables their Data Package, and their links are counted too.
        unit: the column that names the people to protect.
        rows_per_unit: how many rows of one unit would be used at most.
        dataset: the ledger's account; default: the schema's name, else the file's name.
        ledger: the path of the ledger; default: in your data directory, or $SUNDOG_LEDGER.
        new_account: open a new account although its name looks like that of an existing one.
        sql: what to read from a database.
    """
    public, charged = declared(schema), Charged(ledger, dataset, new_account)
    path = data if isinstance(data, str | Path) else None
    if isinstance(public, LinkedSchema):
        if unit is not None or rows_per_unit != 1 or sql is not None:
            raise UserError(
                "check: a package says itself whom it protects and where its tables are; leave out unit and sql."
            )
        account = charged.account(public.name, path)
        return check_links(located(public.package, data), public, dataset=account, ledger=charged.open_ledger())
    protected = PrivacyUnit("add-remove", unit, rows_per_unit)
    account = charged.account(public.name, path)
    return check_rows(data, public, unit=protected, dataset=account, ledger=charged.open_ledger(), sql=sql)


def check_document(found: TableCheck | LinkedCheck) -> dict[str, Any]:
    """Everything as plain JSON, with the brand."""
    if isinstance(found, LinkedCheck):
        return {
            "confidential": True,
            "brand": BRAND,
            "dataset": found.dataset,
            "tables": {name: check_document(table) for name, table in found.tables.items()},
            "links": {name: [asdict(each) for each in links] for name, links in found.links.items()},
        }
    return {
        "confidential": True,
        "brand": BRAND,
        "dataset": found.dataset,
        "verdict": verdict(found),
        "rows": found.rows,
        "columns": [asdict(column) for column in found.columns],
        "keys": [asdict(key) for key in found.keys],
        "unit": asdict(found.unit) if found.unit else None,
        "lines": asdict(found.lines) if found.lines else None,
        "lineFindings": [asdict(finding) for finding in found.line_findings],
        "columnsNotInSchema": found.not_in_schema,
    }


def verdict(found: TableCheck) -> str:
    """The whole in a sentence."""
    if not found.findings:
        return "Every cell was understood as the schema declares."
    named = {column.name for column in found.columns} | {""}
    wrong = sorted({name or "lines" for name, finding in found.findings if name in named and finding.share >= CORRECT})
    if wrong:
        return f"To be corrected before anything is spent: {', '.join(wrong)}."
    return "Read well; what follows is worth a look."


def check_lines(found: TableCheck | LinkedCheck) -> list[str]:
    """The whole for a terminal: a table of shares, then every finding with its remedy."""
    if isinstance(found, LinkedCheck):
        lines = [BRAND]
        for name, table in found.tables.items():
            links = [_said("rows", finding) for finding in found.links.get(name, ())]
            lines += ["", f"== {name}", *check_lines(table)[2:], *(links or ["Its keys fit as declared."])]
        return lines
    lines = [BRAND, "", f"{found.rows:,} rows. {verdict(found)}", ""]
    width = max(len(column.name) for column in found.columns)
    lines.append(f"{'column':<{width}}  {'kind':<9}{'read':>8}{'missing':>9}{'unread':>8}{'no label':>9}{'clamped':>9}")
    for column in found.columns:
        shares = (column.read, column.missing, column.unreadable, column.unknown_label, column.clamped)
        cells = "".join(f"{_percent(share):>{size}}" for share, size in zip(shares, (8, 9, 8, 9, 9), strict=True))
        lines.append(f"{column.name:<{width}}  {column.kind:<9}{cells}")
    lines += ["", *(_said(name, finding) for name, finding in found.findings)]
    lines += [_key(key) for key in (*found.keys, *([found.unit] if found.unit else []))]
    left = found.not_in_schema
    return lines + ([f"Columns of the table that are not in the schema, so left out: {left}."] if left else [])


def _said(name: str, finding: Finding) -> str:
    shapes = f" Shapes: {' | '.join(finding.shapes)}." if finding.shapes else ""
    place = f"{name}: " if name else ""
    return f"{place}{finding.count:,} ({_percent(finding.share)}) {finding.what}. {finding.remedy[:1].upper()}{finding.remedy[1:]}.{shapes}"


def _key(key: KeyCheck) -> str:
    found = key.keys
    mean = found.filled / max(found.distinct, 1)
    return f"{key.name}: {found.distinct:,} different values in {found.filled:,} rows; {mean:.3g} rows each, at most {found.most:,}."


def _percent(share: float) -> str:
    return "-" if not share else "<0.1 %" if share < 0.001 else f"{100 * share:.1f} %"
