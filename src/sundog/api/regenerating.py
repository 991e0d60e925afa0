"""Make the files of a release again, from released.json and model.json alone, and compare them byte by byte.

Texts follow from the measurements and the record at once. The model is fitted again (fitted.npz is not believed), rows and pages are
drawn again into a folder of their own. The same software on the same kind of machine gives the same bytes.
"""

import hashlib
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sundog.api.adjust import TableToAdjust
from sundog.api.making import Place, draw, linked_names, write_rows
from sundog.api.model import fitted_again, recipe_in
from sundog.api.parts import RECORD, Parts, load_record, save_record
from sundog.api.recorded import NAME, Drawn, Recorded, adjusted_remark, read_recorded, remark_of
from sundog.api.release import sha256
from sundog.api.release_folder import files_of
from sundog.domain.linked.views import LinkedSchema
from sundog.domain.rows import weights_name
from sundog.errors import UserError
from sundog.evaluate.reading import open_synthetic
from sundog.methods.checks import unsupported
from sundog.progress import tell
from sundog.released import Released
from sundog.report.certificate import PAGE, certificate, sealed
from sundog.report.description import description
from sundog.report.explore.page import explore_page
from sundog.report.record import Record
from sundog.report.software import Software


@dataclass(frozen=True)
class Known:
    """What a release says of itself: its certificate, its measurements, and what model.json records, if it has one."""

    document: Mapping[str, Any]
    released: Released
    recorded: Recorded | None
    parts: Parts | None
    record: Record
    software: Software

    @staticmethod
    def of(folder: Path, document: Mapping[str, Any], released: Released) -> "Known":
        """What a folder says; refused where it contradicts itself, or is not what Sundog writes."""
        recorded = read_recorded(folder) if (folder / NAME).is_file() else None
        drawn = None if recorded is None else recorded.drawn
        parts = None
        if (folder / RECORD).is_file():
            parts = load_record(folder, released=released, rows=None)
            if isinstance(released.schema, LinkedSchema) or drawn != Drawn(parts.rows, "parquet", parts.where):
                raise UserError(f"{RECORD}: it does not fit {NAME}.")
        return Known(document, released, recorded, parts, Record.from_json(document), Software.from_json(document))

    @property
    def drawn(self) -> Drawn | None:
        """The rows that were drawn, if any."""
        return None if self.recorded is None else self.recorded.drawn

    @property
    def method(self) -> Any:
        """The method: of a table that was adjusted, the certificate alone says it."""
        return self.document.get("method") if self.recorded is None else self.recorded.settings["method"]

    @property
    def remark(self) -> str | None:
        """What the certificate has to remark."""
        if self.recorded is None:
            return adjusted_remark(self.released)
        where = None if self.drawn is None else self.drawn.where
        if isinstance(self.released.schema, LinkedSchema):
            return remark_of((), where)
        queries = [measurement.query for measurement in self.released.measurements]
        try:
            recipe = recipe_in(self.recorded.settings)
        except UserError:  # a method that is not known here: then nothing is drawn again either
            return self.document.get("remark")
        return remark_of(unsupported(recipe, self.released.schema, queries), where)


def adjusted_files(names: Iterable[str]) -> set[str]:
    """The files that a release of an adjusted table has beside its texts; its format is that of the table that is there."""
    table = "adjusted.parquet" if "adjusted.parquet" in names else "adjusted.csv"
    return {table, "adjust.json", "explore.html", "released.json"}


def texts(known: Known) -> dict[str, str]:
    """The files that are text following from measurements and record."""
    files = {name: digest for name, digest in sorted(known.document["files"].items()) if name != PAGE}
    document = certificate(
        known.released,
        method=known.method,
        remark=known.remark,
        record=known.record,
        files=files,
        software=known.software,
    )
    return {**description(known.released, method=known.method, there=files), **sealed(document)}


def redrawn(folder: Path, known: Known) -> dict[str, str]:
    """The SHA-256 of every file that is fitted or drawn, and of what is recorded for it, made again."""
    with tempfile.TemporaryDirectory(prefix="sundog-") as made_in:
        into, digests = Path(made_in), dict[str, str]()

        def seen(name: str) -> None:
            digests[name] = sha256(into / name)
            (into / name).unlink()

        model = fitted_again(folder)
        model.store(into, known.drawn)
        if known.drawn is not None:
            tell("drawing the rows again")
            place = _place(into, known)
            if known.parts is not None:
                save_record(into, known.parts, released=known.released)
            write_rows(model, draw(model, place), place=place, report=tell, written=seen)
        return digests | {name: sha256(into / name) for name in files_of(into)}


def explored(folder: Path, known: Known, table: str) -> dict[str, str]:
    """The SHA-256 of explore.html of an adjusted table, from the rows and weights that are in the folder."""
    schema = known.released.schema
    name = weights_name(schema)
    weighted = name in open_synthetic(str(folder / table), schema).columns
    rows, _ = TableToAdjust(str(folder / table), name if weighted else None).read(schema)
    page = explore_page(known.released, rows, method=known.method)
    return {"explore.html": hashlib.sha256(page.encode()).hexdigest()}


def _place(into: Path, known: Known) -> Place:
    drawn = known.drawn or Drawn()
    names = linked_names(known.released.schema)
    return Place(into, drawn.rows, drawn.format, where=drawn.where, linked=names, parts=known.parts)
