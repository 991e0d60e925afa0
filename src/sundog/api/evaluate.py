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
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sundog.api.evaluation import Evaluation, TableScores
from sundog.api.options import Charged
from sundog.domain import Schema
from sundog.domain.rows import Rows
from sundog.errors import UserError
from sundog.evaluate import LEARNING, PROTECTED, REAL, TELLING, Comparison, Metric, Score
from sundog.evaluate.analysis import Analysis, default_analyses, parity_of, parse_analysis
from sundog.evaluate.baselines import CEILING, FLOOR, bootstrap, halves, independent_columns
from sundog.evaluate.learning import available
from sundog.evaluate.reading import SyntheticTable, check_synthetic, open_synthetic, read_synthetic, restricted
from sundog.evaluate.violations import ConstraintViolations
from sundog.private.disclose import BRAND, disclose_rows
from sundog.private.ledger import Ledger
from sundog.private.table import PrivateTable
from sundog.queries import Query
from sundog.random.keys import Key, fold_in, key_of
from sundog.released import Released
from sundog.report.side_by_side import column_pictures, pair_pictures

Progress = Callable[[str], None]
CONSTRAINTS = ConstraintViolations()


TEST_SHARE = 0.2
"""Without test rows, this share of the real rows is held out to test models on."""


@dataclass(frozen=True)
class Questions:
    """What is asked of every table: the metrics, the analyses, the workload of a release, the key of random queries."""

    metrics: Mapping[str, Metric[Comparison]]
    analyses: tuple[Analysis, ...]
    workload: tuple[Query, ...]
    key: Key


def evaluate_tables(
    real: Any,
    synthetic: Mapping[str, Any],
    *,
    schema: Schema | Mapping[str, Any] | str | Path,
    test: Any = None,
    released: Released | None = None,
    dataset: str | None = None,
    ledger: Ledger | str | Path | None = None,
    new_account: bool = False,
    common_columns: bool = False,
    learning: bool | None = None,
    analyses: Sequence[str] = (),
    seed: int = 0,
    progress: Progress | None = None,
) -> Evaluation:
    """Compare synthetic tables (name -> frame or path) with the real one.

    Args:
        real: the real table, a frame or a path; its rows are disclosed to this computation, and the ledger says so.
        synthetic: the tables to judge; the first is the baseline of the utility improvement.
        schema: the public schema, a document or the path of one.
        test: real rows that the synthesizer never saw, to test models on; without them a fifth of `real` is held out.
        released: a release whose queries are the workload.
        dataset: the ledger's account; by default the schema's name.
        ledger: the ledger, or its path.
        new_account: open a new account although its name looks like that of an existing one.
        common_columns: compare only the columns that all tables have, instead of refusing.
        learning: train models (needs scikit-learn); by default where it is installed.
        analyses: the analyses to do on both tables, such as "income ~ age + sex" (`sundog help evaluation`); by default every
            target explained by the other columns, and correlations.
        seed: draws the random queries; keep it to compare with other evaluations.
        progress: called with what is going on.
    """
    told = progress or _silent
    public = Schema.of(schema)
    charged = Charged.to(ledger, dataset, new_account=new_account)
    account = charged.account(public.name)
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
        public = restricted(public, [name for name in public.fields if all(name in found for found in columns)])
    for name, source in sources.items():
        check_synthetic(source, public, name=name)
    questions = _questions(public, analyses=analyses, released=released, learning=learning, seed=seed)
    told("reading")
    tables = [read_synthetic(source, public, name=name) for name, source in sources.items()]
    opened = charged.open_ledger()
    rows = [
        disclose_rows(table, public, purpose=purpose, dataset=account, ledger=opened) for purpose, table in held.items()
    ]
    return _evaluation(rows, tables, account=account, questions=questions, told=told)


def _evaluation(
    rows: Sequence[Rows], tables: Sequence[SyntheticTable], *, account: str, questions: Questions, told: Progress
) -> Evaluation:
    real, given = rows[0], rows[1] if len(rows) > 1 else None
    if not len(real) or (given is not None and not len(given)):
        raise UserError("evaluate: the real table or the test table has no rows; there is nothing to compare with.")
    trains = bool(set(LEARNING) & set(questions.metrics))
    train, test = (real, given) if given is not None or not trains else halves(questions.key, real, share=TEST_SHARE)
    first = tables[0].rows
    scored = [_table(table, real, test, first=first, questions=questions, told=told) for table in tables]
    learned = {name: metric for name, metric in questions.metrics.items() if name in LEARNING}
    baselines = [
        _baseline(name, make, (real, train, test), questions=questions, told=told)
        for name, make in ((CEILING, bootstrap), (FLOOR, independent_columns))
    ]
    reference = _scores(Comparison(train, train, test), learned, told=told, name="real rows") if trains else {}
    return Evaluation(
        BRAND,
        account,
        real.schema.names,
        len(real),
        None if test is None else len(test),
        tuple(scored),
        tuple(baselines),
        reference,
        _notes(real.schema, trains=trains, given=given is not None, questions=questions),
    )


def _baseline(
    name: str,
    make: Callable[[Key, Rows], Rows],
    rows: tuple[Rows, Rows, Rows | None],
    *,
    questions: Questions,
    told: Progress,
) -> TableScores:
    """A baseline's scores; models train on one that is made without the test rows."""
    real, train, test = rows
    others = {known: metric for known, metric in questions.metrics.items() if known not in LEARNING}
    learned = {known: metric for known, metric in questions.metrics.items() if known in LEARNING}
    made = make(fold_in(questions.key, 1), real)
    subject = Comparison(real, made, workload=questions.workload, key=questions.key)
    trained = Comparison(train, make(fold_in(questions.key, 2), train), test)
    scores = {
        **_scores(subject, others, told=told, name=name),
        **_scores(trained, learned, told=told, name=name),
    }
    return TableScores(name, len(made), scores)


def _table(
    table: SyntheticTable, real: Rows, test: Rows | None, *, first: Rows, questions: Questions, told: Progress
) -> TableScores:
    """One synthetic table: its scores, the analyses on both sides, the pictures."""
    baseline = None if table.rows is first else first
    subject = Comparison(real, table.rows, test, baseline=baseline, workload=questions.workload, key=questions.key)
    found = _scored(table.name, subject, questions.metrics, told=told)
    told(f"{table.name}: analyses and pictures")
    return replace(
        found,
        notes=table.notes,
        analyses=parity_of(questions.analyses, real, table.rows),
        columns=tuple(column_pictures(subject)),
        pairs=tuple(pair_pictures(subject)),
    )


def _scored(
    name: str, subject: Comparison, metrics: Mapping[str, Metric[Comparison]], *, told: Progress
) -> TableScores:
    return TableScores(name, len(subject.synthetic), _scores(subject, metrics, told=told, name=name))


def _questions(
    schema: Schema, *, analyses: Sequence[str], released: Released | None, learning: bool | None, seed: int
) -> Questions:
    """What will be asked; refuses an analysis that cannot be read before anything is disclosed."""
    models = available() if learning is None else learning
    trained = {**(LEARNING if schema.targets else {}), **TELLING} if models else {}
    asked = tuple(parse_analysis(text, schema) for text in analyses) or default_analyses(schema)
    workload = tuple(m.query for m in released.measurements) if released is not None else ()
    kept = tuple(query for query in workload if all(name in schema.names for name in query.columns))
    metrics = {**REAL, **trained, **PROTECTED, CONSTRAINTS.name: CONSTRAINTS}
    return Questions(metrics, asked, kept, key_of(seed))


def _scores(
    comparison: Comparison, metrics: Mapping[str, Metric[Comparison]], *, told: Progress, name: str
) -> dict[str, Score]:
    found = {}
    for number, metric in enumerate(metrics.values(), 1):
        told(f"{name}: {metric.name} ({number} of {len(metrics)})")
        score = metric.score(comparison)
        if score is not None:
            found[metric.name] = score
    return found


def _notes(schema: Schema, *, trains: bool, given: bool, questions: Questions) -> tuple[str, ...]:
    if not set(TELLING) & set(questions.metrics):
        return ("Models were not trained: they need scikit-learn (pip install 'sundog[eval]'), or --learning.",)
    if not schema.targets:
        return ("Prediction was not measured: the schema declares no targets.",)
    if trains and not given:
        return (
            f"No test rows were given, so {TEST_SHARE:.0%} of the real rows, drawn at random, test the models. The "
            "synthesizer has seen them, unless you held them out: give rows that it never saw with --test (test=...).",
        )
    return ()


def _silent(message: str) -> None:
    del message
