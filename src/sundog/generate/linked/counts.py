"""Counts per parent: of the rows of one parent, from this many to this many satisfy a condition ("one head per household").

The start is dealt so that every count holds; the search then takes no change that breaks one, and exchanges cells between
siblings so that who satisfies it can change. Axes are cut at the conditions' borders, so a cell satisfies one or does not.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from sundog.domain.axis import Axis
from sundog.domain.linked.rules import Counted
from sundog.errors import UserError
from sundog.generate.linked.allowed import Allowed
from sundog.random.draws import draw_within
from sundog.random.keys import Key, split, words

PASSES = 8
AVOIDED = 1e-6
"""What a cell that satisfies another count weighs, where one is left."""

Cells = Int[np.ndarray, "columns rows"]
Codes = Int[np.ndarray, " rows"]


@dataclass(frozen=True, eq=False)
class Counts:
    """The counts of a table: for every rule and column which cells satisfy it, None where the rule does not name it."""

    rules: tuple[Counted, ...]
    flags: tuple[tuple[Bool[np.ndarray, " cells"] | None, ...], ...]
    parent: Codes

    @staticmethod
    def of(rules: Sequence[Counted], axes: Mapping[str, Axis], *, parent: Codes) -> "Counts":
        """For the columns of these axes, in order."""
        return Counts(
            tuple(rules), tuple(tuple(_flags(rule, axis) for axis in axes.values()) for rule in rules), parent
        )

    def holds(self, rule: int, cells: Cells) -> Bool[np.ndarray, " rows"]:
        """Which rows satisfy a rule's condition."""
        satisfied = np.ones(cells.shape[1], dtype=bool)
        for flags, own in zip(self.flags[rule], cells, strict=True):
            satisfied &= True if flags is None else flags[own]
        return satisfied

    def tally(self, rule: int, cells: Cells) -> Codes:
        """How many rows of every parent satisfy it."""
        return np.bincount(self.parent[self.holds(rule, cells)], minlength=int(self.parent.max(initial=-1)) + 1)

    def packed(self, cells: Cells) -> tuple[Int[np.ndarray, "..."], ...]:
        """What the compiled search reads: flags, where columns begin in them, which are named, tallies, bounds, families."""
        sizes = [
            max((0 if flags is None else len(flags) for flags in column), default=0)
            for column in zip(*self.flags, strict=True)
        ]
        sizes = sizes or [0] * len(cells)
        base = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        flags = np.ones((len(self.rules), int(base[-1])), dtype=np.uint8)
        named = np.zeros((len(self.rules), len(cells)), dtype=np.uint8)
        for r, own in enumerate(self.flags):
            for c, cell_flags in enumerate(own):
                if cell_flags is not None:
                    named[r, c] = 1
                    flags[r, base[c] : base[c + 1]] = cell_flags
        parents = int(self.parent.max(initial=-1)) + 1
        tally = np.array([self.tally(r, cells) for r in range(len(self.rules))], dtype=np.int64).reshape(-1, parents)
        bounds = np.array([(rule.least, rule.most) for rule in self.rules], dtype=np.int64).reshape(-1, 2)
        begins = np.concatenate([[0], np.cumsum(np.bincount(self.parent, minlength=parents))]).astype(np.int64)
        return flags, base, named, tally, bounds, self.parent.astype(np.int64), begins


def _flags(rule: Counted, axis: Axis) -> Bool[np.ndarray, " cells"] | None:
    if axis.column not in rule.columns:
        return None
    first, ranges = axis.firsts, rule.ranges[rule.columns.index(axis.column)]
    return np.any([(first >= low) & (first < high) for low, high in ranges], axis=0)


def dealt(
    key: Key, cells: Cells, *, counts: Counts, allowed: Allowed, margins: Sequence[Float[np.ndarray, " cells"]]
) -> Cells:
    """The cells changed so that every parent has as many rows that satisfy each condition as it should."""
    dealer = _Dealer(cells.copy(), counts, allowed, margins)
    for each in split(key, PASSES):
        wrong = [dealer.change(own, rule) for rule, own in enumerate(split(each, len(counts.rules)))]
        if not any(wrong):
            return dealer.cells
    names = ", ".join(repr(rule.name) for rule in counts.rules)
    raise UserError(
        f"constraints {names}: the rows of some synthetic parents cannot satisfy all of them together; check that they do not "
        "contradict each other or other constraints. What was measured is kept."
    )


@dataclass(eq=False)
class _Dealer:
    cells: Cells
    counts: Counts
    allowed: Allowed
    margins: Sequence[Float[np.ndarray, " cells"]]

    def change(self, key: Key, rule: int) -> bool:
        """Make one rule's tallies right; whether anything was wrong."""
        bounds, parent = self.counts.rules[rule], self.counts.parent
        satisfied, tally = self.counts.holds(rule, self.cells), self.counts.tally(rule, self.cells)
        pick, off, on = split(key, 3)
        surplus = self._first(pick, satisfied, np.maximum(tally - bounds.most, 0))
        lacking = self._first(
            pick, ~satisfied, np.where(np.bincount(parent) > 0, np.maximum(bounds.least - tally, 0), 0)
        )
        columns = [c for c, flags in enumerate(self.counts.flags[rule]) if flags is not None]
        escape = max(columns, key=lambda c: float(self._weights(rule, c, wanted=False).sum() / self.margins[c].sum()))
        self._draw(off, surplus, escape, rule, wanted=False)
        for each, column in zip(split(on, len(columns)), columns, strict=True):
            outside = lacking[~self._flag(rule, column)[self.cells[column, lacking]]]
            self._draw(each, outside, column, rule, wanted=True)
        return bool(len(surplus) or len(lacking))

    def _first(self, key: Key, among: Bool[np.ndarray, " rows"], number: Codes) -> Codes:
        """This many of these rows of every parent, at random, rows that satisfy other conditions last."""
        rows, parent = np.flatnonzero(among), self.counts.parent
        busy = np.sum([self.counts.holds(r, self.cells)[rows] for r in range(len(self.counts.rules))], axis=0)
        order = rows[np.lexsort((words(key, len(rows)), busy, parent[rows]))]
        sizes = np.bincount(parent[order], minlength=len(number))
        rank = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return order[rank < number[parent[order]]]

    def _flag(self, rule: int, column: int) -> Bool[np.ndarray, " cells"]:
        flags = self.counts.flags[rule][column]
        return np.ones(len(self.margins[column]), dtype=bool) if flags is None else flags

    def _weights(self, rule: int, column: int, *, wanted: bool) -> Float[np.ndarray, " cells"]:
        """The margin of a column where it satisfies a rule, or does not; next to nothing where it satisfies another."""
        weights = np.where(self._flag(rule, column) == wanted, self.margins[column], 0.0)
        others = [
            self._flag(r, column) for r, own in enumerate(self.counts.flags) if r != rule and own[column] is not None
        ]
        return np.where(np.any(others, axis=0), AVOIDED * weights, weights) if others else weights

    def _draw(self, key: Key, rows: Codes, column: int, rule: int, *, wanted: bool) -> None:
        """Draw these rows' cells of a column again, from those that satisfy the rule or do not, and are allowed."""
        if not len(rows):
            return
        weights = self._weights(rule, column, wanted=wanted)
        lines, member = np.unique(self.allowed.place[column, rows], return_inverse=True)
        spread = self.allowed.flat[lines[:, None] + np.arange(len(weights))] * weights
        drawn = draw_within(key, member, weights=spread.ravel(), sizes=np.full(len(lines), len(weights)))
        self.cells[column, rows] = drawn - member * len(weights)
