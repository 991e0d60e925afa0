"""The page and the notebook view of an evaluation. CONFIDENTIAL: what they show was computed on real rows without noise.

A function of the evaluation's JSON; it holds no rows and computes nothing. The brand stands first on the page.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from sundog.report.page import render

SMALL = 1e-12


def evaluation_page(document: Mapping[str, Any]) -> str:
    """The whole page."""
    return render("evaluation.html", **_content(document))


def evaluation_fragment(document: Mapping[str, Any]) -> str:
    """The table alone, with the brand, for notebooks."""
    return render("evaluation_table.html", **_content(document))


def _content(document: Mapping[str, Any]) -> dict[str, Any]:
    tables = document["tables"]
    names = [table["name"] for table in tables]
    learned = document["trainedOnRealRows"]
    return {
        "document": document,
        "names": names,
        "reference": bool(learned),
        "lines": [_line(name, facts, tables, learned) for name, facts in document["metrics"].items()],
        "columns": _parts(tables, "tv1", document["columns"]),
        "targets": [
            (metric, _parts(tables, metric, _keys(tables, metric)))
            for metric in ("f1", "boosting_error")
            if _keys(tables, metric)
        ],
        "classes": [
            (metric, _parts(tables, metric, _keys(tables, metric)))
            for metric in ("workload_mean", "workload_max")
            if _keys(tables, metric)
        ],
    }


def _line(name: str, facts: Mapping[str, Any], tables: Sequence[Any], learned: Mapping[str, Any]) -> dict[str, Any]:
    values = [table["scores"].get(name, {}).get("value") for table in tables]
    known = [value for value in values if value is not None]
    best = (max if facts["better"] == "higher" else min)(known)
    cells = [{"value": value, "best": len(known) > 1 and value == best, "bar": _bar(value, known)} for value in values]
    return {"name": name, **facts, "cells": cells, "reference": learned.get(name, {}).get("value")}


def _bar(value: float | None, known: Sequence[float]) -> float:
    """The length of a value's bar beside the others', between 0 and 100."""
    most = max(abs(number) for number in known)
    return 0.0 if value is None or most < SMALL else 100 * max(value, 0.0) / most


def _keys(tables: Sequence[Any], metric: str) -> list[str]:
    return list(dict.fromkeys(key for table in tables for key in table["scores"].get(metric, {}).get("parts", {})))


def _parts(tables: Sequence[Any], metric: str, keys: Sequence[str]) -> list[tuple[str, list[float | None]]]:
    found = [table["scores"].get(metric, {}).get("parts", {}) for table in tables]
    return [(key, [parts.get(key) for parts in found]) for key in keys]
