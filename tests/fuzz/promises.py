"""What an input must not bring about besides a crash: words that quote a private row, and a charge for what was refused.

Every private table of linked tables that is made here carries `SECRET` in its cells and keys, as text and as a number; neither
stands in any schema, so no message, log, file name or file may have it, whatever a command does.
"""

import contextlib
import json
import sqlite3
import unicodedata

SECRET = "qzxvkj"
SECRET_NUMBER = 7302196845
READING = "the engine failed while reading it"
"""What may be said after a charge of a flat table: it is read for the first time while it is counted. Linked ones are read before."""
_MARKS = (SECRET, str(SECRET_NUMBER))


def broken(code, said, *, place, given, before):
    """What is wrong with a command that ended: a few words, or none. `given`: the files it found; `before`: the charges in its ledger."""
    after = charges(place / "ledger.sqlite")
    if "Traceback (most recent call last)" in said:
        return "a traceback"
    if _quotes(said):
        return "a message quotes a private row"
    if code and None not in (before, after) and len(after) > len(before) and not (READING in said and not after[-1]):
        return f"exit code {code} after a charge"
    made = [path for path in files(place) if path not in given or path.name.startswith("ledger.sqlite")]
    if leaks := [path.name for path in made if _quotes(path.name) or _holds(path)]:
        return f"a private row stands in {leaks[0]!a}"
    return ""


def files(place):
    """All files in a folder and below it."""
    return {path for path in place.rglob("*") if path.is_file()}


def charges(ledger):
    """Of every charge in a ledger whether it is for linked tables; None where it cannot be read."""
    if not ledger.is_file():
        return []
    try:
        with contextlib.closing(sqlite3.connect(f"{ledger.as_uri()}?mode=ro", uri=True)) as connection:
            bodies = [json.loads(body) for (body,) in connection.execute("SELECT body FROM entries")]
        return [bool(body["unit"]["below"]) for body in bodies if body["rho"] or body["delta"]]
    except (sqlite3.Error, ValueError, TypeError, KeyError):  # a forged ledger
        return None


def _quotes(text):
    plain = unicodedata.normalize("NFKC", text).lower()
    return any(mark in plain for mark in _MARKS)


def _holds(path):
    return _quotes(path.read_bytes().decode("utf-8", errors="replace"))
