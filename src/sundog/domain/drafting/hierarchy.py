"""Parents for codes, by what they begin with: E11.9 and E11.0 under E11, 10115 and 10117 under 101. Pure.

Codes of ICD, NACE, zip areas and the like are written from the coarse to the fine. The parent is the longest beginning, of
one length for all, that several codes share on average, so that codes too rare to be measured are joined with others. That the
beginning means something is a guess; the field's `why` says so.
"""

from collections.abc import Sequence
from typing import Any

ON_AVERAGE = 4
"""This many codes stand under a parent."""
MARKS = ".-/ "


def with_parents(codes: Sequence[str]) -> tuple[list[Any], str]:
    """The codes as a category list with parents, and what to say of it; as they are where no beginning groups them."""
    for length in range(max(map(len, codes), default=0) - 1, 0, -1):
        groups = {_beginning(code, length) for code in codes}
        if 1 < len(groups) <= len(codes) / ON_AVERAGE:
            why = f" Grouped by their first {length} characters, {len(groups)} groups: check that these mean something."
            return [_entry(code, _beginning(code, length)) for code in codes], why
    return list(codes), ""


def _beginning(code: str, length: int) -> str:
    return code[:length].rstrip(MARKS)


def _entry(code: str, parent: str) -> Any:
    return {"value": code} if parent == code else {"value": code, "parent": parent}
