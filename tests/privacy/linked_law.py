"""The law of linked tables: no unit moves a total by more than is stated, and keys join as their texts say.

Of every random case (random_linked.py) four databases are counted: the others, one unit alone, both, and the others with the unit
changed. All of them are written into one source and read at once; what DuckDB makes of a row depends on that row alone (privacy/
test_isolation.py), and a sample is read one by one to see that it is so. The reference here joins rows by texts, in Python.
"""

import itertools
from collections import Counter
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from linked_forms import one_engine, opened
from random_linked import random_cases, schema_of
from sundog.domain.rows import Rows
from sundog.domain.unit import PrivacyUnit
from sundog.errors import UserError
from sundog.queries import Counting, Marginal, sensitivity
from sundog.released.per_view import shared
from sundog.sources.linked import LinkedSource
from sundog.sources.linked_keys import TEXT, identifiers

UNIT = {name: PrivacyUnit(name, "t0.u0", 1, below=True) for name in ("add-remove", "replace")}
MOVED, CHECKED = "a unit moves a total by more than is stated", "the check is not about the keys that are joined"
JOINED, ADDED = "rows are not joined by their keys", "what a unit adds depends on others"
FAILED = "rows decide whether a run fails"
TWO_UNITS = "a row belongs to two units"
MOST_CELLS = 1500


@dataclass(frozen=True)
class Pack:
    """Cases of one shape, the databases of each as lists of rows by table, and the queries that are asked of all."""

    shape: object
    schema: object
    cases: list
    databases: list
    queries: list

    @property
    def names(self):
        return list(self.cases[0].others)

    def columns(self, databases):
        """The rows of databases, one after the other, as columns of cells with their kinds."""
        return {name: self._columns(name, [row for held in databases for row in held[name]]) for name in self.names}

    def _columns(self, name, rows):
        keys = next(table.keys for table in self.shape.tables if table.name == name)
        kinds = {each: self.shape.kinds[name, each] for each in keys} | self._values(name)
        return {each: ([row[each] for row in rows], kind) for each, kind in kinds.items()}

    def _values(self, name):
        return {} if self.shape.bare and name == "t0" else {"c": "text", "n": "whole"}


def pack(seed, count, **options):
    """Cases of one shape with all their databases."""
    shape, cases, draw = random_cases(seed, count, **options)
    schema = schema_of(shape)
    databases = [held for case in cases for held in case.variants(draw)]
    return Pack(shape, schema, cases, databases, asked(schema, draw))


def asked(schema, draw):
    """Every column of every view, and random tables of two and three of its columns."""
    made = []
    for view in schema.views:
        flat = schema.of_view(view)
        made += [shared(Marginal.of(flat, name), view) for name in flat.names]
        for width in (2, 3):
            some = [Marginal.of(flat, *draw.sample(flat.names, width)) for _ in range(4 * (len(flat.names) >= width))]
            made += [shared(each, view) for each in some if each.size <= MOST_CELLS]
    return made


class Slice:
    """Some rows of a table that was read once, as a source of their own."""

    add_up = None

    def __init__(self, rows, keys, rank):
        self.read = rows, keys, rank

    def keyed(self, schema, keys):
        yield self.read

    def check_keys(self, schema, keys):
        """They were read."""


def encoded(pack, form, folder, **options):
    """What one source makes of all rows of a pack: codes, keys as texts, and a hash of each row, by table."""
    with one_engine():
        sources = opened(form, folder, pack.columns(pack.databases), **options)
    tables = [table for table in pack.schema.package.tables if table.name in sources]
    return {table.name: _encoded(table, sources[table.name]) for table in tables}


def _encoded(table, source):
    batches = list(source.keyed(table.schema, identifiers(table)))
    rows = Rows.concatenate([batch for batch, _, _ in batches], table.schema)
    keys = [
        pa.concat_arrays([pa.array([], TEXT), *(found[k].cast(TEXT) for _, found, _ in batches)])
        for k in range(len(table.keys))
    ]
    return rows, keys, np.concatenate([np.empty(0, np.uint64), *(rank for _, _, rank in batches)])


def same(one, other):
    """Whether two sources make the same of all rows, so that every answer is the same."""
    return all(
        all(map(np.array_equal, (*rows.codes, rank), (*other[name][0].codes, other[name][2])))
        and all(map(pa.Array.equals, keys, other[name][1]))
        for name, (rows, keys, rank) in one.items()
    )


def sliced(pack, found):
    """The sources of every database of a pack, out of what was made of all rows."""
    slices = [{} for _ in pack.databases]
    for name, (rows, keys, rank) in found.items():
        ends = np.cumsum([0, *(len(held[name]) for held in pack.databases)])
        assert ends[-1] == len(rank), "a row was lost"
        for place, (a, b) in zip(slices, itertools.pairwise(ends), strict=True):
            part = Rows(rows.schema, tuple(codes[a:b] for codes in rows.codes))
            place[name] = Slice(part, [key.slice(a, b - a) for key in keys], rank[a:b])
    return slices


def totals(pack, sources):
    """The exact answers as the curator counts them; None where the keys are refused."""
    held = LinkedSource(pack.schema.package, sources)
    try:
        held.check_keys()
    except UserError:
        return None
    size = sum(query.size for query in pack.queries)
    try:
        return held.add_up(pack.schema, UNIT["replace"], add=Counting(pack.queries), size=size)
    except UserError as error:
        raise AssertionError(FAILED) from error


def answers(pack, form, folder, **options):
    """The totals of every database of a pack, all of them in one source; counted as they are asked for."""
    return (totals(pack, each) for each in sliced(pack, encoded(pack, form, folder, **options)))


def alone(pack, form, folder, **options):
    """The same of databases that lie in a source of their own each."""
    places = [folder / str(number) for number in range(len(pack.databases))]
    for place in places:
        place.mkdir()
    held = zip(places, pack.databases, strict=True)
    return (totals(pack, opened(form, place, pack.columns([rows]), **options)) for place, rows in held)


def agree(one, other):
    """Whether the totals of databases are the same, and the same databases refused."""
    return all(
        (a is None) == (b is None) and (a is None or np.array_equal(a, b)) for a, b in zip(one, other, strict=True)
    )


def broken(pack, found):
    """The laws that the totals of a pack's databases break, case by case."""
    found = iter(found)
    for number, case in enumerate(pack.cases):
        seen = [next(found) for _ in range(4)]
        yield from set(_broken(pack, case, pack.databases[4 * number : 4 * number + 4], seen))


def _broken(pack, case, held, seen):
    joined = [Joined(pack.shape, each) for each in held]
    for known, total in zip(joined, seen, strict=True):
        if known.unique != (total is not None):
            yield CHECKED
        elif total is not None:
            yield from _joined_wrongly(pack, known, total)
    others, unit, both, changed = seen
    if both is not None and changed is not None and _moves(pack, changed - both, UNIT[case.relation]):
        yield MOVED
    if (
        both is not None
        and others is not None
        and unit is not None
        and joined[2].rows == joined[0].rows | joined[1].rows
        and not np.array_equal(both, others + unit)
    ):
        yield ADDED


def _moves(pack, change, unit):
    """Whether any answer changes by more than one of its stated norms."""
    for query, part in zip(pack.queries, _split(pack, change), strict=True):
        size = np.abs(part.astype(object))
        if (
            (size**2).sum() > sensitivity.squared(query, unit)
            or size.sum() > sensitivity.l1(query, unit)
            or size.max() > sensitivity.linf(query, unit)
        ):
            return True
    return False


def _split(pack, vector):
    return np.split(vector, np.cumsum([query.size for query in pack.queries])[:-1])


def _joined_wrongly(pack, known, total):
    if any(len(units) > 1 for units in known.rows.values()):
        yield TWO_UNITS
    if known.crowded:
        return
    for query, part in zip(pack.queries, _split(pack, total), strict=True):
        (name, column), *more = [name.split(".", 1) for name in query.marginal.columns]
        if not more and column in ("c", "#unit") and query.shares == f"{name}#":
            expected = known.labels(name, query)
            if not np.array_equal(part, expected):
                yield JOINED


# --- the reference -------------------------------------------------------------------------------------------------


class Joined:
    """Which rows belong to which unit, by the texts of their keys alone."""

    def __init__(self, shape, held):
        self.shape, self.held = shape, held
        self.unique = all(self._names_one_each(place) for place in shape.trusted())
        self.instances = {}
        self.crowded = False
        for place, table in enumerate(shape.tables):
            self.instances[table.name] = self._roots(table) if not place else self._below(table)
        self.rows = {
            id(row): {unit for unit, each in found if each is row}
            for name, found in self.instances.items()
            for row in held.get(name, ())
        }

    def _names_one_each(self, place):
        table = self.shape.tables[place]
        names = (*(table.unit if table.within else ()), *table.own)
        keys = [self.shape.text(table, names, row) for row in self.held[table.name]]
        return None not in keys and len(set(keys)) == len(keys)

    def _roots(self, table):
        """Pairs of a unit and its record; where units have no records, of those that a row below names."""
        if not self.shape.bare:
            units = [(self.shape.text(table, table.unit, row), row) for row in self.held[table.name]]
            return [(unit, row) for unit, row in units if unit is not None]
        below = [(other, row) for other in self.shape.children(0) for row in self.held[other.name]]
        named = {self.shape.text(other, other.unit, row) for other, row in below}
        return [(unit, {"c": None}) for unit in sorted(named - {None})]

    def _below(self, table):
        """Pairs of a unit and a row, once for every parent that the row has."""
        above = self.shape.tables[table.parent]
        found, sizes = [], Counter()
        for row in self.held[table.name]:
            unit = self.shape.text(table, table.unit, row) if table.unit else ()
            up = self.shape.text(table, table.up, row) if table.parent else ()
            if unit is None or up is None:
                continue
            sizes[unit, up] += 1
            found += [(owner, row) for owner, parent in self.instances[above.name]
                      if unit in ((), owner) and (not table.parent or self.shape.text(above, above.own, parent) == up)]  # fmt: skip
        self.crowded |= any(size > table.most for size in sizes.values())
        return found

    def labels(self, name, query):
        """The answer for a table's column of labels: each unit counts once, its rows in equal parts."""
        sizes, cells = Counter(unit for unit, _ in self.instances[name]), np.zeros(query.size, np.int64)
        for unit, row in self.instances[name]:
            cells[0 if query.size == 1 else {"x": 0, "y": 1}.get(row["c"], 2)] += query.scale // sizes[unit]
        return cells
