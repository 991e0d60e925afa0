"""Source: where a table lives. One method matters: add up the answers of all batches of encoded rows.

Any engine that can run a function over record batches and add up vectors can be a source: a file, a frame, a query, and
later a cluster, where every executor adds up its own part and only the totals travel.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
from jaxtyping import Float, Int

from sundog.domain import Schema
from sundog.domain.rows import Rows
from sundog.domain.unit import PrivacyUnit
from sundog.errors import UserError

Adder = Callable[[Rows, Int[np.ndarray, " cells"]], None]
"""Adds what a batch contributes to the totals, in place."""


class Source(Protocol):
    """A table, wherever it is stored: what every engine must offer."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns that are there."""

    def check(self, names: tuple[str, ...], *, unit: str | None = None) -> None:
        """Refuse, before any row is read, columns that are not there or whose cells cannot be read, or name no unit."""

    def add_up(self, schema: Schema, unit: PrivacyUnit, *, add: Adder, size: int) -> Int[np.ndarray, " cells"]:
        """The totals of `size` cells over all batches of encoded rows, at most `unit.rows` rows of each unit."""

    def value_counts(self, column: str, unit: PrivacyUnit) -> dict[str, int]:
        """How often each text occurs in one column whose domain is not yet known; nulls are not counted."""

    def read(self, schema: Schema) -> Rows:
        """All rows at once: for tables that are public or synthetic."""

    def numbers(self, column: str) -> Float[np.ndarray, " rows"]:
        """One column of numbers in the order of `read`, NaN where there is none: for weights of synthetic rows."""


def check_names(names: Sequence[str], label: str, *, blank: bool = False) -> None:
    """Refuse a table with two columns of one name; `blank`: several may have none.

    They are given by their places: where a file has no header line, the names that are there are a row's cells.
    """
    places: dict[str, int] = {}
    for place, name in enumerate(names, start=1):
        if name in places and not (blank and name == ""):
            raise UserError(f"{label}: columns {places[name]} and {place} have the same name; names must be unique.")
        places[name] = place


def check_columns(found: tuple[str, ...], wanted: tuple[str, ...]) -> None:
    """Refuse, before any row is read, a table that lacks a declared column.

    Of the names that are there none is told: where a file has no header line, they are a row's cells.
    """
    lacking = [name for name in wanted if name not in found]
    if lacking:
        raise UserError(
            f"the table lacks the column {lacking[0]!r}"
            + (f" and {len(lacking) - 1} more" if lacking[1:] else "")
            + f"; columns found: {len(found)}. Names must agree in every letter and in case. Correct the schema or the table (a "
            "text file needs a header line, or --no-header; one with another separator than comma or tab needs "
            "--delimiter)."
        )
