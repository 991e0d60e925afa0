"""Evaluation: what comparing synthetic tables with the real one found. CONFIDENTIAL: computed on real rows without noise."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sundog.evaluate import METRICS, Score
from sundog.evaluate.analysis import Parity
from sundog.report.side_by_side import Picture


@dataclass(frozen=True, eq=False)
class TableScores:
    """One table's scores, what of it did not fit the schema, the same analyses on it, and its pictures."""

    name: str
    rows: int
    scores: Mapping[str, Score]
    notes: tuple[str, ...] = ()
    analyses: tuple[Parity, ...] = ()
    columns: tuple[Picture, ...] = ()
    pairs: tuple[Picture, ...] = ()


@dataclass(frozen=True, eq=False)
class Evaluation:
    """CONFIDENTIAL: the scores of all tables, and of the two baselines that they are read against.

    `reference` are the learning scores of models trained on real rows.
    """

    brand: str
    dataset: str
    columns: tuple[str, ...]
    real_rows: int
    test_rows: int | None
    tables: tuple[TableScores, ...]
    baselines: tuple[TableScores, ...]
    reference: Mapping[str, Score]
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        return f"Evaluation(CONFIDENTIAL, dataset={self.dataset!r}, tables={[table.name for table in self.tables]})"

    def _repr_html_(self) -> str:
        from sundog.report.evaluation import evaluation_fragment

        return evaluation_fragment(self.to_json())

    @property
    def verdict(self) -> tuple[str, ...]:
        """The first table in a few sentences."""
        from sundog.report.evaluation import verdict

        return verdict(self.to_json())

    def to_json(self) -> dict[str, Any]:
        """Everything but the drawings as plain JSON, with the brand."""
        names = [name for name in METRICS if any(name in table.scores for table in self.tables)]
        return {
            "confidential": True,
            "brand": self.brand,
            "dataset": self.dataset,
            "columns": list(self.columns),
            "realRows": self.real_rows,
            "testRows": self.test_rows,
            "metrics": {name: {"summary": METRICS[name].summary, "better": METRICS[name].better} for name in names},
            "tables": [_table_json(table) for table in self.tables],
            "baselines": [_table_json(table) for table in self.baselines],
            "trainedOnRealRows": _plain(self.reference),
            "notes": list(self.notes),
        }

    def to_html(self) -> str:
        """A page for people, with the brand."""
        from sundog.report.evaluation import evaluation_page

        pictures = {table.name: (table.columns, table.pairs) for table in self.tables}
        return evaluation_page(self.to_json(), pictures=pictures)

    def to_parquet(self, path: str | Path) -> None:
        """The scores as a table: one line per table, metric and part; the file is readable by its owner only."""
        import os

        import pyarrow as pa
        from pyarrow import parquet

        lines = [
            {"table": table.name, "baseline": baseline, "metric": name, "part": part, "value": value}
            for baseline, tables in ((False, self.tables), (True, self.baselines))
            for table in tables
            for name, score in table.scores.items()
            for part, value in (("", score.value), *score.parts.items())
        ]
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            os.fchmod(file.fileno(), 0o600)
            table = pa.Table.from_pylist(lines).replace_schema_metadata({"confidential": self.brand})
            parquet.write_table(table, file)


def _table_json(table: TableScores) -> dict[str, Any]:
    more = {
        "analyses": [parity.to_json() for parity in table.analyses],
        "furthestColumns": [picture.to_json() for picture in table.columns],
        "furthestPairs": [picture.to_json() for picture in table.pairs],
    }
    kept = {name: found for name, found in more.items() if found}
    return {
        "name": table.name,
        "rows": table.rows,
        "scores": _plain(table.scores),
        "notes": list(table.notes),
        **kept,
    }


def _plain(scores: Mapping[str, Score]) -> dict[str, Any]:
    return {
        name: {"value": score.value, **({"parts": dict(score.parts)} if score.parts else {})}
        for name, score in scores.items()
    }
