"""Hard constraints on synthetic rows: repaired where that is possible, rejected where not; they hold in every row.

Looks only at synthetic rows and the public schema, so it costs no privacy and serves every method. For a row that breaks
a constraint, in this order:

1. An equality is solved for its last column, where the bounds do not allow that for the others as well.
2. Otherwise the constraint's columns are taken from a row that satisfies it and agrees on one of them (hot deck): the row
   keeps that value and all its other columns, and combinations stay as common as among the rows that satisfy it.
3. Without any such row, an inequality is solved in the same way, at its limit.
4. A functional dependency follows its public map, else the most common value among the synthetic rows with the same
   determining values.

Constraints may undo each other's repairs, so this is repeated a few times; rows that still break one are rejected and
replaced by newly drawn ones, in the end by copies of rows that satisfy everything. Where no row does, the columns that
constraints name are those of one that a search finds (domain/constraints/possible.py): what was paid for is not lost.

Rows of linked tables have columns that are `fixed`: those of the records above them. A constraint that names one is repaired by
trying the other columns' values of rows that satisfy it, one row after the other, until one fits; then by the same search.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Int

from sundog.domain import Schema
from sundog.domain.constraints.kinds import Determines, Impossible, Linear, Pairs
from sundog.domain.constraints.possible import possible_row
from sundog.domain.row_checks import holds, solved
from sundog.domain.rows import Rows
from sundog.errors import UserError
from sundog.postprocess.dependencies import Dependencies
from sundog.postprocess.hot_deck import hot_deck
from sundog.random.keys import Key, split, uniforms

PASSES = 4
DRAWS = 6
TRIES = 40
"""This many rows are tried for one that must fit beside fixed columns."""

RowConstraint = Linear | Pairs | Impossible
Draw = Callable[[Key, int], Rows]
"""Draws that many synthetic rows."""


@dataclass(frozen=True, eq=False)
class Rules:
    """A schema's hard constraints: those that a row satisfies by itself, and the functional dependencies."""

    rows: tuple[RowConstraint, ...]
    dependencies: tuple[Determines, ...]

    @staticmethod
    def of(schema: Schema) -> "Rules":
        """The constraints that rows must satisfy; protected statistics are no such thing."""
        return Rules(
            tuple(c for c in schema.constraints if isinstance(c, Linear | Pairs | Impossible)),
            tuple(c for c in schema.constraints if isinstance(c, Determines)),
        )


def enforce(key: Key, schema: Schema, *, draw: Draw, rows: int) -> Rows:
    """That many rows from `draw`, every one satisfying the schema's constraints."""
    rules = Rules.of(schema)
    first, *keys = split(key, DRAWS + 1)
    if not rules.rows and not rules.dependencies:
        return draw(key, rows)
    drawn = draw(key, rows)
    dependencies = Dependencies.learn(rules.dependencies, drawn)
    kept = [_satisfying(first, drawn, rules, dependencies)]
    for k in keys:
        lacking = rows - sum(len(part) for part in kept)
        if lacking <= 0:
            break
        draw_key, repair_key = split(k, 2)
        more = draw(draw_key, max(2 * lacking, 100))
        kept.append(_satisfying(repair_key, more, rules, dependencies))
    return _exactly(keys[-1], Rows.concatenate(kept, schema), rows, spare=drawn, schema=schema)


def repaired(key: Key, rows: Rows, *, fixed: frozenset[str] = frozenset()) -> Rows:
    """As many rows in the same order, every one satisfying the schema's constraints: repaired, or a copy of one that does.

    Columns that are `fixed` stay as they are.
    """
    rules = Rules.of(rows.schema)
    if not len(rows) or not (rules.rows or rules.dependencies):
        return rows
    repair_key, copy_key = split(key, 2)
    dependencies = Dependencies.learn(rules.dependencies, rows)
    after = _after_repairs(repair_key, rows, rules, dependencies, fixed=fixed)
    fine = _all_hold(after, rules, dependencies)
    free = [place for place, name in enumerate(rows.schema.names) if name not in fixed]
    codes = list(after.codes)
    left = _from_others(
        copy_key, codes, free, rows.schema, fine=fine, fits=lambda tried: _all_hold(tried, rules, dependencies)
    )
    _from_search(codes, left, rows.schema, fixed=fixed, followed=dependencies.known())
    made = Rows(rows.schema, tuple(codes))
    if not _all_hold(made.take(left), rules, dependencies).all():
        raise _contradiction(rows.schema)
    return made


def _from_search(
    codes: list[Int[np.ndarray, " rows"]],
    left: Int[np.ndarray, " left"],
    schema: Schema,
    *,
    fixed: frozenset[str] = frozenset(),
    followed: Sequence[Determines],
) -> frozenset[str]:
    """Give the rows that are left values that satisfy everything beside their fixed columns, where there are any; the columns given."""
    rules = (*Rules.of(schema).rows, *followed)
    columns = {column.name: column for column in schema.columns}
    named = {name for rule in rules for name in rule.columns}
    kept = [place for place, name in enumerate(schema.names) if name in fixed & named]
    groups: dict[tuple[int, ...], list[int]] = {}
    for row in left.tolist():
        groups.setdefault(tuple(int(codes[place][row]) for place in kept), []).append(row)
    changed: set[str] = set()
    for own, members in groups.items():
        given = dict(zip((schema.names[place] for place in kept), own, strict=True))
        found = possible_row(columns, rules, given=given).row or {}
        for name in found.keys() - fixed:
            codes[schema.position(name)][members] = found[name]
            changed.add(name)
    return frozenset(changed)


def _from_others(
    key: Key,
    codes: list[Int[np.ndarray, " rows"]],
    places: Sequence[int],
    schema: Schema,
    *,
    fine: Bool[np.ndarray, " rows"],
    fits: Callable[[Rows], Bool[np.ndarray, " rows"]],
) -> Int[np.ndarray, " left"]:
    """Give rows that are not fine these columns of random rows that are, in place, as soon as they fit; those that are left."""
    donors, left = np.flatnonzero(fine), np.flatnonzero(~fine)
    for place in places:
        codes[place] = codes[place].copy()
    for each in split(key, TRIES):
        if not len(left) or not len(donors):
            break
        chosen = donors[np.floor(uniforms(each, len(left)) * len(donors)).astype(np.int64)]
        tried = [codes[place][chosen] if place in places else codes[place][left] for place in range(len(codes))]
        good = fits(Rows(schema, tuple(tried)))
        for place in places:
            codes[place][left[good]] = tried[place][good]
        left = left[~good]
    return left


def violations(rows: Rows) -> dict[str, int]:
    """How many rows break each named constraint (a dependency: rows that differ from their group's first)."""
    rules = Rules.of(rows.schema)
    found = {rule.name: 0 for rule in (*rules.rows, *rules.dependencies)}
    for rule in rules.rows:
        found[rule.name] += int((~holds(rule, rows)).sum())
    for dependency in rules.dependencies:
        found[dependency.name] += Dependencies.broken(dependency, rows)
    return found


def _satisfying(key: Key, rows: Rows, rules: Rules, dependencies: Dependencies) -> Rows:
    """The rows after repair, without those that could not be repaired."""
    after = _after_repairs(key, rows, rules, dependencies)
    return after.take(np.flatnonzero(_all_hold(after, rules, dependencies)))


def _after_repairs(
    key: Key, rows: Rows, rules: Rules, dependencies: Dependencies, *, fixed: frozenset[str] = frozenset()
) -> Rows:
    """The rows after repair."""
    codes = [column.astype(np.int64) for column in rows.codes]
    for k in split(key, PASSES):
        current = Rows(rows.schema, tuple(codes))
        if _all_hold(current, rules, dependencies).all():
            return current
        for rule_key, rule in zip(split(k, max(len(rules.rows), 1)), rules.rows, strict=False):
            repair = _repair_beside if fixed.intersection(rule.columns) else _repair
            repair(rule_key, rule, codes, rows.schema, fixed)
        codes = dependencies.applied(Rows(rows.schema, tuple(codes)))
    return Rows(rows.schema, tuple(codes))


def _all_hold(rows: Rows, rules: Rules, dependencies: Dependencies) -> Bool[np.ndarray, " rows"]:
    satisfied = dependencies.hold(rows)
    for rule in rules.rows:
        satisfied &= holds(rule, rows)
    return satisfied


def _repair(
    key: Key, rule: RowConstraint, codes: list[Int[np.ndarray, " rows"]], schema: Schema, fixed: frozenset[str]
) -> None:
    """Repair, in place, the rows that break one constraint."""
    satisfied = holds(rule, Rows(schema, tuple(codes)))
    if satisfied.all():
        return
    if isinstance(rule, Linear) and (rule.equal or not satisfied.any()):
        _solve(rule, codes, schema, fixed)
        satisfied = holds(rule, Rows(schema, tuple(codes)))
    places = [schema.position(name) for name in rule.columns]
    hot_deck(key, codes, places, broken=np.flatnonzero(~satisfied), donors=np.flatnonzero(satisfied))


def _repair_beside(
    key: Key, rule: RowConstraint, codes: list[Int[np.ndarray, " rows"]], schema: Schema, fixed: frozenset[str]
) -> None:
    """The same for a constraint with columns that stay."""
    satisfied = holds(rule, Rows(schema, tuple(codes)))
    free = [schema.position(name) for name in rule.columns if name not in fixed]
    left = _from_others(key, codes, free, schema, fine=satisfied, fits=lambda tried: holds(rule, tried))
    if len(left) and isinstance(rule, Linear):
        _solve(rule, codes, schema, fixed)


def _solve(rule: Linear, codes: list[Int[np.ndarray, " rows"]], schema: Schema, fixed: frozenset[str]) -> None:
    """Move one column after the other, the last first, towards the limit, in rows that still break the constraint."""
    for name in reversed([column for column in rule.columns if column not in fixed]):
        rows = Rows(schema, tuple(codes))
        place = schema.position(name)
        codes[place] = np.where(holds(rule, rows), codes[place], solved(rule, rows, name))


def _exactly(key: Key, rows: Rows, wanted: int, *, spare: Rows, schema: Schema) -> Rows:
    """The first rows, and copies of random ones where they are too few; the spare ones with values that fit where there are none."""
    if len(rows) >= wanted:
        return rows.take(np.arange(wanted))
    if not len(rows):
        return _searched(spare, schema)
    copies = np.floor(uniforms(key, wanted - len(rows)) * len(rows)).astype(np.int64)
    return rows.take(np.concatenate([np.arange(len(rows)), copies]))


def _searched(rows: Rows, schema: Schema) -> Rows:
    """Rows none of which satisfies the constraints, with values that do in the columns that these name.

    A dependency that shares a column with them holds because all rows are then equal in all of its columns.
    """
    rules = Rules.of(schema)
    codes = Dependencies.learn(rules.dependencies, rows).applied(rows)
    given = _from_search(codes, np.arange(len(rows)), schema, followed=rules.dependencies)
    equal = set(given)
    for _ in rules.dependencies:
        equal |= {name for rule in rules.dependencies if equal.intersection(rule.columns) for name in rule.columns}
    for name in equal - given:
        codes[schema.position(name)][:] = 0
    made = Rows(schema, tuple(codes))
    if any(violations(made).values()):
        raise _contradiction(schema)
    return made


def _contradiction(schema: Schema) -> UserError:
    names = ", ".join(repr(name) for name in _named(schema))
    return UserError(
        f"constraints {names}: no synthetic row was found that satisfies all of them together, not even after repair. What was measured "
        "is not lost: correct or leave out one of them in the schema and make the rows at no further cost: sundog generate RELEASED --schema "
        "SCHEMA (of one table)."
    )


def _named(schema: Schema) -> Sequence[str]:
    rules = Rules.of(schema)
    return list(dict.fromkeys(rule.name for rule in (*rules.rows, *rules.dependencies)))
