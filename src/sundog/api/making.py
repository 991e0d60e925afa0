"""Making a release: fit, keep what was paid for whatever happens, sample, and write rows, report, description and certificate.

The command line and the studio make releases here, each in one call; places are tried before anything is spent.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sundog.api.parts import MANY_ROWS, Parts, check_parts, load_record, save_record, write_parts
from sundog.api.recorded import Drawn, Format
from sundog.api.release import finish_release, today
from sundog.api.release_folder import MEASURED, files_of, save_measurements
from sundog.api.writing import linked_name, prepare_folder, write_linked, write_table
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
    from sundog.private.ledger import Ledger

    Drawing = Rows | LinkedRows | None


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
        """All files of the release that lies there."""
        return [str(self.folder / name) for name in files_of(self.folder)]

    @property
    def drawn(self) -> Drawn:
        """What is recorded of it."""
        return Drawn(self.rows, self.format, self.where)


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
    prepare_folder(place.folder, force=place.force, outside=(private.data, synthesizer.ledger.path))
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
    model = synthesizer.model
    model.store(place.folder, place.drawn)
    report("sampling")
    made = write_rows(model, draw(model, place), place=place, report=report)
    record = synthesizer.record(purpose=signing.purpose, approved_by=signing.approved_by)
    _finish(model, place=place, record=record, signing=signing, ledger=synthesizer.ledger)
    return made


def remake_release(model: "Model | LinkedModel", *, place: Place, signing: "Signing", report: Report) -> int:
    """A release from earlier measurements: no private data, no cost. The number of its rows.

    Of one in parts, what is needed to go on after a stop is written first.
    """
    report("sampling")
    rows = draw(model, place)
    save_measurements(place.folder, model.released)
    model.store(place.folder, place.drawn)
    if place.parts is not None:
        save_record(place.folder, place.parts, released=model.released)
    return _made_again(model, rows, place=place, signing=signing, report=report)


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
    _made_again(model, None, place=place, signing=signing, report=report)
    return model, place


def _made_again(
    model: "Model | LinkedModel", rows: "Drawing", *, place: Place, signing: "Signing", report: Report
) -> int:
    """The rows (the parts that are not there yet), the pages, and the certificate, which states no account."""
    made = write_rows(model, rows, place=place, report=report)
    _finish(model, place=place, record=Record(today(), signing.purpose, signing.approved_by), signing=signing)
    return made


def draw(model: "Model | LinkedModel", place: Place) -> "Drawing":
    """The rows that are wanted; none where they are made in parts."""
    if place.parts is None:
        return model.rows(place.rows, where=place.where)
    check_parts(model)  # type: ignore[arg-type]  # linked tables have no parts
    return None


def write_rows(
    model: "Model | LinkedModel",
    rows: "Drawing",
    *,
    place: Place,
    report: Report,
    written: Callable[[str], None] = lambda _: None,
) -> int:
    """The tables or parts and the pages (of rows without a condition); their number. `written` hears of each part."""
    from sundog.api.model import load

    if place.parts is not None:
        for name in write_parts(place.folder, place.parts, load=load, report=report):
            written(name)
    elif isinstance(rows, LinkedRows):
        write_linked(rows, place.folder, format=place.format)
    elif rows is not None:
        write_table(rows, place.tables[0])
    shown = rows if place.where is None and rows is not None else model.rows()
    model.report(place.folder / "report.html", rows=shown)  # type: ignore[arg-type]  # its own rows
    model.explore(place.folder / "explore.html", rows=shown)  # type: ignore[arg-type]  # its own rows
    return place.parts.rows if place.parts is not None else len(rows or ())


def _finish(
    model: "Model | LinkedModel", *, place: Place, record: Record, signing: "Signing", ledger: "Ledger | None" = None
) -> None:
    """The descriptions, and the certificate last."""
    finish_release(
        place.folder,
        model.released,
        method=model.recipe.name,
        record=record,
        remark=model.remark(place.where),
        signing=signing,
        ledger=ledger,
    )


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
