"""What the benchmarks of RAP and RAP++ share: the tables, a run by recipe, and errors of the ROUNDED rows.

Everything private goes through the curator, add-remove neighbours, delta 1e-9. CPU seconds and memory are those of the
process up to the moment the rows are there, so that measuring, compiling, fitting and rounding count, and scoring does not.
"""

import json
import resource
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from harness import DATA

DELTA = 1e-9
ERRORS = {"tv": "TV", "max": "max", "mean": "mean"}
COSTS = {"made_cpu_s": "CPU s", "made_mb": "MB"}


def load(name: str, *, without: tuple[str, ...] = ()) -> tuple[Any, Any, Any]:
    """The schema, four fifths of the rows to fit, one fifth to test."""
    import pyarrow.parquet as pq

    from sundog.domain import Schema

    document = json.loads((DATA / f"{name}.schema.json").read_text(encoding="utf-8"))
    document["fields"] = [field for field in document["fields"] if field["name"] not in without]
    schema = Schema.from_json(document)
    table = pq.read_table(DATA / f"{name}.parquet").select(list(schema.names))
    order = np.argsort((np.arange(table.num_rows, dtype=np.uint64) * np.uint64(2654435761)) % np.uint64(2**32))
    cut = table.num_rows // 5
    return schema, table.take(np.sort(order[cut:])), table.take(np.sort(order[:cut]))


def adult(*, whole: bool = True) -> tuple[Any, Any, Any]:
    """The 14 columns of the notes: without the survey weight and the split."""
    import pyarrow as pa

    schema, train, test = load("adult", without=("fnlwgt", "split"))
    return (schema, pa.concat_tables([train, test]) if whole else train, test)


def curator(schema: Any, table: Any, *, epsilon: float, selects: bool = False) -> Any:
    """A curator with a ledger that is thrown away."""
    from sundog.private.accountant import Budget
    from sundog.private.curator import Curator
    from sundog.private.ledger import Ledger
    from sundog.private.spending import Spending
    from sundog.private.table import PrivateTable

    ledger = Ledger(Path(tempfile.mkdtemp()) / "ledger.db")
    accounting = "zcdp" if selects else "gaussian"
    spending = Spending(Budget(epsilon=epsilon, delta=DELTA), "benchmark", accounting=accounting, ledger=ledger)
    return Curator(PrivateTable(table), schema, spending=spending)


def made(schema: Any, table: Any, *, recipe: Any, epsilon: float, seed: int, public: Any = None) -> tuple[Any, Any]:
    """What a recipe releases and learns, from rows of a public table where there are any."""
    from sundog.methods.loop import run
    from sundog.random.keys import key_of

    held = curator(schema, table, epsilon=epsilon, selects=recipe.rule.selects)
    return run(key_of(seed), held, recipe=recipe, report=lambda _: None, public=public)


def exact(schema: Any, table: Any, queries: Any) -> list[Any]:
    """The real proportions (public data: nothing is claimed about it)."""
    from sundog.domain.unit import PrivacyUnit
    from sundog.private.table import PrivateTable, open_private
    from sundog.queries import add_all

    sizes = [query.size for query in queries]
    source = open_private(PrivateTable(table))
    totals = source.add_up(schema, PrivacyUnit(), add=lambda rows, out: add_all(queries, rows, out), size=sum(sizes))
    return np.split(totals / table.num_rows, np.cumsum(sizes)[:-1])


def errors(real: list[Any], found: list[Any]) -> dict[str, float]:
    """Mean total variation, largest error, mean error."""
    apart = [np.abs(a - b) for a, b in zip(real, found, strict=True)]
    return {
        "tv": float(np.mean([0.5 * part.sum() for part in apart])),
        "max": float(max(part.max() for part in apart)),
        "mean": float(np.concatenate(apart).mean()),
    }


def rounded_errors(schema: Any, table: Any, queries: Any, *, rows: Any) -> dict[str, float]:
    """The errors of a table of rows."""
    from sundog.queries import answer

    return errors(exact(schema, table, queries), [answer(query, rows) / len(rows) for query in queries])


def macro_f1(train: Any, test: Any, target: str, targets: tuple[str, ...]) -> float:
    """Logistic regression on one-hot labels and standardised numbers; other targets are left out."""
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import f1_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    fit, new = train.to_pandas(), test.to_pandas()
    names = [name for name in fit.columns if name not in targets and name != target]
    numbers = [name for name in names if fit[name].dtype.kind in "if" and new[name].dtype.kind in "if"]
    labels = [name for name in names if name not in numbers]
    for frame in (fit, new):
        frame[labels] = frame[labels].astype(object).where(frame[labels].notna(), "?").astype(str)
        frame[numbers] = frame[numbers].astype(float)
    parts = ColumnTransformer(
        [
            ("labels", OneHotEncoder(handle_unknown="ignore"), labels),
            ("numbers", make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()), numbers),
        ]
    )
    model = make_pipeline(parts, LogisticRegression(max_iter=300)).fit(fit[names], fit[target].astype(str))
    return float(f1_score(new[target].astype(str), model.predict(new[names]), average="macro"))


def synthesised(
    schema: Any, table: Any, *, recipe: Any, epsilon: float, seed: int, public: Any = None
) -> tuple[Any, Any, dict[str, float]]:
    """What was released, as many rows as it says, and what they cost."""
    from sundog.random.keys import key_of

    released, state = made(schema, table, recipe=recipe, epsilon=epsilon, seed=seed, public=public)
    rows = recipe.generator.sample(key_of(seed), state, rows=released.rows)
    return released, rows, costs()


def costs() -> dict[str, float]:
    """CPU seconds and peak memory of this process so far."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return {"made_cpu_s": used.ru_utime + used.ru_stime, "made_mb": used.ru_maxrss / 1024}
