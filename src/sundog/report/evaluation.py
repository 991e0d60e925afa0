"""The page and the notebook view of an evaluation. CONFIDENTIAL: what they show was computed on real rows without noise.

A function of the evaluation's JSON; it holds no rows and computes nothing. The brand stands first on the page.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from sundog.report.charts import percent
from sundog.report.side_by_side import Picture
from sundog.report.template import render

SMALL = 1e-12
COLUMNS_SHOWN = 24
Pictures = Mapping[str, tuple[Sequence[Picture], Sequence[Picture]]]
"""For each table its columns and its pairs."""


def evaluation_page(document: Mapping[str, Any], *, pictures: Pictures) -> str:
    """The evaluation as one HTML page."""
    shown = [
        (name, [_card(each) for each in columns[:COLUMNS_SHOWN]], len(columns), [_card(each) for each in pairs])
        for name, (columns, pairs) in pictures.items()
    ]
    return render("evaluation.html", **_content(document), pictures=shown, verdict=verdict(document))


def _card(picture: Picture) -> dict[str, Any]:
    said = f"{percent(picture.distance)} apart; chance alone: {percent(picture.chance)}"
    return {"title": picture.title, "said": said, "chart": Markup(picture.svg)}  # noqa: S704 (our own drawing)


def verdict(document: Mapping[str, Any]) -> tuple[str, ...]:
    """The first table in sentences: columns, relations, prediction, analyses, and whether it can be distinguished."""
    table = document["tables"][0]
    ceiling, floor = document["baselines"]
    said = [_apart("Single columns", "tv1", table, ceiling), _relations(table, ceiling, floor)]
    learned = document["trainedOnRealRows"]
    if "boosting_error" in table["scores"] and "boosting_error" in learned:
        ours, theirs = (100 * found["boosting_error"]["value"] for found in (table["scores"], learned))
        said.append(
            f"Prediction: models trained on it err in {ours:.1f} of 100, models trained on real rows in {theirs:.1f}."
        )
    analyses = table.get("analyses", [])
    of = sum(each["conclusions"] for each in analyses)
    if of:
        kept = sum(each["conclusionsKept"] for each in analyses)
        said.append(f"Analyses: {kept} of {of} conclusions are the same on both tables.")
    if "detection_auc" in table["scores"]:
        said.append(_told_apart(table["scores"]["detection_auc"]["value"]))
    return tuple(sentence for sentence in said if sentence)


def _apart(what: str, metric: str, table: Mapping[str, Any], ceiling: Mapping[str, Any]) -> str:
    if metric not in table["scores"]:
        return ""
    value, best = (each["scores"][metric]["value"] for each in (table, ceiling))
    return f"{what} are {percent(value)} apart on average; chance alone would give {percent(best)}."


def _relations(table: Mapping[str, Any], ceiling: Mapping[str, Any], floor: Mapping[str, Any]) -> str:
    """How much of what relates two columns is kept: 100 % like a bootstrap, 0 % like independent columns."""
    if "tv2" not in table["scores"]:
        return ""
    value, best, worst = (each["scores"]["tv2"]["value"] for each in (table, ceiling, floor))
    said = _apart("Pairs of columns", "tv2", table, ceiling)
    if worst - best <= 0.1 * best:
        return said + " The columns are nearly independent, so there is little relation to keep."
    kept = 100 * (worst - value) / (worst - best)
    if kept < 0:
        return said + " That is worse than independent columns: its relations are not to be relied on."
    return said + f" It keeps {min(kept, 100):.0f} % of what relates two columns (independent columns keep none)."


def _told_apart(auc: float) -> str:
    word = "barely" if auc < 0.6 else "to some extent" if auc < 0.75 else "well" if auc < 0.9 else "nearly always"
    return f"Detection: a model can distinguish synthetic from real rows {word} (AUC {auc:.2f}; 0.5 is a coin toss)."


def evaluation_fragment(document: Mapping[str, Any]) -> str:
    """The table alone, with the brand, for notebooks."""
    return render("evaluation_table.html", **_content(document))


def _content(document: Mapping[str, Any]) -> dict[str, Any]:
    tables = document["tables"]
    names = [table["name"] for table in tables]
    learned = document["trainedOnRealRows"]
    baselines = document["baselines"]
    return {
        "document": document,
        "names": names,
        "baselines": [table["name"] for table in baselines],
        "reference": bool(learned),
        "lines": [_line(name, facts, tables, learned, baselines) for name, facts in document["metrics"].items()],
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
        "protected": [
            ("protected", _parts(tables, "protected", keys)) for keys in [_keys(tables, "protected")] if keys
        ],
    }


def _line(
    name: str, facts: Mapping[str, Any], tables: Sequence[Any], learned: Mapping[str, Any], baselines: Sequence[Any]
) -> dict[str, Any]:
    values = [table["scores"].get(name, {}).get("value") for table in tables]
    known = [value for value in values if value is not None]
    best = (max if facts["better"] == "higher" else min)(known)
    cells = [{"value": value, "best": len(known) > 1 and value == best, "bar": _bar(value, known)} for value in values]
    beside = [table["scores"].get(name, {}).get("value") for table in baselines]
    return {"name": name, **facts, "cells": cells, "baselines": beside, "reference": learned.get(name, {}).get("value")}


def _bar(value: float | None, known: Sequence[float]) -> float:
    """The length of a value's bar beside the others', between 0 and 100."""
    most = max(abs(number) for number in known)
    return 0.0 if value is None or most < SMALL else 100 * max(value, 0.0) / most


def _keys(tables: Sequence[Any], metric: str) -> list[str]:
    return list(dict.fromkeys(key for table in tables for key in table["scores"].get(metric, {}).get("parts", {})))


def _parts(tables: Sequence[Any], metric: str, keys: Sequence[str]) -> list[tuple[str, list[float | None]]]:
    found = [table["scores"].get(metric, {}).get("parts", {}) for table in tables]
    return [(key, [parts.get(key) for parts in found]) for key in keys]
