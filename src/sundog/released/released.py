"""Released: everything that generators, adjusters, reports and users ever know of the private table."""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from sundog.domain import Schema
from sundog.domain.unit import PrivacyUnit
from sundog.errors import UserError
from sundog.queries import load_query
from sundog.released.measurement import Guarantee, Measurement, Payment, Scores
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
            raise UserError("released: no measurement tells the number of rows; say how many with --rows.")
        precision = sum(1 / variance for _, variance in totals)
        return float(sum(total / variance for total, variance in totals) / precision), float(precision**-0.5)

    def to_json(self) -> dict[str, Any]:
        """Everything, as plain JSON."""
        return {
            "format": FORMAT,
            "sundog": __version__,
            "dataset": self.dataset,
            "guarantee": asdict(self.guarantee),
            "noise": self.noise,
            "publicRows": self.public_rows,
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
        """What `to_json` wrote."""
        schema = Schema.from_json(document["schema"])
        guarantee = dict(document["guarantee"])
        return Released(
            schema=schema,
            measurements=tuple(_measurement(item, schema) for item in document["measurements"]),
            guarantee=Guarantee(**(guarantee | {"unit": PrivacyUnit(**guarantee["unit"])})),
            payments=tuple(Payment(**payment) for payment in document["payments"]),
            dataset=document["dataset"],
            public_rows=document["publicRows"],
            noise=document["noise"],
            scores=tuple(_scores(item, schema) for item in document["scores"]),
            adjustments=tuple(_measurement(item, schema) for item in document["adjustments"]),
        )

    def with_measurements(self, measurements: tuple[Measurement, ...]) -> "Released":
        """The same release with other measurements (a part, or denoised ones)."""
        return replace(self, measurements=measurements)

    def save(self, path: str | Path) -> None:
        """Write the JSON file."""
        Path(path).write_text(json.dumps(self.to_json(), ensure_ascii=False) + "\n", encoding="utf-8")

    @staticmethod
    def load(path: str | Path) -> "Released":
        """Read the JSON file."""
        try:
            document = json.loads(Path(path).read_text(encoding="utf-8"))
            if document["format"] != FORMAT:
                raise UserError(f"{str(path)!r} has format {document['format']!r}; this version reads {FORMAT!r}.")
            return Released.from_json(document)
        except (OSError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError) as error:
            kind = type(error).__name__
            raise UserError(
                f"{str(path)!r} is not a file of released measurements ({kind}); write one with: sundog measure."
            ) from None


def _measurement_json(m: Measurement) -> dict[str, Any]:
    numbers = {"values": m.values.tolist(), "stddev": m.stddev}
    return {"query": m.query.to_json(), **numbers, "receipt": m.receipt, "noise": m.noise}


def _measurement(item: Mapping[str, Any], schema: Schema) -> Measurement:
    query = load_query(item["query"], schema)
    values = np.asarray(item["values"], dtype=np.int64)
    if values.shape != (query.size,) or not 0 < item["stddev"] < math.inf:
        raise ValueError("a measurement does not fit its query")
    return Measurement(query, values, float(item["stddev"]), item["receipt"], item["noise"])


def _scores(item: Mapping[str, Any], schema: Schema) -> Scores:
    candidates = tuple(load_query(query, schema) for query in item["candidates"])
    return Scores(candidates, np.asarray(item["values"], dtype=np.int64), float(item["stddev"]), item["receipt"])
