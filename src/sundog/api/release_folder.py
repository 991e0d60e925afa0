"""A release folder holds one release and nothing else: an allow-list of files, all of the same run.

Whoever publishes a folder publishes everything in it. So a folder with a file that Sundog does not know is refused, rows of
an earlier run do not stay beside the certificate of a later one, and nothing else is written into a release or below it.

Measurements were paid for, so nothing ever overwrites them: those of the release that a new one replaces are kept beside the
folder, in FOLDER.earlier/1, 2, ... and not within it, where they would be published under a certificate of other costs.
"""

import os
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from sundog.errors import UserError
from sundog.json_files import PART
from sundog.report.release_files import in_order, is_release_file, needs_rows

if TYPE_CHECKING:
    from sundog.released import Released

MEASURED = "released.json"
KEPT = (MEASURED, "model.json", "certificate.json", "certificate.sig")
"""What is kept of a release that is replaced: with its measurements, method and seed it can be made again."""

MARK = "certificate.json"
"""A folder with this file is a release."""


def files_of(folder: Path) -> list[str]:
    """The files of a release, and no other that may lie beside them."""
    return [name for name in in_order(path.name for path in folder.iterdir()) if (folder / name).is_file()]


def check_release_folder(folder: Path, *, force: bool, outside: Iterable[str | Path | None] = ()) -> None:
    """Refuse, before any budget is spent, a folder that would hold more than this release; `outside` must not lie in it."""
    refuse_inside_release(folder)
    target = folder.resolve()
    for path in outside:
        if path is not None and target in Path(path).expanduser().resolve().parents:
            raise UserError(
                f"--out: {str(path)!r} lies in {str(folder)!r}, which is to be released; choose another folder."
            )
    found = sorted(entry.name for entry in folder.iterdir()) if folder.is_dir() else []
    blocked = next((name for name in found if _ours(name) and (folder / name).is_dir()), None)
    if blocked is not None:
        raise UserError(f"--out: {str(folder / blocked)!r} is a folder, and a file of that name is to be written.")
    unknown = next((name for name in found if not _ours(name)), None)
    if unknown is not None:
        raise UserError(
            f"--out: {str(folder)!r} holds {unknown!r}, which is no part of a release; choose another folder, so that nothing "
            "else is published with it."
        )
    if found and not force:
        raise UserError(
            f"--out: {str(folder)!r} holds {found[0]!r} already; choose another folder, or --force to replace the release."
        )
    check_earlier(folder)


def check_saving(folder: Path) -> None:
    """Refuse to save a model where rows of an earlier one lie, or anything that is no part of a release."""
    check_release_folder(folder, force=True)
    there = [entry.name for entry in folder.iterdir()] if folder.is_dir() else []
    rows = next(filter(needs_rows, there), None)
    if rows is not None:
        raise UserError(
            f"save: {str(folder)!r} holds {rows!r} of an earlier release; save into an empty folder, and write rows afterwards."
        )


def save_measurements(folder: Path, released: "Released") -> None:
    """Make a folder that of a release, as yet of its measurements alone; those that were there are kept beside."""
    folder.mkdir(parents=True, exist_ok=True)
    for entry in [*folder.iterdir()]:
        if _ours(entry.name) and entry.name not in KEPT:
            entry.unlink(missing_ok=True)
    replace_measurements(folder / MEASURED, released, beside=folder)
    for name in KEPT:
        if name != MEASURED:
            (folder / name).unlink(missing_ok=True)


def replace_measurements(path: Path, released: "Released", *, beside: Path) -> None:
    """Write measurements, after what they do not hold of the file's former ones is kept in the folder's .earlier/NUMBER."""
    if path.exists() and not _held(path, released):
        into = _next_folder(beside)
        kept = [path.parent / name for name in KEPT] if path.parent == beside else []
        for each in dict.fromkeys([*kept, path]):
            if each.exists():
                shutil.move(each, into / each.name)
    released.save(path)


def _ours(name: str) -> bool:
    """A file of a release, or one that a killed run has half written."""
    return is_release_file(name) or name == MEASURED + PART


def earlier_folder(place: Path) -> Path:
    """Where the measurements are kept that a release or file of this name held before."""
    whole = place.resolve()
    return whole.with_name(f"{whole.name}.earlier")


def check_earlier(place: Path) -> None:
    """Refuse, before any budget is spent, a place beside which nothing can be kept."""
    earlier = earlier_folder(place)
    if not (place.is_file() or (place / MEASURED).exists()):
        return
    if (earlier.exists() and not earlier.is_dir()) or not os.access(
        earlier if earlier.is_dir() else earlier.parent, os.W_OK
    ):
        raise UserError(
            f"--out: the measurements that are there are to be kept in {str(earlier)!r}, which cannot be written; choose "
            "another place."
        )


def _held(path: Path, released: "Released") -> bool:
    """Whether nothing would be lost: the file's measurements are all among the new ones."""
    from sundog.released import Released

    try:
        return released.holds(Released.load(path))
    except UserError:  # whatever it is, it is kept
        return False


def _next_folder(beside: Path) -> Path:
    """A new folder, numbered on from those that are there."""
    earlier, number = earlier_folder(beside), 1
    while (earlier / str(number)).exists():
        number += 1
    (earlier / str(number)).mkdir(parents=True)
    return earlier / str(number)


def refuse_inside_release(path: Path) -> None:
    """Refuse to write into a release, or into a folder below one."""
    release = next((parent for parent in path.resolve().parents if (parent / MARK).exists()), None)
    if release is not None:
        raise UserError(
            f"--out: {str(path)!r} lies in the release {str(release)!r}, which would be published with it; choose another place."
        )
