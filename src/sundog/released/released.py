"""Released: everything that generators, adjusters, reports and users ever know of the private table."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from sundog.domain import Schema
from sundog.errors import UserError
from sundog.json_files import read_json, write_whole
from sundog.released.measurement import Guarantee, Measurement, Payment, Scores
from sundog.released.read import read_parts
from sundog.version import __version__

FORMAT = "sundog-released-1"


@dataclass(frozen=True, eq=False)
class Released:
    """The schema, all measurements, the guarantee and what was paid; `public_rows` where the number of rows is public."""

    schema: Schema
    measurements: tuple[Measurement, ...]
    guarantee: Guarantee
    payments: tuple[Payment, ...] = ()
    dataset: str = ""
    public_rows: int | None = None
    noise: str = ""
    scores: tuple[Scores, ...] = ()
    adjustments: tuple[Measurement, ...] = ()
    """Measurements that the rows are adjusted to after they are drawn; generators do not use them."""
    rows_from_elsewhere: bool = False
    """Whether rows were adjusted to it whose own making has cost nobody here knows what: no claim includes that."""

    @property
    def rows(self) -> int:
        """The number of rows: public, or estimated from the totals of the measured partitions; at least 1."""
        return max(1, round(self._row_estimate[0]))

    @property
    def rows_stddev(self) -> float:
        """The noise of that number; 0 where it is public."""
        return self._row_estimate[1]

    @property
    def tells_rows(self) -> bool:
        """Whether the number of rows is public or was measured."""
        return self.public_rows is not None or any(m.query.partition for m in self.measurements)

    @cached_property
    def _row_estimate(self) -> tuple[float, float]:
        if self.public_rows is not None:
            return float(self.public_rows), 0.0
        totals = [(m.values.sum(), m.query.size * m.stddev**2) for m in self.measurements if m.query.partition]
        if not totals:
            raise UserError("released: no measurement states the number of rows; say how many with --rows.")
        precision = sum(1 / variance for _, variance in totals)
        return float(sum(total / variance for total, variance in totals) / precision), float(precision**-0.5)

    def __repr__(self) -> str:
        return f"Released({self.dataset!r}, {len(self.measurements)} measurements, rho {self.guarantee.rho:.4g})"

    def to_json(self) -> dict[str, Any]:
        """Everything, as plain JSON."""
        return {
            "format": FORMAT,
            "sundog": __version__,
            "dataset": self.dataset,
            "guarantee": asdict(self.guarantee),
            "noise": self.noise,
            "publicRows": self.public_rows,
            "rowsFromElsewhere": self.rows_from_elsewhere,
            "payments": [asdict(payment) for payment in self.payments],
            "measurements": [_measurement_json(m) for m in self.measurements],
            "adjustments": [_measurement_json(m) for m in self.adjustments],
            "scores": [
                {
                    "candidates": [query.to_json() for query in s.candidates],
                    "values": s.values.tolist(),
                    "stddev": s.stddev,
                    "receipt": s.receipt,
                }
                for s in self.scores
            ],
            "schema": self.schema.to_json(),
        }

    @staticmethod
    def from_json(document: Mapping[str, Any]) -> "Released":
        """Read the document that `to_json` wrote."""
        return Released(**read_parts(document))

    def with_measurements(self, measurements: tuple[Measurement, ...]) -> "Released":
        """The same release with other measurements (a part, or denoised ones)."""
        return replace(self, measurements=measurements)

    def save(self, path: str | Path) -> None:
        """Write the JSON file, whole or not at all: a run that is killed leaves the file of before."""
        write_whole(Path(path), json.dumps(self.to_json(), ensure_ascii=False) + "\n")

    def holds(self, other: "Released") -> bool:
        """Whether everything that the other release measured is in this one too."""
        return other._noisy <= self._noisy

    @cached_property
    def _noisy(self) -> frozenset[str]:
        parts = self.to_json()
        return frozenset(json.dumps(each) for name in ("measurements", "adjustments", "scores") for each in parts[name])

    @staticmethod
    def load(path: str | Path) -> "Released":
        """Read the JSON file."""
        absent = "write them with: sundog measure, or give the released.json of a release"
        document = read_json(path, what="released measurements", absent=absent)
        if document.get("format") != FORMAT:
            raise UserError(
                f"{str(path)!r} is not a file of released measurements of format {FORMAT!r}, which this version reads."
            )
        try:
            return Released.from_json(document)
        except UserError as error:
            raise UserError(f"{str(path)!r} is not a file of released measurements: {error}") from None


def _measurement_json(m: Measurement) -> dict[str, Any]:
    numbers = {"values": m.values.tolist(), "stddev": m.stddev}
    return {"query": m.query.to_json(), **numbers, "receipt": m.receipt, "noise": m.noise}
