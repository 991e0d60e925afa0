"""Matching: how synthetic rows are to meet measures. Options alone, for Python and the command line; match.py does it."""

import math
from dataclasses import dataclass
from typing import Annotated, Literal, get_args

from sundog.errors import UserError
from sundog.sizes import MOST_ROWS, whole_number

Resampling = Literal["systematic", "multinomial", "weights"]
GAMMA = 1e-5


@dataclass(frozen=True)
class Matching:
    """How to match: the tolerance, the way of resampling, how many rows, and whether the closest will do."""

    gamma: Annotated[float, "How far a measure may miss its target, in proportions."] = GAMMA
    resample: Annotated[Resampling, "Rows (drawn systematically or independently), or weights."] = "systematic"
    closest: Annotated[bool, "Where the measures cannot be met, take the closest."] = False
    rows: Annotated[int | None, "How many rows to draw; default: as many as the table has."] = None

    def __post_init__(self) -> None:
        if not (math.isfinite(self.gamma) and self.gamma >= 0):
            raise UserError(f"gamma: found {self.gamma!r}; it must be a number, 0 or more.")
        if self.resample not in get_args(Resampling):
            raise UserError(f"resample: found {self.resample!r}; allowed are {', '.join(get_args(Resampling))}.")
        if self.rows is not None:
            whole_number("rows", self.rows, most=MOST_ROWS)
        if self.rows is not None and self.resample == "weights":
            raise UserError("rows: weights are written for the rows as they are; leave out the number of rows.")
