"""Draft a schema by looking at the data. CONFIDENTIAL: every domain in it is read off the rows.

It saves the owner typing. Bounds are rounded outwards, and the owner must review every bound and every list against
what is publicly known before the schema may be called public. The ledger records the disclosure.
"""

import math
from collections.abc import Mapping
from datetime import MAXYEAR, MINYEAR, date
from typing import Any

from sundog.domain.columns import GRID_LIMIT
from sundog.private.ledger import Ledger
from sundog.private.table import PrivateTable, open_private
from sundog.sources.duck import DuckTable
from sundog.sources.encode import RawColumn

BRAND = "CONFIDENTIAL DRAFT: read off the data. Review every bound and category list against public knowledge."
FEW_LABELS = 100
FEW_NUMBERS = 2


def draft(table: PrivateTable, *, name: str, dataset: str, ledger: Ledger) -> dict[str, Any]:
    """A Table Schema document for a table, after the disclosure is on the ledger."""
    ledger.disclose(dataset, "schema draft: domains read off the data, without noise")
    source = open_private(table)
    if not isinstance(source, DuckTable):
        raise TypeError("drafting needs a table that DuckDB reads")
    fields = [_field(source, column, raw) for column, raw in source.raw.items() if column]
    return {"name": name, "notes": BRAND, "missingValues": [""], "fields": fields}


def _field(source: DuckTable, name: str, raw: RawColumn) -> dict[str, Any]:
    facts = _facts(source, raw)
    domain = _domain(source, raw, facts)
    required = {"required": True} if facts["nulls"] == 0 and facts["rows"] else {}
    constraints = {**domain.pop("constraints", {}), **required}
    return {"name": name, **domain, **({"constraints": constraints} if constraints else {}), "domainSource": "data"}


def _facts(source: DuckTable, raw: RawColumn) -> Mapping[str, Any]:
    """Everything a draft needs to know of one column, in one pass."""
    text = f"nullif({raw.as_text()}, '')"
    number, moment = raw.as_number(), f"TRY_CAST({text} AS TIMESTAMP)"
    parts = {
        "rows": "count(*)",
        "nulls": f"count(*) FILTER ({text} IS NULL)",
        "distinct": f"count(DISTINCT {text})",
        "numbers": f"count({number})",
        "whole": f"count(*) FILTER ({number} = floor({number}))",
        "padded": f"count(*) FILTER (regexp_matches({text}, '^0[0-9]'))",
        "low": f"min({number}) FILTER (isfinite({number}))",
        "high": f"max({number}) FILTER (isfinite({number}))",
        "decimals": f"max(length(regexp_extract({text}, '^-?[0-9]*[.]([0-9]*)$', 1)))",
        "moments": f"count(year({moment}))",
        "midnights": f"count(*) FILTER ({moment} = date_trunc('day', {moment}))",
        "first": f"min(year({moment}))",
        "last": f"max(year({moment}))",
        "truths": f"count(*) FILTER (lower({text}) IN ('true', 'false'))",
    }
    sql = f"SELECT {', '.join(parts.values())} FROM {source.relation}"
    with source.quiet_failures():
        return dict(zip(parts, source.connection.sql(sql).fetchall()[0], strict=True))


def _domain(source: DuckTable, raw: RawColumn, facts: Mapping[str, Any]) -> dict[str, Any]:
    filled = facts["rows"] - facts["nulls"]
    if raw.type == "BOOLEAN" or 0 < filled == facts["truths"]:
        return {"type": "boolean"}
    if 0 < filled == facts["numbers"] and not facts["padded"] and facts["distinct"] > FEW_NUMBERS:
        return _number(facts, filled)
    if 0 < filled == facts["moments"] and not (raw.number or facts["numbers"]):
        return _moment(facts, filled)
    if facts["distinct"] > FEW_LABELS and facts["distinct"] > filled / 20:
        return {"type": "string", "identifier": True}
    return {"type": "string", "categories": _labels(source, raw)}


def _number(facts: Mapping[str, Any], filled: int) -> dict[str, Any]:
    low, high = _outward(facts["low"], math.floor), _outward(facts["high"], math.ceil)
    reach = math.floor(math.log10(GRID_LIMIT / 2 / max(abs(low), abs(high), 1)))
    if reach < 0:  # such numbers name things
        return {"type": "string", "identifier": True}
    if facts["whole"] == filled:
        return {"type": "integer", "constraints": {"minimum": int(low), "maximum": int(high)}}
    decimals = min(int(facts["decimals"] or 6), 15, reach)
    return {"type": "number", "constraints": {"minimum": low, "maximum": high}, "sundog": {"decimals": decimals}}


def _outward(value: float | None, rounding: Any) -> float:
    """The next number with two digits, away from the data."""
    if not value:
        return 0.0
    step = 10.0 ** (math.floor(math.log10(abs(value))) - 1)
    return float(f"{rounding(value / step) * step:.10g}")


def _moment(facts: Mapping[str, Any], filled: int) -> dict[str, Any]:
    first, last = (min(max(facts[end], MINYEAR), MAXYEAR) for end in ("first", "last"))
    low, high = date(first, 1, 1).isoformat(), date(last, 12, 31).isoformat()
    if facts["midnights"] == filled:
        return {"type": "date", "constraints": {"minimum": low, "maximum": high}}
    return {"type": "datetime", "constraints": {"minimum": f"{low}T00:00:00", "maximum": f"{high}T23:59:59"}}


def _labels(source: DuckTable, raw: RawColumn) -> list[str]:
    text = f"nullif({raw.as_text()}, '')"
    sql = f"SELECT DISTINCT {text} AS label FROM {source.relation} WHERE label IS NOT NULL ORDER BY label"
    with source.quiet_failures():
        return [label for (label,) in source.connection.sql(sql).fetchall()]
