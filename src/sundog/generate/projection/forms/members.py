"""Soft memberships in 0/1 queries, with or without a label: what ranges and halfspaces share.

Memberships are held for a piece of the queries at a time, of a few fixed sizes, so that little is compiled and memory is
bounded. With a label the answers are the members by label, then the rest.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from sundog.domain import Schema
from sundog.domain.axis import Axis
from sundog.generate.projection.adam import Maker, hard_matrix
from sundog.generate.projection.features import HARD
from sundog.generate.projection.forms.base import Form
from sundog.generate.projection.panels import Kind, Matrix, MeasuredCells, Panel, on_device
from sundog.generate.projection.soft_table import Frame, Known, SoftTable, known_of
from sundog.lazy_jax import Array, accelerated, jax, jit, jnp

Counts = Callable[..., Float[Array, "queries labels"]]
Pieces = list[tuple[tuple[Any, ...], Int[np.ndarray, " members"]]]
"""Arrays of a fixed size, and which query each of their members is (-1: padding)."""
MEMBERS = (256, 1024)
"""Soft memberships are held for this many queries at a time: few enough to stay in a processor's cache."""
MORE = 16384
"""On a device that is not a processor: enough to keep it busy."""


class Member(NamedTuple):
    """0/1 queries, and the axis by whose cells their members are counted."""

    query: Any
    label: Axis | None = None


@dataclass(frozen=True)
class Membership:
    """A kind of 0/1 queries.

    axes: the axes that the conditions need. cuts: where they cut numeric columns that are held over cells; None: they need
    numbers. pieces: some queries as arrays of a fixed size (frame, query, known).
    counts: the share of rows that are members, by label, compiled (matrix, sharpness, labels, *arrays).
    add: adds the weighted squared error of these counts and its gradient, compiled (see `adding`).
    merged: several queries as one; `alike` is equal for those that can be (rounds add a few queries at a time).
    """

    kind: Kind
    axes: Callable[[Any, Schema], list[Axis]]
    cuts: Callable[[Any, Schema], list[Axis]] | None
    pieces: Callable[[Frame, Any, Known], Pieces]
    counts: Counts
    add: Callable[..., tuple[Float[Array, ""], Matrix]]
    merged: Callable[[Sequence[Any]], Any]
    alike: Callable[[Any], Hashable]


def member_form(membership_of: Callable[[Any], tuple[Membership, Member]]) -> Form:
    """The form of a class whose queries are members of some kind, by label or not."""

    def axes(query: Any, schema: Schema) -> list[Axis]:
        membership, member = membership_of(query)
        return ([] if member.label is None else [member.label]) + membership.axes(member.query, schema)

    def cuts(query: Any, schema: Schema) -> list[Axis]:
        membership, member = membership_of(query)
        return [] if membership.cuts is None else membership.cuts(member.query, schema)

    def soft_cells(query: Any) -> bool:
        return membership_of(query)[0].cuts is not None

    def panels(frame: Frame, targets: Sequence[MeasuredCells], *, known: Known) -> list[Panel]:
        groups: dict[Hashable, list[tuple[MeasuredCells, Membership, Member]]] = {}
        for target in targets:
            membership, member = membership_of(target.query)
            alike = (membership.kind, member.label, membership.alike(member.query))
            groups.setdefault(alike, []).append((target, membership, member))
        return [panel for group in groups.values() for panel in _panels(frame, group, known)]

    def answers(table: SoftTable, queries: Sequence[Any], *, maker: Maker) -> Float[np.ndarray, " cells"]:
        found, schema = [], table.frame.schema
        for query in queries:
            frame = table.frame.asking(axes(query, schema), cuts=cuts(query, schema))
            found.append(_answer(table, frame, *membership_of(query), maker))
        return np.concatenate(found)

    return Form(axes, panels, answers, cuts=cuts, soft_cells=soft_cells)


def _panels(frame: Frame, group: Sequence[tuple[MeasuredCells, Membership, Member]], known: Known) -> list[Panel]:
    """The panels of measurements of one kind and label, merged, each query with its own weight."""
    _, membership, first = group[0]
    found = [_by_label(frame, target, member) for target, _, member in group]
    labels, answers = found[0][0], np.concatenate([values for _, values in found])
    weights = np.concatenate([np.full(len(v), t.weight) for (t, _, _), (_, v) in zip(group, found, strict=True)])
    query = membership.merged([member.query for _, _, member in group])
    panels = []
    for arrays, places in membership.pieces(frame, query, known):
        values = np.zeros((len(places), answers.shape[1]), np.float32)
        weight = np.zeros(len(places), np.float32)
        values[places >= 0] = answers[places[places >= 0]]
        weight[places >= 0] = weights[places[places >= 0]]
        rest = weight * (first.label is not None)
        panels.append(Panel(membership.kind, membership.add, on_device((labels, values, weight, rest, *arrays))))
    return panels


def _answer(
    table: SoftTable, frame: Frame, membership: Membership, member: Member, maker: Maker
) -> Float[np.ndarray, " cells"]:
    """The exact answers on hard features, as proportions."""
    known = known_of(frame, table.leaves, rows=table.rows)
    matrix = hard_matrix(table.params, known, maker=replace(maker, frame=frame))  # type: ignore[type-var]
    labels = _labels(frame, member)
    found = np.zeros((member.query.size, len(labels)))
    for arrays, places in membership.pieces(frame, member.query, known):
        part = np.asarray(membership.counts(matrix, HARD, jnp.asarray(labels), *on_device(arrays)))
        found[places[places >= 0]] = part[places >= 0]
    if member.label is None:
        return found.ravel()
    return np.concatenate([found, 1 - found.sum(axis=1, keepdims=True)], axis=1).ravel()


def _labels(frame: Frame, member: Member) -> Int[np.ndarray, " labels"]:
    return np.array([frame.one]) if member.label is None else frame.cells(member.label)


def _by_label(
    frame: Frame, target: MeasuredCells, member: Member
) -> tuple[Int[np.ndarray, " labels"], Float[np.ndarray, "queries labels"]]:
    """The label features, and the noisy proportions with the complement as the last column (0 where there is none)."""
    labels = _labels(frame, member)
    if member.label is not None:
        return labels, target.values.reshape(-1, len(labels) + 1).astype(np.float32)
    return labels, np.stack([target.values, np.zeros_like(target.values)], axis=1).astype(np.float32)


def held_at_once(queries: int) -> int:
    """How many queries are held at a time: the largest allowed number that is at least half full."""
    allowed = (*MEMBERS, MORE) if accelerated() else MEMBERS
    return max((size for size in allowed if 2 * queries > size), default=allowed[0])


def padded(array: np.ndarray, shape: tuple[int, ...], *, fill: Any = 0) -> np.ndarray:
    """The array in the corner of a larger one."""
    full = np.full(shape, fill, dtype=np.float32 if array.dtype == float else array.dtype)
    full[tuple(slice(0, size) for size in array.shape)] = array
    return full


def adding(counts: Counts) -> Callable[..., tuple[Float[Array, ""], Matrix]]:
    """Adds the weighted squared error of these counts, and its gradient."""

    def part(matrix: Matrix, sharpness: Any, labels: Any, values: Any, weight: Any, rest: Any, *arrays: Any) -> Any:
        found = counts(matrix, sharpness, labels, *arrays)
        error = jnp.square(found - values[:, : found.shape[1]]).sum(axis=1)
        complement = jnp.square(1.0 - found.sum(axis=1) - values[:, -1])
        return (weight * error + rest * complement).sum()

    @jit()
    def add(matrix: Matrix, loss: Any, gradient: Matrix, sharpness: Any, *arrays: Any) -> tuple[Any, Matrix]:
        value, slope = jax.value_and_grad(part)(matrix, sharpness, *arrays)
        return loss + value, gradient + slope

    return add
