"""Text and JSON from files that anyone may have written: checked for size before they are read; every failure is a sentence.

A parsed document takes up to `GROWTH` times the bytes of its file, so a file beyond that share of memory is refused unread.
"""

import json
import os
import re
from pathlib import Path
from typing import Any

from sundog.errors import UserError
from sundog.sizes import refuse_beyond_memory

GROWTH = 16
_HALF = re.compile(r"\\u[dD][89a-fA-F]")
"""An escape that may be half of a character: what no file of UTF-8 can hold."""
PART = ".part"
"""The ending of a file that is being written."""


def read_json(path: str | Path, *, what: str, absent: str = "check the path") -> dict[str, Any]:
    """The JSON object in a file; `what` names the kind of file, and `absent` says how to come by one."""
    place = f"{what} {str(path)!r}"
    document = parsed_json(read_text(path, place=place, absent=absent), place=place)
    if not isinstance(document, dict):
        raise UserError(f"{place}: found a {type(document).__name__}, expected an object.")
    return document


def read_text(path: str | Path, *, place: str, absent: str = "check the path") -> str:
    """The text of a UTF-8 file; `place` is what messages call it."""
    try:
        facts = Path(path).stat()
        if not Path(path).is_file():
            raise UserError(f"{place} is no file; {absent}.")
        refuse_beyond_memory(place, GROWTH * facts.st_size, remedy="It is too large to be such a file.")
        return Path(path).read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise UserError(f"{place} does not exist; {absent}.") from None
    except UnicodeDecodeError:
        raise UserError(f"{place} is not UTF-8 text; {absent}.") from None
    except OSError as error:
        raise UserError(f"{place} cannot be read ({error.strerror}); {absent}.") from None
    except ValueError:
        raise UserError(f"{place} cannot be read (its name holds a zero byte); {absent}.") from None


def parsed_json(text: str, *, place: str) -> Any:
    """What a JSON text says; `place` is where it stood."""
    try:
        document = json.loads(text)
        if _HALF.search(text):
            json.dumps(document, ensure_ascii=False).encode("utf-8")
        return document
    except UnicodeEncodeError:
        raise UserError(
            f"{place}: a text in it holds half of a character (an escape from \\ud800 to \\udfff)."
        ) from None
    except json.JSONDecodeError as error:
        raise UserError(f"{place} is not JSON (line {error.lineno}, column {error.colno}: {error.msg}).") from None
    except (RecursionError, ValueError):  # the latter: a number of thousands of digits
        raise UserError(
            f"{place} is not JSON that can be read: it is nested too deep, or a number is too long."
        ) from None


def write_whole(path: Path, text: str) -> None:
    """A file written whole or not at all: what is killed in the middle leaves the file of before."""
    part = path.with_name(path.name + PART)
    try:
        with part.open("w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise OSError(error.errno, error.strerror, str(path)) from error
