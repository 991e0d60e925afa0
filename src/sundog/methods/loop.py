"""The loop: measure first things first, then propose -> select -> measure -> fit, until the rule is done.

The only place where the public zone hands proposals to the curator, which it knows by what it asks of it. It holds no rows. The state that is kept is fitted
to the released measurements alone, with the run's key, so that anyone who has them can fit it again.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Protocol

from sundog.domain import Schema
from sundog.domain.rows import Rows
from sundog.generate import Generator, UsesPublic, ending_of
from sundog.methods.checks import check_recipe, check_support
from sundog.methods.recipe import Recipe
from sundog.postprocess.constraints import enforce
from sundog.queries import Query
from sundog.random.keys import Key, split
from sundog.released import Measurement, Proposal, Released, Scores, Selection
from sundog.select.base import spent_up
from sundog.sizes import MOST_ROWS, refuse_beyond_memory, whole_number

CELL_BYTES = 40
"""What one synthetic cell takes on its way from the model to the file, codes, values and text together; measured, 33 to 40."""
Report = Callable[[str], None]
"""Told what is going on, in a few public words."""
Keep = Callable[[Released], None]
"""Given everything that was paid for so far, whenever more was: what a killed run must not lose."""


class Measuring(Protocol):
    """What the loop asks of a curator: of the whole table, or of one view of linked ones."""

    @property
    def schema(self) -> Schema:
        """The columns that may be asked about."""

    @property
    def remaining_rho(self) -> float:
        """What is left to spend."""

    def released(self) -> Released:
        """What was released so far."""

    def measure(
        self, queries: Sequence[Query], rho: float, *, shares: Sequence[float] | None = None
    ) -> list[Measurement]:
        """Measure these queries: their noisy answers."""

    def score(self, selection: Selection, rho: float) -> Scores:
        """Noisy scores of candidates."""

    def select(self, selection: Selection, rho: float) -> list[Query]:
        """A private choice among candidates."""


def run(
    key: Key,
    curator: Measuring,
    *,
    recipe: Recipe,
    report: Report,
    public: Rows | None = None,
    keep: Keep = lambda _: None,
) -> tuple[Released, Any]:
    """Spend the curator's budget by the recipe; what was released, and the generator's fitted state."""
    check_recipe(recipe, curator.schema, public=public)
    step, later = split(key, 2)
    state = initial(step, curator.schema, generator=recipe.generator, public=public)
    workload = recipe.workload(curator.schema)
    if recipe.first is not None:
        report("measuring columns")
        measure_first(curator, recipe, more=bool(workload))
        keep(curator.released())
        if workload and recipe.rule.reads_model:
            step, later = split(later, 2)
            state = recipe.generator.fit(step, state, released=curator.released())
    if recipe.bins is not None:
        workload = recipe.bins.rebin(workload, curator.released())
    if workload:
        rounds(later, curator, recipe=recipe, workload=workload, state=state, report=report, keep=keep)
    report(f"fitting {recipe.name}")
    released = curator.released()
    return released, fit_released(key, released, recipe=recipe, public=public)


def measure_first(curator: Measuring, recipe: Recipe, *, more: bool) -> None:
    """The first queries, the budget divided by use; all of it where nothing else will be measured."""
    if recipe.first is None:
        return
    queries = recipe.first.queries(curator.schema)
    rho = curator.remaining_rho * (recipe.first.share if more else 1.0)
    by_use = [query.size ** (2 / 3) for query in queries]
    curator.measure(queries, rho, shares=recipe.first.shares(curator.schema) if recipe.first.shares else by_use)


def rounds(
    key: Key,
    curator: Measuring,
    *,
    recipe: Recipe,
    workload: tuple[Query, ...],
    state: Any,
    report: Report,
    keep: Keep = lambda _: None,
) -> None:
    """Ask the rule until it is done, or until Ctrl-C ended a fit that the next choice would have built on."""
    previous: Proposal | None = None
    while not (recipe.rule.refits and ending_of(recipe.generator, state).interrupted):
        released = curator.released()
        proposal = recipe.rule.propose(
            workload,
            model=(recipe.generator, state),
            released=released,
            remaining_rho=curator.remaining_rho,
            previous=previous,
        )
        if proposal is None:
            return
        chosen = _measure(curator, proposal, report=report)
        keep(curator.released())
        previous = replace(proposal, queries=(*proposal.queries, *chosen))
        if recipe.rule.refits and not spent_up(curator.released(), curator.remaining_rho):
            report(f"fitting {recipe.name}, {_spent(curator)} of the budget spent")
            step, key = split(key, 2)
            state = recipe.generator.fit(step, state, released=curator.released())
    report("Ctrl-C ended the rounds; what was measured so far is used")


def _spent(curator: Measuring) -> str:
    """How much of what this run may spend is spent: it does not depend on the rows."""
    paid = sum(payment.rho for payment in curator.released().payments)
    return f"{paid / max(paid + curator.remaining_rho, 1e-300):.0%}"


def _measure(curator: Measuring, proposal: Proposal, *, report: Report) -> list[Query]:
    """Score, choose and measure what is proposed; the chosen queries, which are measured where that has a price."""
    chosen: list[Query] = []
    if proposal.scoring is not None:
        report(f"scoring {proposal.scoring.blocks} candidates")
        curator.score(proposal.scoring, proposal.rho_score)
    if proposal.selection is not None:
        chosen = curator.select(proposal.selection, proposal.rho_select)
    queries = [*proposal.queries, *chosen]
    if queries and proposal.rho_measure:
        report(f"measuring {len(queries)} queries")
        curator.measure(queries, proposal.rho_measure, shares=proposal.shares or _evenly(curator, queries))
    return chosen


def _evenly(curator: Measuring, queries: Sequence[Query]) -> list[float]:
    """Shares by which all answers have the same noise: several chosen together count as many times."""
    neighbours = curator.released().guarantee.unit.neighbours
    return [float(query.sensitivity_squared(neighbours)) for query in queries]


def initial(key: Key, schema: Schema, *, generator: Generator[Any], public: Rows | None) -> Any:
    """The generator's state before anything is measured."""
    if public is not None and isinstance(generator, UsesPublic):
        return generator.init_public(key, schema, public=public)
    return generator.init(key, schema)


def fit_released(key: Key, released: Released, *, recipe: Recipe, public: Rows | None = None) -> Any:
    """The generator's state from measurements that were released earlier: no private data, no cost."""
    check_support(recipe, [measurement.query for measurement in released.measurements], released.schema)
    first, second = split(key, 2)
    state = initial(first, released.schema, generator=recipe.generator, public=public)
    return recipe.generator.fit(second, state, released=released)


def sample(key: Key, generator: Generator[Any], *, schema: Schema, state: Any, rows: int) -> Rows:
    """Synthetic rows, every one satisfying the schema's constraints."""
    check_rows(rows, schema)
    return enforce(key, schema, draw=lambda k, count: generator.sample(k, state, rows=count), rows=rows)


def check_rows(rows: int | None, schema: Schema, *, cells: float | None = None) -> None:
    """Refuse a number of rows that makes no table, or one that memory cannot hold; `cells` are those of a row."""
    if rows is not None:
        size = int(whole_number("rows", rows, most=MOST_ROWS) * (cells or len(schema.columns)) * CELL_BYTES)
        refuse_beyond_memory(f"rows: {rows} rows", size, remedy="Ask for fewer; several seeds give several parts.")
