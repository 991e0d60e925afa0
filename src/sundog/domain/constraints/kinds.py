"""Constraints that every row must satisfy, as the schema file declares them under `constraints`.

    {"kind": "compare", "left": "admitted", "operator": "<=", "right": "discharged"}      also "offset": added to the right
    {"kind": "sum", "columns": ["wage", "bonus"], "maximum": 1000000}        also "minimum", "equals" (a number or a column)
    {"kind": "ratio", "numerator": "tax", "denominator": "income", "minimum": 0, "maximum": 0.6}
    {"kind": "determines", "columns": ["postcode"], "column": "region"}      with "map" where the mapping is public
    {"kind": "impossible", "where": {"sex": "male", "pregnant": true, "age": {"maximum": 9}}}
    {"kind": "protected", "weights": {"age": 1, "income": 2}, "threshold": 1.5, "strength": 1, "sharpness": 20}

Each may have a `name`, used in messages. Here they become exact statements about codes: sums are whole-number sums of grid
units, so that no rounding decides. A row in which a compared or added number is missing satisfies the constraint, as in
SQL; an impossible combination may name missing values with null. A ratio is a statement about products,
minimum * denominator <= numerator <= maximum * denominator, so a denominator of zero allows only a numerator of zero.
`strength` is the pull on particles (method privpgd) towards a linear constraint while they move, 0 for none; where it is not
declared, privpgd takes 1, and other methods are not asked for any. `sharpness` is how steep the sigmoid is that stands for
the threshold of a protected statistic.
"""

from dataclasses import dataclass

SHARPNESS = 20.0
"""Of the sigmoid of a protected statistic. The paper has 5, which moves the share itself less and costs more."""
LEAST_SHARPNESS, MOST_SHARPNESS = 1.0, 100.0
"""Below, it is nearly a line; above, nearly a step, which moves no particle."""
MOST_WEIGHT = 64
"""What the weights of a protected statistic may add up to in absolute value: its sigmoid has a table of 4096 places per unit."""


@dataclass(frozen=True)
class Linear:
    """sum of coefficient * units <= limit, or = limit: whole numbers, units counted as in the column's grid."""

    name: str
    columns: tuple[str, ...]
    coefficients: tuple[int, ...]
    limit: int
    equal: bool
    strength: float | None = None
    """As declared; None where it was not."""


@dataclass(frozen=True)
class Pairs:
    """Two columns of labels of which only some pairs of codes may occur together."""

    name: str
    columns: tuple[str, str]
    allowed: frozenset[tuple[int, int]]


@dataclass(frozen=True)
class Impossible:
    """A combination that no row may have: for every column, half-open runs of codes; all columns inside is forbidden."""

    name: str
    columns: tuple[str, ...]
    ranges: tuple[tuple[tuple[int, int], ...], ...]


@dataclass(frozen=True)
class Determines:
    """A functional dependency: rows that agree on `by` agree on `column`; `mapping` holds what is publicly known."""

    name: str
    by: tuple[str, ...]
    column: str
    mapping: tuple[tuple[int, int], ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns it speaks of."""
        return (*self.by, self.column)


@dataclass(frozen=True)
class ProtectedStatistic:
    """A threshold statistic that particles should NOT reproduce: the share of rows with <weights, x> above a threshold."""

    name: str
    columns: tuple[str, ...]
    weights: tuple[float, ...]
    threshold: float
    strength: float
    sharpness: float = SHARPNESS


Constraint = Linear | Pairs | Impossible | Determines | ProtectedStatistic
