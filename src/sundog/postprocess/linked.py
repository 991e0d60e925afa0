"""Constraints on synthetic linked tables: those of each table, those across tables, and what they say of the records above.

Each row is looked at beside the records above it, which stay. So do the order column of a sequence, and whether a row satisfies
the condition of a count per parent: these are fixed columns, and all that is declared becomes constraints on such wide rows.
A record above must leave its rows a way to satisfy what is declared across tables (a patient with visits is born before the last
day that a visit can have): where it has rows, that is a constraint on the record.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product

import numpy as np
from jaxtyping import Bool, Int

from sundog.domain import Column, Numeric, Schema
from sundog.domain.constraints.kinds import Constraint, Determines, Impossible, Linear, Pairs
from sundog.domain.constraints.possible import possible_row
from sundog.domain.contradictions import NONE, inside
from sundog.domain.linked.package import Package
from sundog.domain.linked.rules import Across, Counted, named, renamed
from sundog.domain.linked.structure import above_of
from sundog.domain.linked.views import LinkedSchema, count_name
from sundog.domain.row_checks import holds
from sundog.domain.rows import Rows
from sundog.generate.linked.rows import TableRows, values_of
from sundog.postprocess.constraints import repaired
from sundog.random.keys import Key

Codes = Int[np.ndarray, " rows"]
FREE = "#free of "
COUNTED = "#counted in "


@dataclass(frozen=True, eq=False)
class Wide:
    """Rows of a table with fixed columns beside their own."""

    columns: dict[str, tuple[Column, Codes]]
    rules: list[Constraint]

    def rows(self) -> Rows:
        """As rows whose schema has the rules."""
        schema = Schema(tuple(column for column, _ in self.columns.values()), constraints=tuple(self.rules))
        return Rows(schema, tuple(codes for _, codes in self.columns.values()))


def repair(key: Key, schema: LinkedSchema, tables: Mapping[str, TableRows], name: str) -> TableRows:
    """The rows of a table with all that is declared of them made true; their number, parents and order stay."""
    package, made = schema.package, tables[name]
    table = package.table(name)
    held = {each: TableRows(values_of(package.table(each), rows), rows.parent) for each, rows in tables.items()}
    wide = _own(package, held, name)
    _beside(package, held, name, wide)
    _counts(package, held, name, wide)
    _room(package, made, name, wide)
    own = [f"{name}.{column}" for column in table.schema.names if column != table.order]
    if not wide.rules or not len(made):
        return made
    fixed = frozenset(wide.columns) - set(own)
    after = repaired(key, wide.rows(), fixed=fixed)
    return TableRows(made.columns | {column: after.column(column) for column in own}, made.parent)


def broken(package: Package, tables: Mapping[str, TableRows]) -> dict[str, int]:
    """How often each constraint across tables is broken: rows, or parents for counts. Codes are those that came out."""
    found: dict[str, int] = {}
    for rule in package.rules:
        if isinstance(rule, Counted):
            parents = len(tables[package.table(rule.table).parent or ""])
            below = tables[rule.table]
            tally = np.bincount(below.parent[_inside(rule, below)], minlength=parents)
            sizes = np.bincount(below.parent, minlength=parents)
            wrong = ((tally < rule.least) | (tally > rule.most)) & (sizes > 0)
            number, name = int(wrong.sum()), rule.name
        else:
            wide = _own(package, tables, rule.table)
            _add_above(package, tables, rule, wide)
            number, name = int((~holds(rule.rule, wide.rows())).sum()), rule.rule.name
        found[name] = found.get(name, 0) + number
    return found


def _own(package: Package, tables: Mapping[str, TableRows], name: str) -> Wide:
    """A table's own columns and constraints."""
    table = package.table(name)
    columns = {column.name: column for column in (named(each, name) for each in table.schema.columns)}
    codes = tables[name].columns
    rules: list[Constraint] = [
        renamed(rule, name)
        for rule in table.schema.constraints
        if isinstance(rule, Linear | Pairs | Impossible | Determines)
    ]
    return Wide({each: (column, codes[each]) for each, column in columns.items()}, rules)


def _beside(package: Package, tables: Mapping[str, TableRows], name: str, wide: Wide) -> None:
    """Add the rules on rows beside the records above them."""
    for rule in package.rules:
        if isinstance(rule, Across) and rule.table == name:
            _add_above(package, tables, rule, wide)
            if rule.own != (f"{name}.{package.table(name).order}",):  # the order column was kept by who made it
                wide.rules.append(rule.rule)


def _add_above(package: Package, tables: Mapping[str, TableRows], rule: Across, wide: Wide) -> None:
    parents = {each: rows.parent for each, rows in tables.items()}
    place = above_of(package, parents, table=rule.table, above=rule.above)
    for column in package.table(rule.above).schema.columns:
        full = named(column, rule.above)
        if full.name in rule.rule.columns:
            wide.columns[full.name] = full, tables[rule.above].columns[full.name][place]


def _counts(package: Package, tables: Mapping[str, TableRows], name: str, wide: Wide) -> None:
    """Whether a row satisfies the condition of a count stays as it is, unless no row can satisfy it beside the other rules."""
    columns, own = {each: column for each, (column, _) in wide.columns.items()}, tuple(wide.rules)
    for rule in package.rules:
        if isinstance(rule, Counted) and rule.table == name:
            status, counted = COUNTED + rule.name, _inside(rule, tables[name])
            if counted.any() and possible_row(columns, (*own, *inside(rule, columns))) == NONE:
                counted = np.zeros_like(counted)  # a minimum would have been refused before
            wide.columns[status] = _flag(status), counted.astype(np.int64)
            wide.rules.append(Impossible(rule.name, (status, *rule.columns), (((0, 1),), *rule.ranges)))
            for column, ranges in zip(rule.columns, rule.ranges, strict=True):
                others = _others(ranges, wide.columns[column][0].size)
                wide.rules.append(Impossible(rule.name, (status, column), (((1, 2),), others)))


def _room(package: Package, made: TableRows, name: str, wide: Wide) -> None:
    """What rules on rows below ask of their records above, where these have rows."""
    asking = [rule for rule in package.rules if isinstance(rule, Across) and rule.above == name]
    for table in dict.fromkeys(rule.table for rule in asking):
        below = _next(package, table, above=name)
        count = made.columns[count_name(name, below)].astype(np.int64) + package.table(below).least
        wide.columns[FREE + table] = _flag(FREE + table), (count == 0).astype(np.int64)
        rules = [rule for rule in asking if rule.table == table]
        for rule in rules:
            wide.rules.extend(_asked(rule, package))
        wide.rules.extend(_asked_together(rules, package))


def _asked(across: Across, package: Package) -> list[Constraint]:
    """The rule as one on the record above, with the most that the row below can do for it; nothing where that has no rows."""
    rule, free = across.rule, FREE + across.table
    if isinstance(rule, Pairs):
        place = rule.columns.index(across.own[0])
        used = {pair[1 - place] for pair in rule.allowed}
        above = rule.columns[1 - place]
        unused = tuple((code, code + 1) for code in range(_column(package, above).size) if code not in used)
        return [Impossible(rule.name, (above, free), (unused, ((0, 1),)))] if unused else []
    order = f"{across.table}.{package.table(across.table).order}"
    if not isinstance(rule, Linear) or any(_column(package, own).nullable and own != order for own in across.own):
        return []  # a missing value satisfies it
    found = []
    for terms, limit in _inequalities(rule):
        low = sum(min(terms[own] * end for end in _ends(_column(package, own))) for own in across.own)
        rest = {column: k for column, k in terms.items() if column not in across.own}
        found.append(_unless(rule.name, rest, limit - low, package, across))
    return [each for each in found if each is not None]


def _asked_together(rules: list[Across], package: Package) -> list[Constraint]:
    """What a lower and an upper limit of one column below ask of the record above: that they leave room between them."""
    found: list[Constraint] = []
    for first, second in product(rules, repeat=2):
        if first.own != second.own or len(first.own) > 1:
            continue
        for (one, limit), (other, further) in product(_inequalities(first.rule), _inequalities(second.rule)):
            up, down = one[first.own[0]], -other[first.own[0]]
            if up > 0 and down > 0:
                names = [name for name in dict.fromkeys((*one, *other)) if name not in first.own]
                terms = {name: down * one.get(name, 0) + up * other.get(name, 0) for name in names}
                rule = _unless(first.rule.name, terms, down * limit + up * further, package, first)
                found += [rule] if rule is not None else []
    return found


def _inequalities(rule: Constraint) -> list[tuple[dict[str, int], int]]:
    """A linear rule as sums of terms that are at most a limit."""
    if not isinstance(rule, Linear):
        return []
    terms = dict(zip(rule.columns, rule.coefficients, strict=True))
    both = [({name: -k for name, k in terms.items()}, -rule.limit)] if rule.equal else []
    return [(terms, rule.limit), *both]


def _unless(name: str, terms: Mapping[str, int], limit: int, package: Package, across: Across) -> Linear | None:
    """Sum of terms <= limit unless the record has no rows below it; None where it always holds."""
    most = sum(max(k * end for end in _ends(_column(package, column))) for column, k in terms.items())
    if most <= limit:
        return None
    return Linear(name, (*terms, FREE + across.table), (*terms.values(), limit - most), limit, equal=False)


def _column(package: Package, full: str) -> Column:
    table, name = full.split(".", 1)
    return package.table(table).schema.column(name)


def _ends(column: Column) -> tuple[int, int]:
    return (column.lower, column.upper) if isinstance(column, Numeric) else (0, 0)


def _next(package: Package, table: str, *, above: str) -> str:
    """The table directly below one on the way down to another."""
    parent = package.table(table).parent
    return table if parent == above or parent is None else _next(package, parent, above=above)


def _flag(name: str) -> Numeric:
    return Numeric(name, "integer", 0, 1)


def _inside(rule: Counted, rows: TableRows) -> Bool[np.ndarray, " rows"]:
    satisfied = np.ones(len(rows), dtype=bool)
    for column, ranges in zip(rule.columns, rule.ranges, strict=True):
        codes = rows.columns[column]
        satisfied &= np.any([(codes >= low) & (codes < high) for low, high in ranges], axis=0)
    return satisfied


def _others(ranges: tuple[tuple[int, int], ...], size: int) -> tuple[tuple[int, int], ...]:
    """The codes outside some runs."""
    ends = [0, *(code for run in sorted(ranges) for code in run), size]
    return tuple((low, high) for low, high in zip(ends[::2], ends[1::2], strict=True) if low < high)
