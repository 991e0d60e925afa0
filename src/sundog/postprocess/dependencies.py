"""Functional dependencies between columns of synthetic rows: learned from them once, then applied to all.

A dependency follows its public map where one is declared, else the most common value among the synthetic rows with the
same determining values; determining values that turn up later are added as they come.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Int

from sundog.domain.constraints.kinds import Determines
from sundog.domain.rows import Rows


@dataclass(frozen=True, eq=False)
class Dependencies:
    """For every dependency the value of each group of determining codes; it grows as new groups are met."""

    rules: tuple[Determines, ...]
    values: tuple[dict[tuple[int, ...], int], ...]

    @staticmethod
    def learn(rules: Sequence[Determines], rows: Rows) -> "Dependencies":
        """The most common values, under the public maps."""
        values = [_public(rule) for rule in rules]
        found = Dependencies(tuple(rules), tuple(values))
        found.applied(rows)
        return found

    def applied(self, rows: Rows) -> list[Int[np.ndarray, " rows"]]:
        """The rows' codes with every dependent column set to its value, in the order of declaration."""
        codes = [column.astype(np.int64) for column in rows.codes]
        for rule, values in zip(self.rules, self.values, strict=True):
            current = Rows(rows.schema, tuple(codes))
            groups, member = _groups(rule, current)
            _add_missing(values, groups, member, current.column(rule.column))
            codes[rows.schema.position(rule.column)] = np.array([values[group] for group in groups])[member]
        return codes

    def hold(self, rows: Rows) -> Bool[np.ndarray, " rows"]:
        """Which rows have the values that their groups demand."""
        satisfied = np.ones(len(rows), dtype=np.bool_)
        for rule, values in zip(self.rules, self.values, strict=True):
            groups, member = _groups(rule, rows)
            demanded = np.array([values.get(group, -1) for group in groups], dtype=np.int64)
            satisfied &= rows.column(rule.column) == demanded[member]
        return satisfied

    def known(self) -> tuple[Determines, ...]:
        """The dependencies of one column on one other, with all values that groups have by now as their map."""
        return tuple(
            replace(rule, mapping=tuple((group[0], result) for group, result in values.items()))
            for rule, values in zip(self.rules, self.values, strict=True)
            if len(rule.by) == 1
        )

    @staticmethod
    def broken(rule: Determines, rows: Rows) -> int:
        """How many rows differ from the public map, or from the first row of their group."""
        public = _public(rule)
        groups, member = _groups(rule, rows)
        first = np.full(len(groups), -1, dtype=np.int64)
        backwards = np.arange(len(rows))[::-1]
        first[member[backwards]] = rows.column(rule.column)[backwards]
        demanded = np.array([public.get(group, own) for group, own in zip(groups, first, strict=True)], dtype=np.int64)
        return int((rows.column(rule.column) != demanded[member]).sum())


def _public(rule: Determines) -> dict[tuple[int, ...], int]:
    return {(given,): result for given, result in rule.mapping}


def _groups(rule: Determines, rows: Rows) -> tuple[list[tuple[int, ...]], Int[np.ndarray, " rows"]]:
    together = np.stack([rows.column(name).astype(np.int64) for name in rule.by])
    groups, member = np.unique(together, axis=1, return_inverse=True)
    return [tuple(group) for group in groups.T.tolist()], member.ravel()


def _add_missing(
    values: dict[tuple[int, ...], int],
    groups: list[tuple[int, ...]],
    member: Int[np.ndarray, " rows"],
    dependent: Int[np.ndarray, " rows"],
) -> None:
    """Give every group that has no value yet its most common one."""
    new = np.array([group not in values for group in groups], dtype=np.bool_)
    if not new.any():
        return
    pairs, counts = np.unique(np.stack([member, dependent]), axis=1, return_counts=True)
    for at in np.argsort(counts, kind="stable"):
        group, value = pairs[:, at]
        if new[group]:
            values[groups[group]] = int(value)
