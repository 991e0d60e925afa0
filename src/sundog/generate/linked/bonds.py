"""What is declared across tables, as the search of one child table keeps it: cells that rows may take, counts per parent."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from sundog.domain import Schema
from sundog.domain.axis import Axis
from sundog.domain.constraints.kinds import Linear
from sundog.domain.linked.rules import Across, Counted, Rule
from sundog.domain.linked.table import LinkedTable
from sundog.domain.row_checks import reach
from sundog.domain.rows import Rows
from sundog.generate.linked.allowed import (
    Allowed,
    Line,
    check_lines,
    cut_at,
    cuts_of,
    inside,
    line_of,
    no_value,
    settled,
    together,
)
from sundog.generate.linked.counts import Counts, dealt
from sundog.random.keys import Key, split

Codes = Int[np.ndarray, " rows"]
Cells = Int[np.ndarray, "columns rows"]


@dataclass(frozen=True, eq=False)
class Bonds:
    """The rules of a table, and for every row the codes of the columns above it that they name."""

    schema: Schema
    rules: tuple[Rule, ...]
    above: Mapping[str, Codes]
    parent: Codes

    @property
    def single(self) -> list[Across]:
        """The rules that bind one column of a row, given what is above it."""
        return [rule for rule in self.rules if isinstance(rule, Across) and len(rule.own) == 1]

    @property
    def counted(self) -> list[Counted]:
        """The rules on numbers of rows per parent."""
        return [rule for rule in self.rules if isinstance(rule, Counted)]

    def cut(self, axis: Axis) -> Axis:
        """A column's axis cut where rules begin or cease to hold."""
        name = axis.column
        cuts = [cuts_of(rule, self.schema).get(name) for rule in self.single]
        ranges = [dict(zip(rule.columns, rule.ranges, strict=True)).get(name) for rule in self.counted]
        found = [cut for cut in cuts if cut is not None] + [cut_at(self.schema, name, own) for own in ranges if own]
        return axis.refine(*found) if found else axis

    def lines(self, axes: Mapping[str, Axis], *, filled: Mapping[str, int]) -> list[Line | None]:
        """The line of every column; `filled` names cells that no row may take that has the column at all."""
        return [self._line(axis, filled.get(name)) for name, axis in axes.items()]

    def _line(self, axis: Axis, banned: int | None) -> Line | None:
        rules = [rule for rule in self.single if rule.own == (axis.column,)]
        found = [line_of(rule, axis, schema=self.schema, given=self.above) for rule in rules]
        if banned is not None:
            found.append((np.zeros(len(self.parent), dtype=np.int64), np.arange(axis.size)[None, :] != banned))
        line = together(found)
        check_lines(rules, line)
        return line

    def started(
        self,
        key: Key,
        cells: Cells,
        *,
        lines: Sequence[Line | None],
        margins: Sequence[Float[np.ndarray, " cells"]],
        movable: Bool[np.ndarray, "columns rows"],
        axes: Mapping[str, Axis],
    ) -> tuple[Cells, Allowed, Counts]:
        """A start that keeps all of it, and what the search needs to keep it."""
        *keys, deal = split(key, len(cells) + 1)
        made = cells.copy()
        for c, (each, line) in enumerate(zip(keys, lines, strict=True)):
            if line is not None:
                made[c] = settled(each, made[c], line=line, margin=margins[c], movable=movable[c])
        allowed = Allowed.of(lines, sizes=[axis.size for axis in axes.values()], rows=cells.shape[1])
        counts = Counts.of(self.counted, axes, parent=self.parent)
        if self.counted:
            made = dealt(deal, made, counts=counts, allowed=allowed, margins=margins)
        return made, allowed, counts

    def kept_inside(self, key: Key, codes: Mapping[str, Codes], axes: Mapping[str, Axis]) -> dict[str, Codes]:
        """Codes whose cells a limit cuts, inside it."""
        made = dict(codes)
        for each, name in zip(split(key, max(len(codes), 1)), codes, strict=False):
            limits = self.limits(name)
            if limits is not None:
                column = self.schema.column(name)
                made[name] = inside(each, codes[name], axis=axes[name], limits=limits, missing=column.missing)
        return made

    def limits(self, name: str) -> tuple[Codes, Codes] | None:
        """The lowest and highest code of a column, row by row, as far as limits on numbers bind it."""
        rules = [rule for rule in self.single if rule.own == (name,) and isinstance(rule.rule, Linear)]
        if not rules:
            return None
        ends = [self._reach(rule) for rule in rules]
        return np.max([low for low, _ in ends], axis=0), np.min([high for _, high in ends], axis=0)

    def order_limits(self, table: LinkedTable) -> tuple[Codes, Codes] | None:
        """The limits of a sequence's order column; refused where they leave some row no value."""
        name = f"{table.name}.{table.order}"
        limits = None if table.order is None else self.limits(name)
        if limits is not None and (limits[0] > limits[1]).any():
            raise no_value([rule for rule in self.single if rule.own == (name,)])
        return limits

    def _reach(self, across: Across) -> tuple[Codes, Codes]:
        rule, name = across.rule, across.own[0]
        if not isinstance(rule, Linear):
            raise TypeError("only sums of numbers have a reach")
        codes = {name: np.zeros(len(self.parent), dtype=np.int64), **self.above}
        flat = Schema(tuple(self.schema.column(column) for column in rule.columns))
        return reach(rule, Rows(flat, tuple(codes[column] for column in rule.columns)), name)
