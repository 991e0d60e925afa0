"""Making a release: fit, keep what was paid for whatever happens, sample, and write rows, report, description and certificate.

The command line and the studio make releases here, each in one call; places are tried before anything is spent.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sundog.api.parts import MANY_ROWS, RECORD, Parts, check_parts, load_record, save_record, write_parts
from sundog.api.release import finish_release, today
from sundog.api.release_folder import MEASURED, save_measurements
from sundog.api.writing import Format, linked_name, prepare_folder, write_linked, write_table
from sundog.domain.linked.views import LinkedSchema
from sundog.errors import UserError, failure
from sundog.generate.linked.rows import LinkedRows
from sundog.methods.loop import Keep, Report, check_rows
from sundog.released import Released
from sundog.report.record import Record
from sundog.sources import OnServer, OnSpark

if TYPE_CHECKING:
    from sundog.api.linked import LinkedModel
    from sundog.api.model import Model
    from sundog.api.options import Signing
    from sundog.api.synthesizer import Synthesizer
    from sundog.domain import Schema
    from sundog.domain.rows import Rows

RELEASE = (
    "released.json",
    "model.json",
    "fitted.npz",
    "report.html",
    "explore.html",
    "README.txt",
    "datapackage.json",
    "certificate.json",
    "certificate.html",
)
"""What every release holds beside its tables."""


@dataclass(frozen=True)
class Place:
    """Where a release goes, how many rows it has (with `where`, given a condition), and in which format."""

    folder: Path
    rows: int | None = None
    format: Format = "csv"
    force: bool = False
    where: str | None = None
    linked: tuple[str, ...] = ()
    """The names of linked tables, where there are several."""
    parts: Parts | None = None
    """How the rows are divided into files, where they are too many for one."""

    @property
    def tables(self) -> list[Path]:
        """The synthetic tables' files."""
        names = [linked_name(name, self.format) for name in self.linked] or [f"synthetic.{self.format}"]
        return [self.folder / name for name in (names if self.parts is None else self.parts.names)]

    @property
    def files(self) -> list[str]:
        """All files of the release."""
        pages = (*RELEASE, *(() if self.parts is None else (RECORD,)))
        return [*(str(path) for path in self.tables), *(str(self.folder / name) for name in pages)]


def parts_for(place: Place) -> Parts | None:
    """How the rows of a release are divided, where they are too many for one file; only Parquet is."""
    many = place.rows is not None and place.rows > MANY_ROWS and place.format == "parquet" and not place.linked
    return Parts(place.rows, where=place.where) if many and place.rows is not None else None


def linked_names(schema: "Schema") -> tuple[str, ...]:
    """The names of the tables of a package; none for one table."""
    return tuple(table.name for table in schema.package.tables) if isinstance(schema, LinkedSchema) else ()


@dataclass(frozen=True)
class Private:
    """The private table as users name it: a path with, for databases, a query; and what is to count it, if not this process."""

    data: str
    sql: str | None = None
    master: str | None = None
    push_down: bool = False

    @property
    def table(self) -> str | OnSpark | OnServer:
        """What is to be fitted."""
        if self.push_down:
            return OnServer(self.data)
        return self.data if self.master is None else OnSpark(self.data, self.master)


def make_release(
    synthesizer: "Synthesizer",
    private: Private,
    *,
    place: Place,
    signing: "Signing",
    report: Report,
    kept: Callable[[Path], None],
) -> int:
    """Spend the budget and write the whole release; the number of its rows. `kept` hears of what a broken run left."""
    signing.check()
    check_rows(place.rows, synthesizer.schema)
    prepare_folder(place.folder, force=place.force, outside=(private.data, synthesizer.ledger_path))
    fit_or_keep(
        synthesizer,
        private,
        keep=lambda released: save_measurements(place.folder, released),
        report=report,
        kept=lambda: kept(place.folder / MEASURED),
    )
    try:
        return _make_rows(synthesizer, place=place, signing=signing, report=report)
    except BaseException:
        kept(place.folder / MEASURED)
        raise


def _make_rows(synthesizer: "Synthesizer", *, place: Place, signing: "Signing", report: Report) -> int:
    """Sample a fitted model and write the release; the number of its rows."""
    synthesizer.save(place.folder)
    report("sampling")
    made = synthesizer.model.rows(place.rows)
    record = synthesizer.record(purpose=signing.purpose, approved_by=signing.approved_by)
    _finish(synthesizer.model, made, place=place, record=record, signing=signing)
    return len(made)


def remake_release(model: "Model | LinkedModel", *, place: Place, signing: "Signing", report: Report) -> int:
    """A release from earlier measurements: no private data, no cost. The number of its rows.

    Of one in parts, what is needed to go on after a stop is written first.
    """
    report("sampling")
    if place.parts is not None:
        check_parts(model)  # type: ignore[arg-type]  # linked tables have no parts
        save_measurements(place.folder, model.released)
        model.save(place.folder)
        save_record(place.folder, place.parts, released=model.released)
        return _make_parts(model, place.parts, place=place, signing=signing, report=report)  # type: ignore[arg-type]
    made = model.rows(place.rows, where=place.where)
    save_measurements(place.folder, model.released)
    model.save(place.folder)
    _finish(model, made, place=place, record=Record(today(), signing.purpose, signing.approved_by), signing=signing)
    return len(made)


def resume_release(
    folder: Path, *, released: Released, rows: int | None, signing: "Signing", report: Report
) -> "tuple[Model, Place]":
    """Go on with a release in parts that was stopped; refused where it was begun with other measurements or rows."""
    from sundog.api.model import Model, load

    parts = load_record(folder, released=released, rows=rows)
    model = load(folder)
    if not isinstance(model, Model):
        raise UserError(f"--resume: {str(folder)!r} holds linked tables, which are not made in parts.")
    place = Place(folder, parts.rows, "parquet", where=parts.where, parts=parts)
    _make_parts(model, parts, place=place, signing=signing, report=report)
    return model, place


def _make_parts(model: "Model", parts: Parts, *, place: Place, signing: "Signing", report: Report) -> int:
    """The parts that are not there yet, the pages, and the certificate."""
    from sundog.api.model import load

    write_parts(place.folder, parts, load=load, report=report)
    record = Record(today(), signing.purpose, signing.approved_by)
    _finish(model, None, place=place, record=record, signing=signing)
    return parts.rows


def _finish(
    model: "Model | LinkedModel", rows: "Rows | LinkedRows | None", *, place: Place, record: Record, signing: "Signing"
) -> None:
    """The table (unless it was written in parts), its pages (of rows without a condition), and the certificate last."""
    shown = rows if place.where is None and rows is not None else model.rows()
    model.report(place.folder / "report.html", rows=shown)  # type: ignore[arg-type]  # its own rows
    model.explore(place.folder / "explore.html", rows=shown)  # type: ignore[arg-type]  # its own rows
    if isinstance(rows, LinkedRows):
        write_linked(rows, place.folder, format=place.format)
    elif rows is not None:
        write_table(rows, place.tables[0])
    given = [] if place.where is None else [f"The rows are drawn given a condition: {place.where}."]
    method, remark = model.recipe.name, " ".join([*model.unsupported, *given]) or None
    finish_release(place.folder, model.released, method=method, record=record, remark=remark, signing=signing)


def fit_or_keep(
    synthesizer: "Synthesizer",
    private: Private,
    *,
    keep: Keep,
    report: Report,
    kept: Callable[[], None],
) -> None:
    """Fit, keeping at once whatever is paid for; `kept` hears of it if something stops the run after measuring."""
    try:
        synthesizer.fit(private.table, sql=private.sql, report=report, keep=keep)
    except BaseException:
        if synthesizer.paid_for is not None and synthesizer.paid_for.measurements:
            _keep_or_say(keep, synthesizer.paid_for)
            kept()
        raise


def _keep_or_say(keep: Keep, paid_for: Released) -> None:
    try:
        keep(paid_for)
    except OSError as error:
        raise UserError(f"what was measured stays charged, and could not be kept: {failure(error)[0]}") from error
