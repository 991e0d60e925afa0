"""How a text spells a number or a moment: the marks of a number, the pattern of a date. Declared per field.

Marks follow Table Schema: `decimalChar`, `groupChar`, and `bareNumber` false where signs such as "$", "EUR" or "%" stand
around the number. A percent sign is a sign like any other: "45 %" is 45. Numbers are written with the decimal mark alone.
"""

import re
from dataclasses import dataclass

from sundog.domain.forms import FieldModel
from sundog.errors import UserError

DIRECTIVES = "aAbBdfHIjmMpSyY%"
"""What a date pattern may hold after a percent sign: what both reading and writing know."""


@dataclass(frozen=True)
class NumberMarks:
    """The decimal mark, the mark between groups of digits, and whether nothing else stands around a number."""

    decimal: str = "."
    group: str | None = None
    bare: bool = True


PLAIN = NumberMarks()


def read_marks(field: FieldModel) -> NumberMarks:
    """The marks of a field's numbers, checked."""
    decimal, group, name = field.decimal_char or ".", field.group_char, field.name
    for key, mark in (("decimalChar", decimal), ("groupChar", group)):
        if mark is not None and (len(mark) != 1 or re.match(r"[0-9+\-eE\n\r\0\"]", mark)):
            raise UserError(f"field {name!r}: {key} is {mark!r}; it must be one character that is no part of a number.")
    if decimal == group:
        raise UserError(f"field {name!r}: decimalChar and groupChar are both {decimal!r}; they must differ.")
    return NumberMarks(decimal, group, field.bare_number is not False)


def read_format(field: FieldModel) -> str | None:
    """The pattern of a date, datetime or time field, checked; None for ISO 8601 and for other fields."""
    pattern = field.format
    if pattern in (None, "default", "any") or field.type not in ("date", "datetime", "time"):
        return None
    for found in re.findall(r"%(.?)", pattern):
        if not found or found not in DIRECTIVES:
            raise UserError(
                f"field {field.name!r}: format {pattern!r} holds '%{found}'; allowed after '%' are "
                f"{', '.join(DIRECTIVES)} (%d, %m and %H also read one digit)."
            )
    if "%" not in pattern:
        raise UserError(f"field {field.name!r}: format {pattern!r} is not a pattern; write one such as %d.%m.%Y.")
    return pattern
