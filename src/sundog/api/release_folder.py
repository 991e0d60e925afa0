"""A release folder holds one release and nothing else: an allow-list of files, all of the same run.

Whoever publishes a folder publishes everything in it. So a folder with a file that Sundog does not know is refused, rows of
an earlier run do not stay beside the certificate of a later one, and nothing else is written into a release or below it.
"""

import re
from collections.abc import Iterable
from pathlib import Path

from sundog.errors import UserError

SAVED = (
    "released.json",
    "model.json",
    "fitted.npz",
    "public.parquet",
    "README.txt",
    "datapackage.json",
    "certificate.json",
    "certificate.html",
    "certificate.sig",
)
"""What a saved model consists of."""
ROWS = (
    "synthetic.csv",
    "synthetic.parquet",
    "adjusted.csv",
    "adjusted.parquet",
    "report.html",
    "explore.html",
    "adjust.json",
)
"""What is made from it."""
FILES = (*SAVED, *ROWS)
LINKED = re.compile(r"synthetic\.[\w-]+\.(csv|parquet)")
"""One of several synthetic tables."""
MARK = "certificate.json"
"""A folder with this file is a release."""


def is_release_file(name: str) -> bool:
    """Whether a release may hold a file of this name."""
    return name in FILES or LINKED.fullmatch(name) is not None


def is_table(name: str) -> bool:
    """Whether a file of a release holds synthetic rows."""
    alone = name in ROWS and name.endswith((".csv", ".parquet"))
    return alone or LINKED.fullmatch(name) is not None


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
    blocked = next((name for name in found if is_release_file(name) and (folder / name).is_dir()), None)
    if blocked is not None:
        raise UserError(f"--out: {str(folder / blocked)!r} is a folder, and a file of that name is to be written.")
    unknown = next((name for name in found if not is_release_file(name)), None)
    if unknown is not None:
        raise UserError(
            f"--out: {str(folder)!r} holds {unknown!r}, which is no part of a release; choose another folder, so that nothing "
            "else is published with it."
        )
    if found and not force:
        raise UserError(
            f"--out: {str(folder)!r} holds {found[0]!r} already; choose another folder, or --force to replace the release."
        )


def check_saving(folder: Path) -> None:
    """Refuse to save a model where rows of an earlier one lie, or anything that is no part of a release."""
    check_release_folder(folder, force=True)
    there = [entry.name for entry in folder.iterdir()] if folder.is_dir() else []
    rows = next((name for name in there if name in ROWS or LINKED.fullmatch(name)), None)
    if rows is not None:
        raise UserError(
            f"save: {str(folder)!r} holds {rows!r} of an earlier release; save into an empty folder, and write rows afterwards."
        )


def clear_release_folder(folder: Path) -> None:
    """Remove what an earlier run made; its measurements stay until the new ones take their place, since they were paid for."""
    for entry in [*folder.iterdir()] if folder.is_dir() else []:
        if is_release_file(entry.name) and entry.name != "released.json":
            entry.unlink(missing_ok=True)


def refuse_inside_release(path: Path) -> None:
    """Refuse to write into a release, or into a folder below one."""
    release = next((parent for parent in path.resolve().parents if (parent / MARK).exists()), None)
    if release is not None:
        raise UserError(
            f"--out: {str(path)!r} lies in the release {str(release)!r}, which would be published with it; choose another place."
        )
