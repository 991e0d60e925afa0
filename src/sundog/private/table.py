"""PrivateTable: an opaque holder of private rows.

It has no length, shows no data, cannot be pickled or copied; only the curator opens it.
"""

from collections.abc import Mapping
from typing import Any, NoReturn

from sundog.domain.dialect import STANDARD, Dialect
from sundog.domain.linked.package import Package
from sundog.errors import UserError
from sundog.sources import Source, open_table, open_tables
from sundog.sources.duck import DuckTable
from sundog.sources.linked import LinkedSource
from sundog.sources.unique import ensured_keys


class PrivateTable:
    """A private table: give it to a Curator; nothing else can be done with it."""

    __slots__ = ("__source",)

    def __init__(self, data: Any, *, dialect: Dialect = STANDARD, sql: str | None = None) -> None:
        self.__source = open_table(data, dialect=dialect, sql=sql)

    def __repr__(self) -> str:
        return "PrivateTable(closed)"

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise TypeError("a PrivateTable cannot be pickled or copied: private rows stay where they are")

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of its columns (public: they are the schema's)."""
        return self.__source.columns

    def check(self, names: tuple[str, ...], *, unit: str | None = None) -> None:
        """Refuse columns that are not there or whose cells cannot be read, or that name no unit; reads no row."""
        self.__source.check(names, unit=unit)


def open_private(table: PrivateTable) -> Source:
    """The rows themselves. For the curator, and for the doors that brand what they do CONFIDENTIAL."""
    return table._PrivateTable__source  # type: ignore[attr-defined]


def open_whole(table: PrivateTable) -> DuckTable:
    """The rows themselves, where they can all be read here; for the doors that brand what they do CONFIDENTIAL."""
    source = open_private(table)
    if not isinstance(source, DuckTable):
        raise UserError(
            "the table's rows can only be counted where they are; drafts, checks and evaluation need a table that this process "
            "can read, such as a file or a frame."
        )
    return source


class PrivateTables(PrivateTable):
    """The private tables of a package, by name, each as for one table or with a query; opened as one source of their views."""

    __slots__ = ()

    def __init__(self, package: Package, tables: Mapping[str, Any]) -> None:
        dialects = {table.name: table.schema.dialect for table in package.tables}
        opened = open_tables(tables, dialects=dialects)  # a root of keys alone is named by the rows below it
        super().__init__(LinkedSource(package, opened, ensured_keys(package, tables, opened)))
