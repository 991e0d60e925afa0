"""The kinds of columns, and how a value becomes a code and back.

Every value is encoded as one non-negative integer below the column's `size`, so that counts are exact and the same on
every engine:

- Categorical (also booleans): the position of the label, then one code for "missing" if the column may be null.
- Numeric (integers, decimals, dates, datetimes, times of day): the number of steps above the lower bound on the column's
  public grid (1, 10^-decimals, one day, `resolution` seconds), then one code for "missing".

A column that is modelled as its distance from another (`relativeTo`, see offsets.py) is a Numeric of whole grid units, with
the two fields between which it is measured in `distance`.

What lies outside the declared domain has a declared place: numbers and dates are clamped to the nearest bound; an
unknown label goes to `fallback`; null in a column that may not be null goes to `fallback` (labels) or the lower bound.
"""

from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Literal

import numpy as np
import pyarrow as pa
from jaxtyping import Int

from sundog.domain.spelling import PLAIN, NumberMarks
from sundog.errors import UserError

Label = str | int | float | bool
NumericKind = Literal["integer", "number", "date", "datetime", "time", "magnitude"]
"""A magnitude is the signed power of two of a number whose bounds are not known yet (see private.complete)."""
GRID_LIMIT = 2**50
"""How many grid units a column may reach, and reach from zero: farther out double precision could miss the grid point."""

EPOCH = date(1970, 1, 1)
SPELLED = {"date": "%Y-%m-%d", "datetime": "%Y-%m-%dT%H:%M:%S", "time": "%H:%M:%S"}
"""How moments are written where no format is declared."""


@dataclass(frozen=True)
class Categorical:
    """A column of labels; `ordered` ones are ordinal. `true_texts`/`false_texts` are set for booleans only.

    `parents`, where codes have a hierarchy, name what each label belongs to: another label, or a name of a group.
    """

    name: str
    labels: tuple[Label, ...]
    ordered: bool = False
    nullable: bool = False
    fallback: int = 0
    true_texts: tuple[str, ...] = ()
    false_texts: tuple[str, ...] = ()
    missing_values: tuple[str, ...] = ("",)
    parents: tuple[Label | None, ...] = ()

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields of a table that it is read from: its own."""
        return (self.name,)

    @property
    def boolean(self) -> bool:
        """Whether the labels are False and True."""
        return bool(self.true_texts)

    @property
    def size(self) -> int:
        """How many codes there are, the one for "missing" included."""
        return len(self.labels) + self.nullable

    @property
    def missing(self) -> int | None:
        """The code for "missing", or None where the column may not be null."""
        return len(self.labels) if self.nullable else None

    @property
    def null_code(self) -> int:
        """Where a null goes."""
        return len(self.labels) if self.nullable else self.fallback

    def decode(self, codes: Int[np.ndarray, " rows"]) -> pa.Array:
        """The labels of these codes, null for missing."""
        return pa.array([*self.labels, None], type=self.arrow_type).take(pa.array(codes))

    @property
    def arrow_type(self) -> pa.DataType:
        """The Arrow type of the labels."""
        kinds = {type(label) for label in self.labels}
        return pa.bool_() if kinds == {bool} else pa.int64() if kinds == {int} else _text_or_float(kinds)

    def text(self, codes: Int[np.ndarray, " rows"]) -> pa.Array:
        """The labels as a CSV file shows them."""
        words = [self.false_texts[0], self.true_texts[0]] if self.boolean else [str(label) for label in self.labels]
        return pa.array([*words, None], type=pa.string()).take(pa.array(codes))

    def describe(self, code: int) -> str:
        """One code in words."""
        return "missing" if code == self.missing else str(self.labels[code])


def _text_or_float(kinds: set[type]) -> pa.DataType:
    return pa.string() if str in kinds else pa.float64()


@dataclass(frozen=True)
class Distance:
    """The two fields between which a column measures: the one that comes out, and the one that it is relative to."""

    own: "Numeric"
    base: "Numeric"


@dataclass(frozen=True)
class Numeric:
    """A column on a public grid: `lower` and `upper` count grid units from zero (or from 1970-01-01, or midnight)."""

    name: str
    kind: NumericKind
    lower: int
    upper: int
    decimals: int = 0
    resolution: int = 1
    nullable: bool = False
    fixed_decimals: bool = False
    format: str | None = None
    bins: int | tuple[int, ...] | None = None
    missing_values: tuple[str, ...] = ("",)
    marks: NumberMarks = field(default=PLAIN, compare=False)
    distance: Distance | None = None

    def __post_init__(self) -> None:
        if max(self.steps, abs(self.lower), abs(self.upper)) > GRID_LIMIT:
            remedy = {"number": "fewer sundog.decimals", "datetime": "a coarser sundog.resolution"}.get(self.kind)
            raise UserError(
                f"field {self.name!r}: its grid reaches from {self.lower:.6g} to {self.upper:.6g} units; it may reach "
                f"2^50 (about 1.1e15) from zero. Narrow the bounds{f', or give {remedy}' if remedy else ''}."
            )

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields of a table that it is read from; its own comes first."""
        return (self.name,) if self.distance is None else (self.distance.own.name, self.distance.base.name)

    @property
    def steps(self) -> int:
        """How many grid points lie between the bounds, both included."""
        return self.upper - self.lower + 1

    @property
    def size(self) -> int:
        """How many codes there are, the one for "missing" included."""
        return self.steps + self.nullable

    @property
    def missing(self) -> int | None:
        """The code for "missing", or None where the column may not be null."""
        return self.steps if self.nullable else None

    @property
    def null_code(self) -> int:
        """Where a null or an unreadable value goes."""
        return self.steps if self.nullable else 0

    def decode(self, codes: Int[np.ndarray, " rows"]) -> pa.Array:
        """The values of these codes, null for missing."""
        codes = np.asarray(codes)
        null = codes == self.steps
        units = np.where(null, 0, codes).astype(np.int64) + self.lower
        if self.kind == "number":
            return pa.array(units / 10.0**self.decimals, mask=null)
        if self.kind == "integer":
            return pa.array(units, mask=null)
        if self.kind == "date":
            return pa.array(units.astype(np.int32), mask=null).cast(pa.date32())
        seconds = pa.array(units * self.resolution, mask=null)
        return seconds.cast(pa.int32()).cast(pa.time32("s")) if self.kind == "time" else seconds.cast(pa.timestamp("s"))

    def text(self, codes: Int[np.ndarray, " rows"]) -> pa.Array:
        """The values as a CSV file shows them: declared decimals and date formats are kept."""
        import pyarrow.compute as pc

        values = self.decode(codes)
        if self.kind in SPELLED:
            moments = values.cast(pa.int32()).cast(pa.int64()) if self.kind == "time" else values
            form = (self.format or SPELLED[self.kind]).replace("%f", "000000")
            return pc.strftime(moments.cast(pa.timestamp("s")), format=form)
        fixed = self.fixed_decimals and self.decimals
        text = self._decimal_text(codes) if fixed else values.cast(pa.string())
        return pc.replace_substring(text, ".", self.marks.decimal) if self.marks.decimal != "." else text

    def _decimal_text(self, codes: Int[np.ndarray, " rows"]) -> pa.Array:
        """Exact decimals from the whole grid units: '-0.50'."""
        import pyarrow.compute as pc

        codes = np.asarray(codes).astype(np.int64)
        units = codes + self.lower
        whole, part = np.divmod(np.abs(units), 10**self.decimals)
        sign = pa.array(np.where(units < 0, "-", ""), mask=codes == self.steps)
        digits = pc.utf8_lpad(pa.array(part).cast(pa.string()), self.decimals, "0")
        return pc.binary_join_element_wise(sign, pa.array(whole).cast(pa.string()), ".", digits, "")

    def describe(self, code: int) -> str:
        """One code in words."""
        if code == self.missing:
            return "missing"
        units = self.lower + int(code)
        if self.kind == "number":
            return str(Decimal(units).scaleb(-self.decimals))
        if self.kind == "date":
            return (EPOCH + timedelta(days=units)).isoformat()
        if self.kind in ("datetime", "time"):
            moment = datetime.fromtimestamp(units * self.resolution, UTC).replace(tzinfo=None)
            return (moment.time() if self.kind == "time" else moment).isoformat()
        return str(units)


Column = Categorical | Numeric


@dataclass(frozen=True)
class Identifier:
    """A column that names rows or people: never modelled; left out of the synthetic table or renumbered."""

    name: str
    regenerate: bool = False
    whole_number: bool = False
    missing_values: tuple[str, ...] = ("",)
    """The texts that mean "missing": in a key, that a row has none."""

    def regenerated(self, rows: int, *, before: int = 0, total: int | None = None) -> pa.Array:
        """1, 2, 3, ... as numbers or as zero-padded text; on from `before`, where these rows are some of `total`."""
        numbers = np.arange(before + 1, before + rows + 1)
        width = len(str(rows if total is None else total))
        if self.whole_number:
            return pa.array(numbers)
        return pa.array([f"{number:0{width}d}" for number in numbers], type=pa.string())
