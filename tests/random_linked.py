"""Random small linked databases: packages of two to four tables of every shape, rows with nasty keys, and one unit that changes.

A `Case` is one database without a unit, and two versions of that unit: what it holds may be added, removed or exchanged. Rows that
belong to nobody, crowds beyond the maximum and keys that other units use are among both.
"""

import random
from dataclasses import dataclass, field

from linked_tables import key, label, number
from nasty_keys import MISSING, PAIRS, filler, key_of, nothing, pool, spelled
from sundog.domain.linked.views import LinkedSchema

KINDS = {
    "text": {"text": ["text"]},
    "typed": {"text": ["text"], "whole": ["text", "whole"], "float": ["text", "float"], "moment": ["text", "moment"]},
    "mixed": {"text": ["text", "mixed"], "whole": ["whole", "mixed"], "float": ["float", "mixed"]},
    "python": {"text": ["python"], "whole": ["whole", "python"], "float": ["float", "python"], "moment": ["moment", "python"]},
}  # fmt: skip
"""What a source can hold: the kinds of columns of each family of keys."""
WIDTHS = (1, 1, 1, 2, 2, 3, 9)
"""Bounds on children: 9 is beyond the number up to which all pairs of siblings are looked at."""


@dataclass(frozen=True)
class Table:
    """A table as a tree of tables has it: `unit` are its fields that hold the root's key, `up` and `own` those of its parent and its own."""

    name: str
    parent: int | None = None
    most: int = 1
    ordered: bool = False
    unit: tuple[str, ...] = ()
    up: tuple[str, ...] = ()
    own: tuple[str, ...] = ()
    carried: str = "alone"
    """How a table below the second level carries the root's key: not, in its parent's key, or in fields that the schema names."""
    within: bool = False
    """Whether its own key is one within its unit: the unit's fields are part of it."""

    @property
    def keys(self):
        """The fields of all keys."""
        return (*self.unit, *self.up, *self.own)


@dataclass(frozen=True)
class Shape:
    """The tables, the root first; what their key columns hold, and what is missing there."""

    tables: tuple[Table, ...]
    bare: bool
    family: str
    texts: tuple[str, ...]
    kinds: dict
    missing: dict
    holder: str

    def children(self, place):
        """The tables below one."""
        return [table for table in self.tables if table.parent == place]

    def trusted(self):
        """The places of the tables whose keys alone say whose a row below is: the root, and where a child does not carry its key."""
        inner = [k for k in range(1, len(self.tables)) if any(c.carried == "alone" for c in self.children(k))]
        return inner if self.bare else [0, *inner]

    def text(self, table, names, row):
        """The texts of a key, None where a part is missing."""
        parts = tuple(key_of(row[name], self.missing[table.name, name]) for name in names)
        return None if None in parts else parts


@dataclass
class Case:
    """What others hold, and the rows of one unit before and after, by table; before or after it may hold nothing."""

    others: dict
    first: dict
    second: dict
    relation: str = field(default="replace")

    def variants(self, draw):
        """The others alone, the unit alone, both, and the others with the changed unit; in any order of rows."""
        sets = ((self.others,), (self.first,), (self.others, self.first), (self.others, self.second))
        return [{name: _shuffled(draw, [row for each in some for row in each[name]]) for name in self.others} for some in sets]  # fmt: skip


def _shuffled(draw, rows):
    return draw.sample(rows, len(rows))


# --- packages -----------------------------------------------------------------------------------------------------


def random_shape(draw, holder, *, about=None):
    """A tree of two to four tables; `about` is a family of keys, or texts of which some are confused."""
    unit = ("u0", "u1") if draw.random() < 0.35 else ("u0",)
    tables = [Table("t0", unit=unit, own=unit)]
    for place in range(1, draw.choice([2, 3, 3, 4, 4])):
        tables.append(_table(draw, place, unit=unit))
    tables = _with_keys(draw, tables)
    family = draw.choice(list(KINDS[holder]))
    family, about = (about, None) if about in KINDS[holder] else (family, about)
    missing = {table.name: draw.choice(MISSING) for table in tables}
    return Shape(
        tuple(tables),
        bare=draw.random() < 0.2,
        family=family,
        texts=tuple(pool(draw, family, confused=about)),
        kinds={(t.name, name): draw.choice(KINDS[holder][family]) for t in tables for name in t.keys},
        missing={(t.name, name): missing[t.name] for t in tables for name in t.keys},
        holder=holder,
    )


def _table(draw, place, *, unit):
    parent = min(draw.randrange(place), draw.choice([1, 2]))
    carried = "direct" if parent == 0 else draw.choice(["alone", "alone", "composite", "unit key"])
    return Table(
        f"t{place}", parent, draw.choice(WIDTHS), draw.random() < 0.4, () if carried == "alone" else unit, (), (), carried
    )  # fmt: skip


def _with_keys(draw, tables):
    """The tables with keys of their own where others lie below them, and the fields that name a parent."""
    for place, table in enumerate(tables):
        below = [other for other in tables if other.parent == place]
        if place and below:
            within = bool(table.unit) and draw.random() < 0.6
            own = ("own0", "own1") if draw.random() < 0.35 else ("own0",)
            tables[place] = Table(**vars(table) | {"own": own, "within": within})
        for other in below if place else ():
            at, within = tables.index(other), tables[place].within
            carried = "composite" if within else "unit key" if other.carried == "composite" else other.carried
            up = tuple(name.replace("own", "up") for name in tables[place].own)
            unit = tables[0].unit if carried != "alone" else ()
            tables[at] = Table(**vars(other) | {"carried": carried, "up": up, "unit": unit})
    return tables


def document(shape):
    """The Data Package of a shape; fields of a key may stand in any order."""
    return {"name": "random", "privacyUnit": "t0", "resources": [_resource(shape, table) for table in shape.tables]}


def schema_of(shape):
    """The schema of all views of a shape."""
    return LinkedSchema.from_document(document(shape))


def _resource(shape, table):
    fields = [key(name, "string") | _missing(shape, table, name) for name in table.keys]
    fields = list({each["name"]: each for each in fields}.values())
    values = [] if shape.bare and table.parent is None else VALUES
    made = {"name": table.name, "schema": {"fields": [*fields, *values], "missingValues": list(_common(shape, table))}}
    if table.own:
        made["schema"]["primaryKey"] = [*(table.unit if table.within else ()), *table.own]
    if table.parent is not None:
        made["maximumPerParent"] = table.most
        made["schema"]["foreignKeys"] = [_foreign_key(shape, table)]
    if table.carried == "unit key":
        made["unitKey"] = list(table.unit)
    return made | ({"orderBy": ["n"]} if table.ordered else {})


VALUES = [
    label("c", "x", "y") | {"constraints": {}},
    number("n", 0, 3) | {"constraints": {"minimum": 0, "maximum": 3}},
]


def _common(shape, table):
    return shape.missing[table.name, table.keys[0]]


def _missing(shape, table, name):
    """Declared of the field in place of its table, for every other table."""
    return {"missingValues": list(shape.missing[table.name, name])} if int(table.name[1:]) % 2 else {}


def _foreign_key(shape, table):
    parent = shape.tables[table.parent]
    pairs = list(zip(table.up, parent.own, strict=True)) if table.parent else []
    if table.parent == 0 or parent.within:
        pairs += list(zip(table.unit, shape.tables[0].own if table.parent == 0 else parent.unit, strict=True))
    own, above = zip(*reversed(pairs), strict=True)
    return {"fields": list(own), "reference": {"resource": parent.name, "fields": list(above)}}


# --- rows ---------------------------------------------------------------------------------------------------------


class Namer:
    """Gives records keys: of their own where they must name one record, else any of the pool."""

    def __init__(self, draw, shape, *, dirty):
        self.draw, self.shape, self.dirty = draw, shape, dirty
        self.left = {k: _shuffled(draw, list(shape.texts)) for k in range(len(shape.tables))}
        pairs = PAIRS[: {"text": len(PAIRS), "whole": 2}.get(shape.family, 0)]
        self.pairs = {k: _shuffled(draw, pairs) for k in range(len(shape.tables))}
        self.given = 0

    def any_text(self):
        """Any text of the pool."""
        return self.draw.choice(self.shape.texts)

    def fresh(self, place):
        """A text that no other record of this table has."""
        if self.left[place] and self.draw.random() < 0.7:
            return self.left[place].pop()
        self.given += 1
        return filler(self.shape.family, self.given)

    def own(self, place):
        """The texts of a record's own key; None is a missing part."""
        table = self.shape.tables[place]
        careless = place not in self.shape.trusted() or (self.dirty and self.draw.random() < 0.3)
        if not table.own:
            return []
        texts = self.parts(place, len(table.own), careless=careless)
        return [None if careless and self.draw.random() < 0.15 else text for text in texts]

    def parts(self, place, number, *, careless=False):
        """The parts of a key, of which no other record of the table has the same unless it is careless."""
        if number == 2 and self.pairs[place] and self.draw.random() < 0.5:
            return list(self.draw.choice(self.pairs[place]) if careless else self.pairs[place].pop())
        first = self.any_text() if careless else self.fresh(place)
        return [first, *(self.any_text() for _ in range(number - 1))]


def random_case(draw, shape):
    """One database with a unit that changes; in most of them keys name one record each."""
    namer = Namer(draw, shape, dirty=draw.random() < 0.35)
    units = [_root_key(namer) for _ in range(draw.randrange(2, 6))]
    changed, *others = list(dict.fromkeys(units))
    other = _root_key(namer)
    exchanged = other if other not in units and draw.random() < 0.2 else changed
    held = _added(*(_unit(namer, unit) for unit in others), _strays(namer, {changed, exchanged}))
    first = _unit(namer, changed)
    if draw.random() < 0.4:
        return Case(held, first, _empty(shape), "add-remove")
    second = _edited(namer, first) if exchanged == changed and draw.random() < 0.5 else _unit(namer, exchanged)
    return Case(held, first, second)


def _root_key(namer):
    return tuple(namer.parts(0, len(namer.shape.tables[0].unit)))


def _empty(shape):
    return {table.name: [] for table in shape.tables if not (shape.bare and table.parent is None)}


def _added(*some):
    return {name: [row for each in some for row in each[name]] for name in some[0]}


def _unit(namer, unit):
    """All rows of one unit: mostly one record of the root, and up to two rows more of each parent than are used."""
    shape, draw, made = namer.shape, namer.draw, _empty(namer.shape)
    root = shape.tables[0]
    if not shape.bare:
        count = 1 if draw.random() < 0.93 else 2 if namer.dirty else 0
        made[root.name] = [_row(namer, 0, unit=unit) for _ in range(count)]
    for place, table in enumerate(shape.tables[1:], start=1):
        parents = made[shape.tables[table.parent].name] if table.parent else [None]
        for parent in parents:
            for _ in range(_number_of_rows(draw, table)):
                made[table.name].append(_row(namer, place, unit=unit, parent=parent))
    return made


def _number_of_rows(draw, table):
    return draw.choice([0, 1, min(table.most, 3), table.most, table.most + 1, table.most + 2])


def _row(namer, place, *, unit, parent=None):
    shape, table = namer.shape, namer.shape.tables[place]
    row = dict(zip(table.unit, unit, strict=True)) if table.unit else {}
    row |= dict(zip(table.up, _up(namer, table, parent), strict=True))
    if place:
        row |= dict(zip(table.own, namer.own(place), strict=True))
    return {name: _cell(namer, table, name, text) for name, text in row.items()} | _values(namer.draw, shape, place)


def _up(namer, table, parent):
    """The texts that name a parent; where a row carries its unit they may name anybody else's."""
    if parent is None or (table.unit and namer.draw.random() < 0.2):
        return [namer.any_text() if namer.draw.random() < 0.8 else None for _ in table.up]
    above = namer.shape.tables[table.parent]
    return [key_of(parent[name], namer.shape.missing[above.name, name]) for name in above.own]


def _cell(namer, table, name, text):
    kind = namer.shape.kinds[table.name, name]
    if text is None:
        return nothing(namer.draw, kind, namer.shape.missing[table.name, name])
    return spelled(namer.draw, text, kind)


def _values(draw, shape, place):
    if shape.bare and not place:
        return {}
    return {"c": draw.choice(["x", "x", "y", "y", "z", None]), "n": draw.choice([0, 1, 2, 3, 3, -5, 99, None])}


def _strays(namer, units):
    """Rows that belong to nobody, or to somebody by chance: any keys, or missing ones; none of these units where there are no records of units."""
    draw, made = namer.draw, _empty(namer.shape)
    for place, table in enumerate(namer.shape.tables):
        most = 3 if place else 1 if namer.dirty and table.name in made else 0
        for _ in range(draw.choice([0, 0, 1, 2, 3]) if most == 3 else draw.randrange(most + 1)):
            unit = [namer.any_text() if draw.random() < 0.7 else None for _ in table.unit]
            if not (namer.shape.bare and tuple(unit) in units):
                made[table.name].append(_row(namer, place, unit=unit))
    return made


def _edited(namer, rows):
    """The same unit with rows more or fewer, and with other values, of every table but the root."""
    draw, shape, root = namer.draw, namer.shape, namer.shape.tables[0].name
    made = {}
    for place, table in enumerate(shape.tables):
        if table.name not in rows:
            continue
        kept = [row for row in rows[table.name] if table.name == root or draw.random() < 0.8]
        changed = [row | (_values(draw, shape, place) if draw.random() < 0.5 else {}) for row in kept]
        twice = draw.sample(kept, min(len(kept), 2)) if not table.own and draw.random() < 0.3 else []
        made[table.name] = [*changed, *twice]
    return made


def random_cases(seed, count, *, holder="python", about=None):
    """A shape, and cases of it with the random numbers that shuffle them; the same for a seed on every machine."""
    draw = random.Random(f"{holder} {seed}")
    shape = random_shape(draw, holder, about=about)
    return shape, [random_case(draw, shape) for _ in range(count)], draw
