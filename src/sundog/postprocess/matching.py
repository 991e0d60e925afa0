"""Matching: how synthetic rows are to meet measures. Options alone, for Python and the command line; match.py does it."""

from dataclasses import dataclass
from typing import Annotated, Literal

from sundog.declare import Range, check_declared
from sundog.errors import UserError
from sundog.sizes import MOST_ROWS

Resampling = Literal["systematic", "multinomial", "weights"]
Trust = Literal["auto", "off"]
GAMMA = 1e-5


@dataclass(frozen=True)
class Matching:
    """How to match: the tolerance, the way of resampling, how many rows, and whether the closest will do."""

    gamma: Annotated[float, "How far a measure may miss its target, in proportions.", Range(0, 1)] = GAMMA
    resample: Annotated[Resampling, "Rows (drawn systematically or independently), or weights."] = "systematic"
    closest: Annotated[bool, "Where the measures cannot be met, take the closest."] = False
    trust: Annotated[
        Trust,
        "auto: the table's own measures count against the noise of the measured ones; off: those are met as they are.",
    ] = "auto"
    rows: Annotated[int | None, "How many rows to draw; default: as many as the table has.", Range(1, MOST_ROWS)] = None

    def __post_init__(self) -> None:
        check_declared(self, called="option")
        if self.rows is not None and self.resample == "weights":
            raise UserError("rows: weights are written for the rows as they are; leave out the number of rows.")
