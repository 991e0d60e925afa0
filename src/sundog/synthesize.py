"""The loop: propose -> select -> measure -> fit, until the rule is done; then sample.

The only place where the public zone hands proposals to the curator. It holds no rows.
"""

from collections.abc import Callable
from typing import Any

from sundog.adjust.constraints import enforce
from sundog.errors import UserError
from sundog.generate import Generator
from sundog.keys import Key, split
from sundog.methods import Recipe
from sundog.private.curator import Curator
from sundog.queries import Query
from sundog.released import Released
from sundog.rows import Rows
from sundog.schema import Schema

Report = Callable[[str], None]
"""Told what is going on, in a few public words."""


def run(key: Key, curator: Curator, *, recipe: Recipe, report: Report) -> tuple[Released, Any]:
    """Spend the curator's budget by the recipe; what was released, and the generator's fitted state."""
    generator, workload = recipe.generator, recipe.workload(curator.schema)
    check_support(generator, workload, recipe.name)
    first, key = split(key, 2)
    state = generator.init(first, curator.schema)
    while True:
        released = curator.released()
        proposal = recipe.rule.propose(
            workload, model=(generator, state), released=released, remaining_rho=curator.remaining_rho
        )
        if proposal is None:
            return released, state
        chosen: list[Query] = []
        if proposal.selection is not None:
            chosen = curator.select(proposal.selection, proposal.rho_select)
        queries = [*proposal.queries, *chosen]
        report(f"measuring {len(queries)} queries")
        curator.measure(queries, proposal.rho_measure, shares=proposal.shares)
        report(f"fitting {recipe.name}")
        step, key = split(key, 2)
        state = generator.fit(step, state, released=curator.released())


def fit_released(key: Key, released: Released, *, generator: Generator[Any], name: str) -> Any:
    """The generator's state from measurements that were released earlier: no private data, no cost."""
    check_support(generator, tuple(m.query for m in released.measurements), name)
    first, second = split(key, 2)
    return generator.fit(second, generator.init(first, released.schema), released=released)


def sample(key: Key, generator: Generator[Any], *, schema: Schema, state: Any, rows: int) -> Rows:
    """Synthetic rows, every one satisfying the schema's constraints."""
    check_rows(rows)
    return enforce(key, schema, draw=lambda k, count: generator.sample(k, state, rows=count), rows=rows)


def check_rows(rows: int | None) -> None:
    """Refuse a number of rows that makes no table."""
    if rows is not None and rows < 1:
        raise UserError(f"rows: found {rows}; it must be 1 or more.")


def check_support(generator: Generator[Any], queries: tuple[Query, ...], name: str) -> None:
    """Refuse, before any budget is spent, queries that the generator cannot use."""
    for query in queries:
        if not generator.supports(query):
            raise UserError(f"method {name!r} cannot use the query {query.describe()!r}; choose another method.")
