"""The SQL that reads a number with declared marks: decimal and group marks, and signs around it.

A text is read only if all of it fits: groups have three digits (two where India writes them, but the last has three), so
that a decimal mark taken for a group mark does not turn 1.5 into 15 but into nothing. Where signs may stand around the
number, a minus before it or parentheses around it make it negative.
"""

import re

from sundog.domain.spelling import PLAIN, NumberMarks

SPACES = "[ \\x{a0}\\x{202f}]"
"""As RE2 writes them: a space, or one that does not break the line."""
NEGATIVE = "[-\\x{2212}(]"


def number_sql(text: str, marks: NumberMarks) -> str:
    """The number that a text spells as a double, null where it spells none."""
    if marks == PLAIN:
        return f"TRY_CAST({text} AS DOUBLE)"
    number = _number(marks)
    around = ("[ ]*([+-]?)", "[ ]*") if marks.bare else ("([^0-9]*?)", "[^0-9]*")
    pattern = _literal(f"^{around[0]}({number}){around[1]}$")
    digits = f"regexp_extract({text}, {pattern}, 2)"
    if marks.group is not None:
        digits = f"regexp_replace({digits}, {_literal(_mark(marks.group))}, '', 'g')"
    if marks.decimal != ".":
        digits = f"replace({digits}, {_literal(marks.decimal)}, '.')"
    sign = (
        f"CASE WHEN regexp_matches(regexp_extract({text}, {pattern}, 1), {_literal(NEGATIVE)}) THEN -1.0 ELSE 1.0 END"
    )
    return f"(({sign}) * TRY_CAST({digits} AS DOUBLE))"


def _number(marks: NumberMarks) -> str:
    point = re.escape(marks.decimal)
    whole = "[0-9]+"
    if marks.group is not None:
        group = _mark(marks.group)
        whole = f"(?:[0-9]{{1,3}}(?:{group}[0-9]{{2,3}})*{group}[0-9]{{3}}|[0-9]+)"
    exponent = "(?:[eE][+-]?[0-9]+)?" if marks.bare else ""
    return f"(?:{whole}(?:{point}[0-9]*)?|{point}[0-9]+){exponent}"


def _mark(mark: str) -> str:
    return SPACES if mark in " \u00a0\u202f" else re.escape(mark)


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
