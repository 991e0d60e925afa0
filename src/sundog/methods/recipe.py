"""Recipe: what to measure first, a workload, a selection rule and a generator, with defaults that work.

A recipe with `first` measures these queries before anything else. Where it also has `bins`, the workload's numeric
columns and rare labels are then binned by what that first measurement showed; the rule sees the binned workload.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated, Any

from sundog.declare import Range, check_declared
from sundog.domain import Schema
from sundog.estimate.bins import Bins
from sundog.generate import Generator, UsesPublic
from sundog.queries import Query
from sundog.select import SelectionRule, Settles, Splits

Builder = Callable[[Schema], tuple[Query, ...]]


@dataclass(frozen=True)
class First:
    """Queries that are measured before the rule is asked, their share of the budget, and how they divide it.

    By default they divide it by use, cells^(2/3).
    """

    queries: Builder
    share: Annotated[
        float, "The part of the budget that the first measurements (of single columns) take.", Range(0.001, 0.999)
    ]
    shares: Callable[[Schema], list[float]] | None = None

    def __post_init__(self) -> None:
        check_declared(self)


@dataclass(frozen=True)
class Recipe:
    """How a named method works: what it measures, how it chooses, how it generates; and what users should know of it."""

    name: str
    summary: str
    workload: Builder
    rule: SelectionRule
    generator: Generator[Any]
    first: First | None = None
    bins: Bins | None = None
    uses: str = "marginals"
    cost: str = ""
    settings: tuple[tuple[str, Any], ...] = ()

    @property
    def public(self) -> bool:
        """Whether it can start from a public table."""
        return isinstance(self.generator, UsesPublic)

    def queries(self, schema: Schema) -> tuple[Query, ...]:
        """All that it may measure, on public bins: enough to tell, before anything is spent, what the generator needs."""
        asked = self.workload(schema)
        asked = self.rule.split(asked) if isinstance(self.rule, Splits) else asked
        return (*(self.first.queries(schema) if self.first else ()), *asked)

    def settled(self, schema: Schema, *, rho: float) -> "Recipe":
        """The recipe with what its rule leaves to public values, the workload and the budget, decided."""
        if not isinstance(self.rule, Settles):
            return self
        return replace(self, rule=self.rule.settled(self.workload(schema), rho=rho))
