"""model.json: what a release was made with, as far as its measurements do not say it: method, settings, seed, and what was drawn.

With released.json it is enough to make every file of a release again, byte for byte. Public values only: it is published.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from sundog.errors import UserError
from sundog.json_files import read_json
from sundog.sizes import MOST_ROWS, whole_number

if TYPE_CHECKING:
    from sundog.released import Released

NAME = "model.json"
MODEL, LINKED = "sundog-model-1", "sundog-linked-model-1"
UNKNOWN = (
    "The cost of making the synthetic table itself is not known here (see --before), and is not part of this claim."
)
Format = Literal["csv", "parquet"]
"""The formats of synthetic tables."""


@dataclass(frozen=True)
class Drawn:
    """What was asked for: a number of rows (None: as many as the table has), a format, a condition on the rows."""

    rows: int | None = None
    format: Format = "csv"
    where: str | None = None


@dataclass(frozen=True)
class Recorded:
    """What model.json holds: the settings of the model, and what was drawn from it, if rows were."""

    settings: Mapping[str, Any]
    drawn: Drawn | None = None


def write_recorded(folder: Path, settings: Mapping[str, Any], drawn: Drawn | None) -> None:
    """Write model.json."""
    added = {} if drawn is None else {"drawn": asdict(drawn)}
    (folder / NAME).write_bytes((json.dumps({**settings, **added}) + "\n").encode())


def read_recorded(folder: Path) -> Recorded:
    """Read model.json; refused where it is not one that Sundog writes."""
    settings = read_json(folder / NAME, what="saved model", absent="save one with model.save(folder)")
    drawn = settings.pop("drawn", None)
    known = isinstance(settings.get("method"), str) and isinstance(settings.get("settings", {}), dict)
    if not known or type(settings.get("seed")) is not int:
        raise UserError(f"{str(folder)!r} holds no saved model; save one with model.save(folder).")
    settings.setdefault("format", MODEL)
    return Recorded(settings, None if drawn is None else _drawn(drawn, folder / NAME))


def _drawn(stated: Any, path: Path) -> Drawn:
    try:
        drawn = Drawn(**stated)
        if drawn.rows is not None:
            whole_number("rows", drawn.rows, most=MOST_ROWS)
        if drawn.format not in get_args(Format) or not isinstance(drawn.where, str | None):
            raise TypeError
    except (TypeError, UserError):
        raise UserError(f"{str(path)!r} does not say what was drawn: rows, format and where.") from None
    return drawn


def adjusted_remark(released: "Released") -> str | None:
    """What a certificate remarks of a table that was adjusted."""
    return UNKNOWN if released.rows_from_elsewhere else None


def remark_of(unsupported: Sequence[str], where: str | None) -> str | None:
    """What a certificate remarks: what the method does not do, and a condition on the rows."""
    given = [] if where is None else [f"The rows are drawn given a condition: {where}."]
    return " ".join([*unsupported, *given]) or None
