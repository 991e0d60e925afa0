"""The synthetic tables of a release against its schema: domains, constraints, keys, numbers of children. Public values only."""

from collections.abc import Iterator
from pathlib import Path

from sundog.domain import Schema
from sundog.domain.linked.views import LinkedSchema
from sundog.domain.rows import weights_name
from sundog.errors import UserError
from sundog.evaluate.reading import open_synthetic, read_synthetic
from sundog.generate.linked.rows import TableRows
from sundog.postprocess.constraints import violations
from sundog.postprocess.linked import broken
from sundog.sources.linked import LinkedSource
from sundog.sources.linked_counts import faults, joined


def table_faults(folder: Path, files: list[str], schema: Schema) -> Iterator[str]:
    """What in the tables breaks the schema."""
    linked = isinstance(schema, LinkedSchema)
    found = [each for name in files for each in _rows(folder / name, _schema_of(name, schema), linked=linked)]
    yield from found
    if isinstance(schema, LinkedSchema) and not found:
        yield from _links(folder, files, schema)


def _schema_of(name: str, schema: Schema) -> Schema:
    """The schema of a table by its file's name."""
    if not isinstance(schema, LinkedSchema):
        return schema
    table = name.split(".")[1]
    return next((each.schema for each in schema.package.tables if each.name == table), schema)


def _links(folder: Path, files: list[str], schema: LinkedSchema) -> Iterator[str]:
    """Whether every row has a parent, no key occurs twice, and no parent has more children than declared."""
    known = {table.name for table in schema.package.tables}
    held = {name.split(".")[1]: name for name in files if name.split(".")[1] in known}
    lacking = [table.name for table in schema.package.tables if table.name not in held]
    if lacking:
        yield f"the table {lacking[0]!r} is not among the files."
        return
    opened = {name: open_synthetic(str(folder / file), _schema_of(file, schema)) for name, file in held.items()}
    source = LinkedSource(schema.package, opened)
    found = list(faults(source))
    yield from (f"{held[name]}: {what}" for name, what in found)
    if not found:
        tables = {name: TableRows(columns, parent) for name, (columns, parent) in joined(source).items()}
        for name, count in broken(schema.package, tables).items():
            if count:
                yield f"the constraint {name!r} across tables is broken {count} times."


def _rows(path: Path, schema: Schema, *, linked: bool) -> Iterator[str]:
    """Whether the rows are what schema and constraints say; of linked tables one may have none."""
    try:
        table = read_synthetic(open_synthetic(str(path), schema), schema, name=path.name, empty=linked)
    except UserError as error:
        yield f"{path.name}: {error}"
        return
    weighted = f"not in the schema, so left out: {weights_name(schema)}"
    notes = [note for note in table.notes if note != weighted or not path.name.startswith("adjusted.")]
    yield from (f"{path.name}: {note}" for note in notes)
    for name, count in violations(table.rows).items():
        if count:
            yield f"{path.name}: {count} rows break the constraint {name!r}."
