"""Constraints that no row can satisfy are refused before anything is spent, with the few of them that contradict each other.

What is decided is whether one row exists, of a table or, where there are several, of a table beside the records above it. A table
whose rows cannot exist could only be empty. That a dependency holds across rows asks nothing more: equal rows satisfy it.

Counts per parent add to this: where the maximum is 0, no row is counted; where there is a minimum, a row must exist that is; and where
it, or minimumPerParent, is above the maximum of another count, one that this other does not count.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from sundog.domain.columns import Column
from sundog.domain.constraints.kinds import Constraint, Impossible, Linear, ProtectedStatistic
from sundog.domain.constraints.possible import Found, possible_row
from sundog.domain.constraints.runs import merged, without
from sundog.domain.linked.package import Package
from sundog.domain.linked.rules import Across, Counted, named, renamed
from sundog.domain.linked.views import LinkedSchema
from sundog.domain.schema import Schema
from sundog.errors import UserError

NONE = Found(None)
"""It is proved that no row exists."""
SHOWN = 8


@dataclass(frozen=True)
class Demand:
    """Constraints that one row has to satisfy together; of linked tables the name of its table."""

    columns: Mapping[str, Column]
    constraints: tuple[Constraint, ...]
    table: str | None = None


def refuse_contradictions(schema: Schema) -> None:
    """Refuse constraints that no row satisfies."""
    for part in _parts(schema):
        if possible_row(part.columns, part.constraints) == NONE:
            raise UserError(_sentence(part, _core(part)))


def constraint_doubts(schema: Schema) -> list[str]:
    """Constraints that only rows with missing numbers satisfy, and those of which no answer was found; a sentence each."""
    found: list[str] = []
    for part in _parts(schema):
        if not possible_row(part.columns, part.constraints).proved:
            names = ", ".join(repr(rule.name) for rule in part.constraints)
            found.append(
                f"constraints {names}: within the bound on the search it was not decided whether a row can satisfy them together; "
                "see that they do not contradict each other."
            )
            continue
        numbers = {name for rule in part.constraints if isinstance(rule, Linear) for name in rule.columns}
        present = [
            Impossible("", (name,), (((code, code + 1),),))
            for name in sorted(numbers)
            if (code := part.columns[name].missing) is not None
        ]
        filled = replace(part, constraints=(*part.constraints, *present))
        if present and possible_row(filled.columns, filled.constraints) == NONE:
            core = [rule for rule in _core(filled) if rule not in present]
            found.append(_sentence(part, core, otherwise=" unless one of its numbers is missing"))
    return list(dict.fromkeys(found))


def _parts(schema: Schema) -> Iterator[Demand]:
    """What rows have to satisfy, in groups of constraints that share no column."""
    return (part for demand in _demands(schema) for part in _apart(demand))


def _demands(schema: Schema) -> Iterator[Demand]:
    if not isinstance(schema, LinkedSchema):
        rules = tuple(rule for rule in schema.constraints if not isinstance(rule, ProtectedStatistic))
        yield Demand({column.name: column for column in schema.columns}, rules)
        return
    for table in schema.package.tables:
        yield from _of_table(schema.package, table.name)


def _of_table(package: Package, name: str) -> Iterator[Demand]:
    """What a row of a table has to satisfy beside the records above it, and what its counts ask beside that."""
    columns: dict[str, Column] = {}
    rules: list[Constraint] = []
    place: str | None = name
    while place is not None:
        table = package.table(place)
        columns |= {column.name: column for column in (named(each, place) for each in table.schema.columns)}
        rules += [renamed(rule, place) for rule in table.schema.constraints if not isinstance(rule, ProtectedStatistic)]
        rules += [rule.rule for rule in package.rules if isinstance(rule, Across) and rule.table == place]
        place = table.parent
    counts = [rule for rule in package.rules if isinstance(rule, Counted) and rule.table == name]
    rules += [_outside(rule) for rule in counts if rule.most == 0]
    yield Demand(columns, tuple(rules), name)
    wanted = [(package.table(name).least, ()), *((rule.least, inside(rule, columns)) for rule in counts)]
    for least, counted in wanted:
        if least and counted:
            yield Demand(columns, (*rules, *counted), name)
        for rule in counts:
            if 0 < rule.most < least:
                yield Demand(columns, (*rules, *counted, _outside(rule)), name)


def inside(rule: Counted, columns: Mapping[str, Column]) -> tuple[Impossible, ...]:
    """That a row is counted."""
    return tuple(
        Impossible(rule.name, (column,), (without(((0, columns[column].size),), merged(runs)),))
        for column, runs in zip(rule.columns, rule.ranges, strict=True)
    )


def _outside(rule: Counted) -> Impossible:
    """That a row is not counted."""
    return Impossible(rule.name, rule.columns, rule.ranges)


def _apart(demand: Demand) -> Iterator[Demand]:
    """The constraints in groups that share no column."""
    left = list(demand.constraints)
    while left:
        part, names = [left.pop(0)], set[str]()
        while names != (names := {name for rule in part for name in rule.columns}):
            part += [rule for rule in left if names.intersection(rule.columns)]
            left = [rule for rule in left if not names.intersection(rule.columns)]
        yield replace(demand, constraints=tuple(part))


def _core(demand: Demand) -> Sequence[Constraint]:
    """Constraints that contradict each other, of which none can be left out."""
    kept = list(demand.constraints)
    for rule in demand.constraints:
        fewer = [each for each in kept if each is not rule]
        if fewer and possible_row(demand.columns, fewer) == NONE:
            kept = fewer
    return kept


def _sentence(demand: Demand, core: Sequence[Constraint], *, otherwise: str = "") -> str:
    """Which constraints contradict each other or the domains, and what to do."""
    names, fields = (
        [*dict.fromkeys(each)] for each in ([rule.name for rule in core], [n for r in core for n in r.columns])
    )
    many = len(names) > 1
    where = "" if demand.table is None else f" of table {demand.table!r}"
    said = "they contradict each other: " if many else ""
    return (
        f"constraint{'s' if many else ''} {_listed(names)}: {said}no row{where} within the declared domains of {_listed(fields)} can satisfy "
        f"{'them' if many else 'it'}{otherwise}. Correct {'or drop one of them' if many else 'or drop it'}, or widen the domains."
    )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names[:SHOWN])) + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")
