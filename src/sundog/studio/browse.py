"""A folder as one can pick from it: what the person who started the studio can read, tables and folders only."""

import os
from dataclasses import dataclass
from pathlib import Path

from sundog.errors import UserError

SHOWN = 400


@dataclass(frozen=True)
class Listing:
    """What lies in a folder: folders, tables, and patterns that name several tables of a kind at once."""

    folder: str
    parent: str | None
    folders: tuple[tuple[str, str], ...]
    tables: tuple[tuple[str, str], ...]
    patterns: tuple[tuple[str, str], ...]
    left_out: int


def listing(folder: str) -> Listing:
    """What can be picked in a folder."""
    place = Path(folder)
    try:
        entries = sorted(os.scandir(place), key=lambda entry: entry.name.lower())
    except OSError as error:
        raise UserError(f"folder {folder!r} cannot be read ({error.strerror}); choose another one.") from None
    seen = [entry for entry in entries if not entry.name.startswith(".") and entry.name.isprintable()]
    folders = [(entry.name, entry.path) for entry in seen if _is_folder(entry)]
    tables = [(entry.name, entry.path) for entry in seen if _is_table(entry)]
    left = max(len(folders) - SHOWN, 0) + max(len(tables) - SHOWN, 0)
    parent = str(place.parent) if place.parent != place else None
    return Listing(folder, parent, tuple(folders[:SHOWN]), tuple(tables[:SHOWN]), tuple(_patterns(place, tables)), left)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _is_table(entry: os.DirEntry[str]) -> bool:
    from sundog.sources.files import readable_kind

    try:
        return entry.is_file() and (readable_kind(entry.path) or entry.name == "datapackage.json")
    except (OSError, UserError):
        return False


def _patterns(place: Path, tables: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """One pattern per ending that several tables have; a folder whose own name reads as a pattern has none."""
    import glob

    endings = [Path(name).suffix for name, _ in tables]
    several = [ending for ending in dict.fromkeys(endings) if ending and endings.count(ending) > 1]
    if glob.has_magic(str(place)):
        return []
    return [
        (f"all {endings.count(ending)} {ending} files as one table", str(place / f"*{ending}")) for ending in several
    ]
