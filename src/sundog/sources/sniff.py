"""Guess the dialect of a text file from its bytes, with a reason for each part. CONFIDENTIAL: it looks at rows.

Only a draft guesses; every other command reads as declared. Encoding is judged on the whole file (an umlaut may come late),
in bounded memory; the rest on its first lines.
"""

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from sundog.domain.readings import DATES, NUMBERS

DELIMITERS = (",", ";", "\t", "|")
HEAD = 1 << 18
"""This many bytes are looked at line by line."""
LONGEST = 1 << 20
"""Of longer lines only the last bytes are judged."""
LINES = 200
UNDEFINED = re.compile(rb"[\x81\x8d\x8f\x90\x9d]")
"""Bytes that Windows-1252 does not define."""
MARKS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))


@dataclass(frozen=True)
class Guess:
    """A dialect document that holds what differs from the standard, the reasons, and how many columns there are."""

    dialect: dict[str, Any]
    why: tuple[str, ...]
    columns: int


def guess_dialect(chunks: Iterable[bytes], *, delimiter: str, given: dict[str, Any] | None = None) -> Guess:
    """The dialect of a file, given its bytes; `delimiter` is what its ending stands for; what is `given` is not guessed."""
    known = dict(given or {})
    head, good, bad, undefined = _scan(chunks)
    encoding, why = known.get("encoding"), []
    if encoding is None:
        encoding, reason = _encoding(head, good=good, bad=bad, undefined=undefined)
        why.append(reason)
        known |= {"encoding": encoding} if encoding != "utf-8" else {}
    text = head.decode(encoding, errors="replace").removeprefix("\ufeff")
    lines = _lines(text, complete=len(head) < HEAD)
    if "delimiter" not in known:
        found = _delimiter(lines, usual=delimiter)
        why.append(f"Cells are separated by {_shown(found)}.")
        known |= {"delimiter": found} if found != delimiter else {}
    mark = known.get("delimiter", delimiter)
    for part in (_escape(text), _multiline(lines, mark), _header(lines, mark)):
        if part is not None and part[0] not in known:
            known[part[0]] = part[1]
            why.append(part[2])
    return Guess(known, tuple(why), len(_cells(lines[0], mark)) if lines else 0)


def _scan(chunks: Iterable[bytes]) -> tuple[bytes, int, int, bool]:
    """The first bytes; how many lines beyond ASCII are UTF-8 and how many are not; whether Windows-1252 is impossible."""
    head, good, bad, undefined = b"", 0, 0, False
    for block in _line_blocks(chunks):
        if len(head) < HEAD:
            head += block[: HEAD - len(head)]
        if block.isascii():
            continue
        for line in block.split(b"\n"):
            if line.isascii():
                continue
            try:
                line.decode("utf-8")
                good += 1
            except UnicodeDecodeError:
                bad += 1
                undefined = undefined or UNDEFINED.search(line) is not None
    return head, good, bad, undefined


def _line_blocks(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The bytes cut at line ends, so that no character is cut in two; lines that are too long are cut anywhere."""
    rest = b""
    for chunk in chunks:
        whole, end, begun = (rest + chunk).rpartition(b"\n")
        if end:
            yield whole + end
        rest = begun
        if len(rest) > LONGEST:
            yield rest
            rest = b""
    yield rest


def _encoding(head: bytes, *, good: int, bad: int, undefined: bool) -> tuple[str, str]:
    for mark, encoding in MARKS:
        if head.startswith(mark):
            return encoding, f"The file begins with a byte order mark: {encoding}."
    sample = head[: 1 << 12]
    for encoding, zeros in (("utf-16le", sample[1::2]), ("utf-16be", sample[::2])):
        if len(sample) > 8 and zeros.count(0) > 0.4 * len(zeros):
            return encoding, f"Every second byte is zero: {encoding}."
    if not bad:
        return "utf-8", "The file is UTF-8." if good else "The file is plain ASCII."
    if good >= bad:
        return "utf-8", f"The file is UTF-8 except for {bad:,} lines, whose broken characters cannot be read."
    found = "latin-1" if undefined else "windows-1252"
    return found, f"{bad:,} lines are not UTF-8, and read well as {found}."


def _lines(text: str, *, complete: bool) -> list[str]:
    lines = re.split(r"\r?\n", text)
    return [line for line in (lines if complete else lines[:-1])[: LINES + 1] if line]


def _cells(line: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error:
        return [line]


def _delimiter(lines: list[str], *, usual: str) -> str:
    """The mark that parts the most lines into as many cells as the first line."""

    def merit(mark: str) -> tuple[float, int]:
        widths = [len(_cells(line, mark)) for line in lines]
        if not widths or widths[0] < 2:
            return 0.0, 0
        return sum(width == widths[0] for width in widths) / len(widths), widths[0]

    merits = {mark: merit(mark) for mark in DELIMITERS}
    fair = [mark for mark in DELIMITERS if merits[mark][0] >= 0.8]
    return max(fair, key=lambda mark: (merits[mark][1], mark == usual)) if fair else usual


def _shown(mark: str) -> str:
    return {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}.get(mark, repr(mark))


def _escape(text: str) -> tuple[str, Any, str] | None:
    if re.search(r'\\"', text) and not re.search(r'[^,;|\t\r\n"]""[^,;|\t\r\n"]', text):
        return "escapeChar", "\\", "Quotes inside cells are escaped by a backslash."
    return None


def _multiline(lines: list[str], delimiter: str) -> tuple[str, Any, str] | None:
    """Records that span lines: lines alone leave a quote open and lack cells, and joined ones have all of them."""
    width = len(_cells(lines[0], delimiter)) if lines else 0
    if sum(line.count('"') % 2 and len(_cells(line, delimiter)) != width for line in lines) < 2:
        return None
    try:
        records = list(csv.reader((line + "\n" for line in lines), delimiter=delimiter))[:-1]
    except csv.Error:
        return None
    if len(records) < 2 or Counter(len(record) for record in records)[width] < 0.95 * len(records):
        return None
    return (
        "multiline",
        True,
        "Quoted cells hold line ends, so records span lines (the guarantee is then for parsed records).",
    )


def _header(lines: list[str], delimiter: str) -> tuple[str, Any, str] | None:
    """A first line with numbers or dates where the next lines have some too is no header."""
    if len(lines) < 2:
        return None
    first, *others = (_cells(line, delimiter) for line in lines[:20])
    for place, cell in enumerate(first):
        below = [cells[place] for cells in others if len(cells) == len(first)]
        if cell and _valued(cell) and below and sum(map(_valued, below)) >= 0.8 * len(below):
            return "header", False, "The first line looks like a row, so the columns are numbered: name them."
    return None


def _valued(cell: str) -> bool:
    """A number or a date; a year may well be a column's name."""
    return not re.fullmatch(r"(19|20)\d\d", cell) and any(reading.reads(cell) for reading in (*NUMBERS[:2], *DATES[:6]))
