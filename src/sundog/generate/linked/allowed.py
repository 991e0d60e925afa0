"""Which cells a row may take: what is declared of a row beside the records above it, and that a sequence has no hole.

For every column the rows share a few lines, one bit per cell: rows whose records above them agree on what a constraint names
have the same line. A cell is allowed if one of its codes is; cells that a limit cuts are drawn again inside it (`inside`).
Constraints over several columns of the row itself are left to the repair of rows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from sundog.domain import Schema
from sundog.domain.axis import Axis
from sundog.domain.constraints.kinds import Linear, Pairs
from sundog.domain.linked.rules import Across
from sundog.domain.row_checks import holds, reach
from sundog.domain.rows import Rows
from sundog.errors import UserError
from sundog.random.draws import draw_within
from sundog.random.keys import Key, uniforms

Codes = Int[np.ndarray, " rows"]
Line = tuple[Codes, Bool[np.ndarray, "lines cells"]]
"""The line of every row, and the cells of every line."""


@dataclass(frozen=True, eq=False)
class Allowed:
    """Where each row's line of a column begins in `flat`; the first line allows everything."""

    place: Int[np.ndarray, "columns rows"]
    flat: Bool[np.ndarray, " cells"]

    @staticmethod
    def of(lines: Sequence[Line | None], *, sizes: Sequence[int], rows: int) -> "Allowed":
        """From the line of every column, None where all of its cells are allowed."""
        parts, place, offset = [np.ones(max(sizes, default=1), dtype=bool)], np.zeros((len(sizes), rows), np.int64), 0
        for column, line in enumerate(lines):
            if line is not None:
                offset = sum(part.size for part in parts)
                place[column] = offset + line[0] * sizes[column]
                parts.append(line[1].ravel())
        return Allowed(place, np.concatenate(parts))

    def fits(self, column: int, cells: Codes, rows: Codes | slice = slice(None)) -> Bool[np.ndarray, " rows"]:
        """Which of these rows may take these cells."""
        return self.flat[self.place[column, rows] + cells]


def together(lines: Sequence[Line]) -> Line | None:
    """Several lines of one column as one: what all allow."""
    if not lines:
        return None
    combined, member = np.unique(np.stack([line for line, _ in lines]), axis=1, return_inverse=True)
    allowed = np.ones((combined.shape[1], lines[0][1].shape[1]), dtype=bool)
    for own, (_, cells) in zip(combined, lines, strict=True):
        allowed &= cells[own]
    return member.ravel(), allowed


def line_of(rule: Across, axis: Axis, *, schema: Schema, given: Mapping[str, Codes]) -> Line:
    """The cells of a rule's one column of the row that satisfy it, given the codes of its columns above."""
    (name,) = rule.own
    others = [column for column in rule.rule.columns if column != name]
    combined, member = np.unique(np.stack([given[column] for column in others]), axis=1, return_inverse=True)
    codes = dict(zip(others, combined, strict=True))
    flat = Schema(tuple(schema.column(column) for column in (name, *others)))
    if isinstance(rule.rule, Linear):
        rows = Rows(flat, (np.zeros(combined.shape[1], dtype=np.int64), *codes.values()))
        low, high = reach(rule.rule, rows, name)
        first, last = axis.run_starts(), axis.run_starts() + axis.widths - 1
        allowed = (first <= high[:, None]) & (last >= low[:, None])
        missing = schema.column(name).missing
        allowed[:, first == (-1 if missing is None else missing)] = True
        return member.ravel(), allowed
    own = np.tile(
        axis.firsts.astype(np.int64), combined.shape[1]
    )  # cut at every border, so one code speaks for its cell
    rows = Rows(flat, (own, *(np.repeat(line, axis.size) for line in combined)))
    return member.ravel(), holds(rule.rule, rows).reshape(-1, axis.size)


def cuts_of(rule: Across, schema: Schema) -> dict[str, Axis]:
    """The axis on which cells either satisfy a rule or do not, given what is above; none for limits on numbers."""
    if isinstance(rule.rule, Linear):
        return {}
    if isinstance(rule.rule, Pairs):
        return {name: Axis.whole(schema.column(name)) for name in rule.own}
    ranges = dict(zip(rule.rule.columns, rule.rule.ranges, strict=True))
    return {name: cut_at(schema, name, ranges[name]) for name in rule.own}


def cut_at(schema: Schema, name: str, ranges: Sequence[tuple[int, int]]) -> Axis:
    """A column cut where runs of its codes begin and end."""
    column = schema.column(name)
    return Axis.cut(column, sorted({code for run in ranges for code in run if 0 < code < column.size}))


def settled(
    key: Key, cells: Codes, *, line: Line, margin: Float[np.ndarray, " cells"], movable: Bool[np.ndarray, " rows"]
) -> Codes:
    """The cells with those that are not allowed drawn again from the margin."""
    member, allowed = line
    wrong = np.flatnonzero(movable & ~allowed[member, cells])
    made = cells.copy()
    if len(wrong):
        weights = (allowed * margin).ravel()
        drawn = draw_within(key, member[wrong], weights=weights, sizes=np.full(len(allowed), allowed.shape[1]))
        made[wrong] = drawn - member[wrong] * allowed.shape[1]
    return made


def check_lines(rules: Sequence[Across], line: Line | None) -> None:
    """Refuse a column of which some row may take no cell at all."""
    if rules and line is not None and not line[1].any(axis=1).all():
        raise no_value(rules)


def no_value(rules: Sequence[Across]) -> UserError:
    """What is told where rules on one column leave a row nothing."""
    names = ", ".join(repr(rule.rule.name) for rule in rules)
    return UserError(
        f"constraints {names}: below some synthetic records of {rules[0].above!r} no value of {rules[0].own[0]!r} satisfies "
        "them; check that they do not contradict each other or the fields' bounds. What was measured is kept."
    )


def inside(key: Key, codes: Codes, *, axis: Axis, limits: tuple[Codes, Codes], missing: int | None) -> Codes:
    """Codes with those beyond the limits drawn again, evenly, from what their cell and the limits have in common."""
    low, high = limits
    wrong = np.flatnonzero(((codes < low) | (codes > high)) & (codes != (-1 if missing is None else missing)))
    made = codes.astype(np.int64)
    if len(wrong):
        cells = axis.cells(made[wrong])
        first, last = axis.run_starts()[cells], axis.run_starts()[cells] + axis.widths[cells] - 1
        first, last = np.maximum(first, low[wrong]), np.minimum(last, high[wrong])
        made[wrong] = first + np.floor(uniforms(key, len(wrong)) * np.maximum(last - first + 1, 1)).astype(np.int64)
    return made
