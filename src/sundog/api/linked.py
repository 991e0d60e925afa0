"""Linked tables in Python: `Synthesizer(package).fit({"households": frame, "persons": frame})`, then `sample()` by name.

A model of linked tables holds public values only, like any other. It is not adjusted.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from sundog.api.answer import Asked, Names, Probabilities
from sundog.api.answer_linked import ask_linked
from sundog.api.fitted import NOT_OF_USE, load_fitted, save_fitted
from sundog.api.options import Generation, Privacy
from sundog.api.recorded import LINKED, Drawn, remark_of, write_recorded
from sundog.api.release import finish_release
from sundog.api.release_folder import check_saving, save_measurements
from sundog.declare import changed, settings_of
from sundog.domain.linked.package import Package
from sundog.domain.linked.table import LinkedTable, key_text
from sundog.domain.linked.views import LinkedSchema
from sundog.domain.unit import PrivacyUnit
from sundog.errors import UserError
from sundog.generate.linked.linked_search import LinkedSearch, LinkedState, sample_linked
from sundog.generate.linked.rows import LinkedRows
from sundog.methods.linked import fit_tables, run_views
from sundog.methods.loop import Keep, Report, check_rows
from sundog.methods.recipe import Recipe
from sundog.methods.recipes import METHODS
from sundog.private.curator import Curator
from sundog.private.ledger import Ledger
from sundog.random.keys import Key, key_of, split
from sundog.released import Released
from sundog.released.per_view import of_view
from sundog.report.answer_table import AnswerTable
from sundog.report.explore import write_explore
from sundog.report.linked_page import write_linked_report
from sundog.report.record import Record
from sundog.report.words import warning_sentences
from sundog.sources.addresses import is_address
from sundog.sources.databases import DATABASE
from sundog.sources.unique import whole_table


@dataclass(frozen=True)
class LinkedPrivacy(Privacy):
    """A budget that protects one value of the root's key with every row that carries it."""

    root: str = ""

    def protected_unit(self) -> PrivacyUnit:
        """The key of the root table, which names the protected unit."""
        return PrivacyUnit(self.neighbours, self.root, 1, below=True)


def linked_privacy(privacy: Privacy, schema: LinkedSchema) -> LinkedPrivacy:
    """The budget for a package; its unit is declared there, so none may be given."""
    if privacy.unit is not None or privacy.rows_per_unit != 1:
        raise UserError(
            f"unit: linked tables protect one value of {key_text(schema.package.root.key)!r} of {schema.package.root.name!r} with every "
            "row that carries it, at most maximumPerParent rows of each table; leave out --unit and --rows-per-unit."
        )
    root = schema.package.root
    key = root.key[0] if len(root.key) == 1 else f"({key_text(root.key)})"
    return LinkedPrivacy(**{**vars(privacy), "root": f"{root.name}.{key}"})


def linked_search(generation: Generation) -> LinkedSearch:
    """The search with its settings; refuses, before anything is spent, what linked tables cannot do."""
    for name, given in (
        ("workload", generation.workload),
        ("public", generation.public),
        ("adjust", generation.adjust),
    ):
        if given is not None:
            raise UserError(f"{name}: it is for one table; leave it out for linked tables.")
    if generation.method != "auto":
        raise UserError(f"method {generation.method!r}: linked tables are made by 'auto' alone; leave --method out.")
    known = settings_of(LinkedSearch())
    for name in generation.settings or {}:
        if name not in known:
            raise UserError(f"linked tables have no setting {name!r}; they have {', '.join(known)}.")
    values = {name: known[name].read(value) for name, value in (generation.settings or {}).items()}
    return changed(LinkedSearch(), values) if values else LinkedSearch()


def located(package: Package, data: Any) -> dict[str, Any]:
    """Where each table is: frames by name, a folder, a package file, a database."""
    root = package.root
    if root.bare and (root.path is not None or (isinstance(data, Mapping) and root.name in data)):
        raise UserError(
            f"table {root.name!r}: it has nothing but its key, so its records are the keys that the rows below it name; leave out "
            "its 'path', and do not give a table for it."
        )
    if isinstance(data, Mapping):
        lacking = [table.name for table in package.tables if table.name not in data and not table.bare]
        if lacking:
            raise UserError(f"linked tables: {lacking[0]!r} is not among what was given; give a table for each name.")
        return {table.name: data[table.name] for table in _read_from(package)}
    if not isinstance(data, str | Path):
        raise UserError(
            "linked tables: give a mapping of names to tables, a folder, or the path of a datapackage.json."
        )
    place = Path(data)
    if is_address(str(data)) or place.suffix.lower() in DATABASE:
        return {table.name: (str(data), whole_table(table.name)) for table in _read_from(package)}
    if not place.is_dir() and place.suffix.lower() != ".json":
        raise UserError(
            f"linked tables: {str(data)!r} is no folder; give the folder in which all tables lie, the path of a datapackage.json, "
            "or a database."
        )
    folder = place if place.is_dir() else place.parent
    return {table.name: str(_file(folder, table.name, table.path)) for table in _read_from(package)}


def _read_from(package: Package) -> list[LinkedTable]:
    """The tables that lie somewhere: a root with nothing but a key need not."""
    return [table for table in package.tables if not table.bare]


def _file(folder: Path, name: str, path: str | None) -> Path:
    """The declared file, or the one file that has the table's name."""
    if path is not None:
        return folder / path
    found = sorted(each for each in folder.glob(f"{name}.*") if each.is_file())
    if len(found) != 1:
        raise UserError(
            f"table {name!r}: {len(found)} files in {str(folder)!r} are named {name}.*; give its 'path' in the package."
        )
    return found[0]


def fit_linked(
    key: Key, curator: Curator, *, search: LinkedSearch, report: Report, keep: Keep
) -> tuple[Released, LinkedState]:
    """Spend the budget on all views and fit the tables to what was released."""
    measure_key, fit_key = split(key, 2)
    released = run_views(measure_key, curator, report=report, keep=keep)
    report("fitting linked tables")
    return released, fit_tables(fit_key, released, search=search)


@dataclass(frozen=True, eq=False)
class LinkedModel:
    """What was released, the search, the seed, and the fitted tables."""

    released: Released
    search: LinkedSearch
    seed: int
    state: LinkedState
    settings: tuple[tuple[str, Any], ...] = ()
    refitted: bool = False

    @property
    def recipe(self) -> Recipe:
        """The method whose rules choose what is measured."""
        return METHODS["auto"]

    @property
    def note(self) -> str:
        """What the user should know of how it was loaded, if anything."""
        return NOT_OF_USE if self.refitted else ""

    @property
    def drawing_note(self) -> str:
        """Nothing: rows given a condition are refused."""
        return ""

    @property
    def unsupported(self) -> tuple[str, ...]:
        """Nothing: what linked tables cannot do is refused."""
        return ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the released values say against the schemas."""
        return tuple(warning_sentences(self.released))

    def rows(self, rows: int | None = None, *, seed: int | None = None, where: Any = None) -> LinkedRows:
        """Encoded tables with this many roots; by default as many as there are, as far as that was released."""
        if where is not None:
            raise UserError("where: it is for one table; leave it out for linked tables, and filter what is made.")
        key = split(key_of(self.seed), 2)[1] if seed is None else key_of(seed)
        number = self.released.rows if rows is None else rows
        tables = self.state.tables
        cells = sum(len(made) * len(made.columns) for made in tables.values())
        roots = max(len(tables[self.state.schema.package.root.name]), 1)
        check_rows(number, self.released.schema, cells=cells / roots)
        return sample_linked(key, self.state, rows=number)

    def sample(self, rows: int | None = None, *, seed: int | None = None, where: Any = None) -> dict[str, pa.Table]:
        """Synthetic tables by name, with this many roots."""
        return self.rows(rows, seed=seed, where=where).to_arrow()

    def answer(
        self,
        *,
        by: Names = None,
        where: str | None = None,
        count: bool = False,
        share: Names = None,
        mean: Names = None,
        sum: Names = None,
        quantile: Probabilities = None,
        confidence: float = 0.95,
    ) -> AnswerTable:
        """Numbers of a table, beside its parent's columns, each with an interval and its origin; columns are `table.column`.

        Counts are of roots. In tables below, each root counts once, its rows in equal parts, as they were measured.
        """
        return ask_linked(self.released, self.rows, Asked(by, where, count, share, mean, sum, quantile, confidence))

    def report(self, path: str | Path, *, rows: LinkedRows | None = None) -> None:
        """Write the public report on these tables as one HTML page."""
        write_linked_report(self.released, self.rows() if rows is None else rows, Path(path))

    def explore(self, path: str | Path, *, rows: LinkedRows | None = None) -> None:
        """Write one HTML page to look at the records of the root, with their numbers of children, as `Model.explore` does."""
        root = self.state.schema.view(self.state.schema.package.root.name)
        shown = (self.rows() if rows is None else rows).view(root)
        write_explore(of_view(self.released, root), shown, Path(path), method=self.recipe.name)

    def __repr__(self) -> str:
        return f"LinkedModel({', '.join(table.name for table in self.state.schema.package.tables)}; {self.released!r})"

    def save(self, folder: str | Path, *, record: Record | None = None, ledger: Ledger | None = None) -> Path:
        """Write released.json, model.json, the fitted tables and the certificate; `sundog.load` reads them."""
        target = Path(folder)
        self.store(target)
        remark = self.remark()
        finish_release(target, self.released, method=self.recipe.name, record=record, remark=remark, ledger=ledger)
        return target

    def store(self, folder: Path, drawn: Drawn | None = None) -> None:
        """The same without the certificate, for a release that holds the tables that are `drawn` as well."""
        check_saving(folder)
        save_measurements(folder, self.released)
        settings: dict[str, Any] = {"format": LINKED, "method": self.recipe.name, "seed": self.seed}
        settings |= {"settings": dict(self.settings)} if self.settings else {}
        write_recorded(folder, settings, drawn)
        save_fitted(self.state, folder, schema=self.released.schema, settings=settings)

    def remark(self, where: str | None = None) -> str | None:
        """What the certificate remarks, as `Model.remark` does."""
        return remark_of(self.unsupported, where)

    @staticmethod
    def from_released(released: Released, generation: Generation, *, seed: int) -> "LinkedModel":
        """Fit again to earlier measurements: no private data, no cost."""
        search = linked_search(generation)
        state = fit_tables(split(split(key_of(seed), 2)[0], 2)[1], released, search=search)
        return LinkedModel(released, search, seed, state, tuple((generation.settings or {}).items()))

    @staticmethod
    def fitted_again(released: Released, settings: Mapping[str, Any]) -> "LinkedModel":
        """The model of measurements and what model.json records."""
        generation = Generation(settings=settings.get("settings"))
        return LinkedModel.from_released(released, generation, seed=settings["seed"])

    @staticmethod
    def load(folder: Path, released: Released, settings: Mapping[str, Any]) -> "LinkedModel":
        """The model that `save` wrote."""
        generation = Generation(settings=settings.get("settings"))
        state = load_fitted(folder, kind=LinkedState, schema=released.schema, settings=settings)
        if state is None:
            return replace(LinkedModel.fitted_again(released, settings), refitted=True)
        changed_settings = tuple((generation.settings or {}).items())
        return LinkedModel(released, linked_search(generation), settings["seed"], state, changed_settings)
