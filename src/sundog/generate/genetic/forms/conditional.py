"""Class-conditional queries in the genetic search: ranges and halfspaces whose members are counted by label."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from sundog.domain import Schema
from sundog.generate.genetic.atoms import Atoms, Cut, axis_cuts
from sundog.generate.genetic.calls import kernel, opened
from sundog.generate.genetic.forms.base import Asked, Form, Lists
from sundog.generate.genetic.forms.halfspaces import count_planes, directions_of, plane_cuts, plane_lists, planes
from sundog.generate.genetic.forms.members import Member
from sundog.generate.genetic.forms.ranges import conjunctions, count_conjunctions, range_cuts, range_lists
from sundog.queries import Conditional, Halfspaces, Ranges


class ByLabel(NamedTuple):
    """The two kinds of inner queries."""

    conjunctions: Any
    planes: Any


@kernel
def labelled(p: int, h: int, i: int, j: int, a: int, b: int, update: bool) -> float:  # pragma: no cover (compiled)
    """Both kinds, where there are any."""
    L, _, _, _, _, _ = opened(p)
    change = 0.0
    if L[L[h]]:
        change += conjunctions(p, L[h], i, j, a, b, update)
    if L[L[h + 1]]:
        change += planes(p, L[h + 1], i, j, a, b, update)
    return change


@kernel
def count_labelled(p: int, h: int) -> None:  # pragma: no cover (compiled)
    """Count the labelled queries, thresholds and ranges alike."""
    L, _, _, _, _, _ = opened(p)
    count_conjunctions(p, L[h])
    count_planes(p, L[h + 1])


def _inner(queries: Sequence[Conditional], kind: type) -> list[Any]:
    return [query.inner for query in queries if isinstance(query.inner, kind)]


def _cuts(schema: Schema, queries: Sequence[Conditional]) -> Iterator[Cut]:
    yield from (axis_cuts(query.label) for query in queries)
    yield from range_cuts(schema, _inner(queries, Ranges))
    yield from plane_cuts(schema, _inner(queries, Halfspaces))


def _lists(atoms: Atoms, asked: Sequence[Asked]) -> Lists:
    members = [Member(each.query.inner, each.start, each.weight, each.query.label) for each in asked]
    ranges = range_lists(atoms, [each for each in members if isinstance(each.query, Ranges)])
    halfspaces = plane_lists(atoms, [each for each in members if isinstance(each.query, Halfspaces)])
    fields = ByLabel(ranges.fields, halfspaces.fields)
    return Lists(fields, ranges.columns | halfspaces.columns, held=halfspaces.held)


def _held(queries: Sequence[Conditional]) -> int:
    return directions_of(_inner(queries, Halfspaces))


FORM = Form(_cuts, _lists, labelled, count_labelled, _held)
