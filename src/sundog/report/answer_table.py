"""AnswerTable: answers as a table of lines, for frames, files, terminals and notebooks. Every number has its interval."""

import html
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

ORIGINS = {
    "measured": "measured with noise; the interval covers the exact value with this probability",
    "composed": "put together from several measurements; the interval includes what that leaves open",
    "synthetic": "counted on synthetic rows, a guess; the interval follows from their misfit elsewhere, and is no guarantee",
}
MOST_SHOWN = 200
"""This many lines are shown in notebooks."""

Number = float | str
"""A number, or the text of a date or label."""


@dataclass(frozen=True)
class Line:
    """One number: the cell it is for, what it is, its interval, where it comes from."""

    cell: tuple[str, ...]
    statistic: str
    estimate: Number
    low: Number
    high: Number
    origin: str


@dataclass(frozen=True, eq=False)
class AnswerTable:
    """Lines by the `by` columns; `rows` is the number of rows of the private table, as released."""

    by: tuple[str, ...]
    lines: tuple[Line, ...]
    confidence: float
    where: str | None
    rows: int
    rows_half_width: float
    counting: str = "rows of the private table"
    """What the numbers are of."""

    @property
    def columns(self) -> list[str]:
        """The names of the columns that frames have; a `by` column that is called like one of ours gets an underscore."""
        own = ["statistic", "estimate", "low", "high", "origin"]
        return [*(name + "_" if name in own else name for name in self.by), *own]

    def __len__(self) -> int:
        return len(self.lines)

    def records(self) -> list[tuple[Any, ...]]:
        """The lines as tuples."""
        return [(*line.cell, line.statistic, line.estimate, line.low, line.high, line.origin) for line in self.lines]

    def to_arrow(self) -> pa.Table:
        """An Arrow table; numbers are text where one of them is a date or a label."""
        records = self.records()
        texts = any(isinstance(line.estimate, str) for line in self.lines)
        made = {}
        for k, name in enumerate(self.columns):
            values = [record[k] for record in records]
            number = name in ("estimate", "low", "high") and k >= len(self.by)
            made[name] = (
                pa.array(values, pa.float64())
                if number and not texts
                else pa.array([str(value) for value in values], pa.string())
            )
        return pa.table(made)

    def to_pandas(self) -> Any:
        """The answers as a pandas frame."""
        return self.to_arrow().to_pandas()

    def to_polars(self) -> Any:
        """The answers as a polars frame."""
        import polars

        return polars.from_arrow(self.to_arrow())

    def to_json(self) -> dict[str, Any]:
        """Everything, as plain JSON."""
        return {
            "confidence": self.confidence,
            "where": self.where,
            "rows": {"estimate": self.rows, "halfWidth": self.rows_half_width},
            "counting": self.counting,
            "by": list(self.by),
            "answers": [dict(zip(self.columns, record, strict=True)) for record in self.records()],
            "origins": {origin: ORIGINS[origin] for origin in self._origins()},
        }

    def to_text(self) -> str:
        """Aligned columns for a terminal."""
        header = [*self.by, "statistic", "estimate", f"{self.confidence:.0%} interval", "origin"]
        body = [_cells(line) for line in self.lines]
        widths = [max(len(row[k]) for row in [header, *body]) for k in range(len(header))]
        right = {len(self.by) + 1}
        lines = [
            "  ".join(
                cell.rjust(width) if k in right else cell.ljust(width)
                for k, (cell, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in [header, *body]
        ]
        return "\n".join([*lines, "", *self.notes()])

    def notes(self) -> list[str]:
        """What the numbers are of, and what their origins mean."""
        half = f" ± {self.rows_half_width:,.0f}" if self.rows_half_width else ", public"
        where = f" where {self.where}" if self.where else ""
        of = f"{self.counting[:1].upper()}{self.counting[1:]}{where}, of {self.rows:,}{half} in total."
        return [of, *(f"{origin}: {ORIGINS[origin]}." for origin in self._origins())]

    def _origins(self) -> list[str]:
        present = {line.origin for line in self.lines}
        return [origin for origin in ORIGINS if origin in present]

    def _repr_html_(self) -> str:
        header = [*self.by, "statistic", "estimate", f"{self.confidence:.0%} interval", "origin"]
        head = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in header)
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in _cells(line)) + "</tr>"
            for line in self.lines[:MOST_SHOWN]
        )
        more = [f"{len(self.lines) - MOST_SHOWN} more lines."] if len(self.lines) > MOST_SHOWN else []
        notes = "".join(f"<p>{html.escape(note)}</p>" for note in [*more, *self.notes()])
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{notes}"

    def __repr__(self) -> str:
        return f"AnswerTable({len(self.lines)} answers by {', '.join(self.by) or 'nothing'})"


def _cells(line: Line) -> list[str]:
    return [*line.cell, line.statistic, *shown(line), line.origin]


def shown(line: Line) -> tuple[str, str]:
    """The estimate and the interval as people read them."""
    if isinstance(line.estimate, str):
        return line.estimate, f"{line.low} to {line.high}"
    count = line.statistic == "count"
    estimate, low, high = (_number(float(value), whole=count) for value in (line.estimate, line.low, line.high))
    return estimate, f"{low} to {high}"


def _number(value: float, *, whole: bool) -> str:
    if whole or abs(value) >= 10_000:
        return f"{value:,.0f}"
    return f"{value:.4g}"
