"""Model: a generator fitted to released measurements. It holds public values only; sampling costs no privacy."""

import secrets
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from jaxtyping import Int
from pyarrow import parquet

from sundog.api.answer import Answers, Asked, Names, Probabilities, question_of
from sundog.api.fitted import NOT_OF_USE, load_fitted, save_fitted, state_class
from sundog.api.following import following
from sundog.api.linked import LinkedModel
from sundog.api.options import Fitting, Generation
from sundog.api.parts import PART_ROWS, Parts, check_parts, drawn
from sundog.api.recorded import LINKED, MODEL, Drawn, read_recorded, remark_of, write_recorded
from sundog.api.release import finish_release
from sundog.api.release_folder import check_saving, save_measurements
from sundog.domain import Schema
from sundog.domain.conditions import Condition, satisfied
from sundog.domain.linked.reading import refuse_linked
from sundog.domain.linked.views import LinkedSchema
from sundog.domain.rows import Rows
from sundog.domain.where import Where, condition_of
from sundog.errors import UserError
from sundog.evaluate.reading import open_synthetic
from sundog.generate import Generator, Narrowing, ending_of
from sundog.generate.stored import NotStorable
from sundog.methods.checks import check_public, check_requests, unsupported
from sundog.methods.loop import fit_released, sample
from sundog.methods.own_generator import check_named, with_generator
from sundog.methods.recipe import Recipe
from sundog.methods.recipes import recipe_of
from sundog.methods.settings import check_generator_settings, with_settings, without_removed
from sundog.methods.where import NO_SUPPORT, sample_where
from sundog.postprocess.match import match
from sundog.postprocess.matching import Matching
from sundog.private.ledger import Ledger
from sundog.progress import tell
from sundog.random.keys import Key, fold_in, key_of, split, uniforms
from sundog.released import Released
from sundog.released.amended import amended
from sundog.report.answer_table import AnswerTable
from sundog.report.explore import write_explore
from sundog.report.page import summary_fragment, write_report
from sundog.report.record import Record
from sundog.report.words import warning_sentences

PUBLIC = "public.parquet"
"""A copy of the public table that the model started from: it is fitted again from it."""


@dataclass(frozen=True, eq=False)
class Model:
    """What was released, the recipe, the seed, and the generator's fitted state."""

    released: Released
    recipe: Recipe
    seed: int
    state: Any
    public: Rows | None = None
    refitted: bool = False
    """Whether it was loaded from a folder without a fitted state of its own, and fitted again."""
    opened: bool = False
    """Whether its fitted state was read from a file, which whoever handed it over may have changed."""

    @staticmethod
    def from_released(
        released: Released,
        *,
        method: str,
        seed: int | None = None,
        public: Any = None,
        settings: Mapping[str, Any] | None = None,
        ignore_unsupported: bool = False,
        schema: Schema | Mapping[str, Any] | str | Path | None = None,
        generator: Generator[Any] | None = None,
    ) -> "Model":
        """Fit a method to earlier measurements: no private data, no cost. `public`: a public table to start from.

        `schema`: what was declared later (constraints, derived fields, formats); what was measured must stay as it was.
        `generator`: one made in Python, in place of the method's own, such as `Particles(penalty=...)`; settings do not apply
        to it, and the model cannot be saved, but its rows can.
        """
        released = released if schema is None else amended(released, Schema.of(schema))
        Fitting(method, settings, public, seed, ignore_unsupported)
        refuse_linked(released.schema, "Model.from_released")
        check_generator_settings(settings or {})
        recipe = with_settings(recipe_of(method), settings or {})
        recipe = recipe if generator is None else with_generator(recipe, generator)
        queries = [measurement.query for measurement in released.measurements]
        check_requests(recipe, released.schema, queries=queries, ignore=ignore_unsupported)
        return _fitted(released, recipe, seed=fresh_seed() if seed is None else seed, public=public)

    @property
    def note(self) -> str:
        """What the user should know of how fitting ended, if anything."""
        again = [NOT_OF_USE] if self.refitted else []
        return " ".join([*again, ending_of(self.recipe.generator, self.state).note]).strip()

    @property
    def drawing_note(self) -> str:
        """What the user should know of rows given a condition, if the method cannot take it into account while it draws."""
        if isinstance(self.recipe.generator, Narrowing) and not self.released.adjustments:
            return ""
        return f"The method {self.recipe.name} cannot condition its model: it drew rows and kept those that satisfy the condition."

    @property
    def unsupported(self) -> tuple[str, ...]:
        """What the schema asks and the method does not do: one sentence each, on the certificate too."""
        queries = [measurement.query for measurement in self.released.measurements]
        return unsupported(self.recipe, self.released.schema, queries)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the released values say against the schema: columns nearly all missing, domains read from the rows."""
        return tuple(warning_sentences(self.released))

    def rows(self, rows: int | None = None, *, seed: int | None = None, where: Where | None = None) -> Rows:
        """Encoded synthetic rows; by default as many as the table has, as far as that was released.

        `where`: only rows that satisfy a condition, drawn from the model given it; by default as many as a table has of them.
        """
        return self._drawn(self._key(seed), rows, where)

    def part(self, part: int, rows: int, *, seed: int | None = None, where: Where | None = None) -> Rows:
        """Encoded rows of one of many parts, each with a key of its own."""
        return self._drawn(fold_in(self._key(seed), part), rows, where)

    def _key(self, seed: int | None) -> Key:
        return split(key_of(self.seed), 2)[1] if seed is None else key_of(seed)

    def _drawn(self, key: Key, rows: int | None, where: Where | None) -> Rows:
        if where is not None:
            return self._rows_where(key, condition_of(where, self.released.schema.widened), rows=rows)
        wanted = self.released.rows if rows is None else rows
        return self._rows(key, wanted)

    def _rows_where(self, key: Key, condition: Condition, *, rows: int | None) -> Rows:
        """Rows that satisfy a condition; of rows that were adjusted, those among them, repeated as their weights say."""
        if rows is None or self.released.adjustments:
            table = self._rows(key, self.released.rows)
            held = np.flatnonzero(satisfied(condition, table.widened()))
            rows = max(len(held), 1) if rows is None else rows
        if self.released.adjustments:
            return _repeated(key, table, held, rows=rows)
        generator, given = self.recipe.generator, {"schema": self.released.schema, "state": self.state, "rows": rows}
        return self._opened(lambda: sample_where(key, generator, condition=condition, **given))

    def _rows(self, key: Key, wanted: int) -> Rows:
        generator, schema = self.recipe.generator, self.released.schema
        drawn = self._opened(lambda: sample(key, generator, schema=schema, state=self.state, rows=wanted))
        if not self.released.adjustments:
            return drawn
        adjusted = match(
            split(key, 2)[1],
            drawn,
            measurements=self.released.adjustments,
            total=float(self.released.rows),
            total_stddev=self.released.rows_stddev,
            known=self.released.measurements,
            matching=Matching(closest=True),
        )
        return adjusted.rows

    def _opened(self, draw: Callable[[], Rows]) -> Rows:
        """What is drawn; a stored state that cannot be drawn from is refused as such."""
        try:
            return draw()
        except UserError:
            raise
        except Exception as error:
            if not self.opened:
                raise
            raise NotStorable(type(error).__name__) from None

    def sample(self, rows: int | None = None, *, seed: int | None = None, where: Where | None = None) -> pa.Table:
        """Synthetic rows as an Arrow table (`.to_pandas()`, `polars.from_arrow(...)`).

        `where`: rows given a condition, such as "age >= 65 and sex = female" or {"sex": "female", "age": (60, 80)}.
        """
        return self.rows(rows, seed=seed, where=where).to_arrow()

    def sample_batches(
        self,
        rows: int,
        *,
        seed: int | None = None,
        where: str | None = None,
        batch_rows: int = PART_ROWS,
        first: int = 0,
    ) -> Iterator[pa.Table]:
        """Synthetic rows batch by batch, in memory that does not grow with their number.

        Batch k depends on the seed, on k and on `batch_rows` alone; `first` goes on with a later one. All constraints hold.
        """
        parts = Parts(rows, batch_rows, seed, where)
        check_parts(self)
        return (drawn(self, parts, part) for part in range(first, parts.count))

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
        """Counts, shares, means, sums and quantiles by up to three columns, each with an interval and its origin.

        `where` is a condition such as "age >= 65 and sex = female"; a share is of COLUMN or COLUMN=LABEL.
        """
        asked = Asked(by, where, count, share, mean, sum, quantile, confidence)
        question = question_of(self.released.schema.widened, asked)
        return self._answers.ask(question, where=where)

    @cached_property
    def _answers(self) -> Answers:
        return Answers(self.released, self.rows)

    def report(self, path: str | Path, *, rows: Rows | None = None) -> None:
        """Write the public report on these synthetic rows (by default the ones that `rows()` gives) as one HTML page."""
        shown = self.rows() if rows is None else rows
        write_report(self.released, shown, Path(path), method=self.recipe.name, unsupported=self.unsupported)

    def explore(self, path: str | Path, *, rows: Rows | None = None) -> None:
        """Write one HTML page to look at columns and pairs with intervals, and to filter and cross-tabulate the rows."""
        write_explore(self.released, self.rows() if rows is None else rows, Path(path), method=self.recipe.name)

    def __repr__(self) -> str:
        return f"Model(method={self.recipe.name!r}, {self.released!r})"

    def _repr_html_(self) -> str:
        return summary_fragment(self.released, method=self.recipe.name)

    def save(self, folder: str | Path, *, record: Record | None = None, ledger: Ledger | None = None) -> Path:
        """Write released.json, model.json, the fitted state and the certificate into a folder; `sundog.load` reads them.

        Other measurements that are there already are kept beside it, in FOLDER.earlier.
        """
        target = Path(folder)
        self.store(target)
        remark = self.remark()
        finish_release(target, self.released, method=self.recipe.name, record=record, remark=remark, ledger=ledger)
        return target

    def store(self, folder: Path, drawn: Drawn | None = None) -> None:
        """The same without the certificate, for a release that holds more than the model: the rows that are `drawn`."""
        check_saving(folder)
        check_named(self.recipe)
        save_measurements(folder, self.released)
        settings: dict[str, Any] = {"format": MODEL, "method": self.recipe.name, "seed": self.seed}
        if self.recipe.settings:
            settings["settings"] = dict(self.recipe.settings)
        if self.public is not None:
            parquet.write_table(self.public.to_arrow(), folder / PUBLIC)
            settings["public"] = PUBLIC
        if not ending_of(self.recipe.generator, self.state).repeatable:
            settings["endedEarly"] = True
        write_recorded(folder, settings, drawn)
        save_fitted(self.state, folder, schema=self.released.schema, settings=settings)

    def remark(self, where: str | None = None) -> str | None:
        """What the certificate remarks: what the method does not do, and a condition on the rows."""
        return remark_of(self.unsupported, where)


def load(folder: str | Path) -> "Model | LinkedModel":
    """The model that `save` wrote, as it was fitted; fitted again, saying so in `note`, where fitted.npz is not of use."""
    source = Path(folder)
    settings = read_recorded(source).settings
    released = Released.load(source / "released.json")
    if settings["format"] == LINKED:
        return LinkedModel.load(source, released, settings)
    recipe, public = recipe_in(settings), _public(source, settings)
    state = load_fitted(source, kind=state_class(recipe.generator), schema=released.schema, settings=settings)
    if state is None:
        return replace(_fitted(released, recipe, seed=settings["seed"], public=public), refitted=True)
    return Model(released, recipe, settings["seed"], state, public_rows_of(public, released.schema), opened=True)


def fitted_again(folder: Path) -> "Model | LinkedModel":
    """The same model from its measurements, method, settings and seed alone: fitted.npz is not read."""
    settings, released = read_recorded(folder).settings, Released.load(folder / "released.json")
    if settings["format"] == LINKED:
        return LinkedModel.fitted_again(released, settings)
    return _fitted(released, recipe_in(settings), seed=settings["seed"], public=_public(folder, settings))


def recipe_in(settings: Mapping[str, Any]) -> Recipe:
    """The recipe that model.json names, with its settings."""
    recipe = recipe_of(settings["method"])
    return with_settings(recipe, without_removed(recipe, settings.get("settings", {})))


def _public(folder: Path, settings: Mapping[str, Any]) -> Path | None:
    return folder / PUBLIC if "public" in settings else None


def _fitted(released: Released, recipe: Recipe, *, seed: int, public: Any) -> Model:
    known = public_rows_of(public, released.schema)
    if known is not None:
        check_public(recipe, known)
    fit_key, _ = split(key_of(seed), 2)
    released = replace(released, rows_from_elsewhere=False)  # rows of a model are made of the measurements alone
    with following():
        tell(f"fitting {recipe.name}")
        state = fit_released(fit_key, released, recipe=recipe, public=known)
    return Model(released, recipe, seed, state, known)


def _repeated(key: Key, table: Rows, held: Int[np.ndarray, " held"], *, rows: int) -> Rows:
    """This many of some rows of a table, each as often as its weight says."""
    if not len(held):
        raise UserError(NO_SUPPORT)
    weights = np.ones(len(held)) if table.weights is None else table.weights[held]
    ends = np.cumsum(weights / weights.sum())
    return table.take(held[np.minimum(np.searchsorted(ends, uniforms(key, rows), side="right"), len(held) - 1)])


def public_rows_of(public: Any, schema: Schema) -> Rows | None:
    """A public table (a frame, a path, or rows already) as rows of the schema."""
    if public is None or isinstance(public, Rows):
        return public
    return open_synthetic(public, schema).read(schema)


def model_of(released: Released, fitting: Fitting) -> "Model | LinkedModel":
    """A model of earlier measurements, of one table or of linked ones: no private data, no cost."""
    if isinstance(released.schema, LinkedSchema):
        seed = fresh_seed() if fitting.seed is None else fitting.seed
        return LinkedModel.from_released(released, Generation(**vars(fitting)), seed=seed)
    return Model.from_released(released, **vars(fitting))


def fresh_seed() -> int:
    """A seed from the operating system, for those who gave none."""
    return secrets.randbits(62)
