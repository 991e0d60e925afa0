"""Who is protected: the neighbour relation and the privacy unit.

REPLACE: one unit's rows are replaced, the number of rows is public (what the five papers use).
ADD-REMOVE: one unit's rows are added or removed, the number of rows is private.
A unit is a row, or all rows that share a value of one column, of which at most `rows` are looked at, or, in linked tables, one value
of the root's key with every row that carries it, directly or through the rows above (`below`).
"""

from dataclasses import dataclass
from typing import Literal, get_args

from sundog.errors import UserError
from sundog.sizes import MOST_ROWS, whole_number

Neighbours = Literal["add-remove", "replace"]


@dataclass(frozen=True)
class PrivacyUnit:
    """The neighbour relation, the column that names the unit (None: each row is one) and its bound on rows."""

    neighbours: Neighbours = "add-remove"
    column: str | None = None
    rows: int = 1
    below: bool = False
    """Whether a unit is a value of the root's key in linked tables, of which only declared numbers of rows are used."""

    def __post_init__(self) -> None:
        if self.neighbours not in get_args(Neighbours):
            raise UserError(f"neighbours: found {self.neighbours!r}; allowed are 'add-remove' and 'replace'.")
        if type(self.below) is not bool:
            raise UserError("unit: 'below' must be true or false.")
        object.__setattr__(self, "rows", whole_number("rows per unit", self.rows, most=MOST_ROWS))
        if self.column is None and self.rows != 1:
            raise UserError("rows per unit: needs a unit column; name it with --unit COLUMN (unit=... in Python).")

    @property
    def relations(self) -> tuple[Neighbours, ...]:
        """What one unit may do to the table: one that is replaced may also change its number of rows."""
        if self.neighbours == "replace" and self.column is not None:
            return ("replace", "add-remove")
        return (self.neighbours,)

    @property
    def public_count(self) -> bool:
        """Whether the number of rows is public: one row is replaced by another one."""
        return self.relations == ("replace",)

    def describe(self) -> str:
        """Who is protected, in one sentence for certificates."""
        verb = "added or removed" if self.neighbours == "add-remove" else "replaced"
        if self.below:
            return f"one value of {self.column!r} with every row that carries it {verb}"
        if self.column is None:
            return f"one row {verb}" + (" (the number of rows is public)" if self.neighbours == "replace" else "")
        return f"all rows of one value of {self.column!r} (at most {self.rows} are used) {verb}"
