"""Synthesizer: the Python front door, in scikit-learn's habits.

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

import pyarrow as pa

from sundog.api.model import Model, fresh_seed, public_rows_of
from sundog.domain import Schema
from sundog.domain.unit import Neighbours, PrivacyUnit
from sundog.errors import UserError
from sundog.methods.loop import Report, check_recipe, run
from sundog.methods.recipes import recipe_of, with_settings, with_workload
from sundog.postprocess.measures import check_measures, measures_of
from sundog.private.accountant import Budget, default_delta
from sundog.private.curator import Curator, public_rows
from sundog.private.ledger import Ledger
from sundog.private.table import PrivateTable
from sundog.progress import listening
from sundog.queries.workload import Workload
from sundog.random.keys import key_of, split
from sundog.released import Released
from sundog.select.everything import shares_of


class Synthesizer:
    """Fits a method to a private table once, within a budget, and then samples as often as you like.

    Args:
        schema: a Schema, a Table Schema document, or the path of one.
        epsilon: the privacy budget, with `delta`; or give `rho` (zCDP) instead.
        delta: required unless rows are replaced, where the number of rows is public and 1/n^2 is the default.
        rho: the budget as zCDP.
        method: the name of a recipe; `sundog.METHODS` lists them; "RULE/GENERATOR" joins two of them.
        workload: what should come out right, instead of the method's own workload (a Workload, or the path of a file).
        settings: changed settings of the method's generator, such as {"rows": 1000} for "private-gsd".
        public: a public table of the same schema (a frame or a path) to start from, for methods that can use one.
        adjust: measures to match after sampling (see sundog.postprocess), paid with `adjust_share` of the budget.
        adjust_share: the part of the budget for that.
        neighbours: "add-remove" (the number of rows is private) or "replace" (it is public).
        unit: the column that names the people to protect; by default each row is one.
        rows_per_unit: how many rows of one unit are used at most.
        dataset: the ledger's account; by default the schema's name.
        seed: fixes generation and sampling, never the privacy noise.
        ledger: the path of the ledger; by default in the user's data directory.
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
        adjust_share: float = 0.2,
        neighbours: Neighbours = "add-remove",
        unit: str | None = None,
        rows_per_unit: int = 1,
        dataset: str | None = None,
        seed: int | None = None,
        ledger: str | Path | None = None,
    ) -> None:
        self.schema = Schema.of(schema)
        self.recipe = with_settings(recipe_of(method), settings or {})
        if workload is not None:
            self.recipe = with_workload(self.recipe, _workload(workload, self.schema))
        self._public = public_rows_of(public, self.schema)
        self._adjust, self._adjust_share = adjust, adjust_share if adjust is not None else 0.0
        if adjust is not None:
            if not 0 < adjust_share < 1:
                raise UserError(f"adjust_share: found {adjust_share!r}; it must lie between 0 and 1, both excluded.")
            check_measures(adjust, self.schema)
        check_recipe(self.recipe, self.schema, public=self._public)
        self.unit = PrivacyUnit(neighbours, unit, rows_per_unit)
        self.dataset = dataset or self.schema.name or "unnamed"
        self.seed = fresh_seed() if seed is None else seed
        self._budget = {"epsilon": epsilon, "delta": delta, "rho": rho}
        if not self._delta_from_rows:
            Budget(**self._budget)
        self._ledger = None if ledger is None else Path(ledger)
        self._model: Model | None = None
        self.paid_for: Released | None = None
        """What an interrupted fit had already measured: `Model.from_released` can use it at no further cost."""

    @property
    def _delta_from_rows(self) -> bool:
        public = self.unit.neighbours == "replace" and self.unit.column is None
        return public and self._budget["delta"] is None and self._budget["rho"] is None

    def __repr__(self) -> str:
        state = "not fitted" if self._model is None else "fitted"
        return f"Synthesizer(method={self.recipe.name!r}, dataset={self.dataset!r}, {state})"

    def _repr_html_(self) -> str:
        return f"<code>{html.escape(repr(self))}</code>" if self._model is None else self._model._repr_html_()

    def fit(
        self,
        table: Any,
        *,
        spend_again: bool = False,
        delimiter: str | None = None,
        sql: str | None = None,
        report: Report | None = None,
    ) -> "Synthesizer":
        """Spend the budget on a table: a frame, a path, or a source. A second fit needs `spend_again=True`."""
        if self._model is not None and not spend_again:
            raise UserError("fit: this model has spent its budget; fit(..., spend_again=True) spends it once more.")
        if self.paid_for is not None and self.paid_for.payments and not spend_again:
            raise UserError(
                "fit: a fit that broke off has spent its budget, and what it measured is in paid_for (see "
                "Model.from_released); fit(..., spend_again=True) spends it once more."
            )
        curator = self._curator(PrivateTable(table, delimiter=delimiter, sql=sql))
        fit_key, _ = split(key_of(self.seed), 2)
        curator.kept_back = self._adjust_share * curator.total_rho
        try:
            with listening(report or _silent):
                released, state = run(
                    fit_key, curator, recipe=self.recipe, report=report or _silent, public=self._public
                )
                if self._adjust is not None:
                    released = self._measured_adjustments(curator, state)
        except BaseException:
            self.paid_for = curator.released()
            raise
        self._model = Model(released, self.recipe, self.seed, state, self._public)
        return self

    def _measured_adjustments(self, curator: Curator, state: Any) -> Released:
        """What the rows will be adjusted to: measures that may depend on the synthetic rows, paid with what was kept."""
        curator.kept_back = 0.0
        model = Model(curator.released(), self.recipe, self.seed, state, self._public)
        wanted = measures_of(
            self._adjust or "",
            self.schema,
            rows=model.rows(),
            rho=curator.remaining_rho,
            neighbours=self.unit.neighbours,
        )
        shares = shares_of(wanted.queries, wanted.weights, self.unit.neighbours)
        curator.measure_adjustments(wanted.queries, curator.remaining_rho, shares=shares)
        return curator.released()

    def _curator(self, table: PrivateTable) -> Curator:
        budget = dict(self._budget)
        if self._delta_from_rows:
            budget["delta"] = default_delta(public_rows(table, self.schema, unit=self.unit))
        return Curator(
            table,
            self.schema,
            budget=Budget(**budget),
            dataset=self.dataset,
            unit=self.unit,
            accounting="zcdp" if self.recipe.rule.selects else "gaussian",
            ledger=Ledger(self._ledger),
        )

    @property
    def model(self) -> Model:
        """The fitted model: what was released and what was learned from it."""
        if self._model is None:
            raise UserError("this synthesizer is not fitted; call fit(table) first.")
        return self._model

    @property
    def released(self) -> Released:
        """All that left the private zone; everything else is made from it."""
        return self.model.released

    def sample(self, rows: int | None = None, *, seed: int | None = None) -> pa.Table:
        """Synthetic rows as an Arrow table; by default as many as the table has, as far as that was released."""
        return self.model.sample(rows, seed=seed)

    def save(self, folder: str | Path) -> Path:
        """Write released.json, the certificate and model.json into a folder; `sundog.load` reads them."""
        return self.model.save(folder)


def _workload(workload: Workload | str | Path, schema: Schema) -> Workload:
    made = workload if isinstance(workload, Workload) else Workload.load(workload, schema)
    if made.schema != schema:
        raise UserError("workload: it was made for another schema; make it with this synthesizer's schema.")
    return made


def _silent(message: str) -> None:
    del message
