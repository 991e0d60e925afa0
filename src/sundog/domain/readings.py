"""Readings: the ways in which a column of text may be meant, for drafting a schema.

A reading is a number with certain marks, or a moment in a certain format. It can be tried on single texts here, and on a
whole column by an engine (sources.profile): patterns are written so that Python and RE2 agree.
"""

import re
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import product
from typing import Literal

Kind = Literal["number", "date", "datetime", "time"]

CURRENCY = "[$€£¥₹]|(?:US|CA|AU|C|A|R)[$]|EUR|USD|GBP|CHF|JPY|SEK|NOK|DKK|PLN|CZK|Euro|Fr[.]|kr[.]?|zł|Kč"
UNIT = "[A-Za-zµμ°Ω/²³%‰]{1,8}"
SPACE = "[ \\x{a0}\\x{202f}]"
"""As RE2 writes them: a space, or one that does not break the line."""
SEPARATORS = ("-", "/", ".")


@dataclass(frozen=True)
class Reading:
    """One way to read a text. Numbers: `decimal` and `group` marks, `bare` unless signs stand around it. Moments: `format`.

    In `accounts` an amount in parentheses is negative, and signs of money may stand around some amounts and not around others.
    """

    kind: Kind
    format: str | None = None
    decimal: str = "."
    group: str | None = None
    bare: bool = True
    accounts: bool = False

    @cached_property
    def pattern(self) -> str:
        """The pattern of a number, for RE2."""
        point = re.escape(self.decimal)
        if self.group is None:
            digits = rf"([0-9]+({point}[0-9]*)?|{point}[0-9]+)([eE][+-]?[0-9]+)?"
        else:
            mark = SPACE if self.group == " " else re.escape(self.group)
            digits = rf"([0-9]{{1,3}}({mark}[0-9]{{3}})*|[0-9]+)({point}[0-9]+)?"
        number = f"[+-]?{digits}"
        if self.bare:
            return number
        if self.accounts:
            amount = f"(({CURRENCY}){SPACE}?)?{digits}({SPACE}?({CURRENCY}))?"
            return f"([+-]?{amount}|[(]{SPACE}?{amount}{SPACE}?[)])"
        return f"([+-]?({CURRENCY}){SPACE}?{number}|{number}{SPACE}?({CURRENCY}|{UNIT}))"

    @cached_property
    def _compiled(self) -> "re.Pattern[str]":
        return re.compile(re.sub(r"\\x\{([0-9a-f]+)\}", lambda found: chr(int(found[1], 16)), self.pattern))

    def reads(self, text: str) -> bool:
        """Whether it reads a text."""
        if self.kind == "number":
            return self._compiled.fullmatch(text) is not None
        try:
            moment = datetime.strptime(text, self.format) if self.format else datetime.fromisoformat(text)
        except ValueError:
            return False
        if self.format is None and (len(text) > len("2024-12-31")) != (self.kind == "datetime"):
            return False
        return self.kind == "time" or 1850 <= moment.year <= 2150

    def signs(self, text: str) -> str:
        """What stands around a number."""
        around = "+-.,' \u00a0\u202f()"
        return "".join(letter for letter in text if not (letter.isdigit() or letter in around))


def _numbers() -> list[Reading]:
    marks = [(".", None), (",", None), (".", ","), (",", "."), (".", "'"), (",", " "), (".", " ")]
    ways = [(True, False), (False, False), (False, True)]
    return [
        Reading("number", decimal=d, group=g, bare=bare, accounts=accounts) for bare, accounts in ways for d, g in marks
    ]


def _days() -> list[str]:
    numeric = [f"{a}{s}{b}{s}{c}" for s in SEPARATORS for a, b, c in _ORDERS if (s, a) != ("-", "%Y")]
    return [*numeric, "%d %b %Y", "%d-%b-%Y", "%d-%b-%y", "%d. %B %Y", "%d %B %Y", "%b %d, %Y", "%B %d, %Y"]


_ORDERS = (("%d", "%m", "%Y"), ("%m", "%d", "%Y"), ("%Y", "%m", "%d"), ("%d", "%m", "%y"), ("%m", "%d", "%y"))
_CLOCKS = ("%H:%M", "%H:%M:%S", "%I:%M %p", "%I:%M:%S %p", "%H.%M Uhr", "%H:%M Uhr")

NUMBERS = _numbers()
TIMES = [Reading("time", clock) for clock in _CLOCKS]
DATES = [Reading("date"), *(Reading("date", day) for day in _days())]
DATETIMES = [
    Reading("datetime"),
    *(
        Reading("datetime", day + between + clock)
        for day, between, clock in product(_days(), (" ", "T", ", "), _CLOCKS)
    ),
]
ALL = [Reading("date", "%Y%m%d"), *TIMES, *NUMBERS, *DATES, *DATETIMES]
"""In the order of preference: of two that read the same texts, the first is meant."""


def ambiguous(one: Reading, other: Reading) -> bool:
    """Whether two readings of the same texts mean different values: day and month swapped, a point as mark of groups."""
    if one.kind == "number":
        return (one.decimal, one.group) != (other.decimal, other.group) and one.bare == other.bare
    return one.kind == other.kind and one.format != other.format
