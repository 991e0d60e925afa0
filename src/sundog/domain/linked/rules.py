"""Constraints across tables, as a package declares them under `constraints`; fields are written `table.field`.

    {"kind": "compare", "left": "visits.day", "operator": ">=", "right": "patients.born", "offset": "2 weeks"}
    {"kind": "sum" | "ratio" | "impossible", ...}      as for one table, over a table and one of those above it
    {"kind": "count", "table": "persons", "where": {"role": "head"}, "minimum": 1, "maximum": 1}

The first kinds are statements about a row beside the record above it, so they are read by the same code as those of one table.
A count is about the rows of one parent that satisfy a condition; parents without rows satisfy it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from pydantic import Field, ValidationError

from sundog.domain.columns import Column, Distance, Numeric
from sundog.domain.constraints.declared import Declared
from sundog.domain.constraints.kinds import Constraint, Determines, Impossible, Linear, Pairs, ProtectedStatistic
from sundog.domain.constraints.read import read_constraints
from sundog.domain.linked.table import LinkedTable
from sundog.errors import UserError

ONE_TABLE = ("determines", "protected")
RowRule = Linear | Pairs | Impossible


class Count(Declared):
    """How many rows of one parent satisfy a condition."""

    kind: Literal["count"]
    table: str
    where: dict[str, Any] = Field(min_length=1)
    minimum: int = Field(default=0, ge=0, strict=True)
    maximum: int | None = Field(default=None, ge=0, strict=True)


@dataclass(frozen=True)
class Across:
    """A constraint on every row of a table beside one record above it; columns by their full names."""

    table: str
    above: str
    rule: RowRule

    @property
    def own(self) -> tuple[str, ...]:
        """Its columns of the table itself."""
        return tuple(name for name in self.rule.columns if name.startswith(f"{self.table}."))


@dataclass(frozen=True)
class Counted:
    """Of the rows of one parent, from `least` to `most` lie inside the ranges in all columns (full names)."""

    name: str
    table: str
    columns: tuple[str, ...]
    ranges: tuple[tuple[tuple[int, int], ...], ...]
    least: int
    most: int


Rule = Across | Counted


def read_rules(documents: Any, tables: Sequence[LinkedTable]) -> tuple[Rule, ...]:
    """The constraints of a package, checked against its tables."""
    for table in tables:
        _check_own(table)
    if not isinstance(documents, list):
        raise UserError("package constraints: they must be a list; `sundog help linked` says what is allowed.")
    found: list[Rule] = []
    for number, document in enumerate(documents, start=1):
        name = document.get("name") if isinstance(document, Mapping) else None
        said = name if isinstance(name, str) else f"number {number}"
        found += _read(document, said, {table.name: table for table in tables})
    for table in tables:
        _check_counts(table, [rule for rule in found if isinstance(rule, Counted) and rule.table == table.name])
    return tuple(found)


def named(column: Column, table: str) -> Column:
    """A column under its full name, and so the fields between which it is a distance."""
    if not isinstance(column, Numeric) or column.distance is None:
        return replace(column, name=f"{table}.{column.name}")
    ends = [replace(end, name=f"{table}.{end.name}") for end in (column.distance.own, column.distance.base)]
    return replace(column, name=f"{table}.{column.name}", distance=Distance(*ends))


def renamed(rule: RowRule | Determines, table: str) -> RowRule | Determines:
    """A constraint of one table, with its columns under their full names."""
    if isinstance(rule, Determines):
        return replace(rule, by=tuple(f"{table}.{name}" for name in rule.by), column=f"{table}.{rule.column}")
    names: Any = tuple(f"{table}.{name}" for name in rule.columns)
    return replace(rule, columns=names)


def _read(document: Any, name: str, tables: Mapping[str, LinkedTable]) -> list[Rule]:
    kind = document.get("kind") if isinstance(document, Mapping) else None
    if kind == "count":
        return [_counted(document, name, tables)]
    if kind in ONE_TABLE:
        raise UserError(f"constraint {name!r}: {kind!r} is about one table; declare it in that table's schema.")
    columns = [
        named(column, table.name)
        for table in tables.values()
        for column in table.schema.columns
        if not column.name.startswith("#")
    ]
    labelled = {**document, "name": name} if isinstance(document, Mapping) else document
    return [_across(rule, name, tables) for rule in read_constraints([labelled], columns)]


def _across(rule: Constraint, name: str, tables: Mapping[str, LinkedTable]) -> Across:
    used = list(dict.fromkeys(column.split(".", 1)[0] for column in rule.columns))
    if len(used) == 1:
        raise UserError(f"constraint {name!r}: it is about {used[0]!r} alone; declare it in that table's schema.")
    pairs = [(one, other) for one in used for other in used if other in _ancestors(one, tables)]
    if len(used) != 2 or not pairs or not isinstance(rule, Linear | Pairs | Impossible):
        raise UserError(
            f"constraint {name!r}: it names fields of {', '.join(map(repr, used))}; it may name those of a table and of one that "
            "it lies below."
        )
    found = Across(*pairs[0], rule)
    order = tables[found.table].order
    if f"{found.table}.{order}" in found.own and (len(found.own) > 1 or not isinstance(rule, Linear)):
        raise UserError(
            f"constraint {name!r}: {order!r} orders {found.table!r}; it can be compared with fields above it, alone."
        )
    return found


def _ancestors(name: str, tables: Mapping[str, LinkedTable]) -> Iterator[str]:
    parent = tables[name].parent
    while parent is not None:
        yield parent
        parent = tables[parent].parent


def _counted(document: Mapping[str, Any], name: str, tables: Mapping[str, LinkedTable]) -> Counted:
    try:
        declared = Count.model_validate(document)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise UserError(
            f"constraint {name!r}: {place}: {first['msg']}. `sundog help linked` says what is allowed."
        ) from None
    table = tables.get(declared.table)
    if table is None or table.parent is None:
        below = ", ".join(repr(each.name) for each in tables.values() if each.parent is not None) or "none"
        raise UserError(
            f"constraint {name!r}: table {declared.table[:60]!r} has no parent; tables that have are {below}."
        )
    if table.order is not None and table.order in declared.where:
        raise UserError(
            f"constraint {name!r}: {table.order!r} orders {table.name!r}, so its values cannot be counted; use another field."
        )
    (rule,) = read_constraints([{"kind": "impossible", "name": name, "where": declared.where}], table.schema.columns)
    if not isinstance(rule, Impossible):
        raise TypeError("a condition is read as an impossible combination")
    most = table.most if declared.maximum is None else declared.maximum
    if most < declared.minimum:
        raise UserError(f"constraint {name!r}: its maximum {most} is below its minimum {declared.minimum}.")
    columns = tuple(f"{table.name}.{column}" for column in rule.columns)
    return Counted(name, table.name, columns, rule.ranges, declared.minimum, most)


def _check_counts(table: LinkedTable, rules: Sequence[Counted]) -> None:
    """What can be known, before anything is spent, of whether every parent can satisfy its counts."""
    for rule in rules:
        if rule.most < table.most and all(
            sum(high - low for low, high in ranges) >= table.schema.column(column.split(".", 1)[1]).size
            for column, ranges in zip(rule.columns, rule.ranges, strict=True)
        ):
            raise UserError(
                f"constraint {rule.name!r}: every row satisfies its condition; lower maximumPerParent instead."
            )
    wanted = sum(rule.least for rule in rules)
    if wanted > max(table.least, 1):
        raise UserError(
            f"constraint {rules[0].name!r}: with the minimum of all counts of {table.name!r} a parent needs {wanted} rows, and "
            f"minimumPerParent is {table.least}; raise it, or lower them."
        )


def _check_own(table: LinkedTable) -> None:
    """Constraints of a table's own schema that linked tables could not keep."""
    for rule in table.schema.constraints:
        if isinstance(rule, ProtectedStatistic) or (isinstance(rule, Linear) and rule.strength):
            raise UserError(
                f"table {table.name!r}, constraint {rule.name!r}: only the method 'privpgd' protects statistics and uses a "
                "strength, and it is for one table; leave it out."
            )
        if table.order is not None and isinstance(rule, Determines) and rule.column == table.order:
            raise UserError(
                f"table {table.name!r}, constraint {rule.name!r}: {table.order!r} orders the table, so nothing can determine "
                "it; drop one of the two."
            )
