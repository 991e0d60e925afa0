"""PrivateTable: an opaque holder of private rows.

It has no length, shows no data, cannot be pickled or copied; only the curator opens it.
"""

from typing import Any, NoReturn

from sundog.domain.dialect import STANDARD, Dialect
from sundog.sources import Source, open_table


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
