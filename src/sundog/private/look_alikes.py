"""Which names look alike: by Unicode's table of confusable characters (UTS 39), in any mix of capitals and small letters.

    skeleton(name) = the name decomposed (NFKD), each character replaced by what it looks like, until nothing changes

UTS 39 calls two texts confusable if their skeletons agree. It compares texts as they are written, but two accounts must not
differ in case alone either. So two names look alike here if they can be written, each letter as it is, as a capital or as a
small letter, such that their skeletons agree: PAT1ENTS looks like PATIENTS, which is patients in capitals. Dashes of every
kind are also compared as hyphens, which the table does not do, and default ignorable characters are left out.

The table is in confusables.txt, with its version and its licence.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.resources import files

_IGNORABLE = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")
"""Variation selectors, fillers and joiners; the other ones are refused in names (account_name.py)."""


def look_alike(name: str, known: Iterable[str]) -> str | None:
    """The first of the known names that looks like this one and is another; None if there is none, or if this one is known."""
    names = list(known)
    return None if name in names else next((other for other in names if alike(name, other)), None)


def alike(one: str, other: str) -> bool:
    """Whether some way of writing the letters gives both names the same skeleton.

    Walks along both at once. A state is how many letters of each are written, and what one is ahead of the other.
    """
    first, second = _letters(one), _letters(other)
    waiting, seen = [(0, 0, "", "")], set()
    while waiting:
        state = waiting.pop()
        if state == (len(first), len(second), "", ""):
            return True
        if state not in seen:
            seen.add(state)
            waiting += _next(*state, first, second)
    return False


def _next(
    written: int, others: int, ahead: str, behind: str, first: list[str], second: list[str]
) -> Iterator[tuple[int, int, str, str]]:
    """The states after one letter more: of the first name unless it is `ahead`, else of the second."""
    if written < len(first) and not ahead:
        written += 1
        grown = [(way, behind) for way in _written(first[written - 1])]
    elif others < len(second):
        others += 1
        grown = [(ahead, behind + way) for way in _written(second[others - 1])]
    else:
        return
    for one, other in grown:
        if one.startswith(other):
            yield written, others, one[len(other) :], ""
        elif other.startswith(one):
            yield written, others, "", other[len(one) :]


def skeleton(text: str) -> str:
    """What a text looks like: two that look alike have the same skeleton."""
    while (simpler := _simpler(text)) != text:
        text = simpler
    return text


def _simpler(text: str) -> str:
    shown = confusables()
    replaced = "".join(shown.get(letter, letter) for letter in unicodedata.normalize("NFKD", text))
    return unicodedata.normalize("NFKD", _IGNORABLE.sub("", replaced))


@cache
def confusables() -> dict[str, str]:
    """Each character of the table, and what it looks like."""
    lines = files("sundog.private").joinpath("confusables.txt").read_text(encoding="utf-8").splitlines()
    groups = (line.split(":") for line in lines if not line.startswith("#"))
    return {letter: _text(shown) for shown, others in groups for letter in _text(others)}


def _text(points: str) -> str:
    return "".join(chr(int(point, 16)) for point in points.split())


def _letters(name: str) -> list[str]:
    """The letters of a name, each with its marks."""
    plain = _IGNORABLE.sub("", unicodedata.normalize("NFKD", name))
    starts = [place for place, letter in enumerate(plain) if place == 0 or not unicodedata.combining(letter)]
    return [plain[start:end] for start, end in zip(starts, [*starts[1:], len(plain)], strict=False)]


def _written(letter: str) -> frozenset[str]:
    """The skeletons of a letter as it is, as a capital and as a small letter; of a dash also that of a hyphen."""
    ways = {letter, letter.casefold(), letter.lower(), letter.upper()}
    if unicodedata.category(letter[0]) == "Pd":
        ways.add(f"-{letter[1:]}")
    return frozenset(skeleton(way) for way in ways)
