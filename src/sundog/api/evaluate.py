"""evaluate_tables: synthetic tables beside the real one. CONFIDENTIAL: what it returns is computed on real rows without noise.

The rows come through the one door that writes the disclosure into the ledger first (private.disclose). Everything that
leaves this module carries the brand, and files are readable by their owner only.

>>> import sundog
>>> schema = {"fields": [{"name": "smoker", "type": "boolean", "constraints": {"required": True}}]}
>>> real, fake = {"smoker": [True, False] * 50}, {"smoker": [True, True, False, False] * 30}
>>> sundog.evaluate_tables(real, {"ours": fake}, schema=schema, dataset="example").tables[0].scores["tv1"].value
0.0
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sundog.domain import Schema
from sundog.domain.rows import Rows
from sundog.errors import UserError
from sundog.evaluate import LEARNING, METRICS, REAL, Comparison, Metric, Score
from sundog.evaluate.learning import available
from sundog.evaluate.reading import SyntheticTable, check_synthetic, open_synthetic, read_synthetic, restricted
from sundog.evaluate.violations import ConstraintViolations
from sundog.private.account_name import account_name
from sundog.private.disclose import BRAND, disclose_rows
from sundog.private.ledger import Ledger
from sundog.private.table import PrivateTable
from sundog.random.keys import key_of
from sundog.released import Released

Progress = Callable[[str], None]
CONSTRAINTS = ConstraintViolations()


@dataclass(frozen=True, eq=False)
class TableScores:
    """One synthetic table's scores, and what of it did not fit the schema."""

    name: str
    rows: int
    scores: Mapping[str, Score]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Evaluation:
    """CONFIDENTIAL: the scores of all tables. `reference` are the learning scores of models trained on the real rows."""

    dataset: str
    columns: tuple[str, ...]
    real_rows: int
    test_rows: int | None
    tables: tuple[TableScores, ...]
    reference: Mapping[str, Score]
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        return f"Evaluation(CONFIDENTIAL, dataset={self.dataset!r}, tables={[table.name for table in self.tables]})"

    def _repr_html_(self) -> str:
        from sundog.report.evaluation import evaluation_fragment

        return evaluation_fragment(self.to_json())

    def to_json(self) -> dict[str, Any]:
        """Everything as plain JSON, with the brand."""
        names = [name for name in METRICS if any(name in table.scores for table in self.tables)]
        return {
            "confidential": True,
            "brand": BRAND,
            "dataset": self.dataset,
            "columns": list(self.columns),
            "realRows": self.real_rows,
            "testRows": self.test_rows,
            "metrics": {name: {"summary": METRICS[name].summary, "better": METRICS[name].better} for name in names},
            "tables": [
                {"name": t.name, "rows": t.rows, "scores": _plain(t.scores), "notes": list(t.notes)}
                for t in self.tables
            ],
            "trainedOnRealRows": _plain(self.reference),
            "notes": list(self.notes),
        }

    def to_html(self) -> str:
        """A page for people, with the brand."""
        from sundog.report.evaluation import evaluation_page

        return evaluation_page(self.to_json())


def evaluate_tables(
    real: Any,
    synthetic: Mapping[str, Any],
    *,
    schema: Schema | Mapping[str, Any] | str | Path,
    test: Any = None,
    released: Released | None = None,
    dataset: str | None = None,
    ledger: Ledger | str | Path | None = None,
    common_columns: bool = False,
    learning: bool | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> Evaluation:
    """Compare synthetic tables (name -> frame or path) with the real one.

    Args:
        real: the real table, a frame or a path; its rows are disclosed to this computation, and the ledger says so.
        synthetic: the tables to judge; the first is the baseline of the utility improvement.
        schema: the public schema, a document or the path of one.
        test: real rows that the synthesizer never saw, for learning; without them models are tested on `real`.
        released: a release whose queries are the workload.
        dataset: the ledger's account; by default the schema's name.
        ledger: the ledger, or its path.
        common_columns: compare only the columns that all tables have, instead of refusing.
        learning: train models (needs scikit-learn); by default where it is installed.
        seed: draws the random queries; keep it to compare with other evaluations.
        progress: told what is going on.
    """
    told = progress or _silent
    public = Schema.of(schema)
    if not synthetic:
        raise UserError("evaluate: no synthetic table was given; give at least one.")
    if learning:
        from sundog.evaluate.learning import require

        require()
    sources = {name: open_synthetic(data, public) for name, data in synthetic.items()}
    held = {"evaluation": PrivateTable(real, dialect=public.dialect)}
    if test is not None:
        held["evaluation (test rows)"] = PrivateTable(test, dialect=public.dialect)
    if common_columns:
        columns = [source.columns for source in sources.values()] + [table.columns for table in held.values()]
        public = restricted(public, [name for name in public.names if all(name in found for found in columns)])
    for name, source in sources.items():
        check_synthetic(source, public, name=name)
    told("reading")
    tables = [read_synthetic(source, public, name=name) for name, source in sources.items()]
    opened = ledger if isinstance(ledger, Ledger) else Ledger(None if ledger is None else Path(ledger))
    account = account_name(dataset, schema=public.name)
    rows = [
        disclose_rows(table, public, purpose=purpose, dataset=account, ledger=opened) for purpose, table in held.items()
    ]
    return _evaluation(rows, tables, account=account, released=released, learning=learning, seed=seed, told=told)


def _evaluation(
    rows: Sequence[Rows],
    tables: Sequence[SyntheticTable],
    *,
    account: str,
    released: Released | None,
    learning: bool | None,
    seed: int,
    told: Progress,
) -> Evaluation:
    real, test = rows[0], rows[1] if len(rows) > 1 else None
    if not len(real) or (test is not None and not len(test)):
        raise UserError("evaluate: the real table or the test table has no rows; there is nothing to compare with.")
    trains = bool(real.schema.targets) and (available() if learning is None else learning)
    metrics = {**REAL, **(LEARNING if trains else {}), CONSTRAINTS.name: CONSTRAINTS}
    scored = [
        TableScores(
            table.name,
            len(table.rows),
            _scores(
                _comparison(real, table.rows, test=test, first=tables[0].rows, released=released, seed=seed),
                metrics,
                told=told,
                name=table.name,
            ),
            table.notes,
        )
        for table in tables
    ]
    reference = (
        _scores(Comparison(real, real, test), LEARNING, told=told, name="real rows")
        if trains and test is not None
        else {}
    )
    return Evaluation(
        account,
        real.schema.names,
        len(real),
        None if test is None else len(test),
        tuple(scored),
        reference,
        _notes(real.schema, trains=trains, test=test, learning=learning),
    )


def _comparison(
    real: Rows, synthetic: Rows, *, test: Rows | None, first: Rows, released: Released | None, seed: int
) -> Comparison:
    workload = tuple(m.query for m in released.measurements) if released is not None else ()
    kept = tuple(query for query in workload if all(name in real.schema.names for name in query.columns))
    baseline = None if synthetic is first else first
    return Comparison(real, synthetic, test, baseline=baseline, workload=kept, key=key_of(seed))


def _scores(
    comparison: Comparison, metrics: Mapping[str, Metric[Comparison]], *, told: Progress, name: str
) -> dict[str, Score]:
    found = {}
    for metric in metrics.values():
        told(f"{name}: {metric.name}")
        score = metric.score(comparison)
        if score is not None:
            found[metric.name] = score
    return found


def _notes(schema: Schema, *, trains: bool, test: Rows | None, learning: bool | None) -> tuple[str, ...]:
    if learning is False:
        return ()
    if not schema.targets:
        return ("Learning was not measured: the schema declares no targets.",)
    if not trains:
        return ("Learning was not measured: it needs scikit-learn (pip install 'sundog[eval]').",)
    if test is None:
        return ("Models were tested on the real rows themselves; give rows that were held out with --test (test=...).",)
    return ()


def _plain(scores: Mapping[str, Score]) -> dict[str, Any]:
    return {
        name: {"value": score.value, **({"parts": dict(score.parts)} if score.parts else {})}
        for name, score in scores.items()
    }


def _silent(message: str) -> None:
    del message
