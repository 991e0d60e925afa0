"""Synthesizer: the Python front door, with scikit-learn's conventions.

>>> import sundog
>>> schema = {"fields": [{"name": "smoker", "type": "boolean", "constraints": {"required": True}}]}
>>> table = {"smoker": [True, False, False] * 100}
>>> model = sundog.Synthesizer(schema, epsilon=1.0, delta=1e-9, dataset="example").fit(table)
>>> model.sample(5).num_rows
5
"""

import html
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sundog.api.charging import Terms, curator_for
from sundog.api.dry_run import DryRun, dry_run
from sundog.api.following import following
from sundog.api.frames import FrameKind, as_frame, frame_kind
from sundog.api.linked import LinkedModel, fit_linked, linked_privacy, linked_search, located
from sundog.api.model import Model, fresh_seed, public_rows_of
from sundog.api.options import Charged, Consent, Generation, Privacy, Purpose, meanings
from sundog.api.release import record_of
from sundog.domain import Schema
from sundog.domain.contradictions import refuse_contradictions
from sundog.domain.linked.reading import declared
from sundog.domain.linked.views import LinkedSchema
from sundog.domain.rows import Rows
from sundog.domain.unit import Neighbours
from sundog.domain.where import Where
from sundog.errors import UserError
from sundog.generate.linked.linked_search import LinkedSearch
from sundog.methods.checks import check_recipe, check_requests
from sundog.methods.loop import Keep, Report, run
from sundog.methods.own_workload import with_workload
from sundog.methods.recipe import Recipe
from sundog.methods.recipes import recipe_of
from sundog.methods.settings import with_settings
from sundog.postprocess.measures import check_measures, measures_of
from sundog.private.curator import Curator
from sundog.private.ledger import Ledger
from sundog.private.table import PrivateTable, PrivateTables
from sundog.progress import tell
from sundog.queries.workload import Workload
from sundog.random.keys import Key, key_of, split
from sundog.released import Released
from sundog.report.record import Record
from sundog.select.everything import shares_of
from sundog.sources import OnServer


class Synthesizer:
    """Fits a method to a private table once, within a budget, and then samples as often as you like.

    Args:
        schema: a Schema, a Table Schema document, a Data Package of linked tables, or the path of one.
    """

    def __init__(
        self,
        schema: Schema | Mapping[str, Any] | str | Path,
        *,
        epsilon: float | None = None,
        delta: float | None = None,
        rho: float | None = None,
        method: str = "auto",
        workload: Workload | str | Path | None = None,
        settings: Mapping[str, Any] | None = None,
        public: Any = None,
        adjust: str | None = None,
        adjust_share: float = 0.05,
        neighbours: Neighbours = "add-remove",
        unit: str | None = None,
        rows_per_unit: int = 1,
        dataset: str | None = None,
        seed: int | None = None,
        ignore_unsupported: bool = False,
        ledger: str | Path | None = None,
        new_account: bool = False,
        accept_unreviewed: bool = False,
        confirmed: bool = False,
        rows_about: int | None = None,
        purpose: str | None = None,
    ) -> None:
        self._given = {name: value for name, value in locals().items() if name != "self"}
        self._frame: FrameKind = "arrow"
        self.schema = declared(schema)
        refuse_contradictions(self.schema)
        self.privacy = Privacy(epsilon, delta, rho, neighbours, unit, rows_per_unit)
        self.generation = Generation(method, settings, public, seed, ignore_unsupported, workload, adjust, adjust_share)
        self._search: LinkedSearch | None = None
        self._public: Rows | None = None
        if isinstance(self.schema, LinkedSchema):
            self._search, self.privacy = linked_search(self.generation), linked_privacy(self.privacy, self.schema)
            self.recipe = recipe_of(method)
        else:
            self.recipe = self._checked_recipe()
        self.unit = self.privacy.protected_unit()
        self.dataset = Charged(ledger, dataset, new_account).account(self.schema.name)
        self._charged = Charged(ledger, self.dataset, new_account)
        self.seed = fresh_seed() if seed is None else seed
        self.consent = Consent(confirmed, rows_about, accept_unreviewed)
        self.consent.check(self.schema, self.privacy)
        self.purpose = Purpose(purpose).purpose
        self._model: Model | LinkedModel | None = None
        self.paid_for: Released | None = None
        """What an interrupted fit had already measured: `Model.from_released` can use it at no further cost."""

    def _checked_recipe(self) -> Recipe:
        """The recipe for one table; refuses, before anything is spent, what does not fit together."""
        asked = self.generation
        recipe = recipe_of(asked.method)
        if asked.workload is not None:
            recipe = with_workload(recipe, _workload(asked.workload, self.schema))
        recipe = with_settings(recipe, asked.settings or {}).settled(self.schema, rho=self.privacy.expected_rho())
        self._public = public_rows_of(asked.public, self.schema)
        if asked.adjust is not None:
            check_measures(asked.adjust, self.schema)
        check_recipe(recipe, self.schema, public=self._public)
        check_requests(recipe, self.schema, queries=recipe.queries(self.schema), ignore=asked.ignore_unsupported)
        return recipe

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """What it was made with, by name: `sklearn.base.clone` makes another one from it, not fitted."""
        del deep  # no parameter is an estimator
        return dict(self._given)

    def set_params(self, **params: Any) -> "Synthesizer":
        """Change what it was made with; everything is checked again, and a fitted model is let go."""
        unknown = next((name for name in params if name not in self._given), None)
        if unknown is not None:
            raise UserError(f"set_params: there is no parameter {unknown!r}; there are {', '.join(self._given)}.")
        Synthesizer.__init__(self, **{**self._given, **params})
        return self

    def __repr__(self) -> str:
        state = "not fitted" if self._model is None else "fitted"
        return f"Synthesizer(method={self.recipe.name!r}, dataset={self.dataset!r}, {state})"

    def _repr_html_(self) -> str:
        known = isinstance(self._model, Model)
        return self.model._repr_html_() if known else f"<code>{html.escape(repr(self))}</code>"

    def fit(
        self,
        table: Any,
        y: None = None,
        *,
        spend_again: bool = False,
        sql: str | None = None,
        report: Report | None = None,
        keep: Keep | None = None,
    ) -> "Synthesizer":
        """Spend the budget on a table: a frame, a path, an address, or a source. A second fit needs `spend_again=True`.

        `OnServer(address)`: PostgreSQL itself counts the rows of `sql`, and none of them leaves it.

        `keep` is given what was measured so far whenever something was paid for, so that a killed run need not lose it.

        `y` is there for scikit-learn's pipelines and stays None: targets are columns of the table.
        """
        if y is not None:
            raise UserError("fit: found y; targets are columns of the table, declared as 'targets' in the schema.")
        if self._model is not None and not spend_again:
            raise UserError("fit: this model has spent its budget; fit(..., spend_again=True) spends it once more.")
        if self.paid_for is not None and self.paid_for.payments and not spend_again:
            raise UserError(
                "fit: a fit that broke off has spent its budget, and what it measured is in paid_for (see "
                "Model.from_released); fit(..., spend_again=True) spends it once more."
            )
        if isinstance(table, OnServer) and self.generation.adjust is not None:
            raise UserError(
                "adjust: what it measures depends on the synthetic rows, so it is not known in advance whether a server can "
                "count it; leave out adjust or push-down."
            )
        curator = self._curator(self._private(table, sql))
        if not isinstance(self.schema, LinkedSchema):
            curator.check(self.recipe.queries(self.schema))  # all of them, before the first is paid for
        fit_key, _ = split(key_of(self.seed), 2)
        try:
            with following(report):
                self._model = self._fitted(fit_key, curator, report=tell, keep=keep or _unkept)
        except BaseException:
            self.paid_for = curator.released()
            raise
        self._frame = frame_kind(next(iter(table.values())) if isinstance(table, Mapping) and self._search else table)
        return self

    def _private(self, table: Any, sql: str | None) -> PrivateTable:
        """What was given, closed to everything but the curator."""
        if not isinstance(self.schema, LinkedSchema):
            return PrivateTable(table, dialect=self.schema.dialect, sql=sql)
        if sql is not None:
            raise UserError("sql: linked tables are read by their names; leave it out, or make views of these names.")
        return PrivateTables(self.schema.package, located(self.schema.package, table))

    def _fitted(self, key: Key, curator: Curator, *, report: Report, keep: Keep) -> Model | LinkedModel:
        if self._search is not None:
            released, tables = fit_linked(key, curator, search=self._search, report=report, keep=keep)
            settings = tuple((self.generation.settings or {}).items())
            return LinkedModel(released, self._search, self.seed, tables, settings)
        released, state = run(key, curator, recipe=self.recipe, report=report, public=self._public, keep=keep)
        if self.generation.adjust is not None:
            released = self._measured_adjustments(curator, state)
            keep(released)
        return Model(released, self.recipe, self.seed, state, self._public)

    @property
    def ledger(self) -> Ledger:
        """The ledger that is charged."""
        return self._charged.open_ledger()

    def dry_run(self) -> DryRun:
        """What a fit would charge, the balance before and after, and what the certificate would say; reads no rows."""
        return dry_run(
            self.schema,
            privacy=self.privacy,
            charged=self._charged,
            consent=self.consent,
            accounting="zcdp" if self.recipe.rule.selects else "gaussian",
        )

    def _measured_adjustments(self, curator: Curator, state: Any) -> Released:
        """What the rows will be adjusted to: measures that may depend on the synthetic rows, paid with the reserve."""
        rho = curator.spending.remaining_with_reserve
        rows = Model(curator.released(), self.recipe, self.seed, state, self._public).rows()
        neighbours = self.unit.neighbours
        wanted = measures_of(self.generation.adjust or "", self.schema, rows=rows, rho=rho, neighbours=neighbours)
        curator.measure_adjustments(wanted.queries, rho, shares=shares_of(wanted.queries, wanted.weights, neighbours))
        return curator.released()

    def _curator(self, table: PrivateTable) -> Curator:
        return curator_for(
            table,
            self.schema,
            privacy=self.privacy,
            charged=self._charged,
            consent=self.consent,
            terms=Terms(
                "zcdp" if self.recipe.rule.selects else "gaussian",
                self.recipe.name,
                self.purpose,
                reserved=0.0 if self.generation.adjust is None else self.generation.adjust_share,
            ),
        )

    @property
    def model(self) -> Any:
        """The fitted model: what was released and what was learned from it."""
        if self._model is None:
            raise UserError("this synthesizer is not fitted; call fit(table) first.")
        return self._model

    @property
    def released(self) -> Released:
        """All that left the private zone; everything else is made from it."""
        return self.model.released

    def sample(self, rows: int | None = None, *, seed: int | None = None, where: Where | None = None) -> Any:
        """Synthetic rows in the kind of frame that `fit` took (pandas, polars), else as an Arrow table.

        By default as many as the table has, as far as that was released. `where`: rows given a condition, such as
        "age >= 65 and sex = female" or {"sex": "female", "age": (60, 80)}. Of linked tables: a dictionary of tables by name,
        with this many roots.
        """
        made = self.model.sample(rows, seed=seed, where=where)
        if isinstance(made, dict):
            return {name: as_frame(table, self._frame) for name, table in made.items()}
        return as_frame(made, self._frame)

    def record(self, *, purpose: str | None = None, approved_by: str | None = None) -> Record:
        """What the certificate says of the circumstances: the day, the account's balance, disclosures so far."""
        told = self.purpose if purpose is None else purpose
        return record_of(self.released, self.ledger, purpose=told, approved_by=approved_by)

    def save(self, folder: str | Path) -> Path:
        """Write released.json, the certificate and model.json into a folder; `sundog.load` reads them."""
        made: Path = self.model.save(folder, record=self.record(), ledger=self.ledger)
        return made


Synthesizer.__doc__ = (
    f"{(Synthesizer.__doc__ or '').rstrip()}\n{meanings(Privacy, Charged, Generation, Consent, Purpose)}\n"
)


def _workload(workload: Workload | str | Path, schema: Schema) -> Workload:
    if not isinstance(workload, Workload | str | Path):
        raise UserError(f"workload: found a {type(workload).__name__}; give a Workload or the path of a file.")
    made = workload if isinstance(workload, Workload) else Workload.load(workload, schema)
    if made.schema != schema:
        raise UserError("workload: it was made for another schema; make it with this synthesizer's schema.")
    return made


def _unkept(released: Released) -> None:
    del released
