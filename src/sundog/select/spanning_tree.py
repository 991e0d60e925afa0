"""Spanning tree: the pairs that tie all columns together, each chosen privately, then measured (MST).

McKenna, Miklau, Sheldon 2021. The weight of a pair is its distance from independence, || M_r(D) - M_r(independent) ||_1;
Kruskal's algorithm takes one edge at a time, by the exponential mechanism, among the pairs that join two components. What
differs from the paper: each edge is measured right after it is chosen (the weights do not depend on it), the sensitivity
of the L1 weight is 2 under "replace" and 1 under "add-remove", and choosing takes 10 % of the budget that one-way tables
leave, not half: scores are thousands of rows apart, the noise of measuring is what hurts.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from sundog.declare import Range, check_declared
from sundog.generate import Generator
from sundog.queries import Marginal, Query
from sundog.released import Proposal, Released, Selection
from sundog.select.base import estimates, leftover


@dataclass(frozen=True)
class SpanningTree:
    """One edge per round."""

    share_select: Annotated[float, "The part of each edge's budget that choosing it takes.", Range(0.001, 0.999)] = 0.1
    selects = True
    reads_model = True
    columns_first = True
    measures_all = False
    refits = False

    def __post_init__(self) -> None:
        check_declared(self)

    def accepts(self, query: Query) -> bool:
        """Marginals of two columns; single columns are measured first."""
        return isinstance(query, Marginal) and len(query.axes) <= 2

    def propose(
        self,
        workload: tuple[Query, ...],
        *,
        model: tuple[Generator[Any], Any],
        released: Released,
        remaining_rho: float,
        previous: Proposal | None,
    ) -> Proposal | None:
        """The next edge, out of an equal part of what remains."""
        joined = components(m.query for m in released.measurements)
        candidates = tuple(query for query in workload if len(query.columns) == 2 and not _connected(query, joined))
        if not candidates:
            return leftover(released, remaining_rho)
        rho = remaining_rho / edges_left(candidates, joined)
        return Proposal(
            selection=Selection(candidates, estimates(model, candidates, released)),
            rho_select=rho * self.share_select,
            rho_measure=rho * (1 - self.share_select),
        )


def components(queries: Iterable[Query]) -> dict[str, str]:
    """For every column of these queries the name of its component (columns that a query holds together)."""
    joined: dict[str, str] = {}
    for query in queries:
        merge(joined, query.columns)
    return joined


def merge(joined: dict[str, str], columns: Sequence[str]) -> bool:
    """Join the columns' components; whether they were apart."""
    roots = {joined.setdefault(name, name) for name in columns}
    for name, root in joined.items():
        if root in roots:
            joined[name] = min(roots)
    return len(roots) > 1


def edges_left(candidates: Sequence[Query], joined: dict[str, str]) -> int:
    """How many edges a spanning tree still needs."""
    trial = dict(joined)
    return sum(merge(trial, query.columns) for query in candidates)


def _connected(query: Query, joined: dict[str, str]) -> bool:
    return len({joined.get(name, name) for name in query.columns}) == 1
