"""Keys that are easily confused, how each may be spelled, and what it means: a reference that shares nothing with the code under test.

A key is compared as a text, and a missing one names nobody. Everything here is about one cell alone.
"""

from datetime import datetime, timedelta

import numpy as np
import pandas as pd

LONG = "k" * 100_000
CONFUSABLE = {
    "ones": ["1", "1.0", " 1", "1 ", "01", "\uff11", "1e0", "+1"],
    "parts": ["1", "12", "123", "23", "3", "1:2", "2:3"],
    "case": ["a", "A", "\uff41", "a ", "\u0430"],
    "forms": ["\u00e9", "e\u0301", "\u00c9", "E\u0301"],
    "missing": ["", "NA", "-1", "NaN", "nan", "NULL", "null", "NaT", "None", "-1.0"],
    "zeros": ["0", "-0", "0.0", "-0.0", "00"],
    "truths": ["true", "True", "1", "TRUE"],
    "signs": ['"', "'", ",", ";", "\t", "\\", '""', "\ufeff1", "\u200b1", "1", "\U0001f600"],
    "bytes": ["a\0", "a\0b", "\0", "a"],
    "long": [LONG, LONG + "1", LONG + "2"],
}
"""Texts of which one is easily taken for another; each is a key of its own."""
PAIRS = [("1", "23"), ("12", "3"), ("1", "2:3"), ("1:2", "3"), ("123", ""), ("", "123")]
"""Keys of two parts that are one text without a separator, or with one that the parts may hold."""
WHOLE = ["0", "1", "2", "-1", "12", "3", "123", "23", str(2**53), str(2**53 + 1), str(2**63 - 1)]
FLOAT = ["0", "1", "2", "-1", "3", "0.5", "inf", "-inf", "1e+300", str(2**53)]
MOMENT = ["2020-01-01 00:00:00", "2020-01-02 12:30:00", "1969-12-31 23:59:59"]
MISSING = ((), ("",), ("", "NA", "-1"))
"""What a field may declare as missing."""


def text_of(cell):
    """The text as which a cell is compared; None where it is missing in itself."""
    if cell is None or cell != cell:  # NaN and NaT are not equal to themselves
        return None
    if isinstance(cell, np.datetime64):
        return str(cell.astype("datetime64[s]")).replace("T", " ")
    if isinstance(cell, bool | np.bool_):
        return str(bool(cell)).lower()
    if isinstance(cell, float | np.floating) and cell == np.floor(cell) and abs(cell) < 2.0**63:
        return str(int(cell))
    return cell.decode() if isinstance(cell, bytes) else str(cell)


def key_of(cell, missing):
    """The text of a key, None where it is missing; typed numbers equal a declared missing value as numbers."""
    text = text_of(cell)
    if text is None or text in missing:
        return None
    typed = isinstance(cell, int | float | np.number) and not isinstance(cell, bool) and abs(cell) < 2**63
    return None if typed and any(float(cell) == number for number in map(_number, missing)) else text


def _number(word):
    try:
        return float(word)
    except ValueError:
        return None


def spelled(draw, text, kind):
    """A cell of a kind of column that means this text."""
    if kind in ("text", "whole", "float", "moment"):
        return {"text": str, "whole": int, "float": float, "moment": lambda t: np.datetime64(t, "us")}[kind](text)
    ways = [text, text.encode()]
    for read in (int, float, np.float64):
        try:
            cell = read(text)
        except ValueError:
            continue
        if text_of(cell) == text and (kind == "python" or abs(cell) < 2**63):
            ways.append(cell)
    if kind == "python":
        ways += [np.str_(text), *([text == "true"] if text in ("true", "false") else [])]
    return draw.choice(ways)


def nothing(draw, kind, missing):
    """A missing cell in any form that such a column has."""
    ways = [None]
    if kind in ("text", "mixed", "python"):
        ways += missing
    if kind in ("whole", "float", "mixed", "python") and "-1" in missing:
        ways.append(-1.0 if kind == "float" else -1)
    if kind in ("float", "mixed", "python"):
        ways += [float("nan"), np.float64("nan")]
    if kind in ("moment", "python"):
        ways += [np.datetime64("NaT", "us"), *([pd.NaT] if kind == "python" else [])]
    return draw.choice(ways)


def filler(family, number):
    """The text of a key that is never confused with another one of its family."""
    if family == "moment":
        return str(datetime(2021, 1, 1) + timedelta(seconds=number))
    return str(1000 + number) if family in ("whole", "float") else f"k{number}"


def pool(draw, family, *, confused=None):
    """Texts of a family; of texts, those that are easily confused in one way, and in another."""
    if family in ("whole", "float", "moment"):
        return {"whole": WHOLE, "float": FLOAT, "moment": MOMENT}[family]
    names = [name for name in CONFUSABLE if name != "long"]
    chosen = [confused or draw.choice(names), draw.choice(names)]
    return list(dict.fromkeys(text for name in chosen for text in CONFUSABLE[name]))
