"""The workloads of the named methods: from a schema to the queries that a method measures where users ask for nothing else."""

from dataclasses import dataclass
from typing import Annotated

from sundog.declare import Range, check_declared
from sundog.domain import Categorical, Numeric, Schema
from sundog.generate.particles.declared_penalties import protected_queries
from sundog.queries import Query
from sundog.queries.workload import Workload

MANY_TABLES = 200


def one_way(schema: Schema) -> tuple[Query, ...]:
    """Every column's own marginal."""
    return Workload.marginals(schema, k=1).queries


def two_way(schema: Schema) -> tuple[Query, ...]:
    """The marginals of all pairs of columns."""
    return Workload.marginals(schema, k=2).queries if len(schema.names) > 1 else ()


def nothing(schema: Schema) -> tuple[Query, ...]:
    """No query beyond the first."""
    return ()


def two_way_and_protected(schema: Schema) -> tuple[Query, ...]:
    """The marginals of all pairs of columns, and what protected statistics need."""
    return (*two_way(schema), *protected_queries(schema))


@dataclass(frozen=True)
class LabelsAndThresholds:
    """Pairs of label columns with every target, and linear thresholds over the numbers (RAP++: CM and LT).

    Without targets, pairs of label columns and halfspaces over all columns. Where pairs with a target would be too many,
    pairs of label columns, targets among them. Along every direction there are 20 thresholds.
    """

    directions: Annotated[int, "Random directions per numeric column, divided among the targets.", Range(1, 20_000)] = (
        200
    )
    most_directions: Annotated[int, "The most directions in total.", Range(1, 20_000)] = 1000

    def __post_init__(self) -> None:
        check_declared(self)

    def __call__(self, schema: Schema) -> tuple[Query, ...]:
        """The queries of the workload on this schema."""
        labels = [column.name for column in schema.columns if isinstance(column, Categorical)]
        numbers = [column.name for column in schema.columns if isinstance(column, Numeric) and column.steps > 1]
        targets = tuple(target for target in schema.targets if target in labels)
        tables = self._tables(schema, labels=labels, targets=targets)
        if not numbers or len(schema.names) == 1:
            return tables
        directions = min(self.directions * len(numbers), self.most_directions)
        if not targets:
            return (*tables, *Workload.halfspaces(schema, directions=directions).queries)
        each = -(-directions // len(targets))
        return (*tables, *Workload.conditional_thresholds(schema, targets=targets, directions=each).queries)

    @staticmethod
    def _tables(schema: Schema, *, labels: list[str], targets: tuple[str, ...]) -> tuple[Query, ...]:
        if targets and len(labels) > 2:
            triples = Workload.conditional_marginals(schema, targets=targets, k=2).queries
            if 0 < len(triples) <= MANY_TABLES:
                return triples
        return Workload.marginals(schema, k=2, columns=labels).queries if len(labels) > 1 else ()
